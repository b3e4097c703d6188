package schedq_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"schedq"
)

const gang = 7

// gather declares a group that needs pods members, and adds them.
func (fixture *fixture) gather(pods int) {
	fixture.Helper()
	result, err := fixture.AddGroup(gang, &schedq.GroupSpec{Quorum: uint32(pods), Object: 700})
	fixture.ok(err)
	equal(fixture, "place", result.Place, schedq.Aside)
	for i := range pods {
		result := fixture.add(fmt.Sprintf("default/%d", i), schedq.PodSpec{Group: gang})
		equal(fixture, "a member waits", result.Place, schedq.Aside)
		equal(fixture, "the last one makes it poppable", result.Poppable, i == pods-1)
	}
}

func TestAGroupIsPoppedWholeAndTriedAgainWhole(t *testing.T) {
	onBothEngines(t, nil, func(f *fixture) {
		_, _, err := f.TryPopGroup(make([]schedq.Popped, 1))
		f.wants(err, schedq.ErrEmpty)
		f.gather(3)
		equal(f, "aside", f.Words().Aside(), 3)
		_, err = f.TryPop()
		f.wants(err, schedq.ErrEmpty)
		_, needed, err := f.TryPopGroup(make([]schedq.Popped, 2))
		f.wants(err, schedq.ErrFull)
		equal(f, "needed", needed, 3)

		members := make([]schedq.Popped, 4)
		group, count, err := f.TryPopGroup(members)
		f.ok(err)
		equal(f, "count", count, 3)
		equal(f, "group", group.Group, gang)
		equal(f, "object", group.Object, 700)
		equal(f, "attempts", group.History.Attempts, 1)
		equal(f, "name", members[2].Name, "default/2")
		f.ok(f.Done(members[0].Token))
		for i := range members[1:count] {
			_, err := f.Fail(&members[1+i].Token, &schedq.Failure{})
			f.ok(err)
		}
		_, err = f.GroupDone(&group.Token, 99)
		f.wants(err, schedq.ErrInvalid)
		result, err := f.GroupDone(&group.Token, schedq.GroupError)
		f.ok(err)
		equal(f, "two of three are no quorum", result.Place, schedq.Aside)
		_, err = f.GroupDone(&group.Token, schedq.GroupPlaced)
		f.wants(err, schedq.ErrStale)
		info, err := f.GetGroup(gang)
		f.ok(err)
		equal(f, "place", info.Place, schedq.Aside)
		equal(f, "waiting", info.Waiting, 2)
		equal(f, "errors", info.History.Errors, 1)
		equal(f, "root", info.Root, gang)
		why, err := f.Explain(members[1].Pod)
		f.ok(err)
		equal(f, "group", why.Group, gang)
		equal(f, "its root", why.GroupRoot, gang)
		equal(f, "members", why.GroupWaiting, 2)
		equal(f, "quorum", why.GroupQuorum, 3)
		equal(f, "its place", why.GroupPlace, schedq.Aside)
		equal(f, "declared", why.GroupDeclared, true)
	})
}

func TestAGroupIsUpdatedActivatedAndUndeclared(t *testing.T) {
	onBothEngines(t, nil, func(f *fixture) {
		f.gather(2)
		_, err := f.AddGroup(gang, &schedq.GroupSpec{})
		f.wants(err, schedq.ErrExists)
		result, err := f.UpdateGroup(gang, &schedq.GroupSpec{Quorum: 3})
		f.ok(err)
		equal(f, "incomplete", result.Place, schedq.Aside)
		_, err = f.UpdateGroup(gang, &schedq.GroupSpec{Parent: 9})
		f.wants(err, schedq.ErrInvalid)
		_, err = f.UpdateGroup(gang, &schedq.GroupSpec{Quorum: 2, Object: 8})
		f.ok(err)
		members := make([]schedq.Popped, 2)
		group, count, err := f.TryPopGroup(members)
		f.ok(err)
		equal(f, "object", group.Object, 8)
		for i := range count {
			_, err := f.Fail(&members[i].Token, &schedq.Failure{})
			f.ok(err)
		}
		_, err = f.GroupDone(&group.Token, schedq.GroupError)
		f.ok(err)
		result, err = f.ActivateGroup(gang)
		f.ok(err)
		equal(f, "activated", result.ToActive, 1)
		stats, err := f.Stats()
		f.ok(err)
		equal(f, "records", stats.GroupsAt[schedq.Active], 1)
		equal(f, "members", stats.MembersAt[schedq.Active], 2)
		result, err = f.DeleteGroup(gang)
		f.ok(err)
		equal(f, "it was", result.Place, schedq.Active)
		_, err = f.DeleteGroup(gang)
		f.wants(err, schedq.ErrNotFound)
		_, err = f.GetGroup(gang)
		f.wants(err, schedq.ErrNotFound)
		info := f.place("default/0")
		equal(f, "its members stay", info, schedq.Aside)
	})
}

func TestPopGroupWaitsForTheLastMemberAndTakesPodsToo(t *testing.T) {
	onBothEngines(t, nil, func(f *fixture) {
		_, err := f.AddGroup(gang, &schedq.GroupSpec{Quorum: 2})
		f.ok(err)
		f.add("default/0", schedq.PodSpec{Group: gang})
		canceled, cancel := context.WithCancel(context.Background())
		cancel()
		_, _, err = f.PopGroup(canceled, make([]schedq.Popped, 2))
		f.wants(err, context.Canceled)

		popped := make(chan int)
		go func() {
			_, count, err := f.PopGroup(context.Background(), make([]schedq.Popped, 2))
			if err != nil {
				f.Error(err)
			}
			popped <- count
		}()
		for f.Waiting() == 0 {
			time.Sleep(time.Millisecond)
		}
		f.add("default/1", schedq.PodSpec{Group: gang})
		equal(f, "count", <-popped, 2)
		f.add("default/alone", schedq.PodSpec{})
		members := make([]schedq.Popped, 1)
		group, count, err := f.PopGroup(context.Background(), members)
		f.ok(err)
		equal(f, "no group", group.Group, 0)
		equal(f, "one pod", count, 1)
		equal(f, "its name", members[0].Name, "default/alone")
	})
}

func TestAGoroutineWithoutRoomPassesItsWakeUpOn(t *testing.T) {
	onBothEngines(t, nil, func(f *fixture) {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		_, err := f.AddGroup(gang, &schedq.GroupSpec{Quorum: 2})
		f.ok(err)
		f.add("default/0", schedq.PodSpec{Group: gang})
		full := make(chan error)
		for range 3 {
			go func() {
				_, _, err := f.PopGroup(ctx, make([]schedq.Popped, 1))
				full <- err
			}()
		}
		for f.Waiting() < 3 {
			time.Sleep(time.Millisecond)
		}
		popped := make(chan int)
		go func() {
			_, count, _ := f.PopGroup(ctx, make([]schedq.Popped, 2))
			popped <- count
		}()
		for f.Waiting() < 4 {
			time.Sleep(time.Millisecond)
		}
		f.add("default/1", schedq.PodSpec{Group: gang})
		for count := 0; count == 0; {
			select {
			case err := <-full:
				f.wants(err, schedq.ErrFull)
			case count = <-popped:
				equal(f, "count", count, 2)
			case <-time.After(10 * time.Second):
				f.Fatal("the wake-up is lost")
			}
		}
	})
}

func TestAGoroutineThatWaitsForAPodTakesNoGroupsWakeUp(t *testing.T) {
	onBothEngines(t, nil, func(f *fixture) {
		_, err := f.AddGroup(gang, &schedq.GroupSpec{})
		f.ok(err)
		ctx, cancel := context.WithCancel(context.Background())
		for range 3 {
			go f.Pop(ctx)
		}
		for f.Waiting() < 3 {
			time.Sleep(time.Millisecond)
		}
		popped := make(chan uint64)
		go func() {
			group, _, _ := f.PopGroup(ctx, make([]schedq.Popped, 1))
			popped <- group.Group
		}()
		for f.Waiting() < 4 {
			time.Sleep(time.Millisecond)
		}
		f.add("default/0", schedq.PodSpec{Group: gang})
		equal(f, "popped", <-popped, gang)
		cancel()
		for f.Waiting() > 0 {
			time.Sleep(time.Millisecond)
		}
	})
}
