package schedq_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unsafe"

	"schedq"
	"schedq/internal/callbacks"
)

func TestTheLibraryDecidesByWhatPluginsRegistered(t *testing.T) {
	onBothEngines(t, nil, func(f *fixture) {
		fit := f.plugin("Fit", schedq.Interest{Resource: "Node", Actions: schedq.ActionAdd | schedq.ActionUpdateNodeAllocatable})
		f.add("default/a", schedq.PodSpec{})
		popped := f.pop("default/a")
		_, err := f.Fail(&popped.Token, &schedq.Failure{Unschedulable: fit})
		f.ok(err)
		equal(f, "place", f.place("default/a"), schedq.Parked)
		result, err := f.Notify(&schedq.Change{Event: schedq.EventNodeUpdateTaint})
		f.ok(err)
		equal(f, "moved by another event", result.ToBackoff, 0)
		result, err = f.Notify(&schedq.Change{Event: schedq.EventNodeAdd})
		f.ok(err)
		equal(f, "moved", result.ToBackoff, 1)
		f.now += second
		ticked, next, err := f.Tick()
		f.ok(err)
		equal(f, "due", ticked.ToActive, 1)
		equal(f, "next", next, schedq.NoDeadline)
		f.pop("default/a")
	})
}

func TestTheLibraryAsksFunctionsInC(t *testing.T) {
	onBothEngines(t, nil, func(f *fixture) {
		fit, err := f.RegisterPluginInC(0, "Fit", 0, schedq.Callbacks{
			PreEnqueue: callbacks.IsAtMost,
			Hints:      []unsafe.Pointer{nil, callbacks.IsEnough},
			Context:    callbacks.Limit,
		}, schedq.Interest{Resource: "Pod", Actions: schedq.ActionDelete}, schedq.Interest{Resource: "Node", Actions: schedq.ActionAdd})
		f.ok(err)
		callbacks.SetLimit(8)
		result := f.add("default/9", schedq.PodSpec{Object: 9})
		equal(f, "place", result.Place, schedq.Gated)
		equal(f, "gate", result.Gate.Plugins(), fit)
		for _, object := range []uint64{2, 3, 5, 8} {
			name := fmt.Sprintf("default/%d", object)
			f.add(name, schedq.PodSpec{Object: object})
			popped := f.pop(name)
			_, err := f.Fail(&popped.Token, &schedq.Failure{Unschedulable: fit})
			f.ok(err)
		}
		result, err = f.Notify(&schedq.Change{Event: schedq.EventNodeAdd, NewObject: 5, Precheck: callbacks.IsOdd})
		f.ok(err)
		equal(f, "odd, and at most 5", result.ToBackoff, 2)
		result, err = f.Notify(&schedq.Change{Event: schedq.EventNodeAdd, NewObject: 5})
		f.ok(err)
		equal(f, "at most 5", result.ToBackoff, 1)
		callbacks.SetLimit(9)
		result, err = f.Notify(&schedq.Change{Event: schedq.EventAssignedPodDelete})
		f.ok(err)
		equal(f, "without a hint all", result.ToBackoff, 1)
		equal(f, "and the gated one", f.place("default/9"), schedq.Active)
	})
}

func TestAnAssignedPodReachesThoseThatASpreadPluginRejected(t *testing.T) {
	onBothEngines(t, func(config *schedq.Config) { config.Requeue = schedq.RequeueMoveCycle }, func(f *fixture) {
		spread, err := f.RegisterPlugin(0, "Spread", schedq.PluginSpread,
			schedq.Interest{Resource: "Pod", Actions: schedq.ActionAll})
		f.ok(err)
		for _, name := range []string{"near/a", "near/b", "far/c"} {
			f.add(name, schedq.PodSpec{})
			popped := f.pop(name)
			_, err := f.Fail(&popped.Token, &schedq.Failure{Unschedulable: spread})
			f.ok(err)
		}
		result, err := f.AssignedPodAdded(&schedq.Change{Event: schedq.EventAssignedPodAdd}, "near")
		f.ok(err)
		equal(f, "moved", result.ToBackoff, 2)
		result, err = f.AssignedPodUpdated(&schedq.Change{Event: schedq.EventAssignedPodUpdateScaleDown}, "near")
		f.ok(err)
		equal(f, "moved by a scale-down, wherever they are", result.ToBackoff, 1)
	})
}

func TestEventsAndPluginsHaveNumbers(t *testing.T) {
	onBothEngines(t, byHost, func(f *fixture) {
		batch, err := f.DefineProfile("batch")
		f.ok(err)
		fit := f.plugin("Fit", schedq.Interest{Resource: "Node", Actions: schedq.ActionAdd})
		other, err := f.RegisterPlugin(batch, "Fit", 0)
		f.ok(err)
		again, err := f.RegisterPlugin(0, "Fit", 0)
		f.wants(err, schedq.ErrExists)
		equal(f, "bit of a name that is taken", again, fit)
		node, err := f.DefineEvent("Node", schedq.ActionAdd, "")
		f.ok(err)
		equal(f, "a known event", node, schedq.EventNodeAdd)
		claim, err := f.DefineEvent("resource.k8s.io/ResourceClaim", schedq.ActionAdd, "")
		f.ok(err)
		if claim <= schedq.EventNodeUpdateAnnotation {
			f.Fatalf("a new event has the number %d of a known one", claim)
		}
		equal(f, "who hears of a node", f.EventPlugins(0, node)&^schedq.RejectorOthers, fit)
		equal(f, "in the other profile", f.EventPlugins(batch, node)&other, 0)
		late := f.RejectorBit(0, "Late")
		if late == 0 || late == fit || late == schedq.RejectorOthers {
			f.Fatalf("bit of a late name: %x", uint64(late))
		}
		equal(f, "the same late name", f.RejectorBit(0, "Late"), late)
		f.add("default/a", schedq.PodSpec{})
		_, err = f.DefineProfile("too late")
		f.wants(err, schedq.ErrBusy)
		f.says(err, "DefineProfile: SCHEDQ_BUSY: setup is over: DefineProfile and RegisterPlugin come before")
		_, err = f.RegisterPlugin(0, "too late", 0)
		f.wants(err, schedq.ErrBusy)
		f.says(err, "RegisterPlugin: SCHEDQ_BUSY: setup is over: ")
	})
}

func TestWordsAreOfThisPackage(t *testing.T) {
	onBothEngines(t, byHost, func(f *fixture) {
		_, err := f.Notify(&schedq.Change{Event: schedq.EventNodeAdd})
		f.wants(err, schedq.ErrInvalid)
		f.says(err, "Notify: SCHEDQ_INVALID: Notify: only with Config.Decide = DecideLibrary")
		f.add("default/a", schedq.PodSpec{})
		err = f.Destroy()
		f.wants(err, schedq.ErrNotEmpty)
		f.says(err, "Destroy: SCHEDQ_NOT_EMPTY: 1 active: end them first, or call DestroyWithPods")
	})
}

// says expects the beginning of an error's words.
func (fixture *fixture) says(err error, words string) {
	fixture.Helper()
	if !strings.HasPrefix(err.Error(), words) {
		fixture.Errorf("got %q, which does not begin with %q", err, words)
	}
}

func TestEventsHaveLimits(t *testing.T) {
	onBothEngines(t, func(config *schedq.Config) { config.MaxEvents = 36 }, func(f *fixture) {
		long := strings.Repeat("x", 127)
		first, err := f.DefineEvent(long, schedq.ActionAdd, long)
		f.ok(err)
		again, err := f.DefineEvent(long, schedq.ActionAdd, long)
		f.ok(err)
		equal(f, "the same one", again, first)
		_, err = f.DefineEvent("Other", schedq.ActionAdd, "")
		f.wants(err, schedq.ErrFull)
		for _, resource := range []string{"", long + "x", "a\x00b"} {
			_, err = f.DefineEvent(resource, schedq.ActionAdd, "")
			f.wants(err, schedq.ErrInvalid)
		}
		_, err = f.DefineEvent("Other", schedq.ActionAdd, "a\x00b")
		f.wants(err, schedq.ErrInvalid)
		_, err = f.DefineEvent("Other", 0, "")
		f.wants(err, schedq.ErrInvalid)
	})
}

func TestUpdatesAreClassified(t *testing.T) {
	before, after := schedq.PodFacts{Gates: 1, Labels: 1}, schedq.PodFacts{Labels: 2}
	events := schedq.ClassifyPodUpdate(nil, &before, []schedq.Quantity{{Resource: 1, Milli: 500}}, &after,
		[]schedq.Quantity{{Resource: 1, Milli: 400}})
	want := []schedq.Event{
		schedq.EventUnscheduledPodUpdateLabel, schedq.EventUnscheduledPodUpdateScaleDown,
		schedq.EventUnscheduledPodUpdateGatesEliminated,
	}
	if len(events) != len(want) || events[0] != want[0] || events[1] != want[1] || events[2] != want[2] {
		t.Errorf("pod: got %v, want %v", events, want)
	}
	if events := schedq.ClassifyPodUpdate(nil, &before, nil, &before, nil); len(events) != 1 ||
		events[0] != schedq.EventUnscheduledPodUpdate {
		t.Errorf("a pod that did not change: got %v", events)
	}
	closed, open := schedq.NodeFacts{Unschedulable: true}, schedq.NodeFacts{Allocatable: 1}
	nodes := schedq.ClassifyNodeUpdate([]schedq.Event{schedq.EventNodeAdd}, &closed, &open)
	if len(nodes) != 3 || nodes[0] != schedq.EventNodeAdd || nodes[1] != schedq.EventNodeUpdateTaint ||
		nodes[2] != schedq.EventNodeUpdateAllocatable {
		t.Errorf("node: got %v", nodes)
	}
}

func TestRefusalsHaveWords(t *testing.T) {
	config := schedq.DefaultConfig()
	config.MaxWorkers = 513
	_, err := schedq.New(config, nil)
	var refusal *schedq.Error
	if !errors.Is(err, schedq.ErrInvalid) || !errors.As(err, &refusal) || !strings.Contains(err.Error(), "max_workers 513") {
		t.Errorf("513 workers: got %v", err)
	}
	if _, err := schedq.New(schedq.Config{}, nil); !errors.Is(err, schedq.ErrInvalid) || !strings.Contains(err.Error(), "DefaultConfig") {
		t.Errorf("Config{}: got %v", err)
	}
	if _, err := schedq.PresetConfig(99); !errors.Is(err, schedq.ErrInvalid) {
		t.Errorf("preset 99: got %v", err)
	}
	onBothEngines(t, func(config *schedq.Config) { config.MaxPods = 1 }, func(f *fixture) {
		_, err := f.Add("name\x00less", &schedq.PodSpec{})
		f.wants(err, schedq.ErrInvalid)
		if !strings.Contains(err.Error(), "Add: ") || !strings.Contains(err.Error(), "name") {
			f.Errorf("got %q", err)
		}
		_, err = f.Add("", &schedq.PodSpec{})
		f.wants(err, schedq.ErrInvalid)
		if !strings.Contains(err.Error(), "0 bytes") {
			f.Errorf("no name: got %q", err)
		}
		f.add("default/a", schedq.PodSpec{})
		_, err = f.Add("default/b", &schedq.PodSpec{})
		f.wants(err, schedq.ErrFull)
		if !strings.Contains(err.Error(), "max_pods") {
			f.Errorf("got %q", err)
		}
		f.wants(f.Reserve(2, 0, 0), schedq.ErrInvalid)
		_, err = f.Candidates(&schedq.Query{}, nil)
		f.wants(err, schedq.ErrInvalid)
	})
}

func TestStatusesAndPlacesHaveNames(t *testing.T) {
	if got := schedq.ErrNotFound.Error(); got != "SCHEDQ_NOT_FOUND: "+schedq.ErrNotFound.Text() {
		t.Errorf("got %q", got)
	}
	if got := schedq.Parked.String(); got != "parked" {
		t.Errorf("got %q", got)
	}
	if major, minor, patch := schedq.Version(); major == 0 && minor == 0 && patch == 0 {
		t.Error("there is no version 0.0.0")
	}
}

func TestTheQueueCanBeLookedAt(t *testing.T) {
	onBothEngines(t, byHost, func(f *fixture) {
		const count = 300 // more than what the copies of a visit begin with
		fit := f.plugin("Fit")
		for i := range count {
			f.add("default/pod-"+strings.Repeat("x", i%40), schedq.PodSpec{Object: uint64(i), Priority: int32(i)})
			popped, err := f.TryPop()
			f.ok(err)
			_, err = f.Delete(popped.Name)
			f.ok(err)
		}
		f.park("default/parked", 1, fit)
		pods, err := f.Snapshot()
		f.ok(err)
		equal(f, "pods", len(pods), count+1)
		deleted := 0
		for i := range pods {
			if pods[i].Deleted {
				deleted++
				equal(f, "name", pods[i].Name, "default/pod-"+strings.Repeat("x", int(pods[i].Object)%40))
			}
		}
		equal(f, "deleted in flight", deleted, count)
		equal(f, "text", f.PendingText(), "activeQ:0; backoffQ:0; unschedulablePods:1")
		stats, err := f.Stats()
		f.ok(err)
		equal(f, "parked", stats.Parked, 1)
		equal(f, "in flight", stats.InFlight, count)
		var metrics bytes.Buffer
		f.ok(f.WriteMetrics(&metrics))
		if !strings.Contains(metrics.String(), `scheduler_pending_pods{queue="unschedulable"} 1`) {
			f.Errorf("metrics: %s", metrics.String())
		}
		f.wants(f.WriteMetrics(failingWriter{}), errFailingWriter)
		f.ok(f.Reserve(100, 10, 2))
		f.ok(f.Trim())
	})
}

var errFailingWriter = errors.New("this writer always fails")

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, errFailingWriter }
