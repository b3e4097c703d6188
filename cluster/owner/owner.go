// Package owner is what one process of a cluster does: it holds a lease, claims shards, loads them, gives them away, and stops when its
// lease may be over. docs/CLUSTER.md has the states of a shard and says why no two owners pop from one.
//
// An Owner has no goroutine and does not sleep. Everything that reaches it is a call: an answer of the store, a time that came, what
// its user asks for. Its clock, its store and its randomness are given to it. So package sim runs it under a simulated network,
// and package member in a process. All calls are made by one goroutine at a time.
package owner

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"schedq"
	"schedq/cluster/internal/plant"
	"schedq/cluster/queue"
	"schedq/cluster/record"
	"schedq/cluster/shard"
	"schedq/cluster/store"
)

// ErrBehind answers a pop with Config.Strict: another process published a higher priority.
var ErrBehind = errors.New("cluster: another process has a pod of a higher priority")

// Config is how an owner behaves. Times are nanoseconds; 0 = the default.
type Config struct {
	ID      string // of this process, of no other, not of one that ran before
	Address string // published, for whoever asks who owns what
	Cluster record.Config
	Layout  record.Layout
	Port    store.Port
	Now     func() int64 // never goes back, and does not stop while the machine sleeps
	Wall    func() int64 // since 1970; may jump
	Random  func() uint64

	TTL     int64 // of the lease, whole seconds; 5 s
	Renew   int64 // 1.5 s
	Skew    int64 // how long before the end of the lease it is not trusted any more; 500 ms
	Grace   int64 // how long a shard that is given away waits for its pods in flight; 2 s
	Publish int64 // how often the top priority is published if it changed; 100 ms; negative: never
	Retry   int64 // pause after an answer that did not come; 200 ms
	Moving  int   // shards that are given away at once; 4
	Taking  int   // shards that are claimed and loaded at once; 32
	Window  int   // batches that are under way at once; 8
	Batch   int   // pods in a batch; 64
	Strict  bool  // pop nothing while another process published a higher priority

	Engine         schedq.Engine
	InitialBackoff int64 // 1 s
	MaxBackoff     int64 // 10 s; negative: none
	MaxParked      int64 // 5 min

	Defects plant.Defects
	Trace   func(Step) // may be nil; calls nothing of the owner
	// Busy is what the user does outside for a shard that must have ended before the shard is given away, beside the pods that were popped
	// here; nil: nothing. It is asked after pops have stopped, and again every few milliseconds. It calls nothing of the owner.
	Busy func(shard int) int
}

const (
	millisecond = int64(1e6)
	second      = 1000 * millisecond
)

func (config *Config) setDefaults() {
	or := func(value *int64, standard int64) { *value = cmp.Or(*value, standard) }
	or(&config.TTL, 5*second)
	or(&config.Renew, 1500*millisecond)
	or(&config.Skew, 500*millisecond)
	or(&config.Grace, 2*second)
	or(&config.Publish, 100*millisecond)
	or(&config.Retry, 200*millisecond)
	or(&config.InitialBackoff, second)
	or(&config.MaxBackoff, 10*second)
	or(&config.MaxParked, 300*second)
	config.MaxBackoff = max(config.MaxBackoff, 0)
	config.Moving = cmp.Or(config.Moving, 4)
	config.Taking = cmp.Or(config.Taking, 32)
	config.Window = cmp.Or(config.Window, 8)
	config.Batch = cmp.Or(config.Batch, queue.PodsMax)
	if config.Trace == nil {
		config.Trace = func(Step) {}
	}
	if config.Busy == nil {
		config.Busy = func(int) int { return 0 }
	}
}

// What is what happened in a Step.
type What uint8

const (
	Joined   What = iota + 1 // a lease was granted
	Lost                     // the lease is gone
	Claimed                  // a shard: its owner key is ours
	Loaded                   // a shard: pops give its pods
	Stopped                  // a shard: pops give none
	Resumed                  // a shard: it cannot be given away, and pops give its pods again
	Released                 // a shard: it was given away
	Dropped                  // a shard: it is another's, or the lease is gone
	Unread                   // a spec is none
	Repeated                 // a watch brought what was known: the store is broken, or this code
)

// Step is something that happened to an owner, for logs and tests.
type Step struct {
	What     What
	Shard    int
	Token    int64
	InFlight int // Released: pods in flight that the next owner pops again
	Pods     int // Loaded
	Why      error
}

var whatNames = [...]string{"", "joined", "lost its lease", "claimed", "loaded", "stopped", "resumed", "released", "dropped", "cannot read", "was told twice"}

// String tells a step in a line.
func (step Step) String() string {
	text := whatNames[step.What]
	if step.What != Joined && step.What != Lost {
		text += fmt.Sprintf(" shard %d, token %d", step.Shard, step.Token)
	}
	switch {
	case step.What == Loaded:
		text += fmt.Sprintf(", %d pods", step.Pods)
	case step.What == Released:
		text += fmt.Sprintf(", %d in flight", step.InFlight)
	case step.Why != nil:
		text += ": " + step.Why.Error()
	}
	return text
}

// Counts are what an owner did so far.
type Counts struct {
	Pops, Dones, Failures                uint64
	Batches, BatchPods                   uint64 // transactions for pods, and pods in them
	Claims, Releases, Losses, Rejections uint64 // Rejections: batches that met another token
	Behind                               uint64 // pops while another process had published a higher priority
	Renewals                             uint64
	Unanswered                           uint64
}

type phase uint8

const (
	none phase = iota
	claiming
	loading
	active
	stopping
	releasing
)

var phaseNames = [...]string{"none", "claiming", "loading", "active", "stopping", "releasing"}

// holding is what an owner has to do with one shard.
type holding struct {
	shard    int
	phase    phase
	token    int64 // of the ownership; 0 = none
	over     int64 // no token up to this one is ours any more
	specs    *store.Mirror
	since    int64 // when the phase began
	keep     int64 // it is not given away before
	waiting  bool  // a timer for a claim is set
	guarding bool  // the owner key is being put again
	asking   bool  // a timer for Config.Busy is set
}

type phaseOfLease uint8

const (
	out phaseOfLease = iota
	joining
	in
)

// Owner is one process of a cluster.
type Owner struct {
	config Config
	layout record.Layout
	queue  *queue.Queue

	lease     int64
	joined    phaseOfLease
	fence     int64 // from then on the lease is not trusted
	run       int   // raised when a lease is lost: answers to earlier questions are dropped
	renewing  bool
	nextRenew int64

	members, owners, events, tops *store.Mirror
	specs                         *store.Feed // of all shards

	processes  []string // that should own shards, in order
	memberKeys map[string]record.Member
	preferred  []string // by shard
	keys       []store.Pair
	absent     []int64 // when a shard was first seen without an owner, plus a random delay
	holdings   []*holding
	count      [len(phaseNames)]int // holdings by phase
	eventRev   map[string]int64
	seen       int64
	topOf      map[string]int32

	timers     timers
	timerCount uint64
	underWay   int
	flushAt    int64 // not before
	noSpace    bool
	published  string
	nextTop    int64
	publishing bool
	leaving    bool
	left       bool
	closed     bool
	counts     Counts
}

// New makes an owner that owns nothing. Start begins.
func New(config Config) (*Owner, error) {
	config.setDefaults()
	inner, err := queue.New(queue.Config{
		Cluster: config.Cluster, Layout: config.Layout, Engine: config.Engine, InitialBackoff: config.InitialBackoff,
		MaxBackoff: config.MaxBackoff, MaxParked: config.MaxParked, Now: config.Now, Wall: config.Wall, Defects: config.Defects,
	})
	if err != nil {
		return nil, err
	}
	count := config.Cluster.Shards
	o := &Owner{
		config: config, layout: config.Layout, queue: inner, memberKeys: map[string]record.Member{}, preferred: make([]string, count),
		keys: make([]store.Pair, count), absent: make([]int64, count), holdings: make([]*holding, count),
		eventRev: map[string]int64{}, topOf: map[string]int32{},
	}
	for s := range o.holdings {
		o.holdings[s] = &holding{shard: s}
	}
	o.count[none] = count
	o.members = o.mirror(o.layout.Members(), o.membersListed, o.membersChanged)
	o.owners = o.mirror(o.layout.Owners(), o.ownersListed, o.ownersChanged)
	o.events = o.mirror(o.layout.Events(), o.eventsListed, o.eventsChanged)
	o.tops = o.mirror(o.layout.Tops(), o.topsListed, o.topsChanged)
	o.specs = &store.Feed{Port: config.Port, Prefix: o.layout.Pods(), Later: o.later}
	return o, nil
}

func (o *Owner) mirror(prefix string, listed func([]store.Pair), changed func([]store.Event)) *store.Mirror {
	return &store.Mirror{
		Port: o.config.Port, Prefix: prefix, Later: o.later,
		Listed:  func(pairs []store.Pair, _ int64) { listed(pairs) },
		Changed: changed,
	}
}

// Start joins the cluster.
func (o *Owner) Start() {
	o.members.Start()
	o.owners.Start()
	o.events.Start()
	o.specs.Start()
	if o.config.Publish > 0 {
		o.tops.Start()
	}
	o.join()
}

// Close forgets everything, as if the process had ended: nothing is written.
func (o *Owner) Close() {
	if o.closed {
		return
	}
	o.closed = true
	o.run++
	for _, mirror := range []*store.Mirror{o.members, o.owners, o.events, o.tops} {
		mirror.Stop()
	}
	o.specs.Stop()
	for _, h := range o.holdings {
		o.drop(h, nil)
	}
	o.timers = nil
	o.queue.Close()
}

// fenced says whether the lease may be over.
func (o *Owner) fenced() bool {
	return o.joined != in || (o.config.Now() >= o.fence && !o.config.Defects.NoFence)
}

// Pop takes the best pod of all shards that are owned.
//
// Errors: queue.ErrEmpty; queue.ErrFenced; ErrBehind.
func (o *Owner) Pop() (queue.Popped, error) {
	if o.fenced() {
		return queue.Popped{}, queue.ErrFenced
	}
	if len(o.topOf) > 0 {
		if top, ok := o.queue.Top(); ok && o.behind(top) {
			if o.config.Strict {
				return queue.Popped{}, ErrBehind
			}
			o.counts.Behind++
		}
	}
	popped, err := o.queue.Pop(o.seen)
	if err == nil {
		o.counts.Pops++
	}
	return popped, err
}

func (o *Owner) behind(top int32) bool {
	for _, other := range o.topOf {
		if other > top {
			return true
		}
	}
	return false
}

// Alive asks before a bind whether the pod is still this process' to bind. The ticket still has to be used.
//
// Errors: queue.ErrFenced, ErrLost, ErrGone, ErrTicket.
func (o *Owner) Alive(ticket uint64) error {
	if err := o.queue.Alive(ticket); err != nil {
		return err
	}
	if o.fenced() {
		return queue.ErrFenced
	}
	return nil
}

// Done ends a pod that was placed. then gets nil once that is decided in the store, or queue.ErrGone, ErrLost, ErrUnknown.
//
// Errors: queue.ErrFenced, the pod is still in flight; ErrLost, ErrGone, ErrTicket: then is not called.
func (o *Owner) Done(ticket uint64, then func(error)) error {
	if o.queue.Alive(ticket) == nil && o.fenced() {
		return queue.ErrFenced
	}
	err := o.queue.Done(ticket, func(err error) {
		if err == nil {
			o.counts.Dones++
		}
		then(err)
	})
	o.flush()
	return err
}

// Fail puts a pod back. As queue.Fail; a fenced owner writes its state when it can.
func (o *Owner) Fail(ticket uint64, rejectors schedq.Plugins, then func(error)) error {
	err := o.queue.Fail(ticket, rejectors, then)
	if err == nil {
		o.counts.Failures++
	}
	o.flush()
	return err
}

// Nominate intends a node for a pod in flight. As queue.Nominate.
func (o *Owner) Nominate(ticket, node uint64, then func(error)) error {
	err := o.queue.Nominate(ticket, node, then)
	o.flush()
	return err
}

// Serves says whether Pop could give pods of this shard now.
func (o *Owner) Serves(s int) bool { return !o.closed && !o.fenced() && o.queue.Has(s) }

// Revision is the newest one that a watch brought.
func (o *Owner) Revision() int64 {
	newest := max(o.members.Revision(), o.owners.Revision(), o.events.Revision(), o.tops.Revision(), o.specs.Revision())
	for _, h := range o.holdings {
		newest = max(newest, h.revision())
	}
	return newest
}

// Seen is the revision up to which events came.
func (o *Owner) Seen() int64 { return o.seen }

// Poppable is a hint that Pop finds something.
func (o *Owner) Poppable() bool { return !o.fenced() && o.queue.Poppable() }

// Counts are what was done so far.
func (o *Owner) Counts() Counts { return o.counts }

// Owned is how many shards are owned, in any phase.
func (o *Owner) Owned() (count int) {
	for _, h := range o.holdings {
		if h.token != 0 {
			count++
		}
	}
	return count
}

// Left says whether Leave came to its end.
func (o *Owner) Left() bool { return o.left }

// Tick does what time demands.
func (o *Owner) Tick() {
	if o.closed {
		return
	}
	now := o.config.Now()
	o.runTimers(now)
	o.queue.Tick()
	if o.joined == in && now >= o.nextRenew {
		o.renew()
	}
	o.publish(now)
	o.flush()
}

// NextDeadline is when Tick is wanted, on the owner's clock.
func (o *Owner) NextDeadline() int64 {
	if o.closed {
		return math.MaxInt64
	}
	next := min(o.timers.next(), o.queue.NextDeadline())
	if o.joined == in {
		next = min(next, o.nextRenew)
	}
	if o.wantsPublish() {
		next = min(next, o.nextTop)
	}
	return next
}

func (o *Owner) wantsPublish() bool {
	return o.config.Publish > 0 && !o.publishing && !o.noSpace && !o.fenced() && o.top() != o.published
}

func (o *Owner) top() string {
	if top, ok := o.queue.Top(); ok {
		return strconv.Itoa(int(top))
	}
	return ""
}

// publish tells the others the priority of the best pod, if it changed.
func (o *Owner) publish(now int64) {
	if now < o.nextTop || !o.wantsPublish() {
		return
	}
	top, run := o.top(), o.run
	o.nextTop, o.publishing = now+o.config.Publish, true
	o.config.Port.Txn(store.Txn{
		Then: []store.Op{{Kind: store.Put, Key: o.layout.Top(o.config.ID), Value: []byte(top), Lease: o.lease}},
	}, func(_ store.TxnAnswer, err error) {
		o.publishing = false
		if o.run == run && err == nil {
			o.published = top
		}
	})
}

// flush sends what is to be written, as far as the window has room. A batch that is not full waits while others are under way: what
// comes meanwhile goes with it.
func (o *Owner) flush() {
	for !o.closed && !o.fenced() && o.underWay < o.config.Window && o.config.Now() >= o.flushAt {
		if pending := o.queue.Pending(); pending == 0 || pending < o.config.Batch && o.underWay > 0 {
			return
		}
		batch := o.queue.Next(o.config.Batch)
		if batch == nil {
			return
		}
		o.underWay++
		o.counts.Batches++
		o.counts.BatchPods += uint64(batch.Pods())
		o.config.Port.Txn(batch.Txn, func(answer store.TxnAnswer, err error) {
			if err != nil || answer.Held {
				o.settle(batch, queue.Outcome{Held: answer.Held, Err: err})
				return
			}
			o.config.Port.Txn(o.queue.Why(batch), func(answer store.TxnAnswer, _ error) {
				o.settle(batch, queue.Outcome{Got: answer.Got})
			})
		})
	}
}

func (o *Owner) settle(batch *queue.Batch, outcome queue.Outcome) {
	if o.closed {
		return
	}
	o.underWay--
	lost := o.queue.Settle(batch, outcome)
	if err := outcome.Err; err != nil {
		o.counts.Unanswered++
		o.flushAt = o.config.Now() + o.config.Retry
		o.setNoSpace(err == store.ErrNoSpace)
		o.later(o.flush)
	}
	for _, s := range lost {
		o.counts.Rejections++
		o.drop(o.holdings[s], queue.ErrLost)
	}
	o.guard()
	o.flush()
	o.movesOn()
}

// setNoSpace: without space only deletions go on, and no shard is given away; after a pause all is tried again.
func (o *Owner) setNoSpace(full bool) {
	if !full || o.noSpace {
		return
	}
	o.noSpace = true
	o.queue.SetFull(true)
	for _, h := range o.holdings {
		if h.phase == stopping {
			o.resume(h)
		}
	}
	o.after(5*o.config.Retry, func() {
		o.noSpace = false
		o.queue.SetFull(false)
		o.flush()
		o.reconcile()
	})
}

// State is what Status says of a shard.
type State struct {
	Shard int
	Phase string
	Token int64
	queue.Depth
	Revision int64 // up to which the specs are known
}

// Status lists the shards that this process has to do with.
func (o *Owner) Status() (states []State) {
	for _, h := range o.holdings {
		if h.phase != none {
			states = append(states, State{h.shard, phaseNames[h.phase], h.token, o.queue.Depth(h.shard), h.revision()})
		}
	}
	return states
}

func (h *holding) revision() int64 {
	if h.specs == nil {
		return 0
	}
	return h.specs.Revision()
}

// Stats are the queue's own.
func (o *Owner) Stats() (schedq.Stats, error) { return o.queue.Stats() }

// WriteMetrics writes the queue's own metrics in the Prometheus text format.
func (o *Owner) WriteMetrics(writer io.Writer) error { return o.queue.WriteMetrics(writer) }

// Fenced says whether the lease may be over.
func (o *Owner) Fenced() bool { return o.fenced() }

// sortProcesses finds out who should own what.
func (o *Owner) sortProcesses() {
	o.processes = o.processes[:0]
	for id, member := range o.memberKeys {
		if !member.Leaving {
			o.processes = append(o.processes, id)
		}
	}
	slices.Sort(o.processes)
	for s := range o.preferred {
		o.preferred[s] = shard.Owner(s, o.processes)
	}
}
