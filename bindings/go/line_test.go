package schedq_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"schedq"
)

func TestTheLineIsSeenWithoutTaking(t *testing.T) {
	onBothEngines(t, nil, func(f *fixture) {
		_, err := f.Peek()
		f.wants(err, schedq.ErrEmpty)
		_, err = f.PeekMany(3)
		f.wants(err, schedq.ErrEmpty)
		pods := make([]schedq.Pod, 5)
		for i := range pods {
			pods[i] = f.add(fmt.Sprintf("default/%d", i), schedq.PodSpec{Priority: int32(-i), Object: uint64(i)}).Pod
		}
		first, err := f.Peek()
		f.ok(err)
		equal(f, "first", first.Name, "default/0")
		equal(f, "its place", first.Place, schedq.Active)
		line, err := f.PeekMany(3)
		f.ok(err)
		equal(f, "how many", len(line), 3)
		equal(f, "third", line[2].Object, 2)
		line, err = f.PeekMany(99)
		f.ok(err)
		equal(f, "all", len(line), len(pods))
		_, err = f.PeekMany(0)
		f.wants(err, schedq.ErrInvalid)
		lower, upper, err := f.Position(pods[4])
		f.ok(err)
		equal(f, "at least before the last", lower, 4)
		equal(f, "at most before the last", upper, 4)
		f.pop("default/0")
		_, _, err = f.Position(pods[0])
		f.wants(err, schedq.ErrGone)
		_, _, err = f.Position(schedq.Pod{})
		f.wants(err, schedq.ErrNotFound)
	})
}

func TestAWatchdogNamesWhatIsOverdue(t *testing.T) {
	onBothEngines(t, nil, func(f *fixture) {
		dog := schedq.NewWatchdog()
		pod := f.add("default/a", schedq.PodSpec{}).Pod
		popped := f.pop("default/a")
		overdue, found, err := f.Watch(dog, 4)
		f.ok(err)
		equal(f, "overdue at once", found, 0)
		f.now += dog.InFlight
		overdue, found, err = f.Watch(dog, 4)
		f.ok(err)
		equal(f, "overdue", found, 1)
		equal(f, "kind", overdue[0].Kind, schedq.OverdueInFlight)
		equal(f, "pod", overdue[0].Pod, pod)
		equal(f, "for", overdue[0].For, dog.InFlight)
		equal(f, "its words", strings.Contains(overdue[0].Text, "pod default/a: popped"), true)
		overdue, found, err = f.Watch(dog, 0)
		f.ok(err)
		equal(f, "without room", found, 1)
		equal(f, "told", len(overdue), 0)
		f.ok(f.Done(popped.Token))
		dog.Call = -1
		_, _, err = f.Watch(dog, 0)
		f.wants(err, schedq.ErrInvalid)
	})
}

func TestReasonsAreTold(t *testing.T) {
	onBothEngines(t, nil, func(f *fixture) {
		fit := f.plugin("Fit")
		pod := f.add("default/a", schedq.PodSpec{}).Pod
		popped := f.pop("default/a")
		_, err := f.Fail(&popped.Token, &schedq.Failure{Unschedulable: fit})
		f.ok(err)
		explanation, err := f.Explain(pod)
		f.ok(err)
		equal(f, "place", explanation.Place, schedq.Parked)
		equal(f, "rejected by", explanation.Unschedulable, fit)
		equal(f, "attempts", explanation.History.Attempts, 1)
		equal(f, "now", explanation.Now, f.now)
		equal(f, "its words", strings.Contains(explanation.Text, "rejected by Fit"), true)
		equal(f, "name", f.RejectorName(0, fit), "Fit")
		equal(f, "no name", f.RejectorName(0, fit<<1), "")
		reasons, err := f.CountReasons(0)
		f.ok(err)
		equal(f, "parked", reasons.Parked, 1)
		equal(f, "by Fit", reasons.ParkedBy[fit.Gate()-1], 1)
		equal(f, "gated", reasons.Gated, 0)
		_, err = f.CountReasons(9)
		f.wants(err, schedq.ErrInvalid)
		_, err = f.Explain(schedq.Pod{})
		f.wants(err, schedq.ErrNotFound)
	})
}

func TestPopManyWaitsForTheFirst(t *testing.T) {
	onBothEngines(t, nil, func(f *fixture) {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		taken := make(chan int)
		for range 2 {
			go func() {
				count, err := f.PopMany(ctx, make([]schedq.Popped, 2))
				if err != nil {
					count = -1
				}
				taken <- count
			}()
		}
		items := []schedq.AddItem{{NameLength: 1}, {NameOffset: 1, NameLength: 1}, {NameOffset: 2, NameLength: 1}}
		_, err := f.AddMany("abc", items, nil, nil)
		f.ok(err)
		equal(f, "all of them", <-taken+<-taken, 3)
		count, err := f.PopMany(ctx, nil)
		f.ok(err)
		equal(f, "into nothing", count, 0)
		cancel()
		_, err = f.PopMany(ctx, make([]schedq.Popped, 1))
		f.wants(err, context.Canceled)
		f.Close()
		_, err = f.PopMany(context.Background(), make([]schedq.Popped, 1))
		f.wants(err, schedq.ErrClosed)
	})
}
