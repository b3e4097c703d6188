package etcd

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"sync"
	"testing"
	"time"

	"schedq/cluster/internal/etcdtest"
	"schedq/cluster/store"
	"schedq/cluster/store/memory"
)

func TestMain(m *testing.M) { etcdtest.Main(m) }

// The simulation is worth as much as its store is like etcd: random transactions, ranges and watches get the same answers from both.
func TestTheSimulatedStoreAnswersAsEtcd(t *testing.T) {
	cluster := etcdtest.Start(t, 1)
	client := cluster.Client()
	model := memory.New()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d, %s", seed, etcdtest.Program())
	random := rand.New(rand.NewPCG(seed, 1))
	ctx := context.Background()
	head, err := client.Get(ctx, "x")
	if err != nil {
		t.Fatal(err)
	}
	base := head.Header.Revision - model.Revision()
	key := func() string { return fmt.Sprintf("/t/%d", random.IntN(12)) }

	var mutex sync.Mutex
	var watched []store.Event
	port := New(client, func(do func()) {
		mutex.Lock()
		defer mutex.Unlock()
		do()
	}, 5*time.Second, nil)
	port.Watch(store.Watch{Prefix: "/t/1", From: base + 2}, func(events []store.Event, err error) {
		if err != nil {
			t.Errorf("watch: %v", err)
		}
		watched = append(watched, events...)
	})
	for step := range 600 {
		var txn store.Txn
		for range random.IntN(3) {
			compare := store.Compare{Key: key()}
			if pair := model.Pair(compare.Key); pair != nil && random.IntN(4) > 0 {
				compare.Create = pair.Create
				if random.IntN(3) == 0 {
					compare.Create, compare.Mod = 0, pair.Mod
				}
			}
			txn.If = append(txn.If, compare)
		}
		used := map[string]bool{}
		for range 1 + random.IntN(4) {
			op := store.Op{Kind: store.Kind(1 + random.IntN(3)), Key: key(), Value: []byte(fmt.Sprint(step))}
			if !used[op.Key] {
				txn.Then = append(txn.Then, op)
			}
			used[op.Key] = true
		}
		txn.Else = []store.Op{{Kind: store.Get, Key: key()}, {Kind: store.Get, Key: key()}}
		want, _ := model.Txn(txn)
		real := txn
		real.If = nil
		for _, compare := range txn.If {
			if compare.Create != 0 {
				compare.Create += base
			}
			if compare.Mod != 0 {
				compare.Mod += base
			}
			real.If = append(real.If, compare)
		}
		got, err := Do(ctx, client, real)
		if err != nil {
			t.Fatal(err)
		}
		if shift(&got, -base); !reflect.DeepEqual(got, want) {
			t.Fatalf("step %d: %+v: etcd %+v, model %+v", step, txn, got, want)
		}
	}
	wantRange, _ := model.Range(store.Range{Prefix: "/t/", After: "/t/1", Limit: 4})
	port.Range(store.Range{Prefix: "/t/", After: "/t/1", Limit: 4}, func(got store.RangeAnswer, err error) {
		if err != nil || len(got.Pairs) != len(wantRange.Pairs) || got.More != wantRange.More || got.Revision-base != wantRange.Revision {
			t.Errorf("range: etcd %+v %v, model %+v", got, err, wantRange)
		}
		for i := range got.Pairs {
			got.Pairs[i].Create, got.Pairs[i].Mod = got.Pairs[i].Create-base, got.Pairs[i].Mod-base
			if !reflect.DeepEqual(got.Pairs[i], wantRange.Pairs[i]) {
				t.Errorf("range: etcd %+v, model %+v", got.Pairs[i], wantRange.Pairs[i])
			}
		}
	})
	wantEvents, _ := model.Since(store.Watch{Prefix: "/t/1", From: 2})
	deadline := time.Now().Add(10 * time.Second)
	for {
		mutex.Lock()
		count := len(watched)
		mutex.Unlock()
		if count >= len(wantEvents) || time.Now().After(deadline) {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	port.Close()
	if len(watched) != len(wantEvents) {
		t.Fatalf("watch: etcd %d events, model %d", len(watched), len(wantEvents))
	}
	for i := range watched {
		watched[i].Mod -= base
		watched[i].Create = max(0, watched[i].Create-base)
		if watched[i].Deleted {
			watched[i].Create, watched[i].Value = 0, nil
		}
		if !reflect.DeepEqual(watched[i], wantEvents[i]) {
			t.Fatalf("watch: event %d: etcd %+v, model %+v", i, watched[i], wantEvents[i])
		}
	}
}

func shift(answer *store.TxnAnswer, by int64) {
	answer.Revision += by
	for i := range answer.Got {
		if answer.Got[i].Create != 0 {
			answer.Got[i].Create += by
			answer.Got[i].Mod += by
		}
	}
}

// Leases, a compacted watch, and what a full store says.
func TestErrorsHaveTheirMeaning(t *testing.T) {
	cluster := etcdtest.Start(t, 1, "--quota-backend-bytes", "4194304")
	client := cluster.Client()
	ctx := context.Background()
	port := New(client, func(do func()) { do() }, 5*time.Second, nil)
	defer port.Close()
	answers := make(chan error, 1)

	port.Renew(12345, func(err error) { answers <- err })
	if err := <-answers; err != store.ErrNoLease {
		t.Errorf("renewal of a lease that there is not: %v", err)
	}
	port.Txn(store.Txn{Then: []store.Op{{Kind: store.Put, Key: "a", Lease: 12345}}}, func(_ store.TxnAnswer, err error) { answers <- err })
	if err := <-answers; err != store.ErrNoLease {
		t.Errorf("put under a lease that there is not: %v", err)
	}
	var revision int64
	for range 3 {
		answer, err := client.Put(ctx, "a", "b")
		if err != nil {
			t.Fatal(err)
		}
		revision = answer.Header.Revision
	}
	if _, err := client.Compact(ctx, revision); err != nil {
		t.Fatal(err)
	}
	port.Watch(store.Watch{Prefix: "a", From: revision - 1}, func(_ []store.Event, err error) { answers <- err })
	if err := <-answers; err != store.ErrCompacted {
		t.Errorf("watch of what is compacted: %v", err)
	}
	big := make([]byte, 1<<20)
	for range 20 {
		if _, err := client.Put(ctx, "big", string(big)); err != nil {
			break
		}
	}
	port.Txn(store.Txn{Then: []store.Op{{Kind: store.Put, Key: "c"}}}, func(_ store.TxnAnswer, err error) { answers <- err })
	if err := <-answers; err != store.ErrNoSpace {
		t.Errorf("put into a full store: %v", err)
	}
	port.Txn(store.Txn{Then: []store.Op{{Kind: store.Delete, Key: "a"}}}, func(_ store.TxnAnswer, err error) { answers <- err })
	if err := <-answers; err != nil {
		t.Errorf("deletion in a full store: %v", err)
	}
}
