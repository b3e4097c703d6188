package schedq_test

import (
	"testing"

	"schedq"
)

// event begins an event and stamps these plugins.
func (fixture *fixture) event(plugins schedq.Plugins) uint64 {
	fixture.Helper()
	sequence, err := fixture.EventBegin()
	fixture.ok(err)
	fixture.ok(fixture.EventStamp(sequence, 0, plugins))
	return sequence
}

// candidates walks a query, a few pods at a time.
func (fixture *fixture) candidates(query schedq.Query) (all []schedq.Candidate) {
	fixture.Helper()
	var batch [2]schedq.Candidate
	for {
		count, err := fixture.Candidates(&query, batch[:])
		fixture.ok(err)
		if count == 0 {
			return all
		}
		all = append(all, batch[:count]...)
	}
}

func TestAPodIsNotParkedOnAnOldJudgement(t *testing.T) {
	onBothEngines(t, byHost, func(f *fixture) {
		fit := f.plugin("Fit", schedq.Interest{Resource: "Node", Actions: schedq.ActionAdd})
		f.add("default/a", schedq.PodSpec{})
		popped := f.pop("default/a")
		sequence := f.event(fit)
		before := popped.Token
		failure := &schedq.Failure{Place: schedq.Parked, Unschedulable: fit, JudgedUpTo: popped.Seen}
		result, err := f.Fail(&popped.Token, failure)
		f.wants(err, schedq.ErrRetry)
		if result.Sequence < sequence {
			t.Fatalf("judge up to %d, the event is %d", result.Sequence, sequence)
		}
		if popped.Token == before {
			t.Fatal("the token that was passed is used up: another one has to be stored")
		}
		failure.JudgedUpTo = result.Sequence
		result, err = f.Fail(&popped.Token, failure)
		f.ok(err)
		equal(f, "place", result.Place, schedq.Parked)
		equal(f, "parked", f.Words().Parked(), 1)
	})
}

func TestCandidatesAreJudgedAndApplied(t *testing.T) {
	onBothEngines(t, byHost, func(f *fixture) {
		fit, taint := f.plugin("Fit"), f.plugin("Taint")
		for i, name := range []string{"default/a", "default/b", "default/c"} {
			f.park(name, uint64(i), fit)
		}
		f.park("default/other", 9, taint)
		found := f.candidates(schedq.Query{Rejectors: fit})
		equal(f, "candidates", len(found), 3)
		var decisions []schedq.Decision
		for _, candidate := range found {
			equal(f, "place", candidate.Place, schedq.Parked)
			equal(f, "backing off", candidate.BackingOff, true)
			equal(f, "rejectors", candidate.Unschedulable, fit)
			decisions = append(decisions, schedq.Decision{Ref: candidate.Ref, Place: schedq.Active, Event: schedq.EventNodeAdd})
		}
		decisions[1].Place = schedq.Backoff
		answers, results := make([]schedq.Status, 3), make([]schedq.Result, 3)
		sum, err := f.ApplyMany(decisions, answers, results)
		f.ok(err)
		equal(f, "active", sum.ToActive, 2)
		equal(f, "backoff", sum.ToBackoff, 1)
		equal(f, "place of the second", results[1].Place, schedq.Backoff)
		_, err = f.ApplyMany(decisions[:1], answers[:1], nil)
		f.wants(err, schedq.ErrGone)
		equal(f, "answer", answers[0], schedq.ErrGone)
		_, err = f.ApplyMany(nil, nil, nil)
		f.ok(err)
	})
}

func TestAnUpdateVoidsADecision(t *testing.T) {
	onBothEngines(t, byHost, func(f *fixture) {
		fit := f.plugin("Fit")
		f.park("default/a", 1, fit)
		old := f.candidates(schedq.Query{Rejectors: fit})[0]
		updated, err := f.Update("default/a", &schedq.PodSpec{Object: 2}, 1, nil)
		f.ok(err)
		decision := schedq.Decision{Ref: old.Ref, Place: schedq.Active, Event: schedq.EventNodeAdd}
		result, err := f.Apply(&decision)
		f.wants(err, schedq.ErrChanged)
		equal(f, "newest object", result.Object, 2)
		equal(f, "newest ref", result.Ref, updated.Ref)
		equal(f, "backing off", result.BackingOff, true)
		decision.Ref = result.Ref
		_, err = f.Apply(&decision)
		f.ok(err)
		equal(f, "place", f.place("default/a"), schedq.Active)
		active, err := f.Find("default/a")
		f.ok(err)
		equal(f, "an active pod is backing off", active.BackingOff, false)
	})
}

func TestAGateRoundTrips(t *testing.T) {
	onBothEngines(t, byHost, func(f *fixture) {
		bit, err := f.NamePlugin(0, "Gate")
		f.ok(err)
		gate := bit.Gate()
		equal(f, "gate and back", gate.Plugins(), bit)
		added := f.add("default/a", schedq.PodSpec{Gate: gate, JudgedUpTo: f.Words().EventSequence()})
		equal(f, "place", added.Place, schedq.Gated)
		equal(f, "gated", f.Words().Gated(), 1)
		found := f.candidates(schedq.Query{Gates: bit})
		equal(f, "candidates", len(found), 1)
		equal(f, "gate", found[0].Gate, gate)
		decision := schedq.Decision{Ref: found[0].Ref, Place: schedq.Gated, Gate: gate, Uncounted: true, Event: schedq.EventNodeAdd}
		result, err := f.Apply(&decision)
		f.ok(err)
		equal(f, "came in again", result.ToGated, 0)
		f.event(bit)
		_, err = f.Add("default/b", &schedq.PodSpec{Gate: gate})
		f.wants(err, schedq.ErrRetry)
		equal(f, "gate of the empty set", schedq.Plugins(0).Gate(), 0)
	})
}

func TestAnActivationReachesAPodInFlight(t *testing.T) {
	onBothEngines(t, byHost, func(f *fixture) {
		fit := f.plugin("Fit")
		f.add("default/a", schedq.PodSpec{})
		popped := f.pop("default/a")
		_, err := f.Activate([]schedq.Pod{popped.Pod})
		f.ok(err)
		_, err = f.Fail(&popped.Token, &schedq.Failure{Place: schedq.Parked, Unschedulable: fit})
		f.wants(err, schedq.ErrRetry)
		_, err = f.Activate(nil)
		f.ok(err)
	})
}

func TestLeftoversAndDueBackoffAreFoundByTime(t *testing.T) {
	onBothEngines(t, func(config *schedq.Config) {
		config.Decide = schedq.DecideHost
		config.PopFromBackoff = false
	}, func(f *fixture) {
		fit := f.plugin("Fit")
		f.park("default/old", 1, fit)
		f.now += 10 * second
		f.park("default/young", 2, fit)
		found := f.candidates(schedq.Query{Rejectors: schedq.AllPlugins, NotAfter: f.now - 5*second})
		equal(f, "leftovers", len(found), 1)
		equal(f, "object", found[0].Object, 1)

		decision := schedq.Decision{Ref: f.candidates(schedq.Query{Rejectors: fit})[1].Ref, Place: schedq.Backoff, Event: schedq.EventNodeAdd}
		_, err := f.Apply(&decision)
		f.ok(err)
		f.now += 2 * second
		result, _, err := f.Tick()
		f.ok(err)
		equal(f, "left", result.Left, true)
		found = f.candidates(schedq.Query{Backoff: true, NotAfter: f.now})
		equal(f, "due", len(found), 1)
		equal(f, "backing off", found[0].BackingOff, false)
	})
}

func TestADecisionForAPodThatBacksOffEndsWithItsBackoff(t *testing.T) {
	onBothEngines(t, byHost, func(f *fixture) {
		fit := f.plugin("Fit")
		f.park("default/a", 1, fit)
		decision := schedq.Decision{
			Ref: f.candidates(schedq.Query{Rejectors: fit})[0].Ref, Place: schedq.Backoff, IfBackingOff: true,
			Event: schedq.EventNodeAdd,
		}
		f.now += 10 * second
		result, err := f.Apply(&decision)
		f.wants(err, schedq.ErrChanged)
		equal(f, "ref", result.Ref, decision.Ref)
		equal(f, "backing off", result.BackingOff, false)
		equal(f, "place", f.place("default/a"), schedq.Parked)
		decision.IfBackingOff = false
		_, err = f.Apply(&decision)
		f.ok(err)
		equal(f, "place", f.place("default/a"), schedq.Active)
	})
}

func TestMethodsOfOneWayToDecideRefuseTheOther(t *testing.T) {
	onBothEngines(t, nil, func(f *fixture) {
		_, err := f.EventBegin()
		f.wants(err, schedq.ErrInvalid)
	})
	onBothEngines(t, byHost, func(f *fixture) {
		_, err := f.Notify(&schedq.Change{Event: schedq.EventNodeAdd})
		f.wants(err, schedq.ErrInvalid)
	})
}
