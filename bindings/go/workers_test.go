package schedq

import (
	"testing"
	"time"
)

func queueOfOneWorker(t *testing.T) *Queue {
	config := DefaultConfig()
	config.MaxWorkers = 1
	queue, err := New(config, nil)
	if err != nil {
		t.Fatal(err)
	}
	return queue
}

// within fails the test if a channel says nothing for long.
func within(t *testing.T, done chan struct{}, what string) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		t.Fatal(what)
	}
}

func TestACallWithoutAWorkerWaitsForOne(t *testing.T) {
	queue := queueOfOneWorker(t)
	worker := queue.enter()
	done := make(chan struct{})
	go func() {
		queue.pool.put(queue.enter())
		close(done)
	}()
	for queue.pool.sleepers.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(10 * time.Millisecond) // most often it sleeps by now; if not, it has to find the worker all the same
	queue.pool.put(worker)
	within(t, done, "a call that waits for a worker did not get the one that was given back")
	if err := queue.DestroyWithPods(); err != nil {
		t.Fatal(err)
	}
}

func TestWhoGoesToSleepLooksAtTheLastWorkerOnceMore(t *testing.T) {
	queue := queueOfOneWorker(t)
	queue.pool.put(queue.enter())
	done := make(chan struct{})
	go func() {
		queue.pool.put(queue.pool.another(queue.c)) // as if the worker came back after take had looked
		close(done)
	}()
	within(t, done, "a call sleeps although there is a worker")
	if err := queue.DestroyWithPods(); err != nil {
		t.Fatal(err)
	}
}

func TestThereAreNoMoreWorkersThanCallsAtOnce(t *testing.T) {
	queue, err := New(DefaultConfig(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		first, second := queue.enter(), queue.enter()
		queue.pool.put(first)
		queue.pool.put(second)
	}
	if made := queue.pool.made.Load(); made != 2 {
		t.Errorf("%d workers were made for two calls at once", made)
	}
	if err := queue.DestroyWithPods(); err != nil {
		t.Fatal(err)
	}
}
