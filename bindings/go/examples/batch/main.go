// Goroutines that take jobs, and groups of jobs that run together or not at all. Some need a GPU, and there is none at first: they are
// rejected, and wait for one. Nobody hears of the last job: who has waited for a while asks whether there is anything left.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"sync"
	"sync/atomic"
	"time"

	"schedq"
)

const (
	singles = 40 // every fourth needs a GPU
	teams   = 3  // groups of jobs that need GPUs
	members = 4  // of each
	threads = 4
)

type scheduler struct {
	queue            *schedq.Queue
	gpu              schedq.Plugins // the check that rejects
	gpuAdded         schedq.Event
	hasGPUs          atomic.Bool
	placed, rejected atomic.Int64
}

func must(err error) {
	if err != nil {
		log.Fatal(err) // in the library's words
	}
}

func newScheduler() *scheduler {
	queue, err := schedq.New(schedq.DefaultConfig(), nil)
	must(err)
	s := &scheduler{queue: queue}
	s.gpuAdded, err = queue.DefineEvent("GPU", schedq.ActionAdd, "")
	must(err)
	s.gpu, err = queue.RegisterPlugin(0, "GPU", 0, schedq.Interest{Resource: "GPU", Actions: schedq.ActionAdd})
	must(err)
	return s
}

// Objects say what a job needs: 1 is a GPU.
func (s *scheduler) addJobs() {
	for i := range singles {
		spec := schedq.PodSpec{}
		if i%4 == 0 {
			spec.Object = 1
		}
		_, err := s.queue.Add(fmt.Sprintf("job/%d", i), &spec)
		must(err)
	}
	for team := uint64(1); team <= teams; team++ { // a group is a number, not 0
		_, err := s.queue.AddGroup(team, &schedq.GroupSpec{Quorum: members, Priority: 10})
		must(err)
		for i := range members {
			_, err := s.queue.Add(fmt.Sprintf("team-%d/%d", team, i), &schedq.PodSpec{Object: 1, Group: team})
			must(err)
		}
	}
}

// try ends the cycles of jobs that were popped together: all are placed, or none.
func (s *scheduler) try(group *schedq.PoppedGroup, jobs []schedq.Popped) {
	fits := jobs[0].Object == 0 || s.hasGPUs.Load()
	for i := range jobs {
		if fits {
			must(s.queue.Done(jobs[i].Token))
			s.placed.Add(1)
		} else {
			_, err := s.queue.Fail(&jobs[i].Token, &schedq.Failure{Unschedulable: s.gpu})
			must(err)
			s.rejected.Add(1)
		}
	}
	if group.Group == 0 {
		return // a job that is in no group
	}
	outcome := schedq.GroupRejected
	if fits {
		outcome = schedq.GroupPlaced
	}
	_, err := s.queue.GroupDone(&group.Token, outcome)
	must(err)
}

func (s *scheduler) work() {
	room := make([]schedq.Popped, members)
	for s.placed.Load() < singles+teams*members {
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		group, count, err := s.queue.PopGroup(ctx, room)
		cancel()
		if errors.Is(err, context.DeadlineExceeded) {
			continue // nothing came so long
		}
		must(err)
		s.try(&group, room[:count])
	}
}

func main() {
	s := newScheduler()
	ran := make(chan struct{})
	go func() {
		s.queue.Run(context.Background(), nil) // serves time, until the queue is closed
		close(ran)
	}()
	var workers sync.WaitGroup
	for range threads {
		workers.Add(1)
		go func() {
			defer workers.Done()
			s.work()
		}()
	}
	s.addJobs()
	for s.queue.Words().Parked() < singles/4+teams { // a group counts as one
		time.Sleep(time.Millisecond)
	}
	fmt.Printf("%d placed, %d rejected\n", s.placed.Load(), s.rejected.Load())

	s.hasGPUs.Store(true) // first where the program looks, then the queue
	_, err := s.queue.Notify(&schedq.Change{Event: s.gpuAdded})
	must(err)
	workers.Wait()
	fmt.Printf("%d placed, %d rejected\n", s.placed.Load(), s.rejected.Load())

	s.queue.Close()
	<-ran // no call may overlap with the end of the queue, and Run is one
	must(s.queue.DestroyWithPods())
}
