package schedq_test

import (
	"context"
	"fmt"
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

// classConfig has classes, and no backoff.
func classConfig(config *schedq.Config) {
	config.ClassPatience, config.MaxBackoff = 60*second, 0
}

// keptBack adds two pods of a class, and rejects one: the other one is kept back.
func (fixture *fixture) keptBack() {
	fixture.Helper()
	fit := fixture.plugin("Fit", schedq.Interest{Resource: "Node", Actions: schedq.ActionAdd})
	fixture.add("default/a", schedq.PodSpec{Class: 7})
	fixture.add("default/b", schedq.PodSpec{Class: 7})
	scout := fixture.pop("default/a")
	_, err := fixture.Fail(&scout.Token, &schedq.Failure{Unschedulable: fit})
	fixture.ok(err)
	_, err = fixture.TryPop()
	fixture.wants(err, schedq.ErrEmpty)
}

// A goroutine in Pop hears of the pod that the end of a cycle lets go: by each call that ends one.
func TestTheEndOfACycleWakesWhoWaits(t *testing.T) {
	for name, done := range map[string]func(*fixture, schedq.Token) error{
		"Done":     func(f *fixture, token schedq.Token) error { return f.Done(token) },
		"DoneMany": func(f *fixture, token schedq.Token) error { return f.DoneMany([]schedq.Token{token}, nil) },
	} {
		t.Run(name, func(t *testing.T) {
			onBothEngines(t, classConfig, func(f *fixture) {
				f.keptBack()
				_, err := f.Notify(&schedq.Change{Event: schedq.EventNodeAdd})
				f.ok(err)
				scout := f.pop("default/a")
				popped := make(chan string, 1)
				ctx, cancel := context.WithTimeout(context.Background(), patience)
				defer cancel()
				go func() {
					next, err := f.Pop(ctx)
					popped <- fmt.Sprint(next.Name, err)
				}()
				for f.Waiting() == 0 {
					time.Sleep(time.Millisecond)
				}
				f.ok(done(f, scout.Token))
				equal(f, "popped", <-popped, "default/b<nil>")
			})
		})
	}
}

// Run hears of the time of a pod that a pop keeps back, each kind of pop.
func TestWhatAPopKeepsBackComesInTime(t *testing.T) {
	one := make([]schedq.Popped, 1)
	for name, pop := range map[string]func(context.Context, *schedq.Queue) error{
		"Pop": func(ctx context.Context, queue *schedq.Queue) error {
			_, err := queue.Pop(ctx)
			return err
		},
		"PopMany": func(ctx context.Context, queue *schedq.Queue) error {
			_, err := queue.PopMany(ctx, one)
			return err
		},
		"PopGroup": func(ctx context.Context, queue *schedq.Queue) error {
			_, _, err := queue.PopGroup(ctx, one)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			config := schedq.DefaultConfig()
			classConfig(&config)
			config.ClassPatience = int64(50 * time.Millisecond)
			queue, err := schedq.New(config, nil)
			if err != nil {
				t.Fatal(err)
			}
			f := &fixture{Queue: queue, T: t}
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			defer cancel()
			fit := f.plugin("Fit", schedq.Interest{Resource: "Node", Actions: schedq.ActionAdd})
			f.add("default/a", schedq.PodSpec{Class: 7})
			scout := f.pop("default/a")
			_, err = f.Fail(&scout.Token, &schedq.Failure{Unschedulable: fit})
			f.ok(err)
			f.add("default/b", schedq.PodSpec{Class: 7})
			ticked, ran := make(chan struct{}, 1), make(chan struct{})
			running, stop := context.WithCancel(ctx)
			go func() {
				queue.Run(running, func(schedq.Result) {
					select {
					case ticked <- struct{}{}:
					default:
					}
				})
				close(ran)
			}()
			<-ticked
			time.Sleep(20 * time.Millisecond) // it is about to sleep, to when the pod that is parked was there too long
			f.ok(pop(ctx, queue))
			stop()
			<-ran
			f.ok(queue.DestroyWithPods())
		})
	}
}
