package schedq_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"schedq"
	"schedq/internal/cloop"
)

// Each benchmark runs a loop in Go and the same one in C in turns, as many rounds of each as -benchtime says (7x is a good
// number), and reports the median of the rounds and how far they lie apart.

const (
	batch   = 64
	pending = 1000 // pods of a lower priority, which stay
	perTurn = 64 * 1000
)

// goLoop is cloop.Loop in Go.
type goLoop struct {
	queue *schedq.Queue
	names []string
	text  string // all names
	items []schedq.AddItem
}

func newGoLoop(b *testing.B, engine schedq.Engine) *goLoop {
	config := schedq.DefaultConfig()
	config.Engine = engine
	config.Decide = schedq.DecideHost
	queue, err := schedq.New(config, nil)
	if err != nil {
		b.Fatal(err)
	}
	loop := &goLoop{queue: queue}
	for i := range batch {
		name := fmt.Sprintf("default/pod-%d", i)
		loop.items = append(loop.items, schedq.AddItem{
			NameOffset: uint32(len(loop.text)), NameLength: uint32(len(name)),
			Spec: schedq.PodSpec{Object: uint64(i), Priority: 1},
		})
		loop.names = append(loop.names, name)
		loop.text += name
	}
	for i := range pending {
		if _, err := queue.Add(fmt.Sprintf("pending/pod-%d", i), &schedq.PodSpec{}); err != nil {
			b.Fatal(err)
		}
	}
	return loop
}

func (loop *goLoop) lives(count int) bool {
	for i := range count {
		if _, err := loop.queue.Add(loop.names[i%batch], &loop.items[i%batch].Spec); err != nil {
			return false
		}
		popped, err := loop.queue.TryPop()
		if err != nil || loop.queue.Done(popped.Token) != nil {
			return false
		}
	}
	return true
}

func (loop *goLoop) batches(count int) bool {
	var pods [batch]schedq.Pod
	var answers [batch]schedq.Status
	var popped [batch]schedq.Popped
	var tokens [batch]schedq.Token

	for done := 0; done < count; done += batch {
		if _, err := loop.queue.AddMany(loop.text, loop.items, pods[:], answers[:]); err != nil {
			return false
		}
		if taken, err := loop.queue.TryPopMany(popped[:]); err != nil || taken != batch {
			return false
		}
		for i := range popped {
			tokens[i] = popped[i].Token
		}
		if loop.queue.DoneMany(tokens[:], answers[:]) != nil {
			return false
		}
	}
	return true
}

func (loop *goLoop) finds(count int) bool {
	for range count {
		if _, err := loop.queue.Find("pending/pod-0"); err != nil {
			return false
		}
	}
	return true
}

// side collects the rounds of one of the two.
type side struct {
	name   string
	rounds []float64 // nanoseconds a call
}

func (side *side) time(b *testing.B, calls int, loop func() bool) {
	began := time.Now()
	if !loop() {
		b.Fatal("a call failed")
	}
	side.rounds = append(side.rounds, float64(time.Since(began))/float64(calls))
}

func (side *side) report(b *testing.B) {
	slices.Sort(side.rounds)
	median := side.rounds[len(side.rounds)/2]
	spread := (side.rounds[len(side.rounds)-1] - side.rounds[0]) / median * 100
	b.ReportMetric(median, side.name+"-ns/call")
	b.ReportMetric(1e9/median, side.name+"-calls/s")
	b.ReportMetric(spread, side.name+"-spread-%")
}

// compare runs both loops in turns. callsPerPod is what one of perTurn costs: a batch call is a call for each of its pods.
func compare(b *testing.B, callsPerPod int, inGo func(*goLoop, int) bool, inC func(*cloop.Loop, int) bool) {
	for _, engine := range []struct {
		name  string
		value schedq.Engine
	}{{"lockfree", schedq.LockFree}, {"mutex", schedq.Mutex}} {
		b.Run(engine.name, func(b *testing.B) {
			goes := newGoLoop(b, engine.value)
			c, err := cloop.New(uint8(engine.value), pending)
			if err != nil {
				b.Fatal(err)
			}
			sides := [2]side{{name: "go"}, {name: "c"}}
			for b.Loop() {
				sides[0].time(b, perTurn*callsPerPod, func() bool { return inGo(goes, perTurn) })
				sides[1].time(b, perTurn*callsPerPod, func() bool { return inC(c, perTurn) })
			}
			sides[0].report(b)
			sides[1].report(b)
			b.ReportMetric(0, "ns/op") // of both together: it means nothing
			c.Close()
			if err := goes.queue.DestroyWithPods(); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// add, pop, done: three calls a pod.
func BenchmarkSingle(b *testing.B) { compare(b, 3, (*goLoop).lives, (*cloop.Loop).Lives) }

// The same, 64 pods a call; a pod counts as three calls all the same, so that the figures compare with BenchmarkSingle.
func BenchmarkBatch(b *testing.B) { compare(b, 3, (*goLoop).batches, (*cloop.Loop).Batches) }

// The call that does least.
func BenchmarkFind(b *testing.B) { compare(b, 1, (*goLoop).finds, (*cloop.Loop).Finds) }

// A number that is read without a call.
func BenchmarkWord(b *testing.B) {
	queue, err := schedq.New(schedq.DefaultConfig(), nil)
	if err != nil {
		b.Fatal(err)
	}
	words := queue.Words()
	read := side{name: "go"}
	for b.Loop() {
		read.time(b, 100*perTurn, func() bool {
			var sum uint64
			for range 100 * perTurn {
				sum += words.Nominations()
			}
			return sum == 0
		})
	}
	read.report(b)
	b.ReportMetric(0, "ns/op")
	if err := queue.DestroyWithPods(); err != nil {
		b.Fatal(err)
	}
}

// From Add to the return of the Pop that another goroutine waits in, one pod at a time.
func BenchmarkWakeUp(b *testing.B) {
	queue, err := schedq.New(schedq.DefaultConfig(), nil)
	if err != nil {
		b.Fatal(err)
	}
	woken := make(chan time.Time)
	go func() {
		for {
			popped, err := queue.Pop(context.Background())
			if err != nil {
				close(woken)
				return
			}
			woken <- time.Now()
			_ = queue.Done(popped.Token)
		}
	}()
	var delays []time.Duration
	for b.Loop() {
		for range perTurn / batch {
			for queue.Waiting() == 0 {
				runtime.Gosched()
			}
			began := time.Now()
			if _, err := queue.Add("default/a", &schedq.PodSpec{}); err != nil {
				b.Fatal(err)
			}
			delays = append(delays, (<-woken).Sub(began))
		}
	}
	slices.Sort(delays)
	b.ReportMetric(float64(delays[len(delays)/2]), "p50-ns")
	b.ReportMetric(float64(delays[len(delays)*99/100]), "p99-ns")
	b.ReportMetric(0, "ns/op")
	queue.Close()
	<-woken
	if err := queue.DestroyWithPods(); err != nil {
		b.Fatal(err)
	}
}
