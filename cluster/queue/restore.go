package queue

import (
	"container/heap"
	"math"
	"slices"

	"schedq"
	"schedq/cluster/record"
)

// A pod that comes with a state enters schedq by Readd, which knows its history and begins a backoff. The stored end of the backoff
// is kept by activating the pod then. A parked pod is held instead, and let go by the event that would have freed it, or when
// it was parked for too long. Its next failure parks it as any other.

type restored uint8

const (
	fresh     restored = iota // popped here, or never failed
	backsOff                  // active at pod.expiry
	isParked                  // held
	isWaiting                 // neither: it was let go
)

// wait is a time at which something is due for a restored pod.
type wait struct {
	at   int64
	p    *pod
	kind restored
}

type waits []wait

func (w waits) Len() int { return len(w) }
func (w waits) Less(i, j int) bool {
	return w[i].at < w[j].at || w[i].at == w[j].at && w[i].p.id < w[j].p.id
}
func (w waits) Swap(i, j int) { w[i], w[j] = w[j], w[i] }
func (w *waits) Push(x any)   { *w = append(*w, x.(wait)) }
func (w *waits) Pop() any {
	last := (*w)[len(*w)-1]
	*w = (*w)[:len(*w)-1]
	return last
}

func (w waits) next() int64 {
	if len(w) == 0 {
		return math.MaxInt64
	}
	return w[0].at
}

// happened is an event: when it was put last, and who wants it.
type happened struct {
	revision int64
	plugins  schedq.Plugins
}

func (q *Queue) since(events map[string]int64) (list []happened) {
	for _, name := range sortedKeys(events) {
		list = append(list, happened{events[name], q.queue.EventPlugins(0, q.event(name))})
	}
	return list
}

// restore puts a pod in as its state says.
func (q *Queue) restore(p *pod, state record.State, events []happened) {
	p.state, p.stored, p.node = state, true, state.Node
	p.base = state.Attempts
	if state.Kind == record.Active {
		q.add(p)
		return
	}
	failure := schedq.Failure{}
	now, wall := q.config.Now(), q.config.Wall()
	history := schedq.History{
		Timestamp: now, InitialAttempt: now, Rejections: uint32(state.Rejections), Errors: uint32(state.Errors),
	}
	if state.Kind == record.ErrorBackoff {
		history.Errors = max(history.Errors, 1) - 1
	} else {
		history.Rejections = max(history.Rejections, 1) - 1
		failure.Unschedulable = state.Rejectors & (1<<len(q.config.Cluster.Plugins) - 1)
	}
	spec := q.inner(p)
	result, err := q.queue.Readd(p.place, &spec, &history, &failure)
	if err != nil {
		panic("cluster: a pod could not be restored: " + err.Error())
	}
	p.handle = result.Pod
	longest := q.config.MaxBackoff
	p.expiry = now + max(0, min(state.Expiry-wall, longest))
	if state.Kind == record.Parked && !freed(&state, events) {
		p.restored = isParked
		_, _ = q.queue.Hold(p.handle)
		parkedFor := max(0, wall-state.Failed)
		q.parked[state.Rejectors] = append(q.parked[state.Rejectors], p)
		heap.Push(&q.waits, wait{now + max(0, q.config.MaxParked-parkedFor), p, isParked})
		return
	}
	q.backOff(p, now)
}

// freed says whether an event that a rejector wants came after what the last attempt had seen.
func freed(state *record.State, events []happened) bool {
	for _, event := range events {
		if event.revision > state.Seen && event.plugins&state.Rejectors != 0 {
			return true
		}
	}
	return state.Rejectors == 0
}

// backOff has a pod that schedq has in backoff wait no longer than to its stored expiry.
func (q *Queue) backOff(p *pod, now int64) {
	if p.expiry <= now {
		p.restored = isWaiting
		_, _ = q.queue.Activate([]schedq.Pod{p.handle})
		return
	}
	p.restored = backsOff
	heap.Push(&q.waits, wait{p.expiry, p, backsOff})
}

// freeRestored lets parked pods go that one of these plugins rejected.
func (q *Queue) freeRestored(plugins schedq.Plugins) {
	var sets []schedq.Plugins
	for rejectors := range q.parked {
		if rejectors&plugins != 0 {
			sets = append(sets, rejectors)
		}
	}
	slices.Sort(sets)
	for _, rejectors := range sets {
		var left []*pod
		for _, p := range q.parked[rejectors] {
			if p.gone == nil && p.restored == isParked && !q.letGo(p) {
				left = append(left, p)
			}
		}
		if q.parked[rejectors] = left; left == nil {
			delete(q.parked, rejectors)
		}
	}
}

// letGo frees a parked pod. One of a shard that is being given away stays: the next owner compares events with its state.
func (q *Queue) letGo(p *pod) bool {
	if p.part.held {
		return false
	}
	_, _ = q.queue.Release(p.handle)
	q.backOff(p, q.config.Now())
	return true
}

// freeDue does what is due for restored pods.
func (q *Queue) freeDue(now int64) {
	for len(q.waits) > 0 && q.waits[0].at <= now {
		due := heap.Pop(&q.waits).(wait)
		if due.p.gone != nil || due.p.restored != due.kind {
			continue
		}
		if due.kind == isParked {
			q.letGo(due.p)
			continue
		}
		due.p.restored = isWaiting
		_, _ = q.queue.Activate([]schedq.Pod{due.p.handle})
	}
}

// free has a pod tried again, wherever it waits.
func (q *Queue) free(p *pod) {
	if p.restored == isParked {
		_, _ = q.queue.Release(p.handle)
	}
	if p.restored != fresh {
		p.restored = isWaiting
	}
	_, _ = q.queue.Activate([]schedq.Pod{p.handle})
}
