package schedq_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"schedq"
)

// A refusal names the argument, the value and what is legal; the value is that of the caller, as wide as it came.
func TestRefusalsNameTheValueThatWasGiven(t *testing.T) {
	_, err := schedq.PresetConfig(99)
	if !errors.Is(err, schedq.ErrInvalid) || !strings.HasSuffix(err.Error(), "preset 99: legal are 0, 12, 26, 34, 37") {
		t.Errorf("preset 99: got %v", err)
	}
	onBothEngines(t, func(config *schedq.Config) { config.MaxPods = 20 }, func(f *fixture) {
		f.says(f.Reserve(-1, 0, 0), "Reserve: SCHEDQ_INVALID: pods -1: 0..4294967295")
		f.says(f.Reserve(1<<40, 0, 0), "Reserve: SCHEDQ_INVALID: pods 1099511627776: 0..4294967295")
		f.says(f.Reserve(0, -2, 0), "Reserve: SCHEDQ_INVALID: bands -2: 0..4294967295")
		f.says(f.Reserve(0, 0, 1<<32), "Reserve: SCHEDQ_INVALID: workers 4294967296: 0..4294967295")
		f.says(f.Reserve(21, 0, 0), "Reserve: SCHEDQ_INVALID: pods 21: 0..20")
		for _, count := range []int{0, -1} {
			_, err := f.PeekMany(count)
			f.says(err, fmt.Sprintf("PeekMany: SCHEDQ_INVALID: count %d: 1 or more", count))
		}
		_, _, err := f.Watch(schedq.NewWatchdog(), -1)
		f.says(err, "Watch: SCHEDQ_INVALID: limit -1: 0 or more")
	})
}

func TestNoPointerIsRefused(t *testing.T) {
	onBothEngines(t, nil, func(f *fixture) {
		f.add("default/a", schedq.PodSpec{})
		popped := f.pop("default/a")
		var answers = map[string]error{}
		_, answers["Add: SCHEDQ_INVALID: spec nil: a pointer"] = f.Add("default/b", nil)
		_, answers["Update: SCHEDQ_INVALID: spec nil: a pointer"] = f.Update("default/a", nil, 0, nil)
		_, answers["Fail: SCHEDQ_INVALID: failure nil: a pointer"] = f.Fail(&popped.Token, nil)
		_, answers["Fail: SCHEDQ_INVALID: token nil: a pointer"] = f.Fail(nil, &schedq.Failure{})
		_, answers["Readd: SCHEDQ_INVALID: spec nil: a pointer"] = f.Readd("default/b", nil, &schedq.History{}, &schedq.Failure{})
		_, answers["Readd: SCHEDQ_INVALID: failure nil: a pointer"] = f.Readd("default/b", &schedq.PodSpec{}, &schedq.History{}, nil)
		_, answers["AddGroup: SCHEDQ_INVALID: spec nil: a pointer"] = f.AddGroup(7, nil)
		_, answers["UpdateGroup: SCHEDQ_INVALID: spec nil: a pointer"] = f.UpdateGroup(7, nil)
		_, answers["Notify: SCHEDQ_INVALID: change nil: a pointer"] = f.Notify(nil)
		_, answers["AssignedPodAdded: SCHEDQ_INVALID: change nil: a pointer"] = f.AssignedPodAdded(nil, "default")
		_, answers["AssignedPodUpdated: SCHEDQ_INVALID: change nil: a pointer"] = f.AssignedPodUpdated(nil, "default")
		_, answers["Candidates: SCHEDQ_INVALID: query nil: a pointer"] = f.Candidates(nil, make([]schedq.Candidate, 1))
		_, answers["Apply: SCHEDQ_INVALID: decision nil: a pointer"] = f.Apply(nil)
		_, _, answers["Watch: SCHEDQ_INVALID: watchdog nil: a pointer"] = f.Watch(nil, 1)
		for words, err := range answers {
			f.wants(err, schedq.ErrInvalid)
			f.says(err, words)
		}
		f.ok(f.Done(popped.Token))
	})
}

// Each call after the end is told so, whether it needs a worker or not; so is each on a queue that New did not make.
func TestACallAfterTheEndPanicsInWords(t *testing.T) {
	ended, err := schedq.New(schedq.DefaultConfig(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := ended.Destroy(); err != nil {
		t.Fatal(err)
	}
	ended.Close()
	for _, queue := range []*schedq.Queue{ended, {}} {
		calls := map[string]func(){
			"Add":          func() { queue.Add("a", &schedq.PodSpec{}) },
			"Stats":        func() { queue.Stats() },
			"Words":        func() { queue.Words().Parked() },
			"WriteMetrics": func() { queue.WriteMetrics(io.Discard) },
			"PendingText":  func() { _ = queue.PendingText() },
			"Reserve":      func() { queue.Reserve(1, 0, 0) },
			"Trim":         func() { queue.Trim() },
			"DefineEvent":  func() { queue.DefineEvent("Word", schedq.ActionAdd, "") },
			"EventPlugins": func() { queue.EventPlugins(0, schedq.EventNodeAdd) },
			"RejectorName": func() { _ = queue.RejectorName(0, 1) },
			"Now":          func() { queue.Now() },
		}
		for name, call := range calls {
			func() {
				defer func() {
					if said := fmt.Sprint(recover()); !strings.HasPrefix(said, "schedq: a call on a queue") {
						t.Errorf("%s: got %q", name, said)
					}
				}()
				call()
			}()
		}
	}
}
