package queue

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"schedq"
	"schedq/cluster/record"
	"schedq/cluster/store"
	"schedq/cluster/store/memory"
)

const second = int64(1e9)

// fixture is a store, a clock, and a queue at a time.
type fixture struct {
	t     *testing.T
	store *memory.Store
	now   int64
	wall  int64
	queue *Queue
}

func newFixture(t *testing.T) *fixture {
	f := &fixture{t: t, store: memory.New(), now: 1000 * second, wall: 1.7e9 * second}
	f.open()
	return f
}

var layout = record.Layout{Prefix: record.DefaultPrefix}

// open makes another queue, as another process would.
func (f *fixture) open() {
	config := record.NewConfig(record.PluginsMax, []record.Plugin{{Name: "Fit", Events: []string{"NodeAdd"}}, {Name: "Any", Events: []string{"*"}}})
	made, err := New(Config{
		Cluster: config, Layout: layout, InitialBackoff: second, MaxBackoff: 10 * second, MaxParked: 300 * second,
		Now: func() int64 { return f.now }, Wall: func() int64 { return f.wall },
	})
	if err != nil {
		f.t.Fatal(err)
	}
	f.queue = made
	f.t.Cleanup(made.Close)
}

func (f *fixture) put(place, spec string) {
	f.must(store.Txn{Then: []store.Op{{Kind: store.Put, Key: layout.Pod(place), Value: []byte(spec)}}})
}

func (f *fixture) must(txn store.Txn) store.TxnAnswer {
	f.t.Helper()
	answer, err := f.store.Txn(txn)
	if err != nil || !answer.Held {
		f.t.Fatal(answer, err)
	}
	return answer
}

// own takes a shard: the owner key is made anew, and everything loaded.
func (f *fixture) own(shard int, events map[string]int64) []error {
	key := layout.Owner(shard)
	_, _ = f.store.Txn(store.Txn{Then: []store.Op{{Kind: store.Delete, Key: key}}})
	token := f.must(store.Txn{Then: []store.Op{{Kind: store.Put, Key: key}}}).Revision
	specs, _ := f.store.Range(store.Range{Prefix: layout.ShardPods(shard)})
	states, _ := f.store.Range(store.Range{Prefix: layout.ShardStates(shard)})
	return f.queue.Load(shard, token, specs.Pairs, states.Pairs, events)
}

// flush writes all that is to be written, and returns the shards that were lost.
func (f *fixture) flush() (lost []int) {
	for {
		batch := f.queue.Next(PodsMax)
		if batch == nil {
			return lost
		}
		answer, err := f.store.Txn(batch.Txn)
		outcome := Outcome{Held: answer.Held && err == nil, Err: err}
		if err == nil && !answer.Held {
			answer, err = f.store.Txn(f.queue.Why(batch))
			outcome.Got = answer.Got
		}
		for _, shard := range f.queue.Settle(batch, outcome) {
			f.queue.Drop(shard)
			lost = append(lost, shard)
		}
	}
}

func (f *fixture) pop(seen int64) Popped {
	f.t.Helper()
	f.queue.Tick()
	popped, err := f.queue.Pop(seen)
	if err != nil {
		f.t.Fatal(err)
	}
	return popped
}

func (f *fixture) empty() {
	f.t.Helper()
	f.queue.Tick()
	if popped, err := f.queue.Pop(0); err != ErrEmpty {
		f.t.Fatalf("%+v, %v", popped, err)
	}
}

// answer takes what a callback is told.
func answer(into *error) func(error) {
	*into = errors.New("not yet")
	return func(err error) { *into = err }
}

func TestAFullBatchFitsATransactionOfEtcd(t *testing.T) {
	f := newFixture(t)
	for shard := range record.PluginsMax {
		f.put(record.Place(shard, "a/1"), "")
		f.put(record.Place(shard, "a/2"), "")
		f.own(shard, nil)
	}
	answers := make([]error, 2*record.PluginsMax)
	for i := range answers { // each has a state first, so that its end deletes two keys
		popped := f.pop(0)
		if err := f.queue.Fail(popped.Ticket, 1, nil); err != nil {
			t.Fatal(err)
		}
		_ = i
	}
	f.flush()
	f.queue.Event("NodeAdd")
	f.now += 60 * second
	for i := range answers {
		if err := f.queue.Done(f.pop(0).Ticket, answer(&answers[i])); err != nil {
			t.Fatal(err)
		}
	}
	f.flush() // the model refuses a transaction that is longer than etcd takes
	for i, err := range answers {
		if err != nil {
			t.Errorf("done %d: %v", i, err)
		}
	}
	if f.store.Count(layout.Pods()) != 0 || f.store.Count(layout.States()) != 0 {
		t.Errorf("%d pods and %d states are left", f.store.Count(layout.Pods()), f.store.Count(layout.States()))
	}
}

func TestHigherPriorityFirstThenTheOlderSpecWhoeverLoadedIt(t *testing.T) {
	f := newFixture(t)
	for n, spec := range []string{`{"priority":1}`, `{"priority":2}`, `{"priority":1}`, `{"priority":2}`} {
		f.put(record.Place(n%2, fmt.Sprintf("a/%d", n)), spec)
	}
	for range 2 {
		f.own(1, nil)
		f.own(0, nil)
		order := ""
		for range 4 {
			order += f.pop(0).Name
		}
		if order != "a/1a/3a/0a/2" {
			t.Errorf("popped %s", order)
		}
		f.open()
	}
}

func TestAParkedPodIsParkedForTheNextOwnerUntilItsEvent(t *testing.T) {
	f := newFixture(t)
	f.put("0003/a/b", "")
	f.own(3, nil)
	popped := f.pop(7)
	var saved error
	if err := f.queue.Fail(popped.Ticket, 1, answer(&saved)); err != nil {
		t.Fatal(err)
	}
	if f.flush(); saved != nil {
		t.Fatal(saved)
	}
	// An event that its last attempt had seen does not count, nor one that nobody of its rejectors wants.
	f.open()
	f.own(3, map[string]int64{"NodeAdd": 7, "Other": 9})
	f.now += 60 * second
	f.empty()
	f.queue.Event("Other")
	f.empty()
	f.queue.Event("NodeAdd")
	if again := f.pop(10); again.Attempts != 2 {
		t.Errorf("attempt %d after one that failed", again.Attempts)
	}
	// One that came between the pop and the crash does.
	f.open()
	f.own(3, map[string]int64{"NodeAdd": 8})
	f.wall += 60 * second
	f.now += 60 * second
	f.pop(10)
}

func TestAStoredBackoffEndsWhenItWouldHave(t *testing.T) {
	f := newFixture(t)
	f.put("0003/a/b", "")
	f.own(3, nil)
	for range 3 { // 1, 2, 4 seconds
		if err := f.queue.Fail(f.pop(0).Ticket, 0, nil); err != nil {
			t.Fatal(err)
		}
		f.flush()
		f.now, f.wall = f.now+5*second, f.wall+5*second
	}
	f.now, f.wall = f.now-5*second, f.wall-5*second
	f.open()
	f.wall += 3 * second
	f.own(3, nil)
	f.empty()
	f.now, f.wall = f.now+second-1, f.wall+second-1
	f.empty()
	f.now, f.wall = f.now+2, f.wall+2
	if again := f.pop(0); again.Attempts != 4 {
		t.Errorf("attempt %d after three that failed", again.Attempts)
	}
}

func TestAnotherTokenEndsAnOwnership(t *testing.T) {
	f := newFixture(t)
	f.put("0003/a/b", "")
	f.own(3, nil)
	popped := f.pop(0)
	f.must(store.Txn{Then: []store.Op{{Kind: store.Delete, Key: layout.Owner(3)}}})
	f.must(store.Txn{Then: []store.Op{{Kind: store.Put, Key: layout.Owner(3)}}})
	var done error
	if err := f.queue.Done(popped.Ticket, answer(&done)); err != nil {
		t.Fatal(err)
	}
	if lost := f.flush(); len(lost) != 1 || lost[0] != 3 || done != ErrLost || f.store.Pair(layout.Pod("0003/a/b")) == nil {
		t.Errorf("lost %v, done: %v", lost, done)
	}
	if err := f.queue.Done(popped.Ticket, answer(&done)); err != ErrTicket {
		t.Errorf("the ticket a second time: %v", err)
	}
}

func TestADoneDoesNotEndTheNextPodOfTheName(t *testing.T) {
	f := newFixture(t)
	f.put("0003/a/b", "")
	f.own(3, nil)
	popped := f.pop(0)
	f.must(store.Txn{Then: []store.Op{{Kind: store.Delete, Key: layout.Pod("0003/a/b")}}})
	f.put("0003/a/b", "")
	var done error
	if err := f.queue.Done(popped.Ticket, answer(&done)); err != nil {
		t.Fatal(err)
	}
	if f.flush(); done != ErrGone || f.store.Pair(layout.Pod("0003/a/b")) == nil {
		t.Errorf("done: %v", done)
	}
}

func TestAnAnswerThatWasLostIsAskedForAgain(t *testing.T) {
	f := newFixture(t)
	f.put("0003/a/b", "")
	f.own(3, nil)
	popped := f.pop(0)
	var done error
	if err := f.queue.Done(popped.Ticket, answer(&done)); err != nil {
		t.Fatal(err)
	}
	batch := f.queue.Next(PodsMax)
	if _, err := f.store.Txn(batch.Txn); err != nil {
		t.Fatal(err)
	}
	f.queue.Settle(batch, Outcome{Err: store.ErrUnknown})
	if f.flush(); done != nil {
		t.Errorf("done: %v", done)
	}
}

func TestADoneThatWaitsWhenTheShardIsLostIsUnknownOnlyIfItWasSent(t *testing.T) {
	f := newFixture(t)
	f.put("0003/a/1", "")
	f.put("0003/a/2", "")
	f.own(3, nil)
	var sent, kept error
	if err := f.queue.Done(f.pop(0).Ticket, answer(&sent)); err != nil {
		t.Fatal(err)
	}
	batch := f.queue.Next(PodsMax)
	if err := f.queue.Done(f.pop(0).Ticket, answer(&kept)); err != nil {
		t.Fatal(err)
	}
	f.queue.Drop(3)
	f.queue.Settle(batch, Outcome{Err: store.ErrUnknown})
	if sent != ErrUnknown || kept != ErrLost {
		t.Errorf("sent: %v; not sent: %v", sent, kept)
	}
}

func TestWhatIsNoSpecIsReportedAndLeftAlone(t *testing.T) {
	f := newFixture(t)
	f.put("0003/a/bad", "{")
	f.put("0003/a/good", "{}")
	f.put("0003/", "{}")
	f.put("0003/a/"+strings.Repeat("b", record.NameMax), "{}")
	unreadable := f.own(3, nil)
	var why *UnreadableError
	if len(unreadable) != 3 || !errors.As(unreadable[1], &why) || why.Key != layout.Pod("0003/a/bad") {
		t.Errorf("reported: %v", unreadable)
	}
	if popped := f.pop(0); popped.Name != "a/good" {
		t.Errorf("popped %+v", popped)
	}
	f.empty()
	pair := *f.store.Pair(layout.Pod("0003/a/bad"))
	pair.Value, pair.Mod = []byte("{}"), pair.Mod+10
	f.queue.Changed(3, []store.Event{{Pair: pair}})
	if popped := f.pop(0); popped.Name != "a/bad" {
		t.Errorf("popped %+v", popped)
	}
}

func TestAFullStoreTakesDonesAndNoStates(t *testing.T) {
	f := newFixture(t)
	f.put("0003/a/1", "")
	f.put("0003/a/2", "")
	f.own(3, nil)
	f.store.SetFull(true)
	var failed, done error
	if err := f.queue.Fail(f.pop(0).Ticket, 1, answer(&failed)); err != nil {
		t.Fatal(err)
	}
	if err := f.queue.Done(f.pop(0).Ticket, answer(&done)); err != nil {
		t.Fatal(err)
	}
	f.queue.SetFull(true)
	if f.flush(); done != nil || failed == nil {
		t.Errorf("done: %v, failed: %v", done, failed)
	}
	f.store.SetFull(false)
	f.queue.SetFull(false)
	if f.flush(); failed != nil {
		t.Errorf("failed: %v", failed)
	}
}

func TestRejectorsThatNobodyNamedAreRefused(t *testing.T) {
	f := newFixture(t)
	f.put("0003/a/1", "")
	f.own(3, nil)
	popped := f.pop(0)
	if err := f.queue.Fail(popped.Ticket, 1<<5, nil); err == nil {
		t.Error("it was taken")
	}
	if err := f.queue.Fail(popped.Ticket, schedq.Plugins(2), nil); err != nil {
		t.Error(err)
	}
}
