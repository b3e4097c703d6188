package sim

import (
	"container/heap"
	"math/rand/v2"

	"schedq/cluster/store"
	"schedq/cluster/store/memory"
)

const (
	millisecond = int64(1e6)
	second      = 1000 * millisecond
)

// world is the machines, the network between them and the store, and the time.
type world struct {
	now    int64
	turn   uint64
	queue  agenda
	random *rand.Rand
	store  *memory.Store
	ports  []*port
	calm   bool // no faults any more
	// before is told what a process is about to do to the store.
	before func(from *process, ops []store.Op)
}

type entry struct {
	at   int64
	turn uint64
	do   func()
}

type agenda []entry

func (a agenda) Len() int { return len(a) }
func (a agenda) Less(i, j int) bool {
	return a[i].at < a[j].at || a[i].at == a[j].at && a[i].turn < a[j].turn
}
func (a agenda) Swap(i, j int) { a[i], a[j] = a[j], a[i] }
func (a *agenda) Push(x any)   { *a = append(*a, x.(entry)) }
func (a *agenda) Pop() any {
	last := (*a)[len(*a)-1]
	*a = (*a)[:len(*a)-1]
	return last
}

// in does something after a while.
func (w *world) in(pause int64, do func()) {
	w.turn++
	heap.Push(&w.queue, entry{w.now + pause, w.turn, do})
}

// step does what is next; false: there is nothing.
func (w *world) step() bool {
	if len(w.queue) == 0 {
		return false
	}
	next := heap.Pop(&w.queue).(entry)
	w.now = next.at
	next.do()
	return true
}

func (w *world) chance(percent float64) bool { return w.random.Float64()*100 < percent }

func (w *world) between(low, high int64) int64 { return low + w.random.Int64N(high-low+1) }

// delay of one message: mostly a millisecond, sometimes much more.
func (w *world) delay() int64 {
	if !w.calm && w.chance(3) {
		return w.between(millisecond, 400*millisecond)
	}
	return w.between(millisecond/5, 2*millisecond)
}

// changed brings what happened in the store to all watches.
func (w *world) changed() {
	for _, p := range w.ports {
		for _, watch := range p.watches {
			watch.pump()
		}
	}
}

// port is one process' way to the store. It implements store.Port.
type port struct {
	world   *world
	process *process
	cut     bool
	watches []*watch
}

// patience is how long a client waits for an answer.
const patience = second

// call carries a question to the store and its answer back, or loses one of them. apply runs when the question arrives.
func (p *port) call(apply func() (answer func(), err error), failed func(error)) {
	w := p.world
	answered := false
	finish := func(do func()) {
		p.process.deliver(func() {
			if !answered {
				answered = true
				do()
			}
		})
	}
	timeout := func() { w.in(patience, func() { finish(func() { failed(store.ErrUnknown) }) }) }
	there := w.delay()
	if !w.calm && w.chance(3) {
		// It hangs in a buffer: the asker has given up, and may have lost his lease, when it arrives.
		there = w.between(0, 8*second)
	}
	if p.cut || !w.calm && w.chance(1) {
		timeout()
		return
	}
	timeout()
	w.in(there, func() {
		w.store.Expire(w.now)
		answer, err := apply()
		w.changed()
		if p.cut || !w.calm && w.chance(1) {
			return
		}
		w.in(w.delay(), func() {
			if err != nil {
				finish(func() { failed(err) })
			} else {
				finish(answer)
			}
		})
	})
}

func (p *port) Txn(txn store.Txn, then func(store.TxnAnswer, error)) {
	p.call(func() (func(), error) {
		if ops, err := p.world.store.Try(txn); err == nil {
			p.world.before(p.process, ops)
		}
		answer, err := p.world.store.Txn(txn)
		return func() { then(answer, nil) }, err
	}, func(err error) { then(store.TxnAnswer{}, err) })
}

func (p *port) Range(ask store.Range, then func(store.RangeAnswer, error)) {
	p.call(func() (func(), error) {
		answer, err := p.world.store.Range(ask)
		return func() { then(answer, nil) }, err
	}, func(err error) { then(store.RangeAnswer{}, err) })
}

func (p *port) Grant(seconds int64, then func(int64, error)) {
	p.call(func() (func(), error) {
		lease, err := p.world.store.Grant(p.world.now, seconds*second)
		return func() { then(lease, nil) }, err
	}, func(err error) { then(0, err) })
}

func (p *port) Renew(lease int64, then func(error)) {
	p.call(func() (func(), error) {
		err := p.world.store.Renew(p.world.now, lease)
		return func() { then(nil) }, err
	}, then)
}

func (p *port) Revoke(lease int64, then func(error)) {
	p.call(func() (func(), error) {
		err := p.world.store.Revoke(lease)
		return func() { then(nil) }, err
	}, then)
}

// watch is a stream of events to one process: in order, late, and it may break.
type watch struct {
	port   *port
	ask    store.Watch
	then   func([]store.Event, error)
	open   bool
	last   int64 // when the last batch arrives
	broken bool
}

func (p *port) Watch(ask store.Watch, then func([]store.Event, error)) (cancel func()) {
	w := p.world
	watch := &watch{port: p, ask: ask, then: then}
	w.in(w.delay(), func() {
		if watch.broken {
			return
		}
		if p.cut {
			watch.end(store.ErrUnknown)
			return
		}
		watch.open = true
		p.watches = append(p.watches, watch)
		watch.pump()
	})
	return watch.close
}

func (watch *watch) close() {
	watch.broken, watch.open = true, false
	for i, other := range watch.port.watches {
		if other == watch {
			watch.port.watches = append(watch.port.watches[:i:i], watch.port.watches[i+1:]...)
			return
		}
	}
}

// end breaks the stream: what has not arrived does not arrive.
func (watch *watch) end(err error) {
	watch.close()
	watch.broken = true
	watch.port.world.in(watch.port.world.delay(), func() {
		watch.port.process.deliver(func() { watch.then(nil, err) })
	})
}

func (watch *watch) pump() {
	if !watch.open {
		return
	}
	w := watch.port.world
	events, err := w.store.Since(watch.ask)
	if err != nil {
		watch.end(err)
		return
	}
	watch.ask.From = w.store.Revision() + 1
	if len(events) == 0 {
		return
	}
	watch.last = max(watch.last, w.now+w.delay())
	w.in(watch.last-w.now, func() {
		if watch.broken {
			return
		}
		if watch.port.cut {
			watch.end(store.ErrUnknown)
			return
		}
		watch.port.process.deliver(func() {
			if !watch.broken {
				watch.then(events, nil)
			}
		})
	})
}

// setCut takes the process off the network, or puts it back. Streams break when it is noticed.
func (p *port) setCut(cut bool) {
	p.cut = cut
	if cut {
		for _, watch := range append([]*watch(nil), p.watches...) {
			watch.end(store.ErrUnknown)
		}
	}
}
