// Package store names the few operations of etcd that a cluster needs: transactions, ranges, leases, watches.
//
// All of them answer later, by a callback. A [Port] calls back one at a time, never inside the call that asked, and
// never again after it was closed. So whoever uses one is driven by messages alone: package store/etcd brings them from
// an etcd, package sim from a simulated network.
package store

import "errors"

// Errors that a callback can get. Others are none of these, and mean what ErrUnknown means.
var (
	// ErrUnknown: no answer came. What was asked for has happened, will happen, or never will.
	ErrUnknown = errors.New("store: no answer: the outcome is unknown")
	// ErrNoLease: the lease ended. Nothing changed.
	ErrNoLease = errors.New("store: the lease ended")
	// ErrNoSpace: etcd has a NOSPACE alarm. Nothing changed; deletes are still taken.
	ErrNoSpace = errors.New("store: etcd is full (NOSPACE): compact, defragment, disarm the alarm, or raise its quota")
	// ErrCompacted: a watch or a range asks for revisions that are compacted: begin again with a range.
	ErrCompacted = errors.New("store: that revision is compacted")
)

// Pair is a key as it is at some revision.
type Pair struct {
	Key    string
	Value  []byte
	Create int64 // revision that created it
	Mod    int64 // revision that changed it last
	Lease  int64 // 0 = none
}

// Compare holds if the key's create revision is Create; 0: the key is absent. With Mod that is compared, with the mod revision.
type Compare struct {
	Key    string
	Create int64
	Mod    int64 // 0 = Create counts
}

// Kind is what an Op does.
type Kind uint8

const (
	Put Kind = iota + 1
	Delete
	Get // without the value
)

// Op is a step of a transaction.
type Op struct {
	Kind  Kind
	Key   string
	Value []byte // Put
	Lease int64  // Put; 0 = none
}

// Txn does Then if all of If hold, else Else, in one revision. Each list has at most [TxnMax] elements; no key is put or deleted twice.
type Txn struct {
	If   []Compare
	Then []Op
	Else []Op
}

// TxnMax is etcd's limit for each list of a Txn (--max-txn-ops).
const TxnMax = 128

// TxnAnswer tells which way it went.
type TxnAnswer struct {
	Held     bool
	Revision int64  // of the store after it
	Got      []Pair // what the Gets of the way that it went found; Create 0: absent
}

// Range reads the pairs whose keys begin with Prefix, in the order of keys.
type Range struct {
	Prefix   string
	After    string // only keys after this one; "" = all
	Limit    int    // 0 = none
	Revision int64  // as of then; 0 = now
}

// RangeAnswer is a page.
type RangeAnswer struct {
	Pairs    []Pair
	More     bool
	Revision int64 // that the page is of
}

// Watch asks for every change of keys that begin with Prefix, from a revision on.
type Watch struct {
	Prefix string
	From   int64
}

// Event is a change. Deleted: only Key and Mod mean something.
type Event struct {
	Pair
	Deleted bool
}

// Port is a way to a store.
type Port interface {
	Txn(txn Txn, then func(TxnAnswer, error))
	Range(ask Range, then func(RangeAnswer, error))
	// Grant makes a lease.
	Grant(seconds int64, then func(lease int64, err error))
	// Renew gives a lease its whole length again. ErrNoLease: it ended.
	Renew(lease int64, then func(error))
	// Revoke ends a lease, and deletes its keys.
	Revoke(lease int64, then func(error))
	// Watch calls back with what happened, in order, all of one revision together, until cancel is called. An error ends it.
	Watch(ask Watch, then func([]Event, error)) (cancel func())
}
