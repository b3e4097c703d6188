// Package memory is a model of one etcd: revisions, transactions, leases, history, compaction, and a quota. It has no network and no
// clock: calls take effect at once, and whoever has it says what time it is.
package memory

import (
	"slices"
	"strings"

	"schedq/cluster/store"
)

// Store is an etcd that never fails. Not for several goroutines at once.
type Store struct {
	revision  int64
	compacted int64
	keys      map[string]*store.Pair
	sorted    []string // the keys of keys
	history   []store.Event
	leases    map[int64]*lease
	lastLease int64
	full      bool
}

type lease struct {
	length int64
	ends   int64
}

// New makes an empty one, at revision 1.
func New() *Store {
	return &Store{revision: 1, keys: map[string]*store.Pair{}, leases: map[int64]*lease{}}
}

// Revision is that of the last change.
func (s *Store) Revision() int64 { return s.revision }

// SetFull raises or disarms the alarm NOSPACE.
func (s *Store) SetFull(full bool) { s.full = full }

// Txn is [store.Port].Txn.
func (s *Store) Txn(txn store.Txn) (answer store.TxnAnswer, err error) {
	if len(txn.If) > store.TxnMax || len(txn.Then) > store.TxnMax || len(txn.Else) > store.TxnMax {
		panic("memory: a transaction is longer than etcd takes")
	}
	ops, err := s.Try(txn)
	if err != nil {
		return answer, err
	}
	answer.Held = s.holds(txn)
	revision := s.revision + 1
	for _, op := range ops {
		switch op.Kind {
		case store.Put:
			s.put(op, revision)
		case store.Delete:
			s.delete(op.Key, revision)
		case store.Get:
			got := store.Pair{}
			if pair := s.keys[op.Key]; pair != nil {
				got = *pair
				got.Value = nil
			}
			answer.Got = append(answer.Got, got)
		}
	}
	answer.Revision = s.revision
	return answer, nil
}

func (s *Store) holds(txn store.Txn) bool {
	return !slices.ContainsFunc(txn.If, func(compare store.Compare) bool {
		pair := store.Pair{}
		if found := s.keys[compare.Key]; found != nil {
			pair = *found
		}
		if compare.Mod != 0 {
			return pair.Mod != compare.Mod
		}
		return pair.Create != compare.Create
	})
}

// Try returns what a transaction would do, or its error, and does nothing.
func (s *Store) Try(txn store.Txn) ([]store.Op, error) {
	ops := txn.Then
	if !s.holds(txn) {
		ops = txn.Else
	}
	if s.full && hasPut(txn.Then, txn.Else) {
		return nil, store.ErrNoSpace
	}
	for _, op := range ops {
		if op.Kind == store.Put && op.Lease != 0 && s.leases[op.Lease] == nil {
			return nil, store.ErrNoLease
		}
	}
	return ops, nil
}

func hasPut(lists ...[]store.Op) bool {
	for _, ops := range lists {
		if slices.ContainsFunc(ops, func(op store.Op) bool { return op.Kind == store.Put }) {
			return true
		}
	}
	return false
}

func (s *Store) put(op store.Op, revision int64) {
	pair := store.Pair{Key: op.Key, Value: op.Value, Create: revision, Mod: revision, Lease: op.Lease}
	if old := s.keys[op.Key]; old != nil {
		pair.Create = old.Create
	} else {
		at, _ := slices.BinarySearch(s.sorted, op.Key)
		s.sorted = slices.Insert(s.sorted, at, op.Key)
	}
	s.keys[op.Key] = &pair
	s.revision = revision
	s.history = append(s.history, store.Event{Pair: pair})
}

func (s *Store) delete(key string, revision int64) {
	if s.keys[key] == nil {
		return
	}
	delete(s.keys, key)
	at, _ := slices.BinarySearch(s.sorted, key)
	s.sorted = slices.Delete(s.sorted, at, at+1)
	s.revision = revision
	s.history = append(s.history, store.Event{Pair: store.Pair{Key: key, Mod: revision}, Deleted: true})
}

// Range is [store.Port].Range, of now. A page that asks for an older revision gets ErrCompacted once anything under its
// prefix changed since: a range that goes over several pages has to be able to begin again.
func (s *Store) Range(ask store.Range) (answer store.RangeAnswer, err error) {
	if ask.Revision != 0 {
		changed, err := s.Since(store.Watch{Prefix: ask.Prefix, From: ask.Revision + 1})
		if err != nil || len(changed) > 0 {
			return answer, store.ErrCompacted
		}
	}
	answer.Revision = s.revision
	if ask.Revision != 0 {
		answer.Revision = ask.Revision
	}
	at, _ := slices.BinarySearch(s.sorted, max(ask.Prefix, ask.After))
	for _, key := range s.sorted[at:] {
		if !strings.HasPrefix(key, ask.Prefix) {
			break
		}
		if key == ask.After {
			continue
		}
		if ask.Limit > 0 && len(answer.Pairs) == ask.Limit {
			answer.More = true
			break
		}
		answer.Pairs = append(answer.Pairs, *s.keys[key])
	}
	return answer, nil
}

// Since returns what a watch would have got by now: the events, revision by revision.
func (s *Store) Since(ask store.Watch) ([]store.Event, error) {
	if ask.From <= s.compacted {
		return nil, store.ErrCompacted
	}
	var events []store.Event
	at, _ := slices.BinarySearchFunc(s.history, ask.From, func(event store.Event, from int64) int {
		return int(event.Mod - from)
	})
	for _, event := range s.history[at:] {
		if strings.HasPrefix(event.Key, ask.Prefix) {
			events = append(events, event)
		}
	}
	return events, nil
}

// Compact forgets the history up to the newest revision.
func (s *Store) Compact() {
	s.compacted = s.revision
	s.history = nil
}

// Grant makes a lease that ends after length, from now on.
func (s *Store) Grant(now, length int64) (int64, error) {
	if s.full {
		return 0, store.ErrNoSpace
	}
	s.lastLease++
	s.leases[s.lastLease] = &lease{length, now + length}
	return s.lastLease, nil
}

// Renew gives a lease its whole length.
func (s *Store) Renew(now, id int64) error {
	lease := s.leases[id]
	if lease == nil {
		return store.ErrNoLease
	}
	lease.ends = now + lease.length
	return nil
}

// Revoke ends a lease, and deletes its keys in one revision.
func (s *Store) Revoke(id int64) error {
	if s.leases[id] == nil {
		return store.ErrNoLease
	}
	delete(s.leases, id)
	revision := s.revision + 1
	for _, key := range slices.Clone(s.sorted) {
		if s.keys[key].Lease == id {
			s.delete(key, revision)
		}
	}
	return nil
}

// Expire ends the leases that are over.
func (s *Store) Expire(now int64) {
	var over []int64
	for id, lease := range s.leases {
		if lease.ends <= now {
			over = append(over, id)
		}
	}
	slices.Sort(over)
	for _, id := range over {
		_ = s.Revoke(id)
	}
}

// Extend gives every lease its whole length, as a leader does that was just elected.
func (s *Store) Extend(now int64) {
	for _, lease := range s.leases {
		lease.ends = now + lease.length
	}
}

// Pair returns a key's pair, or nil.
func (s *Store) Pair(key string) *store.Pair { return s.keys[key] }

// Count is how many keys begin with a prefix.
func (s *Store) Count(prefix string) int {
	answer, _ := s.Range(store.Range{Prefix: prefix})
	return len(answer.Pairs)
}
