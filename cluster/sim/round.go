// Package sim runs real owners, with real queues, in one goroutine, in a simulated world: a store, a network that delays and loses messages,
// clocks that run at different rates and jump, processes that are killed, stopped, cut off, started and asked to leave. Each round
// is a world of its own, made of a seed: the same seed gives the same round.
package sim

import (
	"fmt"
	"math/rand/v2"
	"sort"

	"schedq"
	"schedq/cluster/internal/plant"
	"schedq/cluster/record"
	"schedq/cluster/store"
	"schedq/cluster/store/memory"
)

// Stats are what happened in a round, or in many.
type Stats struct {
	Pods, Pops, Dones, Failures, Conflicts, Unknown uint64
	Claims, Releases, Losses                        uint64
	Kills, Pauses, Cuts, Leaves, Compactions, Fulls uint64
	Jumps, Elections, Steps                         uint64
}

// Add sums two.
func (stats *Stats) Add(other Stats) {
	for _, pair := range []struct{ to, from *uint64 }{
		{&stats.Pods, &other.Pods}, {&stats.Pops, &other.Pops}, {&stats.Dones, &other.Dones}, {&stats.Failures, &other.Failures},
		{&stats.Conflicts, &other.Conflicts}, {&stats.Unknown, &other.Unknown}, {&stats.Claims, &other.Claims},
		{&stats.Releases, &other.Releases}, {&stats.Losses, &other.Losses}, {&stats.Kills, &other.Kills},
		{&stats.Pauses, &other.Pauses}, {&stats.Cuts, &other.Cuts}, {&stats.Leaves, &other.Leaves},
		{&stats.Compactions, &other.Compactions}, {&stats.Fulls, &other.Fulls}, {&stats.Jumps, &other.Jumps},
		{&stats.Elections, &other.Elections}, {&stats.Steps, &other.Steps},
	} {
		*pair.to += *pair.from
	}
}

// Faults is how many faults there were.
func (stats *Stats) Faults() uint64 {
	return stats.Kills + stats.Pauses + stats.Cuts + stats.Leaves + stats.Compactions + stats.Fulls + stats.Jumps + stats.Elections
}

const (
	shards    = 4
	facts     = 3
	processes = 3
	trouble   = 12 * second // faults happen until then
	settling  = 120 * second
)

// round is one world and what goes on in it.
type round struct {
	*world
	judge   *judge
	config  record.Config
	defects plant.Defects
	engine  schedq.Engine
	born    int
	slots   [processes]*process
	trace   func(string)
}

// Round runs a round, and returns what was violated. trace, if it is not nil, is told what the world does.
func Round(seed uint64, defects plant.Defects, trace func(string)) ([]string, Stats) {
	random := rand.New(rand.NewPCG(seed, 0x5c4ed9))
	w := &world{random: random, store: memory.New()}
	j := &judge{world: w, layout: record.Layout{Prefix: record.DefaultPrefix}, pods: map[int64]*podRecord{}, facts: make([]int64, facts)}
	w.before = j.before
	plugins := make([]record.Plugin, facts)
	for n := range plugins {
		plugins[n] = record.Plugin{Name: fmt.Sprintf("plugin-%d", n), Events: []string{fmt.Sprintf("fact-%d", n)}}
	}
	r := &round{world: w, judge: j, config: record.NewConfig(shards, plugins), defects: defects, engine: schedq.Mutex, trace: trace}
	j.say = r.say
	if seed%4 == 0 {
		r.engine = schedq.LockFree
	}
	for slot := range r.slots {
		w.in(w.between(0, second), func() { r.begin(slot) })
	}
	r.submitAll()
	r.expire()
	w.in(w.between(100*millisecond, second), r.fault)
	w.in(trouble, r.heal)
	for !r.over() && w.step() {
		j.stats.Steps++
	}
	r.verdict()
	for _, p := range j.processes {
		p.kill()
	}
	return j.violations, j.stats
}

func (r *round) say(format string, args ...any) {
	if r.trace != nil {
		r.trace(fmt.Sprintf("%.3f ", float64(r.now)/1e9) + fmt.Sprintf(format, args...))
	}
}

func (r *round) over() bool {
	return len(r.judge.violations) > 0 || r.now > trouble+settling || r.now > trouble+15*second && len(r.judge.open()) == 0
}

func (r *round) begin(slot int) {
	r.born++
	p := newProcess(r.world, r.judge, fmt.Sprintf("p%d-%d", slot, r.born), r.config, r.defects, r.engine)
	r.slots[slot] = p
	r.judge.processes = append(r.judge.processes, p)
	r.say("%s begins", p.id)
}

// submitAll has a submitter put pods, change some, cancel some, and put others under their names; and facts become true.
func (r *round) submitAll() {
	for n := range 30 {
		r.in(r.between(0, trouble), func() { r.submit(n) })
	}
	for fact := range facts {
		r.in(r.between(second, trouble), func() { r.publish(fact) })
	}
}

func (r *round) submit(n int) {
	name := fmt.Sprintf("namespace-%d/pod-%d", n%7, n)
	place, err := record.PlaceOf(name, "", shards)
	if err != nil {
		panic(err)
	}
	spec := record.Spec{Priority: int32(r.random.IntN(4))}
	needs := r.random.IntN(2*facts) - facts
	uid := r.put(place, spec)
	if uid == 0 {
		r.in(500*millisecond, func() { r.submit(n) })
		return
	}
	shard, _, _ := record.SplitPlace(place)
	r.judge.pods[uid] = &podRecord{
		uid: uid, place: place, shard: shard, needs: max(needs, -1), lostBy: map[string]bool{}, askedBy: map[string]bool{},
	}
	r.judge.order = append(r.judge.order, uid)
	r.judge.stats.Pods++
	switch r.random.IntN(10) {
	case 0:
		r.in(r.between(0, 5*second), func() { r.cancel(uid, false) })
	case 1:
		r.in(r.between(0, 5*second), func() { r.cancel(uid, true) })
	case 2:
		r.in(r.between(0, 5*second), func() {
			if pod := r.judge.pods[uid]; pod.decidedBy == "" && !pod.cancelled {
				r.put(place, record.Spec{Priority: int32(r.random.IntN(4))})
			}
		})
	}
}

// put writes a spec, and returns the pod's UID; 0: the store is full.
func (r *round) put(place string, spec record.Spec) int64 {
	key := r.judge.layout.Pod(place)
	if _, err := r.store.Txn(store.Txn{Then: []store.Op{{Kind: store.Put, Key: key, Value: spec.Encode()}}}); err != nil {
		return 0
	}
	r.changed()
	return r.store.Pair(key).Create
}

// cancel deletes a pod, if it is there; and puts another one under its name at once.
func (r *round) cancel(uid int64, again bool) {
	pod := r.judge.pods[uid]
	if pod.decidedBy != "" || pod.cancelled {
		return
	}
	pod.cancelled = true
	r.say("cancel %s (UID %d)", pod.place, uid)
	_, _ = r.store.Txn(store.Txn{Then: []store.Op{{Kind: store.Delete, Key: r.judge.layout.Pod(pod.place)}}})
	r.changed()
	if !again {
		return
	}
	next := r.put(pod.place, record.Spec{})
	if next == 0 {
		return
	}
	r.judge.pods[next] = &podRecord{
		uid: next, place: pod.place, shard: pod.shard, needs: pod.needs, lostBy: map[string]bool{}, askedBy: map[string]bool{},
	}
	r.judge.order = append(r.judge.order, next)
	r.judge.stats.Pods++
}

// publish makes a fact true, and puts its event, once.
func (r *round) publish(fact int) {
	key := r.judge.layout.Event(fmt.Sprintf("fact-%d", fact))
	answer, err := r.store.Txn(store.Txn{Then: []store.Op{{Kind: store.Put, Key: key}}})
	if err != nil {
		r.in(500*millisecond, func() { r.publish(fact) })
		return
	}
	r.judge.facts[fact] = answer.Revision
	r.say("fact %d at revision %d", fact, answer.Revision)
	r.changed()
}

// expire ends leases as etcd does: now and then it looks which are over.
func (r *round) expire() {
	r.store.Expire(r.now)
	r.changed()
	r.in(r.between(10*millisecond, 500*millisecond), r.expire)
}

// fault makes one fault, and plans the next one.
func (r *round) fault() {
	if r.calm {
		return
	}
	r.in(r.between(50*millisecond, 1500*millisecond), r.fault)
	slot := r.random.IntN(processes)
	p := r.slots[slot]
	stats := &r.judge.stats
	switch kind := r.random.IntN(10); {
	case kind == 7:
		stats.Compactions++
		r.say("compaction at %d", r.store.Revision())
		r.store.Compact()
	case kind == 8 && r.chance(30):
		stats.Fulls++
		r.say("full")
		r.store.SetFull(true)
		r.in(r.between(millisecond, 3*second), func() { r.store.SetFull(false) })
	case kind == 9 && r.chance(30):
		stats.Elections++
		r.store.Extend(r.now)
	case p == nil || !p.alive:
	case kind <= 1:
		stats.Kills++
		r.say("kill %s", p.id)
		p.kill()
		r.in(r.between(0, 4*second), func() { r.begin(slot) })
	case kind == 2:
		if p.paused {
			return
		}
		stats.Pauses++
		length := r.between(100*millisecond, 9*second)
		r.say("pause %s for %.3f", p.id, float64(length)/1e9)
		p.pause(length)
	case kind <= 4:
		stats.Cuts++
		length := r.between(100*millisecond, 9*second)
		r.say("cut %s for %.3f", p.id, float64(length)/1e9)
		p.port.setCut(true)
		r.in(length, func() { p.port.setCut(false) })
	case kind == 5:
		stats.Leaves++
		r.say("%s leaves", p.id)
		p.deliver(p.owner.Leave)
		r.whenLeft(slot, p)
	case kind == 6:
		stats.Jumps++
		p.jump += r.between(-100*second, 100*second)
	}
}

func (r *round) whenLeft(slot int, p *process) {
	r.in(100*millisecond, func() {
		if !p.alive || r.slots[slot] != p {
			return
		}
		if !p.owner.Left() {
			r.whenLeft(slot, p)
			return
		}
		r.say("%s has left", p.id)
		p.kill()
		r.in(r.between(0, 3*second), func() { r.begin(slot) })
	})
}

// heal ends all trouble.
func (r *round) heal() {
	r.calm = true
	r.say("calm")
	r.store.SetFull(false)
	for _, p := range r.judge.processes {
		p.port.setCut(false)
	}
}

// verdict looks at what is left: every pod is done, and nothing of it remains.
func (r *round) verdict() {
	j := r.judge
	if len(j.violations) > 0 {
		return
	}
	for _, pod := range j.open() {
		j.violate("lost: %s (UID %d), needs %d", pod.place, pod.uid, pod.needs)
	}
	if len(j.violations) > 0 {
		return
	}
	if left, _ := r.store.Range(store.Range{Prefix: j.layout.States()}); len(left.Pairs) > 0 {
		j.violate("states of no pod are left, %s of %d", left.Pairs[0].Key, len(left.Pairs))
	}
	sort.Strings(j.violations)
}
