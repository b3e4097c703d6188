// Package queue keeps the pods of the shards that one process owns: in memory in one schedq, and what has to survive in batches of
// transactions that its user sends. It does no input and output of its own, has no goroutine, and reads no clock but the one it
// is given. All its calls are made by one goroutine at a time.
//
// A pod is in one of these states; "in memory" is schedq's place.
//
//	waiting    in memory active, backing off, parked or held     left by a pop
//	in flight  has a ticket                                      left by Done, Fail, or its deletion
//	ending     has a ticket, its deletion from the store is      left when the answer comes
//	           wanted, or under way
//
// Beside that its state may be wanted in the store, or on its way there. One transaction at most is under way for a pod: an
// order of transactions that the network does not keep is never needed.
package queue

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"schedq"
	"schedq/cluster/internal/plant"
	"schedq/cluster/record"
	"schedq/cluster/store"
)

// What becomes of a pod that was popped, beside nil.
var (
	// ErrGone: the pod is not in the store any more. Its submitter deleted it, or replaced it by another of its name; or the
	// shard has another owner already, who ended it.
	ErrGone = errors.New("cluster: the pod is gone")
	// ErrLost: its shard has another owner, who pops the pod again. Nothing was written.
	ErrLost = errors.New("cluster: the shard was lost: another process owns it, or will")
	// ErrFenced: the lease may be over. Nothing was written. Ask again: it turns out to live, or the shard is lost.
	ErrFenced = errors.New("cluster: fenced: the lease may be over")
	// ErrUnknown: the shard was lost while the write was under way. It was decided, or another process pops the pod again.
	ErrUnknown = errors.New("cluster: the shard was lost while the write was under way: it took effect, or did not")
	// ErrTicket: the ticket was used before.
	ErrTicket = errors.New("cluster: the ticket was used before, or never given")
	// ErrEmpty: nothing can be popped.
	ErrEmpty = errors.New("cluster: nothing to pop")
)

// Config is how a queue behaves. Times are nanoseconds.
type Config struct {
	Cluster        record.Config
	Layout         record.Layout
	Engine         schedq.Engine // 0: LockFree
	InitialBackoff int64
	MaxBackoff     int64 // 0 = none
	MaxParked      int64
	Now            func() int64 // never goes back
	Wall           func() int64 // since 1970; may jump
	Defects        plant.Defects
}

// Popped is a pod that was popped.
type Popped struct {
	Ticket   uint64 // for Done, Fail, Alive; of no use in another process
	Shard    int
	Token    int64  // of the ownership of the shard: grows from owner to owner
	UID      int64  // no other pod of the store has it
	Name     string // "namespace/name"
	Spec     record.Spec
	Attempts uint32 // this one counted, less those that a crash forgot
	Node     uint64 // that it is nominated to; 0 = none
}

type want uint8

const (
	nothing   want = iota
	saveState      // put the state
	endPod         // delete spec and state
	sweep          // delete the state of a pod that is gone
)

type pod struct {
	id     uint64 // its object in schedq
	part   *part
	place  string
	uid    int64
	mod    int64 // of the spec
	spec   record.Spec
	handle schedq.Pod
	since  int64 // wall clock when this process learned of it

	ticket uint64
	token  schedq.Token
	before schedq.History // its history when it was popped
	seen   int64          // events up to this revision had been seen then
	base   uint32         // attempts that schedq does not know of

	state  record.State
	node   uint64
	stored bool // the store may have a state

	want    want
	sending want // what is under way
	queued  bool // in Queue.pending
	ending  bool // Done was called
	unsure  bool // a deletion was sent, and no answer came
	gone    error
	settled []func(error)

	restored restored
	expiry   int64 // of the restored backoff, on the queue's clock
}

// part is a shard that is owned.
type part struct {
	shard    int
	token    int64
	guard    int64 // mod revision of the owner key, which every write compares
	late     bool  // a put was sent, no answer came, and it may still arrive: nothing is written until Guarded
	held     bool
	pods     map[string]*pod
	stray    map[string]bool  // places of pods that are gone, whose states may still be in the store
	ended    map[string]int64 // UIDs of pods whose deletion is known before the watch brings it
	inFlight int
	busy     int // pods with something to write, or being written
}

func (part *part) label() uint64 { return uint64(part.shard) + 1 }

// Queue is the pods of one process.
type Queue struct {
	config  Config
	queue   *schedq.Queue
	parts   map[int]*part
	byID    map[uint64]*pod
	tickets map[uint64]*pod
	lastID  uint64
	events  map[string]schedq.Event
	pending []*pod
	waits   waits
	parked  map[schedq.Plugins][]*pod // restored, by their rejectors
	sent    []*Batch                  // that Settle has yet to come for
	full    bool                      // the store took no put
}

// New makes one without shards.
func New(config Config) (*Queue, error) {
	settings := schedq.DefaultConfig()
	settings.Engine = cmp.Or(config.Engine, schedq.LockFree)
	settings.InitialBackoff, settings.MaxBackoff, settings.MaxParked = config.InitialBackoff, config.MaxBackoff, config.MaxParked
	inner, err := schedq.New(settings, config.Now)
	if err != nil {
		return nil, err
	}
	q := &Queue{
		config: config, queue: inner, parts: map[int]*part{}, byID: map[uint64]*pod{}, tickets: map[uint64]*pod{},
		events: map[string]schedq.Event{}, parked: map[schedq.Plugins][]*pod{},
	}
	for n, plugin := range config.Cluster.Plugins {
		var interests []schedq.Interest
		for _, event := range plugin.Events {
			interest := schedq.Interest{Resource: event, Actions: schedq.ActionAdd}
			if event == "*" {
				interest.Actions = schedq.ActionAll
			}
			interests = append(interests, interest)
		}
		bit, err := inner.RegisterPlugin(0, plugin.Name, 0, interests...)
		if err == nil && bit != 1<<n {
			err = fmt.Errorf("plugin %d (%s) has bit %#x", n, plugin.Name, bit)
		}
		if err != nil {
			_ = inner.DestroyWithPods()
			return nil, err
		}
	}
	return q, nil
}

// Close ends it. Callbacks that are left get ErrLost, or ErrUnknown if their batch is under way. No Settle follows.
func (q *Queue) Close() {
	for _, shard := range q.Shards() {
		q.Drop(shard)
	}
	for _, batch := range q.sent {
		for _, item := range batch.items {
			item.tell(ErrUnknown)
		}
	}
	_ = q.queue.DestroyWithPods()
}

// Shards lists the shards that are here, in order.
func (q *Queue) Shards() []int {
	shards := make([]int, 0, len(q.parts))
	for shard := range q.parts {
		shards = append(shards, shard)
	}
	slices.Sort(shards)
	return shards
}

// Has says whether a shard is here and pods are popped from it.
func (q *Queue) Has(shard int) bool {
	part := q.parts[shard]
	return part != nil && !part.held
}

// inner is the spec that schedq gets. Inside a priority the older UID comes first, whoever owns the pod.
func (q *Queue) inner(p *pod) schedq.PodSpec {
	spec := schedq.PodSpec{
		Priority: p.spec.Priority, Flags: schedq.PodOrderKey, OrderKey: p.uid, Object: p.id, NominatedNode: p.node, Label: p.part.label(),
	}
	if p.spec.NotBefore > 0 {
		if wait := p.spec.NotBefore - q.config.Wall(); wait > 0 {
			spec.NotBefore = q.config.Now() + wait
		}
	}
	return spec
}

// Pop takes the best pod. seen is the revision up to which events came.
//
// Errors: ErrEmpty.
func (q *Queue) Pop(seen int64) (Popped, error) {
	popped, err := q.queue.TryPop()
	if err != nil {
		return Popped{}, ErrEmpty
	}
	p := q.byID[popped.Object]
	p.token, p.before, p.seen, p.restored = popped.Token, popped.History, seen, fresh
	q.lastID++
	p.ticket = q.lastID
	q.tickets[p.ticket] = p
	p.part.inFlight++
	_, name, _ := record.SplitPlace(p.place)
	return Popped{
		Ticket: p.ticket, Shard: p.part.shard, Token: p.part.token, UID: p.uid, Name: name, Spec: p.spec,
		Attempts: p.base + popped.History.Attempts, Node: p.node,
	}, nil
}

// Top is the priority of the pod that Pop would take.
func (q *Queue) Top() (priority int32, ok bool) {
	if !q.queue.Words().Poppable() {
		return 0, false
	}
	info, err := q.queue.Peek()
	return info.Priority, err == nil
}

// Poppable is a hint that Pop finds something.
func (q *Queue) Poppable() bool { return q.queue.Words().Poppable() }

// flying finds the pod of a ticket.
func (q *Queue) flying(ticket uint64) (*pod, error) {
	p := q.tickets[ticket]
	if p == nil || p.ending {
		return nil, ErrTicket
	}
	return p, p.gone
}

// use finds the pod of a ticket that is used up by the call, if the pod is gone.
func (q *Queue) use(ticket uint64) (*pod, error) {
	p, err := q.flying(ticket)
	if p != nil && err != nil {
		delete(q.tickets, ticket)
	}
	return p, err
}

// Alive asks before something is done outside that cannot be undone. The ticket still has to be used.
//
// Errors: ErrLost, ErrGone, ErrTicket.
func (q *Queue) Alive(ticket uint64) error {
	_, err := q.flying(ticket)
	return err
}

// Done asks that a pod that was popped ends. then gets nil when that is decided in the store, or ErrGone, ErrLost, ErrUnknown.
//
// Errors: as Alive; then is not called, and the ticket is used up.
func (q *Queue) Done(ticket uint64, then func(error)) error {
	p, err := q.use(ticket)
	if err != nil {
		return err
	}
	p.ending = true
	p.settled = append(p.settled, then)
	q.ask(p, endPod)
	return nil
}

// Fail puts a pod that was popped back: it waits for an event that one of its rejectors wants, or, without any, for the end of
// a backoff. then gets nil when the state is in the store, or ErrGone, ErrLost, ErrUnknown. It may be nil.
//
// Errors: as Alive, the ticket is used up; rejectors that the configuration does not name, it is not. then is not called.
func (q *Queue) Fail(ticket uint64, rejectors schedq.Plugins, then func(error)) error {
	p, err := q.use(ticket)
	if err != nil {
		return err
	}
	if known := schedq.Plugins(1)<<len(q.config.Cluster.Plugins) - 1; rejectors&^known != 0 {
		return fmt.Errorf("cluster: rejectors: %#x: legal are bits of %#x", rejectors, known)
	}
	result, err := q.queue.Fail(&p.token, &schedq.Failure{Unschedulable: rejectors})
	if err != nil {
		return fmt.Errorf("cluster: a pod in flight could not be put back: %w", err)
	}
	q.land(p)
	p.state = q.failedState(p, rejectors, result.Place)
	if then != nil {
		p.settled = append(p.settled, then)
	}
	q.ask(p, saveState)
	return nil
}

// land ends a flight.
func (q *Queue) land(p *pod) {
	delete(q.tickets, p.ticket)
	p.ticket = 0
	p.part.inFlight--
}

// failedState is the state of a pod whose cycle just failed. A shard that is about to be given away holds it: then the next
// owner has to ask by itself whether an event came meanwhile.
func (q *Queue) failedState(p *pod, rejectors schedq.Plugins, place schedq.Place) record.State {
	state := record.State{
		Rejections: record.Saturated(p.before.Rejections), Errors: record.Saturated(p.before.Errors),
		Attempts: p.base + p.before.Attempts, Failed: q.config.Wall(), Rejectors: rejectors, Node: p.node, Seen: p.seen,
	}
	failures := p.before.Errors + 1
	if rejectors != 0 {
		failures = p.before.Rejections + 1
		state.Rejections, state.Errors = record.Saturated(failures), 0
		state.Kind = record.Parked
		if place == schedq.Backoff || place == schedq.Active {
			state.Kind = record.Backoff
		}
	} else {
		state.Errors = record.Saturated(failures)
		state.Kind = record.ErrorBackoff
	}
	state.Expiry = state.Failed + q.backoff(failures)
	return state
}

func (q *Queue) backoff(failures uint32) int64 {
	length := q.config.InitialBackoff
	for ; failures > 1 && length < q.config.MaxBackoff; failures-- {
		length *= 2
	}
	return min(length, q.config.MaxBackoff)
}

// Nominate intends a node for a pod in flight; 0 = none. The nomination survives the process once then got nil.
//
// Errors: as Alive; then is not called.
func (q *Queue) Nominate(ticket uint64, node uint64, then func(error)) error {
	p, err := q.flying(ticket)
	if err != nil {
		return err
	}
	if err := q.queue.Nominate(p.handle, node); err != nil {
		return err
	}
	p.node = node
	p.state = record.State{
		Kind: record.Active, Rejections: record.Saturated(p.before.Rejections), Errors: record.Saturated(p.before.Errors),
		Attempts: p.base + p.before.Attempts, Node: node, Seen: p.seen,
	}
	p.settled = append(p.settled, then)
	q.ask(p, saveState)
	return nil
}

// Event tells the queue that a pod may be worth another try: an event of that name was put.
func (q *Queue) Event(name string) {
	event := q.event(name)
	_, _ = q.queue.Notify(&schedq.Change{Event: event})
	q.freeRestored(q.queue.EventPlugins(0, event))
}

// event numbers a name; if there are too many, each further one reaches everybody.
func (q *Queue) event(name string) schedq.Event {
	if event, ok := q.events[name]; ok {
		return event
	}
	event, err := q.queue.DefineEvent(name, schedq.ActionAdd, "")
	if err != nil {
		event = schedq.EventWildcard
	}
	q.events[name] = event
	return event
}

// Tick does what time demands.
func (q *Queue) Tick() {
	now := q.config.Now()
	q.freeDue(now)
	if q.queue.Words().NextDeadline() <= now {
		_, _, _ = q.queue.Tick()
	}
}

// NextDeadline is when Tick is wanted, on the queue's clock.
func (q *Queue) NextDeadline() int64 {
	return min(q.queue.Words().NextDeadline(), q.waits.next())
}

// Depth is what a shard has.
type Depth struct {
	Pods     int
	InFlight int
	Oldest   int64 // how long this process has known its oldest pod, nanoseconds
	Unsaved  int   // pods that wait for a write
}

// Depth counts a shard's pods.
func (q *Queue) Depth(shard int) (depth Depth) {
	part := q.parts[shard]
	if part == nil {
		return depth
	}
	depth = Depth{Pods: len(part.pods), InFlight: part.inFlight, Unsaved: part.busy}
	wall := q.config.Wall()
	for _, p := range part.pods {
		depth.Oldest = max(depth.Oldest, wall-p.since)
	}
	return depth
}

// Stats are schedq's own.
func (q *Queue) Stats() (schedq.Stats, error) { return q.queue.Stats() }

// WriteMetrics writes schedq's own metrics in the Prometheus text format.
func (q *Queue) WriteMetrics(writer io.Writer) error { return q.queue.WriteMetrics(writer) }

// ownerKey is compared by every write.
func (q *Queue) ownerKey(part *part) store.Compare {
	return store.Compare{Key: q.config.Layout.Owner(part.shard), Mod: part.guard}
}
