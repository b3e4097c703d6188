package member

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"schedq/cluster/client"
	"schedq/cluster/internal/etcdtest"
	"schedq/cluster/owner"
	"schedq/cluster/queue"
	"schedq/cluster/record"
)

func TestMain(m *testing.M) { etcdtest.Main(m) }

const second = int64(1e9)

// fixture is an etcd, and clusters on it.
type fixture struct {
	t    *testing.T
	etcd *etcdtest.Cluster
	turn int
}

func (f *fixture) prefix() string {
	f.turn++
	return fmt.Sprintf("/test-%d/", f.turn)
}

func (f *fixture) open(prefix string, settings owner.Config) *Member {
	settings.TTL, settings.Renew, settings.Skew = 2*second, second/2, second/5
	m, err := Open(context.Background(), Options{
		Etcd: f.etcd.Client(), Prefix: prefix, Create: record.NewConfig(8, []record.Plugin{{Name: "Fit", Events: []string{"NodeAdd"}}}),
		Owner: settings,
	})
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(m.Close)
	return m
}

func (f *fixture) submit(prefix string, names ...string) *client.Client {
	c, err := client.Open(context.Background(), f.etcd.Client(), prefix)
	if err != nil {
		f.t.Fatal(err)
	}
	var pods []client.Pod
	for _, name := range names {
		pods = append(pods, client.Pod{Name: name})
	}
	if len(pods) > 0 {
		if _, err := c.Submit(context.Background(), pods...); err != nil {
			f.t.Fatal(err)
		}
	}
	return c
}

func (f *fixture) pop(m *Member) queue.Popped {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	var out [1]queue.Popped
	if _, err := m.Pop(ctx, out[:]); err != nil {
		f.t.Fatal(err)
	}
	return out[0]
}

func (f *fixture) none(m *Member) {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	var out [1]queue.Popped
	if _, err := m.Pop(ctx, out[:]); err != context.DeadlineExceeded {
		f.t.Fatalf("%+v, %v", out[0], err)
	}
}

// served is how many of the eight shards a member serves.
func served(m *Member) (count int) {
	for s := range 8 {
		if m.Serves(s) {
			count++
		}
	}
	return count
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within 20 s: %s", what)
		}
	}
}

func TestMembersOfACluster(t *testing.T) {
	f := &fixture{t: t, etcd: etcdtest.Start(t, 1)}
	ctx := context.Background()

	t.Run("a planned hand-over gives no pod twice and forgets no failure", func(t *testing.T) {
		prefix := f.prefix()
		one := f.open(prefix, owner.Config{})
		f.submit(prefix, "a/1", "b/1", "c/1", "d/1")
		var popped []queue.Popped
		for range 4 {
			popped = append(popped, f.pop(one))
		}
		if err := one.Fail(ctx, popped[0].Ticket, 1); err != nil {
			t.Error(err)
		}
		if err := one.Nominate(ctx, popped[1].Ticket, 7); err != nil {
			t.Error(err)
		}
		if err := one.Fail(ctx, popped[1].Ticket, 0); err != nil {
			t.Error(err)
		}
		two := f.open(prefix, owner.Config{})
		left := make(chan error, 1)
		go func() { left <- one.Leave(ctx) }()
		for _, answer := range one.DoneMany(ctx, []uint64{popped[2].Ticket, popped[3].Ticket}) {
			if answer != nil {
				t.Error(answer)
			}
		}
		if err := <-left; err != nil {
			t.Error(err)
		}
		again := f.pop(two)
		if again.UID != popped[1].UID || again.Attempts != 2 || again.Node != 7 || again.Token <= popped[1].Token {
			t.Errorf("%+v after %+v", again, popped[1])
		}
		f.none(two)
		if err := two.Done(ctx, again.Ticket); err != nil {
			t.Error(err)
		}
		c := f.submit(prefix)
		if err := c.Event(ctx, "NodeAdd", nil); err != nil {
			t.Error(err)
		}
		if parked := f.pop(two); parked.UID != popped[0].UID || parked.Attempts != 2 {
			t.Errorf("%+v after %+v", parked, popped[0])
		}
	})

	t.Run("a member that vanishes is replaced after its lease, and what it had in flight comes again", func(t *testing.T) {
		prefix := f.prefix()
		one := f.open(prefix, owner.Config{})
		f.submit(prefix, "a/1")
		popped := f.pop(one)
		one.Close()
		if err := one.Done(ctx, popped.Ticket); err != ErrClosed {
			t.Error(err)
		}
		begin := time.Now()
		two := f.open(prefix, owner.Config{})
		if again := f.pop(two); again.UID != popped.UID {
			t.Errorf("%+v", again)
		}
		if took := time.Since(begin); took > 5*time.Second {
			t.Errorf("it took %v", took)
		}
	})

	t.Run("submitters change and delete", func(t *testing.T) {
		prefix := f.prefix()
		m := f.open(prefix, owner.Config{})
		c := f.submit(prefix, "a/low")
		low := f.pop(m)
		if err := c.Delete(ctx, "a/low", "", 0); err != nil {
			t.Error(err)
		}
		if err := m.Done(ctx, low.Ticket); err != queue.ErrGone {
			t.Errorf("done of a pod that its submitter deleted: %v", err)
		}
		if err := c.Delete(ctx, "a/low", "", 0); err != client.ErrNotFound {
			t.Error(err)
		}
		if err := c.Update(ctx, client.Pod{Name: "a/low"}, 0); err != client.ErrNotFound {
			t.Error(err)
		}
		uid, err := c.Submit(ctx, client.Pod{Name: "a/low"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Submit(ctx, client.Pod{Name: "b/new"}, client.Pod{Name: "a/low"}); err != client.ErrExists {
			t.Error(err)
		}
		if err := c.Update(ctx, client.Pod{Name: "a/low", Spec: record.Spec{Priority: 5}}, uid); err != nil {
			t.Error(err)
		}
		again := f.pop(m)
		for again.Spec.Priority != 5 { // it was popped before the update came
			if err := m.Fail(ctx, again.Ticket, 0); err != nil {
				t.Fatal(err)
			}
			again = f.pop(m)
		}
		if again.UID != uid {
			t.Errorf("%+v", again)
		}
		if _, err := c.Submit(ctx, client.Pod{Name: "nothing"}); err == nil || !strings.Contains(err.Error(), "namespace/name") {
			t.Error(err)
		}
	})

	t.Run("a lot other than the namespace decides the shard", func(t *testing.T) {
		c, err := client.Open(ctx, f.etcd.Client(), "/test-1/")
		if err != nil {
			t.Fatal(err)
		}
		one, _ := c.Key("a/1", "tenant")
		two, _ := c.Key("b/2", "tenant")
		if one[:len("/test-1/pods/0000/")] != two[:len("/test-1/pods/0000/")] {
			t.Errorf("%s and %s", one, two)
		}
	})

	t.Run("there is no cluster yet", func(t *testing.T) {
		if _, err := client.Open(ctx, f.etcd.Client(), "/none/"); !errors.Is(err, client.ErrNoConfig) {
			t.Error(err)
		}
		_, err := Open(ctx, Options{Etcd: f.etcd.Client(), Prefix: "/none/", Create: record.NewConfig(0, nil)})
		if err == nil || !strings.Contains(err.Error(), "legal are 1..4096") {
			t.Error(err)
		}
	})

	t.Run("a shard is not given away while its user is busy with it, and nobody serves it then", func(t *testing.T) {
		prefix := f.prefix()
		var busy, asked atomic.Int64
		busy.Store(1)
		one := f.open(prefix, owner.Config{Grace: 60 * second, Busy: func(int) int {
			asked.Add(1)
			return int(busy.Load())
		}})
		eventually(t, "one serves all shards", func() bool { return served(one) == 8 })
		two := f.open(prefix, owner.Config{})
		left := make(chan error, 1)
		go func() { left <- one.Leave(ctx) }()
		eventually(t, "Busy is asked again and again", func() bool { return asked.Load() > 20 })
		if served(two) != 0 || served(one) > 4 {
			t.Errorf("one serves %d shards, two %d, while 4 are being given away", served(one), served(two))
		}
		busy.Store(0)
		if err := <-left; err != nil {
			t.Error(err)
		}
		eventually(t, "two serves all shards", func() bool { return served(two) == 8 })
		if served(one) != 0 {
			t.Errorf("one serves %d shards, and left", served(one))
		}
	})

	t.Run("nothing runs on after Close", func(t *testing.T) {
		prefix := f.prefix()
		etcd := f.etcd.Client()
		cycle := func() {
			m, err := Open(ctx, Options{Etcd: etcd, Prefix: prefix, Create: record.NewConfig(8, nil), Owner: owner.Config{TTL: 2 * second, Renew: second / 2}})
			if err != nil {
				t.Fatal(err)
			}
			waiting := make(chan error, 1)
			go func() {
				_, err := m.Pop(ctx, make([]queue.Popped, 1))
				waiting <- err
			}()
			time.Sleep(50 * time.Millisecond)
			m.Close()
			m.Close()
			if err := <-waiting; err != ErrClosed {
				t.Errorf("a pop that waited: %v", err)
			}
		}
		cycle()
		after := runtime.NumGoroutine()
		for range 5 {
			cycle()
		}
		for end := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > after && time.Now().Before(end); {
			time.Sleep(10 * time.Millisecond)
		}
		if count := runtime.NumGoroutine(); count > after {
			text := make([]byte, 1<<16)
			t.Errorf("%d goroutines after six members, %d after one:\n%s", count, after, text[:runtime.Stack(text, true)])
		}
	})
}
