// Package etcd is a way to a real etcd: it implements store.Port on the etcd client.
package etcd

import (
	"context"
	"errors"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"schedq/cluster/store"
)

// Port asks an etcd. Every call and every watch has a goroutine, which ends with it.
type Port struct {
	client  *clientv3.Client
	run     func(func())
	patient time.Duration
	failed  func(what string, err error)

	ctx    context.Context
	cancel context.CancelFunc
	group  sync.WaitGroup
}

// New makes a port. run is how callbacks are run: one at a time, never inside a call of the port. patience is how long an answer
// is waited for. failed is told of each error that means store.ErrUnknown; it may be nil.
func New(client *clientv3.Client, run func(func()), patience time.Duration, failed func(what string, err error)) *Port {
	if failed == nil {
		failed = func(string, error) {}
	}
	port := &Port{client: client, run: run, patient: patience, failed: failed}
	port.ctx, port.cancel = context.WithCancel(context.Background())
	return port
}

// Close ends all calls and watches. When it returns no callback runs any more. It is not called by a callback.
func (port *Port) Close() {
	port.cancel()
	port.group.Wait()
}

// ask makes a call in a goroutine of its own.
func (port *Port) ask(what string, call func(ctx context.Context) error, then func(error)) {
	port.group.Add(1)
	go func() {
		defer port.group.Done()
		ctx, cancel := context.WithTimeout(port.ctx, port.patient)
		defer cancel()
		err := port.meaning(what, call(ctx))
		if port.ctx.Err() == nil {
			port.run(func() { then(err) })
		}
	}()
}

func (port *Port) meaning(what string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, rpctypes.ErrLeaseNotFound):
		return store.ErrNoLease
	case errors.Is(err, rpctypes.ErrNoSpace):
		return store.ErrNoSpace
	case errors.Is(err, rpctypes.ErrCompacted):
		return store.ErrCompacted
	}
	if port.ctx.Err() == nil {
		port.failed(what, err)
	}
	return store.ErrUnknown
}

// Txn is store.Port's.
func (port *Port) Txn(txn store.Txn, then func(store.TxnAnswer, error)) {
	var answer store.TxnAnswer
	port.ask("txn", func(ctx context.Context) (err error) {
		answer, err = Do(ctx, port.client, txn)
		return err
	}, func(err error) { then(answer, err) })
}

// Do makes a transaction and waits for the answer.
func Do(ctx context.Context, client *clientv3.Client, txn store.Txn) (answer store.TxnAnswer, err error) {
	compares := make([]clientv3.Cmp, len(txn.If))
	for i, compare := range txn.If {
		compares[i] = clientv3.Compare(clientv3.CreateRevision(compare.Key), "=", compare.Create)
		if compare.Mod != 0 {
			compares[i] = clientv3.Compare(clientv3.ModRevision(compare.Key), "=", compare.Mod)
		}
	}
	response, err := client.Txn(ctx).If(compares...).Then(ops(txn.Then)...).Else(ops(txn.Else)...).Commit()
	if err != nil {
		return answer, err
	}
	answer = store.TxnAnswer{Held: response.Succeeded, Revision: response.Header.Revision}
	for _, one := range response.Responses {
		if got := one.GetResponseRange(); got != nil {
			pair := store.Pair{}
			if len(got.Kvs) > 0 {
				pair = pairOf(got.Kvs[0])
			}
			answer.Got = append(answer.Got, pair)
		}
	}
	return answer, nil
}

func ops(list []store.Op) []clientv3.Op {
	made := make([]clientv3.Op, len(list))
	for i, op := range list {
		switch op.Kind {
		case store.Put:
			made[i] = clientv3.OpPut(op.Key, string(op.Value), clientv3.WithLease(clientv3.LeaseID(op.Lease)))
		case store.Delete:
			made[i] = clientv3.OpDelete(op.Key)
		case store.Get:
			made[i] = clientv3.OpGet(op.Key, clientv3.WithKeysOnly())
		}
	}
	return made
}

func pairOf(kv *mvccpb.KeyValue) store.Pair {
	return store.Pair{Key: string(kv.Key), Value: kv.Value, Create: kv.CreateRevision, Mod: kv.ModRevision, Lease: kv.Lease}
}

// Range is store.Port's.
func (port *Port) Range(ask store.Range, then func(store.RangeAnswer, error)) {
	var answer store.RangeAnswer
	port.ask("range", func(ctx context.Context) error {
		from := ask.Prefix
		if ask.After != "" {
			from = ask.After + "\x00"
		}
		response, err := port.client.Get(ctx, from, clientv3.WithRange(clientv3.GetPrefixRangeEnd(ask.Prefix)),
			clientv3.WithLimit(int64(ask.Limit)), clientv3.WithRev(ask.Revision))
		if err != nil {
			return err
		}
		answer = store.RangeAnswer{Pairs: make([]store.Pair, len(response.Kvs)), More: response.More, Revision: response.Header.Revision}
		if ask.Revision != 0 {
			answer.Revision = ask.Revision
		}
		for i, kv := range response.Kvs {
			answer.Pairs[i] = pairOf(kv)
		}
		return nil
	}, func(err error) { then(answer, err) })
}

// Grant is store.Port's.
func (port *Port) Grant(seconds int64, then func(int64, error)) {
	var lease int64
	port.ask("lease grant", func(ctx context.Context) error {
		response, err := port.client.Grant(ctx, seconds)
		if err == nil {
			lease = int64(response.ID)
		}
		return err
	}, func(err error) { then(lease, err) })
}

// Renew is store.Port's.
func (port *Port) Renew(lease int64, then func(error)) {
	port.ask("lease renewal", func(ctx context.Context) error {
		_, err := port.client.KeepAliveOnce(ctx, clientv3.LeaseID(lease))
		return err
	}, then)
}

// Revoke is store.Port's.
func (port *Port) Revoke(lease int64, then func(error)) {
	port.ask("lease end", func(ctx context.Context) error {
		_, err := port.client.Revoke(ctx, clientv3.LeaseID(lease))
		return err
	}, then)
}

// Watch is store.Port's. The client goes on by itself after a lost connection.
func (port *Port) Watch(ask store.Watch, then func([]store.Event, error)) func() {
	ctx, cancel := context.WithCancel(port.ctx)
	port.group.Add(1)
	go func() {
		defer port.group.Done()
		defer cancel()
		channel := port.client.Watch(clientv3.WithRequireLeader(ctx), ask.Prefix, clientv3.WithPrefix(), clientv3.WithRev(ask.From))
		err := store.ErrUnknown
		for response := range channel {
			if response.CompactRevision != 0 {
				err = store.ErrCompacted
				break
			}
			if response.Err() != nil {
				port.failed("watch", response.Err())
				break
			}
			if events := eventsOf(response.Events); len(events) > 0 {
				port.run(func() {
					if ctx.Err() == nil {
						then(events, nil)
					}
				})
			}
		}
		port.run(func() {
			if ctx.Err() == nil {
				then(nil, err)
			}
		})
	}()
	return cancel
}

func eventsOf(events []*clientv3.Event) []store.Event {
	made := make([]store.Event, len(events))
	for i, event := range events {
		made[i] = store.Event{Pair: pairOf(event.Kv), Deleted: event.Type == clientv3.EventTypeDelete}
	}
	return made
}
