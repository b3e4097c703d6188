// Package member runs an owner in a process: on a real etcd, a real clock, and goroutines that wait.
package member

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"log/slog"
	"math"
	"os"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"golang.org/x/sys/unix"

	"schedq"
	"schedq/cluster/client"
	"schedq/cluster/owner"
	"schedq/cluster/queue"
	"schedq/cluster/record"
	"schedq/cluster/store/etcd"
)

// ErrClosed: the member was closed.
var ErrClosed = errors.New("cluster: this member was closed")

// Options are how a member behaves. Fields of Owner that the member sets itself (ID, Cluster, Layout, Port, clocks) are ignored.
type Options struct {
	Etcd    *clientv3.Client // stays the caller's
	Prefix  string           // "": record.DefaultPrefix
	Name    string           // begins the process' name in the cluster; "": the host's
	Create  record.Config    // written if the cluster has no configuration; zero Shards: shard.Default
	Timeout time.Duration    // how long an answer of etcd is waited for; 0: 2 s
	Log     *slog.Logger     // nil: none
	Owner   owner.Config
}

// Member is one process of a cluster. All methods may be called from any goroutine.
type Member struct {
	id     string
	port   *etcd.Port
	config record.Config
	log    *slog.Logger

	mutex   sync.Mutex
	owner   *owner.Owner
	timer   *time.Timer
	closed  bool
	changed chan struct{} // closed, and replaced, when a pop may find something
	waiting int
}

// Open joins a cluster, and creates its configuration if there is none.
//
// Errors: Create is out of range, the configuration is of another version, in words; etcd's.
func Open(ctx context.Context, options Options) (*Member, error) {
	if options.Prefix == "" {
		options.Prefix = record.DefaultPrefix
	}
	if options.Timeout == 0 {
		options.Timeout = 2 * time.Second
	}
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	config, err := client.Create(ctx, options.Etcd, options.Prefix, options.Create)
	if err != nil {
		return nil, err
	}
	m := &Member{id: nameOf(options.Name), config: config, log: options.Log, changed: make(chan struct{})}
	m.log = m.log.With("process", m.id)
	m.port = etcd.New(options.Etcd, m.run, options.Timeout, func(what string, err error) {
		m.log.Warn("etcd did not answer", "call", what, "error", err)
	})
	settings := options.Owner
	settings.ID, settings.Cluster, settings.Layout, settings.Port = m.id, config, record.Layout{Prefix: options.Prefix}, m.port
	settings.Now, settings.Wall, settings.Random = bootTime, wallTime, random
	trace := settings.Trace
	settings.Trace = func(step owner.Step) {
		m.logStep(step)
		if trace != nil {
			trace(step)
		}
	}
	m.owner, err = owner.New(settings)
	if err != nil {
		return nil, err
	}
	m.timer = time.AfterFunc(time.Hour, func() { m.run(m.owner.Tick) })
	m.run(m.owner.Start)
	return m, nil
}

// nameOf makes a name that no other process has, nor had.
func nameOf(name string) string {
	if name == "" {
		name, _ = os.Hostname()
	}
	var tail [4]byte
	_, _ = rand.Read(tail[:])
	return name + "-" + hex.EncodeToString(tail[:])
}

// bootTime goes on while the machine sleeps, and nobody can set it.
func bootTime() int64 {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &now); err != nil {
		panic("cluster: CLOCK_BOOTTIME: " + err.Error())
	}
	return now.Nano()
}

func wallTime() int64 { return time.Now().UnixNano() }

func random() uint64 {
	var bytes [8]byte
	_, _ = rand.Read(bytes[:])
	return binary.LittleEndian.Uint64(bytes[:])
}

func (m *Member) logStep(step owner.Step) {
	level := slog.LevelDebug
	switch step.What {
	case owner.Joined, owner.Dropped:
		level = slog.LevelInfo
	case owner.Lost, owner.Unread, owner.Repeated:
		level = slog.LevelWarn
	}
	m.log.Log(context.Background(), level, step.String())
}

// run gives the owner something to do, and looks what follows from it.
func (m *Member) run(do func()) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if m.closed {
		return
	}
	do()
	m.after()
}

// after sets the timer, and wakes those who wait for a pod.
func (m *Member) after() {
	if next := m.owner.NextDeadline(); next == math.MaxInt64 {
		m.timer.Reset(time.Hour)
	} else {
		m.timer.Reset(max(time.Duration(next-bootTime()), 0))
	}
	if m.waiting > 0 && m.owner.Poppable() {
		m.wake()
	}
}

func (m *Member) wake() {
	close(m.changed)
	m.changed = make(chan struct{})
	m.waiting = 0
}

// ID is the process' name in the cluster.
func (m *Member) ID() string { return m.id }

// Config is the cluster's.
func (m *Member) Config() record.Config { return m.config }

// Pop takes up to len(out) of the best pods of the shards that this process owns, and waits for the first. It returns how many: 0 and
// an error, or at least 1 and nil.
//
// Errors: ErrClosed; the context's.
func (m *Member) Pop(ctx context.Context, out []queue.Popped) (count int, err error) {
	for {
		m.mutex.Lock()
		if m.closed {
			m.mutex.Unlock()
			return 0, ErrClosed
		}
		for count < len(out) {
			if out[count], err = m.owner.Pop(); err != nil {
				break
			}
			count++
		}
		if count > 0 || len(out) == 0 {
			m.after()
			m.mutex.Unlock()
			return count, nil
		}
		changed := m.changed
		m.waiting++
		m.mutex.Unlock()
		if err := m.sleep(ctx, changed, err); err != nil {
			return 0, err
		}
	}
}

// sleep until something changed. Who waits for another process' pods looks again after a while: nothing here tells when they are gone.
func (m *Member) sleep(ctx context.Context, changed chan struct{}, why error) error {
	var again <-chan time.Time
	if why == owner.ErrBehind {
		again = time.After(10 * time.Millisecond)
	}
	select {
	case <-changed:
	case <-again:
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// Alive asks before a bind whether the pod is still this process' to bind. The ticket still has to be used.
//
// Errors: queue.ErrFenced, ErrLost, ErrGone, ErrTicket; ErrClosed.
func (m *Member) Alive(ticket uint64) error {
	return m.call(func() error { return m.owner.Alive(ticket) })
}

func (m *Member) call(do func() error) error {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if m.closed {
		return ErrClosed
	}
	err := do()
	m.after()
	return err
}

// start begins something that is answered later: then is called once, by another goroutine or before it returns, and calls no method of
// the member.
type start func(then func(error)) error

// wait begins something and waits for its end.
func (m *Member) wait(ctx context.Context, begin start) error {
	answer := make(chan error, 1)
	if err := m.call(func() error { return begin(func(err error) { answer <- err }) }); err != nil {
		return err
	}
	select {
	case err := <-answer:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Done ends a pod that was placed, and waits until that is decided in etcd. With other goroutines' dones it goes in one transaction.
//
// Errors: queue.ErrGone, ErrLost, ErrUnknown, ErrFenced (the ticket can be used again), ErrTicket; ErrClosed; the context's: it may be
// decided later.
func (m *Member) Done(ctx context.Context, ticket uint64) error {
	return m.wait(ctx, func(then func(error)) error { return m.owner.Done(ticket, then) })
}

// DoneMany ends many pods, each as Done. The answers are those of Done.
func (m *Member) DoneMany(ctx context.Context, tickets []uint64) []error {
	answers := make([]error, len(tickets))
	var left sync.WaitGroup
	err := m.call(func() error {
		for i, ticket := range tickets {
			left.Add(1)
			if err := m.owner.Done(ticket, func(err error) {
				answers[i] = err
				left.Done()
			}); err != nil {
				answers[i] = err
				left.Done()
			}
		}
		return nil
	})
	all := make(chan struct{})
	go func() {
		left.Wait()
		close(all)
	}()
	if err == nil {
		select {
		case <-all:
			return answers
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	failed := make([]error, len(tickets))
	for i := range failed {
		failed[i] = err
	}
	return failed
}

// Fail puts a pod back, and waits until its state is in etcd. As queue.Queue.Fail.
func (m *Member) Fail(ctx context.Context, ticket uint64, rejectors schedq.Plugins) error {
	return m.wait(ctx, func(then func(error)) error { return m.owner.Fail(ticket, rejectors, then) })
}

// Nominate intends a node for a pod in flight, and waits until that is in etcd. As queue.Queue.Nominate.
func (m *Member) Nominate(ctx context.Context, ticket, node uint64) error {
	return m.wait(ctx, func(then func(error)) error { return m.owner.Nominate(ticket, node, then) })
}

// Serves says whether this process owns a shard, and its lease is trusted: whether it may act on the shard now.
func (m *Member) Serves(shard int) (serves bool) {
	_ = m.call(func() error {
		serves = m.owner.Serves(shard)
		return nil
	})
	return serves
}

// Status is what a process says of itself.
type Status struct {
	Process string `json:"process"`
	Ready   bool   `json:"ready"`
	Owned   int    `json:"owned"`
	// Revision is the newest one that a watch brought. The store's may be greater because of keys that this process does not watch.
	Revision int64         `json:"revision"`
	Seen     int64         `json:"seen"` // the newest event
	Counts   owner.Counts  `json:"counts"`
	Shards   []owner.State `json:"shards"`
}

// Status tells what this process owns, and what is in there.
func (m *Member) Status() (status Status) {
	_ = m.call(func() error {
		status = Status{m.id, !m.owner.Fenced(), m.owner.Owned(), m.owner.Revision(), m.owner.Seen(), m.owner.Counts(), m.owner.Status()}
		return nil
	})
	return status
}

// Ready says whether the process has a lease that it trusts.
func (m *Member) Ready() bool {
	ready := false
	_ = m.call(func() error {
		ready = !m.owner.Fenced()
		return nil
	})
	return ready
}

// Stats are the queue's own.
func (m *Member) Stats() (stats schedq.Stats, err error) {
	err = m.call(func() error {
		stats, err = m.owner.Stats()
		return err
	})
	return stats, err
}

// WriteMetrics writes the queue's own metrics in the Prometheus text format.
func (m *Member) WriteMetrics(writer io.Writer) error {
	return m.call(func() error { return m.owner.WriteMetrics(writer) })
}

// Leave gives all shards away in order, waits for that, and ends the lease. Close follows.
//
// Errors: the context's: the rest is left to the end of the lease.
func (m *Member) Leave(ctx context.Context) error {
	_ = m.call(func() error {
		m.owner.Leave()
		return nil
	})
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		left := true
		_ = m.call(func() error {
			left = m.owner.Left()
			return nil
		})
		if left {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Close ends the member, as if the process had ended: nothing is written. Whoever waits gets ErrClosed, or queue.ErrLost or ErrUnknown.
func (m *Member) Close() {
	m.mutex.Lock()
	if m.closed {
		m.mutex.Unlock()
		return
	}
	m.closed = true
	m.timer.Stop()
	m.owner.Close()
	m.wake()
	m.mutex.Unlock()
	m.port.Close()
}
