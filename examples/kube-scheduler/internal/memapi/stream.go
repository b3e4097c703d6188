package memapi

import (
	"sync"

	"k8s.io/apimachinery/pkg/watch"
)

// stream is a watch without a limit: the server never waits for who watches.
type stream struct {
	mutex   sync.Mutex
	some    *sync.Cond // waiting is not empty, or it is stopped
	waiting []watch.Event
	stopped bool

	out  chan watch.Event
	stop chan struct{}
}

func newStream() *stream {
	made := &stream{out: make(chan watch.Event), stop: make(chan struct{})}
	made.some = sync.NewCond(&made.mutex)
	go made.pump()
	return made
}

func (stream *stream) send(event watch.Event) {
	stream.mutex.Lock()
	defer stream.mutex.Unlock()
	stream.waiting = append(stream.waiting, event)
	stream.some.Signal()
}

// take waits for events; none: it is stopped.
func (stream *stream) take() []watch.Event {
	stream.mutex.Lock()
	defer stream.mutex.Unlock()
	for len(stream.waiting) == 0 && !stream.stopped {
		stream.some.Wait()
	}
	if stream.stopped {
		return nil
	}
	taken := stream.waiting
	stream.waiting = nil
	return taken
}

func (stream *stream) pump() {
	defer close(stream.out)
	for events := stream.take(); events != nil; events = stream.take() {
		for _, event := range events {
			select {
			case stream.out <- event:
			case <-stream.stop:
				return
			}
		}
	}
}

// ResultChan is where the events come out.
func (stream *stream) ResultChan() <-chan watch.Event { return stream.out }

// Stop ends the watch. It may be called again.
func (stream *stream) Stop() {
	stream.mutex.Lock()
	defer stream.mutex.Unlock()
	if !stream.stopped {
		stream.stopped = true
		close(stream.stop)
		stream.some.Signal()
	}
}
