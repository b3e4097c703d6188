package e2e

import (
	"bufio"
	"cmp"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"schedq/cluster/client"
	"schedq/cluster/internal/etcdtest"
	"schedq/cluster/member"
	"schedq/cluster/owner"
	"schedq/cluster/queue"
	"schedq/cluster/record"
	sharding "schedq/cluster/shard"
	"schedq/cluster/store"
	"schedq/cluster/store/etcd"
)

var (
	figures = flag.String("figures", "", "measure these, with commas, or all: batches, single, owners, idle, handover, crash, rank; wants a quiet machine")
	many    = flag.Int("pods", 100000, "pods of the hand-over figures")
	span    = flag.Duration("span", 5*time.Second, "how long each throughput figure is measured")
)

// bench is what all figures share.
type bench struct {
	t    *testing.T
	etcd *etcdtest.Cluster
	turn int
}

// TestFigures prints what docs/CLUSTER.md shows.
func TestFigures(t *testing.T) {
	if *figures == "" {
		t.Skip("only with -figures")
	}
	b := &bench{t: t, etcd: etcdtest.Start(t, 3)}
	fmt.Printf("%d cores, %s, 3 members of %s on this machine\n", runtime.NumCPU(), runtime.Version(), etcdtest.Program())
	for _, figure := range []struct {
		name    string
		measure func()
	}{
		{"batches", func() { b.throughput(64, 8) }}, {"single", func() { b.throughput(1, 64) }}, {"owners", b.owners}, {"idle", b.idle},
		{"handover", b.handOver}, {"crash", b.crash}, {"rank", b.rank},
	} {
		if *figures == "all" || slices.Contains(strings.Split(*figures, ","), figure.name) {
			figure.measure()
		}
	}
}

// prefix is a cluster of its own.
func (b *bench) prefix() string {
	b.turn++
	return fmt.Sprintf("/bench-%d/", b.turn)
}

func (b *bench) open(prefix string, settings owner.Config) *member.Member {
	m, err := member.Open(context.Background(), member.Options{
		Etcd: b.etcd.Client(), Prefix: prefix, Name: "bench", Timeout: 10 * time.Second,
		Create: record.NewConfig(256, []record.Plugin{{Name: "Fit", Events: []string{"NodeAdd"}}}), Owner: settings,
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return m
}

func (b *bench) client(prefix string) *client.Client {
	c, err := client.Open(context.Background(), b.etcd.Client(), prefix)
	if err != nil {
		b.t.Fatal(err)
	}
	return c
}

// owned waits until each of the members owns what rendezvous hashing gives it.
func (b *bench) owned(members ...*member.Member) {
	var ids []string
	for _, m := range members {
		ids = append(ids, m.ID())
	}
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		right := 0
		for _, m := range members {
			for _, state := range m.Status().Shards {
				if state.Phase == "active" && sharding.Owner(state.Shard, ids) == m.ID() {
					right++
				}
			}
		}
		if right == 256 {
			return
		}
		if time.Now().After(end) {
			b.t.Fatalf("%d members own %d shards that they should own", len(members), right)
		}
	}
}

// during runs workers until the time is over, and returns what they did, a second.
func during(span time.Duration, workers int, do func(worker int) int) float64 {
	var sum atomic.Int64
	var group sync.WaitGroup
	begin := time.Now()
	for worker := range workers {
		group.Add(1)
		go func() {
			defer group.Done()
			for time.Since(begin) < span {
				sum.Add(int64(do(worker)))
			}
		}()
	}
	group.Wait()
	return float64(sum.Load()) / time.Since(begin).Seconds()
}

// limit is what etcd itself takes: puts of specs and then their deletion, so many in a transaction, by so many at once.
func (b *bench) limit(batch, workers int) float64 {
	clients := []*clientv3.Client{b.etcd.Client(), b.etcd.Client()}
	prefix := b.prefix()
	value := (&record.Spec{Priority: 5}).Encode()
	turns := make([]int, workers)
	return during(*span, workers, func(worker int) int {
		var puts, deletes store.Txn
		for n := range batch {
			key := fmt.Sprintf("%spods/%04d/ns-%d/pod-%d-%d", prefix, worker, worker, turns[worker], n)
			puts.Then = append(puts.Then, store.Op{Kind: store.Put, Key: key, Value: value})
			deletes.Then = append(deletes.Then, store.Op{Kind: store.Delete, Key: key})
		}
		turns[worker]++
		for n, txn := range []store.Txn{puts, deletes} {
			if _, err := etcd.Do(context.Background(), clients[n], txn); err != nil {
				b.t.Error(err)
			}
		}
		return 2 * batch
	})
}

// flow has pods submitted and ended by these members, and returns pods a second, and transactions for each 64 pods.
func (b *bench) flow(prefix string, batch, workers int, members ...*member.Member) (perSecond, calls float64) {
	ctx, cancel := context.WithCancel(context.Background())
	var group sync.WaitGroup
	var done, submits atomic.Int64
	for _, m := range members {
		for range max(2, workers/len(members)) {
			group.Add(1)
			go func() {
				defer group.Done()
				out := make([]queue.Popped, batch)
				for {
					count, err := m.Pop(ctx, out)
					if err != nil {
						return
					}
					tickets := make([]uint64, count)
					for i := range tickets {
						tickets[i] = out[i].Ticket
					}
					for _, err := range m.DoneMany(context.Background(), tickets) {
						if err == nil {
							done.Add(1)
						}
					}
				}
			}()
		}
	}
	c := b.client(prefix)
	turns := make([]int, workers)
	before := countBatches(members)
	begin := time.Now()
	during(*span, workers, func(worker int) int {
		pods := make([]client.Pod, batch)
		for n := range pods {
			pods[n] = client.Pod{Name: fmt.Sprintf("ns-%d/pod-%d-%d", (worker*batch+n)%997, turns[worker], worker*batch+n), Spec: record.Spec{Priority: 5}}
		}
		turns[worker]++
		submits.Add(1)
		if _, err := c.Submit(context.Background(), pods...); err != nil {
			b.t.Error(err)
			return 0
		}
		return batch
	})
	want := submits.Load() * int64(batch)
	for end := time.Now().Add(time.Minute); done.Load() < want; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			b.t.Errorf("%d of %d pods are done", done.Load(), want)
			break
		}
	}
	perSecond = float64(done.Load()) / time.Since(begin).Seconds()
	calls = float64(submits.Load()+countBatches(members)-before) / (float64(want) / 64)
	cancel()
	group.Wait()
	return perSecond, calls
}

func countBatches(members []*member.Member) (sum int64) {
	for _, m := range members {
		sum += int64(m.Status().Counts.Batches)
	}
	return sum
}

func (b *bench) throughput(batch, workers int) {
	prefix := b.prefix()
	m := b.open(prefix, owner.Config{Batch: batch, Window: workers, Engine: 0})
	b.owned(m)
	before := b.limit(batch, workers)
	perSecond, calls := b.flow(prefix, batch, workers, m)
	limit := (before + b.limit(batch, workers)) / 2
	m.Close()
	fmt.Printf("batches of %d, %d at once: %.0f pods/s from add to done, durable; %.2f transactions for 64 pods; etcd's own limit %.0f writes/s: %.0f %% of it\n",
		batch, workers, perSecond, calls, limit, 100*2*perSecond/limit)
}

func (b *bench) owners() {
	var one float64
	for _, count := range []int{1, 2, 4} {
		prefix := b.prefix()
		var members []*member.Member
		for range count {
			members = append(members, b.open(prefix, owner.Config{}))
		}
		b.owned(members...)
		perSecond, _ := b.flow(prefix, 64, 8, members...)
		if count == 1 {
			one = perSecond
		}
		fmt.Printf("%d owners, batches of 64: %.0f pods/s, %.2f times as many as one\n", count, perSecond, perSecond/one)
		for _, m := range members {
			m.Close()
		}
	}
}

// idle counts the calls that etcd gets from two processes that have nothing to do.
func (b *bench) idle() {
	prefix := b.prefix()
	members := []*member.Member{b.open(prefix, owner.Config{}), b.open(prefix, owner.Config{})}
	b.owned(members...)
	time.Sleep(2 * time.Second)
	before, begin := b.calls(), time.Now()
	time.Sleep(10 * time.Second)
	perSecond := float64(b.calls()-before) / time.Since(begin).Seconds() / 2
	fmt.Printf("idle: %.2f calls/s a process\n", perSecond)
	for _, m := range members {
		m.Close()
	}
}

// calls sums what etcd's members count as handled calls of clients.
func (b *bench) calls() (sum int64) {
	for _, url := range b.etcd.URLs() {
		response, err := http.Get(url + "/metrics")
		if err != nil {
			b.t.Fatal(err)
		}
		lines := bufio.NewScanner(response.Body)
		for lines.Scan() {
			if strings.HasPrefix(lines.Text(), "grpc_server_started_total{") {
				value, _ := strconv.ParseFloat(lines.Text()[strings.LastIndexByte(lines.Text(), ' ')+1:], 64)
				sum += int64(value)
			}
		}
		_ = response.Body.Close()
	}
	return sum
}

// fill submits many pods.
func (b *bench) fill(prefix string, count int) {
	c := b.client(prefix)
	var next atomic.Int64
	var group sync.WaitGroup
	for range 8 {
		group.Add(1)
		go func() {
			defer group.Done()
			for {
				first := int(next.Add(128)) - 128
				if first >= count {
					return
				}
				var pods []client.Pod
				for n := first; n < min(first+128, count); n++ {
					pods = append(pods, client.Pod{Name: fmt.Sprintf("ns-%d/pod-%d", n%997, n), Spec: record.Spec{Priority: int32(n % 10)}})
				}
				if _, err := c.Submit(context.Background(), pods...); err != nil {
					b.t.Error(err)
				}
			}
		}()
	}
	group.Wait()
}

// moves notes when shards are stopped, claimed and loaded, by whomever.
type moves struct {
	mutex                    sync.Mutex
	stopped, claimed, loaded map[int]time.Time
	pods                     int
	loading                  time.Duration // sum over shards
}

func newMoves() *moves {
	return &moves{stopped: map[int]time.Time{}, claimed: map[int]time.Time{}, loaded: map[int]time.Time{}}
}

func (m *moves) step(step owner.Step) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	switch step.What {
	case owner.Stopped:
		m.stopped[step.Shard] = time.Now()
	case owner.Claimed:
		m.claimed[step.Shard] = time.Now()
	case owner.Loaded:
		m.loaded[step.Shard] = time.Now()
		m.pods += step.Pods
	}
}

// pauses are how long shards could not be popped from.
func (m *moves) pauses() (pauses []time.Duration) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	for shard, stopped := range m.stopped {
		if loaded, ok := m.loaded[shard]; ok && loaded.After(stopped) {
			pauses = append(pauses, loaded.Sub(stopped))
		}
	}
	slices.Sort(pauses)
	return pauses
}

// span is from the first claim to the last load.
func (m *moves) span() (first, last time.Time) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	for shard, loaded := range m.loaded {
		if claimed := m.claimed[shard]; first.IsZero() || claimed.Before(first) {
			first = claimed
		}
		if loaded.After(last) {
			last = loaded
		}
	}
	return first, last
}

func (b *bench) handOver() {
	prefix := b.prefix()
	m := newMoves()
	settings := owner.Config{Trace: m.step, Publish: -1}
	one := b.open(prefix, settings)
	b.owned(one)
	b.fill(prefix, *many)
	fmt.Printf("%d pods in 256 shards\n", *many)
	begin := time.Now()
	two := b.open(prefix, settings)
	b.owned(one, two)
	took := time.Since(begin)
	pauses := m.pauses()
	fmt.Printf("a second process comes: %d shards move within %v; a shard's pause: median %v, p99 %v, longest %v\n", len(pauses),
		took.Round(time.Millisecond), pauses[len(pauses)/2].Round(time.Millisecond/10), pauses[len(pauses)*99/100].Round(time.Millisecond/10),
		pauses[len(pauses)-1].Round(time.Millisecond/10))
	*m = *newMoves()
	begin = time.Now()
	if err := one.Leave(context.Background()); err != nil {
		b.t.Error(err)
	}
	b.owned(two)
	pauses = m.pauses()
	fmt.Printf("the first one leaves: %d shards move within %v; a shard's pause: median %v, p99 %v, longest %v\n", len(pauses),
		time.Since(begin).Round(time.Millisecond), pauses[len(pauses)/2].Round(time.Millisecond/10),
		pauses[len(pauses)*99/100].Round(time.Millisecond/10), pauses[len(pauses)-1].Round(time.Millisecond/10))
	one.Close()
	two.Close()
}

func (b *bench) crash() {
	prefix := b.prefix()
	process := startShard(b.t, "--etcd", strings.Join(b.etcd.URLs(), ","), "--prefix", prefix, "--timeout", "10s")
	if process == nil {
		b.t.Fatal("no schedq-shard")
	}
	for {
		var status member.Status
		if err := getJSON(process.url+"/status", &status); err == nil && status.Owned == 256 {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	b.fill(prefix, *many)
	m := newMoves()
	process.kill()
	begin := time.Now()
	next := b.open(prefix, owner.Config{Trace: m.step})
	out := make([]queue.Popped, 1)
	if _, err := next.Pop(context.Background(), out); err != nil {
		b.t.Error(err)
	}
	first := time.Since(begin)
	b.owned(next)
	all := time.Since(begin)
	from, to := m.span()
	fmt.Printf("kill -9 of the only owner of %d pods, another one is there: first pop after %v, all shards after %v; load: %.0f pods/s\n", *many,
		first.Round(time.Millisecond), all.Round(time.Millisecond), float64(m.pods)/to.Sub(from).Seconds())
	next.Close()
}

// rank measures how many better pods wait, somewhere, when one is popped.
func (b *bench) rank() {
	for _, strict := range []bool{false, true} {
		prefix := b.prefix()
		settings := owner.Config{Strict: strict}
		members := []*member.Member{b.open(prefix, settings), b.open(prefix, settings)}
		b.owned(members...)
		const count = 20000
		b.fill(prefix, count)
		time.Sleep(500 * time.Millisecond)
		var mutex sync.Mutex
		var order []queue.Popped
		var group sync.WaitGroup
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
		begin := time.Now()
		for n, m := range members {
			group.Add(1)
			go func() {
				defer group.Done()
				random := rand.New(rand.NewPCG(uint64(n), 5))
				out := make([]queue.Popped, 16)
				for {
					got, err := m.Pop(ctx, out[:1+random.IntN(16)])
					if err != nil {
						return
					}
					mutex.Lock()
					order = append(order, out[:got]...)
					if len(order) >= count {
						cancel()
					}
					mutex.Unlock()
					tickets := make([]uint64, got)
					for i := range tickets {
						tickets[i] = out[i].Ticket
					}
					m.DoneMany(context.Background(), tickets)
				}
			}()
		}
		group.Wait()
		took := time.Since(begin)
		cancel()
		mean, p99, worst := rankErrors(order)
		name := "without --strict"
		if strict {
			name = "with --strict"
		}
		fmt.Printf("rank error of two owners, %s: mean %.1f, p99 %d, greatest %d of %d pods; %.0f pods/s\n", name, mean, p99, worst,
			len(order), float64(len(order))/took.Seconds())
		for _, m := range members {
			m.Close()
		}
	}
}

// rankErrors are, for each pop, how many pods that rank before the popped one were popped later.
func rankErrors(order []queue.Popped) (mean float64, p99, worst int) {
	ranks := make([]int, len(order))
	sorted := make([]int, len(order))
	for i := range sorted {
		sorted[i] = i
	}
	slices.SortFunc(sorted, func(a, b int) int {
		x, y := order[a], order[b]
		return cmp.Or(cmp.Compare(y.Spec.Priority, x.Spec.Priority), cmp.Compare(x.UID, y.UID), cmp.Compare(a, b))
	})
	for rank, i := range sorted {
		ranks[i] = rank
	}
	left := make([]int, len(order)+1) // a Fenwick tree of the ranks that are not popped yet
	add := func(at, by int) {
		for at++; at <= len(order); at += at & -at {
			left[at] += by
		}
	}
	for rank := range order {
		add(rank, 1)
	}
	errors := make([]int, len(order))
	sum := 0
	for i, rank := range ranks {
		add(rank, -1)
		for at := rank; at > 0; at -= at & -at {
			errors[i] += left[at]
		}
		sum += errors[i]
	}
	slices.Sort(errors)
	if len(errors) == 0 {
		return 0, 0, 0
	}
	return float64(sum) / float64(len(errors)), errors[len(errors)*99/100], errors[len(errors)-1]
}
