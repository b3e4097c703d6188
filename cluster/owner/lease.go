package owner

import (
	"schedq/cluster/record"
	"schedq/cluster/store"
)

// join asks for a lease, and then registers under it.
func (o *Owner) join() {
	if o.closed || o.joined != out || o.left {
		return
	}
	o.joined = joining
	run, sent := o.run, o.config.Now()
	o.config.Port.Grant(o.config.TTL/second, func(lease int64, err error) {
		if o.run != run {
			return
		}
		if err != nil {
			o.joined = out
			o.later(o.join)
			return
		}
		o.lease, o.joined = lease, in
		o.trustUntil(sent)
		o.nextRenew = sent + o.config.Renew
		o.config.Trace(Step{What: Joined, Token: lease})
		o.register(run)
	})
}

// trustUntil: the store answered something that was asked at sent, and counted the lease's whole length from after that.
func (o *Owner) trustUntil(sent int64) {
	o.fence = max(o.fence, sent+o.config.TTL-o.config.Skew)
}

// register puts the member key.
func (o *Owner) register(run int) {
	member := record.Member{Leaving: o.leaving, Address: o.config.Address}
	o.config.Port.Txn(store.Txn{
		Then: []store.Op{{Kind: store.Put, Key: o.layout.Member(o.config.ID), Value: record.Encode(member), Lease: o.lease}},
	}, func(_ store.TxnAnswer, err error) {
		if o.run != run {
			return
		}
		switch err {
		case nil:
			o.reconcile()
		case store.ErrNoLease:
			o.loseLease()
		default:
			o.later(func() {
				if o.run == run {
					o.register(run)
				}
			})
		}
	})
}

// renew asks for the lease's whole length again. One question is under way at a time, unless the answer is late.
func (o *Owner) renew() {
	run, sent := o.run, o.config.Now()
	o.nextRenew = sent + o.config.Renew
	o.counts.Renewals++
	o.config.Port.Renew(o.lease, func(err error) {
		if o.run != run {
			return
		}
		switch err {
		case nil:
			wasFenced := o.fenced()
			o.trustUntil(sent)
			if wasFenced && !o.fenced() {
				o.flush()
				o.reconcile()
				o.movesOn()
			}
		case store.ErrNoLease:
			o.loseLease()
		default:
			// Sooner than usual: until it is renewed the fence comes nearer.
			o.nextRenew = min(o.nextRenew, o.config.Now()+o.config.Retry)
		}
	})
}

// loseLease: everything that was owned is, or will be, another's.
func (o *Owner) loseLease() {
	o.counts.Losses++
	o.run++
	o.joined, o.lease, o.fence = out, 0, 0
	o.published, o.publishing = "", false
	o.config.Trace(Step{What: Lost})
	for _, h := range o.holdings {
		o.drop(h, store.ErrNoLease)
	}
	o.join()
}

// Leave gives all shards away, in order, and then the lease. Left says when that is done.
func (o *Owner) Leave() {
	if o.leaving || o.closed {
		return
	}
	o.leaving = true
	if o.joined == in {
		o.register(o.run)
	}
	o.reconcile()
}

// leaveIfDone ends the lease of a process that owns nothing any more.
func (o *Owner) leaveIfDone() {
	if !o.leaving || o.left || o.joined != in || o.Owned() > 0 {
		return
	}
	for _, h := range o.holdings {
		if h.phase != none {
			return
		}
	}
	o.left = true
	o.run++
	o.joined = out
	o.config.Port.Revoke(o.lease, func(error) {})
}
