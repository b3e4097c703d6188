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
