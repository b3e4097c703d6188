package queue

import (
	"slices"

	"schedq/cluster/store"
)

// PodsMax is how many pods a batch has at most: with a compare for each, and one for each shard, a transaction is full.
const PodsMax = store.TxnMax / 2

// Batch is a transaction for some pods.
type Batch struct {
	Txn   store.Txn
	items []item
	parts []*part
	puts  bool
}

type item struct {
	p       *pod
	what    want
	state   bool // the state is deleted with the spec
	settled []func(error)
}

// Why asks for what explains a Txn that did not hold: the owner keys, and then the specs. What did not hold once never holds again,
// so it does not matter that this is asked later.
func (q *Queue) Why(batch *Batch) (txn store.Txn) {
	for _, part := range batch.parts {
		txn.Then = append(txn.Then, store.Op{Kind: store.Get, Key: q.config.Layout.Owner(part.shard)})
	}
	for _, item := range batch.items {
		txn.Then = append(txn.Then, store.Op{Kind: store.Get, Key: q.config.Layout.Pod(item.p.place)})
	}
	return txn
}

// Pods is how many pods the batch has.
func (batch *Batch) Pods() int { return len(batch.items) }

// ask notes what is to be written for a pod; the end of a pod replaces its state.
func (q *Queue) ask(p *pod, what want) {
	if p.want == nothing && p.sending == nothing {
		p.part.busy++
	}
	p.want = max(p.want, what)
	q.enqueue(p)
}

func (q *Queue) enqueue(p *pod) {
	if !p.queued {
		p.queued = true
		q.pending = append(q.pending, p)
	}
}

// sweep asks that a state without a spec is deleted. If its name has a next pod already, that one's end does it.
func (q *Queue) sweep(part *part, place string) {
	if next := part.pods[place]; next != nil {
		next.stored = true
		return
	}
	part.stray[place] = true
	q.ask(&pod{part: part, place: place}, sweep)
}

// Pending is how many pods Next might have something for.
func (q *Queue) Pending() int { return len(q.pending) }

// SetFull: while the store is full only deletions are tried.
func (q *Queue) SetFull(full bool) { q.full = full }

// Next makes a transaction for the pods that waited longest, up to limit of them; nil: there are none. Settle has to follow.
func (q *Queue) Next(limit int) *Batch {
	batch := &Batch{}
	var left []*pod
	for len(q.pending) > 0 && len(batch.items) < min(limit, PodsMax) {
		p := q.pending[0]
		q.pending = q.pending[1:]
		if p.want != nothing && (p.sending != nothing || p.part.late || q.full && p.want == saveState) {
			left = append(left, p)
			continue
		}
		p.queued = false
		// What is not wanted any more left the queue, with its shard or by itself.
		if p.want != nothing && (p.want != sweep || q.parts[p.part.shard] == p.part) {
			q.include(batch, p)
		}
	}
	if len(left) > 0 {
		q.pending = append(left, q.pending...)
	}
	if len(batch.items) == 0 {
		return nil
	}
	q.sent = append(q.sent, batch)
	return batch
}

func (q *Queue) include(batch *Batch, p *pod) {
	txn := &batch.Txn
	if !batch.has(p.part) {
		batch.parts = append(batch.parts, p.part)
		if !q.config.Defects.NoToken {
			txn.If = append(txn.If, q.ownerKey(p.part))
		}
	}
	spec, state := q.config.Layout.Pod(p.place), q.config.Layout.State(p.place)
	txn.If = append(txn.If, store.Compare{Key: spec, Create: p.uid})
	switch p.want {
	case endPod:
		txn.Then = append(txn.Then, store.Op{Kind: store.Delete, Key: spec})
		if p.stored {
			txn.Then = append(txn.Then, store.Op{Kind: store.Delete, Key: state})
		}
	case saveState:
		txn.Then = append(txn.Then, store.Op{Kind: store.Put, Key: state, Value: p.state.Encode()})
		p.stored = true
		batch.puts = true
	case sweep:
		txn.Then = append(txn.Then, store.Op{Kind: store.Delete, Key: state})
	}
	batch.items = append(batch.items, item{p, p.want, p.stored, p.settled})
	p.want, p.settled, p.sending = nothing, nil, p.want
}

func (batch *Batch) has(part *part) bool {
	for _, other := range batch.parts {
		if other == part {
			return true
		}
	}
	return false
}

// Outcome is what became of a Batch's Txn.
type Outcome struct {
	Held bool
	Err  error
	Got  []store.Pair // it did not hold: the answer to Why; nil: there was none
}

// Settle takes the answer to a batch. It returns the shards that turned out to be another's.
func (q *Queue) Settle(batch *Batch, outcome Outcome) (lost []int) {
	at := slices.Index(q.sent, batch)
	q.sent = slices.Delete(q.sent, at, at+1)
	foreign := map[*part]bool{}
	for n, part := range batch.parts {
		if outcome.Got != nil && outcome.Got[n].Create != part.token {
			foreign[part] = true
			if q.parts[part.shard] == part {
				lost = append(lost, part.shard)
			}
		}
		// A put of the owner key that came late moved the guard.
		if outcome.Got != nil && outcome.Got[n].Create == part.token && outcome.Got[n].Mod > part.guard {
			part.late = true
		}
	}
	if batch.puts && outcome.Err != nil && outcome.Err != store.ErrNoSpace && !q.config.Defects.NoGuard {
		for _, part := range batch.parts {
			part.late = true
		}
	}
	for n, item := range batch.items {
		p := item.p
		p.sending = nothing
		switch {
		case outcome.Held:
			q.written(item)
		case outcome.Got != nil && outcome.Got[len(batch.parts)+n].Create != p.uid && !foreign[p.part]:
			q.refused(item)
		default:
			p.unsure = p.unsure || item.what == endPod && outcome.Err != nil && outcome.Err != store.ErrNoSpace
			q.again(item)
		}
	}
	return lost
}

// Late lists the shards of which a put may still arrive. It would replace a newer state. So the owner key has to be put again, under the
// same lease, if its create revision is the token; then Guarded. After that what was sent before has no effect.
func (q *Queue) Late() (shards []int) {
	for shard, part := range q.parts {
		if part.late {
			shards = append(shards, shard)
		}
	}
	slices.Sort(shards)
	return shards
}

// Guarded: the owner key of a shard was put at this revision.
func (q *Queue) Guarded(shard int, revision int64) {
	part := q.parts[shard]
	part.guard, part.late = revision, false
}

// written: the store has it.
func (q *Queue) written(item item) {
	q.leave(item)
	if item.what == sweep {
		delete(item.p.part.stray, item.p.place)
	}
	if item.what == endPod && item.p.gone == nil {
		q.finish(item.p)
		if item.p.stored && !item.state {
			q.sweep(item.p.part, item.p.place)
		}
	}
	item.tell(nil)
}

// refused: the spec is not there, and the token holds. A deletion whose answer was lost explains it, or the submitter; a state that
// there may be is swept, since the submitter does not.
func (q *Queue) refused(item item) {
	p := item.p
	q.leave(item)
	why := ErrGone
	if item.what == endPod && p.unsure {
		why = nil
	}
	switch {
	case item.what == sweep || p.gone != nil:
	case why == nil:
		q.finish(p)
	default:
		q.expectDeletion(p)
		q.remove(p, ErrGone)
	}
	if item.what != sweep && p.stored {
		q.sweep(p.part, p.place)
	}
	item.tell(why)
}

// again: nothing is known. A pod that left meanwhile is not asked for a second time.
func (q *Queue) again(item item) {
	p := item.p
	if p.gone != nil {
		q.leave(item)
		why := p.gone
		if p.gone == ErrLost && (p.unsure || item.what != endPod) {
			why = ErrUnknown
		}
		item.tell(why)
		return
	}
	p.settled = append(item.settled, p.settled...)
	p.want = max(p.want, item.what)
	q.enqueue(p)
}

// leave counts a pod out of those that are busy, unless it wants more.
func (q *Queue) leave(item item) {
	if item.p.want == nothing {
		item.p.part.busy--
	}
}

// expectDeletion: the store has deleted the pod, and the watch has yet to say so.
func (q *Queue) expectDeletion(p *pod) {
	if p.part.pods[p.place] == p && !q.config.Defects.Forget {
		p.part.ended[p.place] = p.uid
	}
}

// finish ends a pod whose end is decided. The state cannot outlive it: the same transaction deleted that.
func (q *Queue) finish(p *pod) {
	q.expectDeletion(p)
	if p.part.pods[p.place] == p {
		_ = q.queue.Done(p.token)
		delete(p.part.pods, p.place)
		delete(q.byID, p.id)
	}
	q.end(p, ErrTicket)
}

func (item item) tell(why error) {
	for _, then := range item.settled {
		then(why)
	}
}
