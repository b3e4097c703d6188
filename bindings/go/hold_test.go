package schedq_test

import (
	"testing"
	"time"

	"schedq"
)

func TestPodsAreKeptBack(t *testing.T) {
	onBothEngines(t, nil, func(f *fixture) {
		pod := f.add("default/a", schedq.PodSpec{}).Pod
		result, err := f.Hold(pod)
		f.ok(err)
		equal(f, "held", result.Place, schedq.Held)
		equal(f, "how many", f.Words().Held(), 1)
		_, err = f.TryPop()
		f.wants(err, schedq.ErrEmpty)
		info, err := f.Get(pod)
		f.ok(err)
		equal(f, "marked", info.Held, true)
		result, err = f.Release(pod)
		f.ok(err)
		equal(f, "let go", result.Place, schedq.Active)
		result, err = f.NotBefore(pod, f.now+second)
		f.ok(err)
		equal(f, "until a time", result.Place, schedq.Held)
		f.now += second
		_, _, err = f.Tick()
		f.ok(err)
		f.pop("default/a")
		later := f.add("default/b", schedq.PodSpec{NotBefore: f.now + second})
		equal(f, "added", later.Place, schedq.Held)
		stats, err := f.Stats()
		f.ok(err)
		equal(f, "in the counts", stats.Held, 1)
		_, err = f.NotBefore(later.Pod, -1)
		f.wants(err, schedq.ErrInvalid)
		_, err = f.Hold(schedq.Pod{})
		f.wants(err, schedq.ErrNotFound)
	})
}

// While one pod of a class waits, rejected, the others are kept back.
func TestAClassIsTriedByOneOfItsPods(t *testing.T) {
	patience := func(config *schedq.Config) { config.ClassPatience = 60 * second }
	onBothEngines(t, patience, func(f *fixture) {
		fit := f.plugin("Fit", schedq.Interest{Resource: "Node", Actions: schedq.ActionAdd})
		for _, name := range []string{"default/a", "default/b", "default/c"} {
			f.add(name, schedq.PodSpec{Class: 7})
		}
		first, other := f.pop("default/a"), f.pop("default/b")
		_, err := f.Fail(&first.Token, &schedq.Failure{Unschedulable: fit})
		f.ok(err)
		result, err := f.Fail(&other.Token, &schedq.Failure{Unschedulable: fit})
		f.ok(err)
		equal(f, "kept back", result.Place, schedq.Held)
		_, err = f.TryPop()
		f.wants(err, schedq.ErrEmpty)
		why, err := f.Explain(other.Pod)
		f.ok(err)
		equal(f, "why", [3]any{why.KeptByClass, why.Class, why.Scout}, [3]any{true, uint64(7), first.Pod})
		info, err := f.Get(first.Pod)
		f.ok(err)
		equal(f, "its scout", [3]any{info.KeptByClass, info.Class, info.Scout}, [3]any{false, uint64(7), first.Pod})
		stats, err := f.Stats()
		f.ok(err)
		equal(f, "in the counts", [2]uint64{stats.ClassHides, stats.ClassTurns}, [2]uint64{2, 0})
		_, err = f.DeletePod(first.Pod)
		f.ok(err)
		next := f.pop("default/b")
		_, err = f.Fail(&next.Token, &schedq.Failure{Unschedulable: fit, OwnReasons: true})
		f.ok(err)
		f.pop("default/c")
	})
}

// A goroutine in Pop hears of a pod that is let go.
func TestAReleaseWakesWhoWaits(t *testing.T) {
	onBothEngines(t, nil, func(f *fixture) {
		pod := f.add("default/a", schedq.PodSpec{}).Pod
		_, err := f.Hold(pod)
		f.ok(err)
		popped := make(chan error, 1)
		go func() {
			_, err := f.Pop(t.Context())
			popped <- err
		}()
		for f.Waiting() == 0 {
			time.Sleep(time.Millisecond)
		}
		_, err = f.Release(pod)
		f.ok(err)
		f.ok(<-popped)
	})
}
