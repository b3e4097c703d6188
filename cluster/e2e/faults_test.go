package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	clientv3 "go.etcd.io/etcd/client/v3"

	"schedq/cluster/client"
	"schedq/cluster/internal/etcdtest"
	"schedq/cluster/record"
	"schedq/cluster/serve"
)

var (
	seconds = flag.Int("seconds", 30, "how long faults happen")
	seed    = flag.Uint64("seed", 0, "of the faults; 0: of the time")
	every   = flag.Duration("every", 5*time.Millisecond, "between two submissions")
)

// what was asked of a pod; the output of a porcupine.Operation is the word of the answer, "unknown" if none came.
type what struct{ kind string } // submit, pop, done

type podState uint8

const (
	absent podState = iota
	pending
	ended
)

// lifeOfAPod is the model: a pod is submitted once, popped while it is pending, ended once.
var lifeOfAPod = porcupine.Model{
	Init: func() any { return absent },
	Step: func(state, input, output any) (bool, any) {
		s, in, word := state.(podState), input.(what), output.(string)
		switch in.kind {
		case "submit":
			return s == absent, pending
		case "pop":
			return s == pending, s
		}
		switch word {
		case "ok":
			return s == pending, ended
		case "gone":
			return s == ended, s
		case "unknown":
			// It took effect somewhere, or at the end of time, where nobody sees it.
			return true, ended
		}
		return true, s // lost, fenced: nothing was written
	},
	DescribeOperation: func(input, output any) string { return input.(what).kind + " " + output.(string) },
}

// history collects operations by pod.
type history struct {
	mutex sync.Mutex
	begin time.Time
	pods  map[int64][]porcupine.Operation
	next  int
	words map[string]int

	names       map[int64]string // by UID, of what was popped
	lostSubmits map[string]int64 // by name: when the first one began whose answer was lost
}

const endOfTime = int64(1) << 60

func (h *history) now() int64 { return int64(time.Since(h.begin)) }

func (h *history) add(uid int64, kind string, call int64, word string) {
	back := h.now()
	if word == "unknown" {
		back = endOfTime
	}
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.next++
	h.pods[uid] = append(h.pods[uid], porcupine.Operation{
		ClientId: h.next, Input: what{kind}, Call: call, Output: word, Return: back,
	})
	h.words[kind+" "+word]++
}

// lost notes a submission whose answer was lost. If it came to be, its pod is one that is popped and that no answer named:
// perhaps the name is submitted again behind the end of that pod.
func (h *history) lost(name string, call int64) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if _, known := h.lostSubmits[name]; !known {
		h.lostSubmits[name] = call
	}
	h.words["submit lost"]++
}

func (h *history) popped(pod serve.Pod, call int64) {
	h.mutex.Lock()
	h.names[pod.UID] = pod.Name
	h.mutex.Unlock()
	h.add(pod.UID, "pop", call, "ok")
}

// binder is somebody outside who binds pods, with a check of his own: the first bind of a UID counts.
type binder struct {
	mutex     sync.Mutex
	bound     map[int64]bool
	conflicts int
}

func (b *binder) bind(uid int64) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if b.bound[uid] {
		b.conflicts++
	}
	b.bound[uid] = true
}

// arena is the whole of it.
type arena struct {
	t          *testing.T
	etcd       *etcdtest.Cluster
	random     *rand.Rand
	history    history
	binder     binder
	generation atomic.Int64 // of nodes: a pod may need a later one than there is
	stop       chan struct{}
	group      sync.WaitGroup
	slots      [3]slot
	faults     map[string]int
}

// slot is a machine: a process, which comes and goes, and its way to etcd.
type slot struct {
	mutex   sync.Mutex
	process *shard
	proxies []*etcdtest.Proxy
}

func (s *slot) get() *shard {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.process
}

func (s *slot) set(process *shard) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.process = process
}

func (a *arena) begin(n int) {
	urls := ""
	for i, proxy := range a.slots[n].proxies {
		if i > 0 {
			urls += ","
		}
		urls += proxy.URL
	}
	plugins := filepath.Join(a.t.TempDir(), "plugins.json")
	if err := os.WriteFile(plugins, []byte(`[{"name":"Fit","events":["NodeAdd"]}]`), 0o600); err != nil {
		a.t.Error(err)
	}
	engine := []string{"lockfree", "mutex"}[n%2]
	a.slots[n].set(startShard(a.t, "--etcd", urls, "--shards", "16", "--plugins", plugins, "--ttl", "2s", "--renew", "500ms",
		"--skew", "200ms", "--timeout", "700ms", "--grace", "500ms", "--engine", engine))
}

func (a *arena) running() bool {
	select {
	case <-a.stop:
		return false
	default:
		return true
	}
}

// work is a scheduler beside one machine.
func (a *arena) work(n int) {
	defer a.group.Done()
	random := rand.New(rand.NewPCG(uint64(n), 7))
	for a.running() {
		process := a.slots[n].get()
		if process == nil {
			time.Sleep(50 * time.Millisecond)
			continue
		}
		call := a.history.now()
		pods, err := process.pop(8, 300*time.Millisecond)
		if err != nil {
			time.Sleep(20 * time.Millisecond)
			continue
		}
		for _, pod := range pods {
			a.history.popped(pod, call)
		}
		// What was seen of the cluster before the pop is too old to judge by: an event may have come between.
		generation := a.generation.Load()
		time.Sleep(time.Duration(random.IntN(20)) * time.Millisecond)
		for _, pod := range pods {
			a.decide(process, pod, generation, random)
		}
	}
}

func (a *arena) decide(process *shard, pod serve.Pod, generation int64, random *rand.Rand) {
	var needs int64
	_ = json.Unmarshal(pod.Spec.Data, &needs)
	if needs > generation {
		_, _ = process.word("/fail", map[string]any{"ticket": pod.Ticket, "rejectors": []string{"Fit"}})
		return
	}
	if random.IntN(10) == 0 {
		_, _ = process.word("/fail", map[string]any{"ticket": pod.Ticket})
		return
	}
	for {
		word, err := process.word("/alive", map[string]any{"tickets": []uint64{pod.Ticket}})
		if err != nil {
			return
		}
		if word == "ok" {
			a.binder.bind(pod.UID)
			call := a.history.now()
			word, err = process.word("/done", map[string]any{"tickets": []uint64{pod.Ticket}})
			if err != nil {
				word = "unknown"
			}
			a.history.add(pod.UID, "done", call, word)
		}
		if word != "fenced" {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// submit puts pods until it is told to end.
func (a *arena) submit(stop chan struct{}) {
	defer a.group.Done()
	etcd := a.etcd.Client()
	c := a.open(etcd)
	for n := 0; ; n++ {
		select {
		case <-stop:
			return
		case <-time.After(*every):
		}
		needs := int64(0)
		if n%5 == 0 {
			needs = a.generation.Load() + 1
		}
		pod := client.Pod{Name: fmt.Sprintf("ns-%d/pod-%d", n%40, n), Spec: record.Spec{Priority: int32(n % 3), Data: record.Encode(needs)}}
		a.submitOne(c, pod)
	}
}

// submitOne tries until the pod is there. If an answer was lost its UID is learned when it is popped.
func (a *arena) submitOne(c *client.Client, pod client.Pod) {
	call := a.history.now()
	for a.running() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		uid, err := c.Submit(ctx, pod)
		cancel()
		switch {
		case err == nil:
			a.history.add(uid, "submit", call, "ok")
			return
		case errors.Is(err, client.ErrExists):
			return
		}
		a.history.lost(pod.Name, call)
		time.Sleep(50 * time.Millisecond)
	}
}

func (a *arena) open(etcd *clientv3.Client) *client.Client {
	for {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		c, err := client.Open(ctx, etcd, record.DefaultPrefix)
		cancel()
		if err == nil {
			return c
		}
		if !a.running() {
			a.t.Fatal(err)
		}
	}
}

// newNode has a node come: pods that waited for it fit from now on, and then everybody is told.
func (a *arena) newNode(c *client.Client) {
	a.generation.Add(1)
	var err error
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		err = c.Event(ctx, "NodeAdd", nil)
		cancel()
		if err == nil {
			return
		}
	}
	a.t.Errorf("an event could not be put: %v", err)
}

// fault makes one, and waits until it is over.
func (a *arena) fault() {
	n := a.random.IntN(len(a.slots))
	process := a.slots[n].get()
	pause := func(low, high int) { time.Sleep(time.Duration(low+a.random.IntN(high-low)) * time.Millisecond) }
	if process == nil {
		a.begin(n)
		return
	}
	switch kind := a.random.IntN(10); {
	case kind < 3:
		a.faults["kill -9"]++
		process.kill()
		a.slots[n].set(nil)
		pause(1, 1500)
		a.begin(n)
	case kind < 5:
		a.faults["SIGSTOP"]++
		process.signal(syscall.SIGSTOP)
		pause(500, 4500)
		process.signal(syscall.SIGCONT)
	case kind < 7:
		a.faults["cut off"]++
		for _, proxy := range a.slots[n].proxies {
			proxy.Cut(true)
		}
		pause(500, 4500)
		for _, proxy := range a.slots[n].proxies {
			proxy.Cut(false)
		}
	case kind == 7:
		a.faults["etcd member killed"]++
		m := a.random.IntN(3)
		a.etcd.Kill(m)
		pause(200, 3000)
		a.etcd.Restart(m)
	case kind == 8:
		a.faults["SIGTERM"]++
		process.signal(syscall.SIGTERM)
		select {
		case <-process.ended:
		case <-time.After(10 * time.Second):
			a.t.Errorf("schedq-shard did not end within 10 s of SIGTERM")
			process.kill()
		}
		a.slots[n].set(nil)
		a.begin(n)
	default:
		a.faults["cut off from one member"]++
		proxy := a.slots[n].proxies[a.random.IntN(3)]
		proxy.Cut(true)
		pause(100, 2000)
		proxy.Cut(false)
	}
	pause(50, 700)
}

func TestRealProcessesLoseNothing(t *testing.T) {
	if *seed == 0 {
		*seed = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d, %d s of faults, etcd: %s", *seed, *seconds, etcdtest.Program())
	a := &arena{
		t: t, etcd: etcdtest.Start(t, 3), random: rand.New(rand.NewPCG(*seed, 3)), stop: make(chan struct{}), faults: map[string]int{},
		history: history{begin: time.Now(), pods: map[int64][]porcupine.Operation{}, words: map[string]int{}, names: map[int64]string{}, lostSubmits: map[string]int64{}},
		binder:  binder{bound: map[int64]bool{}},
	}
	for n := range a.slots {
		for m := range 3 {
			a.slots[n].proxies = append(a.slots[n].proxies, a.etcd.NewProxy(m))
		}
		a.begin(n)
		if a.slots[n].get() == nil {
			t.Fatal("no schedq-shard")
		}
	}
	stopSubmitting := make(chan struct{})
	a.group.Add(1 + len(a.slots))
	for n := range a.slots {
		go a.work(n)
	}
	go a.submit(stopSubmitting)
	etcd := a.etcd.Client()
	c := a.open(etcd)
	last := time.Now()
	for end := last.Add(time.Duration(*seconds) * time.Second); time.Now().Before(end); {
		a.fault()
		if time.Since(last) > 2*time.Second {
			last = time.Now()
			a.newNode(c)
		}
	}
	close(stopSubmitting)
	a.newNode(c)
	a.settle(etcd)
	close(a.stop)
	a.group.Wait()
	for n := range a.slots {
		if process := a.slots[n].get(); process != nil {
			process.kill()
		}
	}
	a.judge()
}

// settle waits until every pod is done.
func (a *arena) settle(etcd *clientv3.Client) {
	for n := range a.slots {
		if a.slots[n].get() == nil {
			a.begin(n)
		}
	}
	left := int64(-1)
	for end := time.Now().Add(90 * time.Second); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		layout := record.Layout{Prefix: record.DefaultPrefix}
		answer, err := etcd.Txn(ctx).Then(clientv3.OpGet(layout.Pods(), clientv3.WithPrefix(), clientv3.WithLimit(3)),
			clientv3.OpGet(layout.States(), clientv3.WithPrefix(), clientv3.WithCountOnly())).Commit()
		cancel()
		if err != nil {
			continue
		}
		pods, states := answer.Responses[0].GetResponseRange(), answer.Responses[1].GetResponseRange()
		if left = pods.Count; left == 0 && states.Count == 0 {
			return
		}
		if time.Until(end) < time.Second {
			for _, kv := range pods.Kvs {
				a.t.Logf("left: %s %s, created at %d", kv.Key, kv.Value, kv.CreateRevision)
			}
			a.t.Logf("left: %d states", states.Count)
		}
	}
	a.t.Errorf("lost: %d pods are not done, 90 s after the last fault", left)
}

func (h *history) wasSubmitted(uid int64) bool {
	for _, operation := range h.pods[uid] {
		if operation.Input.(what).kind == "submit" {
			return true
		}
	}
	return false
}

// judge asks porcupine whether what each pod went through is legal.
func (a *arena) judge() {
	h := &a.history
	for uid, name := range h.names {
		call, lost := h.lostSubmits[name]
		if lost && !h.wasSubmitted(uid) {
			h.add(uid, "submit", call, "ok")
		}
	}
	done := 0
	for uid, operations := range h.pods {
		if result := porcupine.CheckOperationsTimeout(lifeOfAPod, operations, 20*time.Second); result != porcupine.Ok {
			a.t.Errorf("UID %d: porcupine says %s", uid, result)
			for _, operation := range operations {
				a.t.Logf("  %d..%d %v %v", operation.Call/1e6, operation.Return/1e6, operation.Input, operation.Output)
			}
		}
		decided := false
		for _, operation := range operations {
			word := operation.Output.(string)
			decided = decided || operation.Input.(what).kind == "done" && (word == "ok" || word == "unknown" || word == "gone")
		}
		if decided {
			done++
		}
		if !decided || !a.binder.bound[uid] {
			a.t.Errorf("UID %d: nobody bound and ended it", uid)
		}
	}
	a.t.Logf("faults: %v", a.faults)
	a.t.Logf("%d pods, %d done, %d second tries that the binder's check refused; answers: %v", len(h.pods), done, a.binder.conflicts, h.words)
}
