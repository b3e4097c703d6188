package owner

import (
	"fmt"

	"schedq/cluster/queue"
	"schedq/cluster/record"
	"schedq/cluster/store"
)

func (o *Owner) enter(h *holding, phase phase) {
	o.count[h.phase]--
	o.count[phase]++
	h.phase, h.since = phase, o.config.Now()
}

// reconcile compares what is with what should be, for all shards.
func (o *Owner) reconcile() {
	if o.closed {
		return
	}
	for s := range o.holdings {
		o.reconcileShard(s)
	}
	o.leaveIfDone()
}

func (o *Owner) reconcileShard(s int) {
	if o.closed || o.fenced() || o.owners.Revision() == 0 || o.members.Revision() == 0 {
		return
	}
	h, key := o.holdings[s], o.keys[s]
	switch h.phase {
	case none:
		switch {
		// A claim whose answer was lost.
		case key.Create > h.over && key.Lease == o.lease:
			o.own(h, key.Create)
		case key.Create == 0 && !o.leaving && o.mayClaim(s):
			o.claim(h)
		}
	case active:
		if o.shouldGive(s) {
			o.stop(h)
		}
	}
}

// mayClaim: the one that should own a shard claims it at once, others once nobody did for a while.
func (o *Owner) mayClaim(s int) bool {
	h := o.holdings[s]
	if o.noSpace || o.count[claiming]+o.count[loading] >= o.config.Taking {
		return false
	}
	wait := o.absent[s] - o.config.Now()
	if o.preferred[s] == o.config.ID || wait <= 0 {
		return true
	}
	if !h.waiting {
		h.waiting = true
		o.after(wait, func() {
			h.waiting = false
			o.reconcileShard(s)
		})
	}
	return false
}

// shouldGive: another process should own it. One that let a shard lie is not offered it again at once: it may be alive, and cut off.
func (o *Owner) shouldGive(s int) bool {
	if o.noSpace || o.moving() >= o.config.Moving {
		return false
	}
	if o.leaving {
		return true
	}
	return o.preferred[s] != "" && o.preferred[s] != o.config.ID && o.config.Now() >= o.holdings[s].keep
}

func (o *Owner) moving() int { return o.count[stopping] + o.count[releasing] }

// claim creates the owner key if it is absent.
func (o *Owner) claim(h *holding) {
	o.enter(h, claiming)
	run, lease, key := o.run, o.lease, o.layout.Owner(h.shard)
	o.config.Port.Txn(store.Txn{
		If: []store.Compare{{Key: key, Create: 0}},
		Then: []store.Op{
			{Kind: store.Put, Key: key, Value: []byte(o.config.ID), Lease: lease},
			{Kind: store.Delete, Key: o.layout.Clean(h.shard)},
		},
		Else: []store.Op{{Kind: store.Get, Key: key}},
	}, func(answer store.TxnAnswer, err error) {
		if o.run != run || h.phase != claiming {
			return
		}
		o.enter(h, none)
		switch {
		case err == store.ErrNoLease:
			o.loseLease()
		case err != nil:
			o.setNoSpace(err == store.ErrNoSpace)
			o.later(o.reconcile)
		case answer.Held:
			o.own(h, answer.Revision)
		case answer.Got[0].Lease == lease:
			o.own(h, answer.Got[0].Create)
		default:
			o.noteOwner(h.shard, answer.Got[0])
			o.reconcile()
		}
	})
}

// own: the owner key is ours, and its create revision is the token. States first: nobody but us writes them, so they are the same when
// the specs are read.
func (o *Owner) own(h *holding, token int64) {
	o.enter(h, loading)
	h.token, h.keep = token, 0
	if preferred := o.preferred[h.shard]; preferred != "" && preferred != o.config.ID {
		h.keep = o.config.Now() + o.config.TTL
		o.after(o.config.TTL, func() { o.reconcileShard(h.shard) })
	}
	o.counts.Claims++
	o.config.Trace(Step{What: Claimed, Shard: h.shard, Token: token})
	run := o.run
	mine := func() bool { return o.run == run && h.token == token && h.phase == loading }
	store.All(o.config.Port, o.layout.ShardStates(h.shard), o.later, mine, func(states []store.Pair, _ int64) {
		o.follow(h, token, states)
	})
}

// follow keeps up with the shard's specs. The first list loads the shard.
func (o *Owner) follow(h *holding, token int64, states []store.Pair) {
	h.specs = &store.Mirror{
		Port: o.config.Port, Feed: o.specs, Prefix: o.layout.ShardPods(h.shard), Later: o.later,
		Listed: func(specs []store.Pair, _ int64) {
			if h.phase != loading {
				o.unread(h, o.queue.Relist(h.shard, specs))
				return
			}
			o.unread(h, o.queue.Load(h.shard, token, specs, states, o.eventRev))
			states = nil
			o.enter(h, active)
			o.config.Trace(Step{What: Loaded, Shard: h.shard, Token: token, Pods: len(specs)})
			o.reconcile()
			o.flush()
		},
		Changed: func(events []store.Event) {
			o.unread(h, o.queue.Changed(h.shard, events))
			o.flush()
		},
	}
	h.specs.Repeated = func(event store.Event) {
		o.config.Trace(Step{What: Repeated, Shard: h.shard, Token: token, Why: fmt.Errorf("%s at revision %d", event.Key, event.Mod)})
	}
	if o.config.Defects.WatchFromR {
		h.specs.Overlap = 1
	}
	if o.config.Defects.WatchLate {
		h.specs.Overlap = -1
	}
	h.specs.Start()
}

func (o *Owner) unread(h *holding, errs []error) {
	for _, err := range errs {
		o.config.Trace(Step{What: Unread, Shard: h.shard, Why: err})
	}
}

// stop begins a planned hand-over.
func (o *Owner) stop(h *holding) {
	o.enter(h, stopping)
	o.queue.Stop(h.shard)
	o.config.Trace(Step{What: Stopped, Shard: h.shard, Token: h.token})
	o.after(o.config.Grace, func() { o.moveOn(h) })
	o.moveOn(h)
}

// resume takes stop back.
func (o *Owner) resume(h *holding) {
	o.queue.Resume(h.shard)
	o.enter(h, active)
	o.config.Trace(Step{What: Resumed, Shard: h.shard, Token: h.token})
}

// askBusy is how often Config.Busy is asked.
const askBusy = 5 * millisecond

// movesOn looks whether a shard that is being given away has nothing left to wait for.
func (o *Owner) movesOn() {
	if o.moving() == 0 {
		return
	}
	for _, h := range o.holdings {
		o.moveOn(h)
	}
}

func (o *Owner) moveOn(h *holding) {
	if h.phase != stopping || o.fenced() {
		return
	}
	inFlight, unsaved := o.queue.Quiet(h.shard)
	busy := o.config.Busy(h.shard)
	inFlight += busy
	if inFlight > 0 && o.config.Now() < h.since+o.config.Grace {
		if busy > 0 && !h.asking {
			h.asking = true
			o.after(askBusy, func() {
				h.asking = false
				o.moveOn(h)
			})
		}
		return
	}
	if unsaved > 0 && !o.config.Defects.FlushLate {
		return
	}
	o.release(h, inFlight, false)
}

// release deletes the owner key, and leaves the clean mark. unsure: it was sent before, and no answer came, so it may have happened:
// nothing is popped until that is known, whatever this answer says.
func (o *Owner) release(h *holding, inFlight int, unsure bool) {
	o.enter(h, releasing)
	run, token, key := o.run, h.token, o.layout.Owner(h.shard)
	then := []store.Op{{Kind: store.Delete, Key: key}}
	if !o.noSpace {
		clean := record.Clean{By: o.config.ID, Token: token, InFlight: inFlight}
		then = append(then, store.Op{Kind: store.Put, Key: o.layout.Clean(h.shard), Value: record.Encode(clean)})
	}
	o.config.Port.Txn(store.Txn{
		If: []store.Compare{{Key: key, Create: token}}, Then: then,
	}, func(answer store.TxnAnswer, err error) {
		if o.run != run || h.phase != releasing || h.token != token {
			return
		}
		switch {
		case err == store.ErrNoSpace && !unsure:
			o.resume(h)
			o.setNoSpace(true)
		case err != nil:
			o.setNoSpace(err == store.ErrNoSpace)
			o.later(func() {
				if o.run == run && h.phase == releasing && h.token == token {
					o.release(h, inFlight, true)
				}
			})
		default:
			why := queue.ErrLost
			if answer.Held {
				o.counts.Releases++
				o.config.Trace(Step{What: Released, Shard: h.shard, Token: token, InFlight: inFlight})
				why = nil
			}
			o.drop(h, why)
			o.reconcile()
		}
	})
}

// guard puts the owner keys again of shards of which a put may still arrive.
func (o *Owner) guard() {
	for _, s := range o.queue.Late() {
		if h := o.holdings[s]; !h.guarding {
			o.guardShard(h)
		}
	}
}

func (o *Owner) guardShard(h *holding) {
	h.guarding = true
	run, token, key := o.run, h.token, o.layout.Owner(h.shard)
	o.config.Port.Txn(store.Txn{
		If:   []store.Compare{{Key: key, Create: token}},
		Then: []store.Op{{Kind: store.Put, Key: key, Value: []byte(o.config.ID), Lease: o.lease}},
	}, func(answer store.TxnAnswer, err error) {
		if o.run != run || h.token != token {
			return
		}
		switch {
		case err == store.ErrNoLease:
			o.loseLease()
		case err != nil:
			// This put may be what arrives late, after the next one was answered: then a write does not hold, although the
			// token does, and the owner key is put once more.
			o.later(func() {
				if o.run == run && h.token == token {
					o.guardShard(h)
				}
			})
		case answer.Held:
			h.guarding = false
			o.queue.Guarded(h.shard, answer.Revision)
			o.flush()
		default:
			o.drop(h, queue.ErrLost)
			o.reconcile()
		}
	})
}

// drop forgets a shard. Whose it is the watch of owner keys says. why: nil if it was given away, or the owner ends.
func (o *Owner) drop(h *holding, why error) {
	if h.phase == none {
		return
	}
	if h.specs != nil {
		h.specs.Stop()
		h.specs = nil
	}
	token := h.token
	h.token, h.over, h.guarding = 0, max(h.over, token), false
	o.enter(h, none)
	o.queue.Drop(h.shard)
	if token != 0 && why != nil {
		o.config.Trace(Step{What: Dropped, Shard: h.shard, Token: token, Why: why})
	}
}
