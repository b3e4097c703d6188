package owner

import (
	"container/heap"
	"math"
)

// timer is something to do at a time. Those of one time are done in the order in which they were set.
type timer struct {
	at   int64
	turn uint64
	do   func()
}

type timers []timer

func (t timers) Len() int { return len(t) }
func (t timers) Less(i, j int) bool {
	return t[i].at < t[j].at || t[i].at == t[j].at && t[i].turn < t[j].turn
}
func (t timers) Swap(i, j int) { t[i], t[j] = t[j], t[i] }
func (t *timers) Push(x any)   { *t = append(*t, x.(timer)) }
func (t *timers) Pop() any {
	last := (*t)[len(*t)-1]
	*t = (*t)[:len(*t)-1]
	return last
}

func (t timers) next() int64 {
	if len(t) == 0 {
		return math.MaxInt64
	}
	return t[0].at
}

func (o *Owner) after(pause int64, do func()) {
	if o.closed {
		return
	}
	o.timerCount++
	heap.Push(&o.timers, timer{o.config.Now() + pause, o.timerCount, do})
}

// later tries again after the pause for that, half of it more or less.
func (o *Owner) later(do func()) {
	o.after(o.between(o.config.Retry/2, o.config.Retry*3/2), do)
}

func (o *Owner) between(low, high int64) int64 {
	return low + int64(o.config.Random()%uint64(high-low+1))
}

func (o *Owner) runTimers(now int64) {
	for len(o.timers) > 0 && o.timers[0].at <= now {
		heap.Pop(&o.timers).(timer).do()
		if o.closed {
			return
		}
	}
}
