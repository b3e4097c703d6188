package schedq_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"schedq"
)

// second is a second on a queue's clock.
const second = int64(1_000_000_000)

// fixture is a queue whose clock goes on only when a test says so.
type fixture struct {
	*schedq.Queue
	*testing.T
	now int64
}

// newFixture makes a queue of an engine; change adapts its configuration.
func newFixture(t *testing.T, engine schedq.Engine, change func(*schedq.Config)) *fixture {
	t.Helper()
	config := schedq.DefaultConfig()
	config.Engine = engine
	if change != nil {
		change(&config)
	}
	fixture := &fixture{T: t, now: second}
	queue, err := schedq.New(config, func() int64 { return fixture.now })
	if err != nil {
		t.Fatal(err)
	}
	fixture.Queue = queue
	t.Cleanup(func() {
		if err := queue.DestroyWithPods(); err != nil {
			t.Error(err)
		}
	})
	return fixture
}

// onBothEngines runs a test on each engine.
func onBothEngines(t *testing.T, change func(*schedq.Config), test func(*fixture)) {
	for name, engine := range map[string]schedq.Engine{"mutex": schedq.Mutex, "lockfree": schedq.LockFree} {
		t.Run(name, func(t *testing.T) { test(newFixture(t, engine, change)) })
	}
}

func byHost(config *schedq.Config) { config.Decide = schedq.DecideHost }

func (fixture *fixture) ok(err error) {
	fixture.Helper()
	fixture.wants(err, nil)
}

func (fixture *fixture) wants(got, want error) {
	fixture.Helper()
	if !errors.Is(got, want) {
		fixture.Fatalf("got %v, want %v", got, want)
	}
}

func equal[V comparable](fixture *fixture, what string, got, want V) {
	fixture.Helper()
	if got != want {
		fixture.Fatalf("%s: got %v, want %v", what, got, want)
	}
}

func (fixture *fixture) plugin(name string, interests ...schedq.Interest) schedq.Plugins {
	fixture.Helper()
	bit, err := fixture.RegisterPlugin(0, name, 0, interests...)
	fixture.ok(err)
	return bit
}

func (fixture *fixture) add(name string, spec schedq.PodSpec) schedq.Result {
	fixture.Helper()
	result, err := fixture.Add(name, &spec)
	fixture.ok(err)
	return result
}

func (fixture *fixture) pop(name string) schedq.Popped {
	fixture.Helper()
	popped, err := fixture.TryPop()
	fixture.ok(err)
	equal(fixture, "popped", popped.Name, name)
	return popped
}

// park adds a pod, pops it and parks it, rejected by these plugins.
func (fixture *fixture) park(name string, object uint64, rejectors schedq.Plugins) schedq.Result {
	fixture.Helper()
	fixture.add(name, schedq.PodSpec{Object: object})
	popped := fixture.pop(name)
	result, err := fixture.Fail(&popped.Token, &schedq.Failure{
		Place: schedq.Parked, Unschedulable: rejectors, JudgedUpTo: popped.Seen,
	})
	fixture.ok(err)
	equal(fixture, "place", result.Place, schedq.Parked)
	return result
}

func (fixture *fixture) place(name string) schedq.Place {
	fixture.Helper()
	result, err := fixture.Find(name)
	if err == schedq.ErrNotFound {
		return schedq.Nowhere
	}
	fixture.ok(err)
	return result.Place
}

func TestAPodGoesThroughItsLife(t *testing.T) {
	onBothEngines(t, nil, func(f *fixture) {
		f.add("default/low", schedq.PodSpec{Object: 1})
		added := f.add("default/high", schedq.PodSpec{Object: 2, Priority: 7, NominatedNode: 3, Flags: schedq.PodAffinity})
		equal(f, "place", added.Place, schedq.Active)
		equal(f, "poppable", added.Poppable, true)
		equal(f, "timestamp", added.Timestamp, second)

		popped := f.pop("default/high")
		equal(f, "object", popped.Object, 2)
		equal(f, "handle", popped.Pod, added.Pod)
		equal(f, "priority", popped.Priority, 7)
		equal(f, "node", popped.NominatedNode, 3)
		equal(f, "flags", popped.Flags, schedq.PodAffinity)
		equal(f, "attempts", popped.History.Attempts, 1)
		equal(f, "initial attempt", popped.History.InitialAttempt, second)
		equal(f, "more", popped.More, true)
		f.ok(f.TokenAlive(popped.Token))
		f.ok(f.Done(popped.Token))
		f.wants(f.Done(popped.Token), schedq.ErrStale)

		low := f.pop("default/low")
		deleted, err := f.Delete("default/low")
		f.ok(err)
		equal(f, "place of a pod that a holder has", deleted.Place, schedq.InFlight)
		f.wants(f.Done(low.Token), schedq.ErrGone)
		_, err = f.TryPop()
		f.wants(err, schedq.ErrEmpty)
	})
}

func TestNamesAndHandlesFindPods(t *testing.T) {
	onBothEngines(t, nil, func(f *fixture) {
		added := f.add("default/a", schedq.PodSpec{Object: 5})
		found, err := f.Find("default/a")
		f.ok(err)
		equal(f, "handle", found.Pod, added.Pod)
		equal(f, "object", found.Object, 5)
		again, err := f.Add("default/a", &schedq.PodSpec{Object: 6})
		f.wants(err, schedq.ErrExists)
		equal(f, "who has the name", again.Object, 5)
		info, err := f.Get(added.Pod)
		f.ok(err)
		equal(f, "name", info.Name, "default/a")
		equal(f, "place", info.Place, schedq.Active)

		updated, err := f.Update("default/a", &schedq.PodSpec{Object: 7, Priority: 1}, 5,
			[]schedq.Event{schedq.EventUnscheduledPodUpdate})
		f.ok(err)
		equal(f, "replaced", updated.Object, 5)
		equal(f, "added", updated.Added, false)
		_, err = f.Update("default/unknown", &schedq.PodSpec{}, 0, nil)
		f.wants(err, schedq.ErrNotFound)
		_, err = f.Add("default/unknown", &schedq.PodSpec{Flags: schedq.PodAdd})
		f.wants(err, schedq.ErrInvalid)
		updated, err = f.Update("default/new", &schedq.PodSpec{Flags: schedq.PodAdd}, 0, nil)
		f.ok(err)
		equal(f, "added by an update that may", updated.Added, true)
		updated, err = f.Update("default/a", &schedq.PodSpec{Object: 8}, 7, nil)
		f.ok(err)
		equal(f, "replaced by an update that does not add", updated.Object, 7)
		one := schedq.PodSpec{Object: 9, Only: f.add("default/b", schedq.PodSpec{}).Pod}
		_, err = f.Update("default/a", &one, 0, nil)
		f.wants(err, schedq.ErrNotFound)
		one.Only = added.Pod
		updated, err = f.Update("default/a", &one, 0, nil)
		f.ok(err)
		equal(f, "replaced by an update of one pod", updated.Object, 8)
		_, err = f.Update("default/a", &schedq.PodSpec{Flags: schedq.PodAdd, Only: added.Pod}, 0, nil)
		f.wants(err, schedq.ErrInvalid)
		_, err = f.DeletePod(added.Pod)
		f.ok(err)
		_, err = f.DeletePod(added.Pod)
		f.wants(err, schedq.ErrNotFound)
		_, err = f.DeletePod(schedq.Pod{})
		f.wants(err, schedq.ErrNotFound)
		_, err = f.Delete("default/a")
		f.wants(err, schedq.ErrNotFound)
		_, err = f.Get(added.Pod)
		f.wants(err, schedq.ErrNotFound)
	})
}

func TestManyPodsGoInAndOutWithOneCall(t *testing.T) {
	onBothEngines(t, nil, func(f *fixture) {
		const count = 200
		var names string
		items := make([]schedq.AddItem, count)
		for i := range items {
			name := fmt.Sprintf("default/pod-%03d", i)
			items[i] = schedq.AddItem{
				NameOffset: uint32(len(names)), NameLength: uint32(len(name)),
				Spec: schedq.PodSpec{Object: uint64(i), Priority: int32(count - i)},
			}
			names += name
		}
		pods, answers := make([]schedq.Pod, count), make([]schedq.Status, count)
		sum, err := f.AddMany(names, items, pods, answers)
		f.ok(err)
		equal(f, "active", sum.ToActive, count)
		sum, err = f.AddMany(names, items[:2], nil, answers[:2])
		f.wants(err, schedq.ErrExists)
		equal(f, "second answer", answers[1], schedq.ErrExists)
		equal(f, "active of the second time", sum.ToActive, 0)

		out := make([]schedq.Popped, count+1)
		taken, err := f.TryPopMany(out)
		f.ok(err)
		equal(f, "taken", taken, count)
		tokens := make([]schedq.Token, taken)
		for i := range tokens {
			equal(f, "name", out[i].Name, fmt.Sprintf("default/pod-%03d", i))
			equal(f, "object", out[i].Object, uint64(i))
			equal(f, "handle", out[i].Pod, pods[i])
			tokens[i] = out[i].Token
		}
		f.ok(f.DoneMany(tokens, answers))
		f.wants(f.DoneMany(tokens, answers), schedq.ErrStale)
		equal(f, "last answer", answers[count-1], schedq.ErrStale)
		taken, err = f.TryPopMany(out)
		f.wants(err, schedq.ErrEmpty)
		equal(f, "taken of nothing", taken, 0)
		_, err = f.AddMany("", nil, nil, nil)
		f.ok(err)
		_, err = f.AddMany(names[:20], items[1:3], nil, nil)
		f.wants(err, schedq.ErrInvalid)
		f.ok(f.DoneMany(nil, nil))
	})
}

func TestAFailureAfterDoneComesBackWithItsHistory(t *testing.T) {
	onBothEngines(t, byHost, func(f *fixture) {
		f.add("default/a", schedq.PodSpec{})
		popped := f.pop("default/a")
		f.ok(f.Done(popped.Token))
		failure := &schedq.Failure{Place: schedq.Backoff}
		_, err := f.Fail(&popped.Token, failure)
		f.wants(err, schedq.ErrStale)
		result, err := f.Readd("default/a", &schedq.PodSpec{Object: 9}, &popped.History, failure)
		f.ok(err)
		equal(f, "place", result.Place, schedq.ErrorBackoff)
		info, err := f.Get(result.Pod)
		f.ok(err)
		equal(f, "attempts", info.History.Attempts, 1)
		equal(f, "errors", info.History.Errors, 1)
		equal(f, "expiry", info.BackoffExpiry, 2*second)
	})
}

func TestNominationsAreCountedInAWord(t *testing.T) {
	onBothEngines(t, nil, func(f *fixture) {
		pod := f.add("default/a", schedq.PodSpec{}).Pod
		equal(f, "nominations", f.Words().Nominations(), 0)
		f.ok(f.Nominate(pod, 4))
		equal(f, "nominations", f.Words().Nominations(), 1)
		pods, err := f.NominatedPods(4)
		f.ok(err)
		equal(f, "pods", len(pods), 1)
		equal(f, "node", pods[0].NominatedNode, 4)
		f.ok(f.Nominate(pod, 0))
		pods, err = f.NominatedPods(4)
		f.ok(err)
		equal(f, "pods", len(pods), 0)
		_, err = f.NominatedPods(0)
		f.wants(err, schedq.ErrInvalid)
	})
}

func TestTheClockDoesNotGoBack(t *testing.T) {
	onBothEngines(t, nil, func(f *fixture) {
		f.now = 5 * second
		f.add("default/a", schedq.PodSpec{})
		f.now = 3 * second
		equal(f, "timestamp", f.add("default/b", schedq.PodSpec{}).Timestamp, 5*second)
	})
}

func TestAnyTextIsAName(t *testing.T) {
	onBothEngines(t, nil, func(f *fixture) {
		for _, name := range []string{"a", "job-17", "/", "a/b/c", "\xff", strings.Repeat("x", schedq.NameMax)} {
			f.add(name, schedq.PodSpec{})
			f.pop(name)
		}
		for _, name := range []string{"", "a\x00b", strings.Repeat("x", schedq.NameMax+1)} {
			_, err := f.Add(name, &schedq.PodSpec{})
			f.wants(err, schedq.ErrInvalid)
		}
	})
}

func TestDestroyRefusesWhilePodsWouldBeLost(t *testing.T) {
	queue, err := schedq.New(schedq.DefaultConfig(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := queue.Add("a", &schedq.PodSpec{}); err != nil {
		t.Fatal(err)
	}
	if err := queue.Destroy(); !errors.Is(err, schedq.ErrNotEmpty) || !strings.Contains(err.Error(), "1 active") {
		t.Fatalf("got %v", err)
	}
	popped, err := queue.TryPop()
	if err != nil {
		t.Fatal(err)
	}
	if err := queue.Done(popped.Token); err != nil {
		t.Fatal(err)
	}
	if err := queue.Destroy(); err != nil {
		t.Fatal(err)
	}
}
