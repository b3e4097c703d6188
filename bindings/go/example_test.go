package schedq_test

import (
	"context"
	"fmt"
	"sync"
	"time"

	"schedq"
)

// A pod goes in, the best one comes out, and its cycle ends.
func Example() {
	queue, err := schedq.New(schedq.DefaultConfig(), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer queue.DestroyWithPods()

	queue.Add("default/web", &schedq.PodSpec{Object: 1})
	queue.Add("default/db", &schedq.PodSpec{Object: 2, Priority: 100})
	for {
		popped, err := queue.TryPop()
		if err == schedq.ErrEmpty {
			break
		}
		fmt.Printf("%s: object %d\n", popped.Name, popped.Object)
		queue.Done(popped.Token) // placed; Fail if it fits nowhere
	}
	// Output:
	// default/db: object 2
	// default/web: object 1
}

// Goroutines wait for pods until the queue is closed; one more serves time.
func ExampleQueue_Pop() {
	queue, err := schedq.New(schedq.DefaultConfig(), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	go queue.Run(ctx, nil)

	var placed [3]bool
	var schedulers sync.WaitGroup
	for range 2 {
		schedulers.Add(1)
		go func() {
			defer schedulers.Done()
			for {
				popped, err := queue.Pop(ctx)
				if err != nil {
					return
				}
				placed[popped.Object] = true
				queue.Done(popped.Token)
			}
		}()
	}
	for object, name := range []string{"default/a", "default/b", "default/c"} {
		queue.Add(name, &schedq.PodSpec{Object: uint64(object)})
	}
	queue.Close() // what is poppable still comes out
	schedulers.Wait()
	fmt.Println(placed)
	// Output: [true true true]
}

// A scheduler whose hints are Go code: it logs events, judges candidates and applies what it decides. examples/host.c is
// the same in C.
func Example_host() {
	const second = int64(time.Second)
	cpu := map[uint64]int{1: 2, 2: 8} // what each pod asks for
	now := second

	config := schedq.DefaultConfig()
	config.Decide = schedq.DecideHost
	queue, err := schedq.New(config, func() int64 { return now })
	if err != nil {
		fmt.Println(err)
		return
	}
	defer queue.DestroyWithPods()
	fit, _ := queue.RegisterPlugin(0, "Fit", 0, schedq.Interest{Resource: "Node", Actions: schedq.ActionAdd})

	// A node joins. The order matters: log the event, stamp the plugins, look for candidates.
	type logged struct {
		sequence uint64
		free     int
	}
	var log []logged
	nodeJoins := func(free int) {
		sequence, _ := queue.EventBegin()
		log = append(log, logged{sequence, free})
		queue.EventStamp(sequence, 0, fit)
		if queue.Words().Parked() == 0 {
			return
		}
		query := schedq.Query{Rejectors: fit}
		var found [64]schedq.Candidate
		for {
			count, err := queue.Candidates(&query, found[:])
			if err != nil || count == 0 {
				return
			}
			for _, candidate := range found[:count] {
				decision := schedq.Decision{Ref: candidate.Ref, Place: schedq.Backoff, Event: schedq.EventNodeAdd}
				for object := candidate.Object; cpu[object] <= free; {
					result, err := queue.Apply(&decision)
					if err != schedq.ErrChanged { // moved, or it does not wait any more
						fmt.Printf("pod %d: %s\n", object, result.Place)
						break
					}
					decision.Ref, object = result.Ref, result.Object // judge the new object
				}
			}
		}
	}
	// A pod that fitted nowhere is parked, unless an event that came during its cycle helps.
	fail := func(popped *schedq.Popped) {
		failure := schedq.Failure{Place: schedq.Parked, Unschedulable: fit, JudgedUpTo: popped.Seen}
		for {
			result, err := queue.Fail(&popped.Token, &failure)
			if err != schedq.ErrRetry {
				fmt.Printf("pod %d: %s\n", popped.Object, result.Place)
				return
			}
			for _, event := range log {
				if event.sequence > failure.JudgedUpTo && event.sequence <= result.Sequence && cpu[popped.Object] <= event.free {
					failure.Place = schedq.Backoff
				}
			}
			failure.JudgedUpTo = result.Sequence
		}
	}

	queue.Add("default/small", &schedq.PodSpec{Object: 1})
	queue.Add("default/big", &schedq.PodSpec{Object: 2})
	small, _ := queue.TryPop()
	big, _ := queue.TryPop()
	nodeJoins(4) // during both cycles; it is large enough for one of them
	fail(&small)
	fail(&big)
	nodeJoins(16)
	now += 2 * second
	ticked, _, _ := queue.Tick()
	fmt.Println(ticked.ToActive, "are active")
	// Output:
	// pod 1: backoff
	// pod 2: parked
	// pod 2: backoff
	// 2 are active
}

// The pods of a job are tried together: a group, which is popped once as many of them are there as it needs.
func ExampleQueue_PopGroup() {
	queue, err := schedq.New(schedq.DefaultConfig(), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer queue.DestroyWithPods()
	queue.AddGroup(7, &schedq.GroupSpec{Quorum: 3})
	for _, name := range []string{"train/0", "train/1", "train/2"} {
		queue.Add(name, &schedq.PodSpec{Group: 7})
	}
	queue.Add("report", &schedq.PodSpec{})

	room := make([]schedq.Popped, 8) // ErrFull: the count is how many need room
	for range 2 {
		group, count, err := queue.PopGroup(context.Background(), room)
		if err != nil {
			fmt.Println(err)
			return
		}
		for i := range room[:count] {
			fmt.Println(room[i].Name)
			queue.Done(room[i].Token)
		}
		if group.Group == 0 {
			continue // a pod that is in no group
		}
		result, _ := queue.GroupDone(&group.Token, schedq.GroupPlaced)
		fmt.Println("group", group.Group, "is", result.Place)
	}
	// Output:
	// train/0
	// train/1
	// train/2
	// group 7 is aside
	// report
}
