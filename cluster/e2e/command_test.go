package e2e

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"schedq/cluster/internal/command"
	"schedq/cluster/internal/etcdtest"
	"schedq/cluster/record"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// run makes one command, and returns what it printed.
func run(t *testing.T, want int, arguments ...string) string {
	t.Helper()
	process := exec.Command(os.Args[0], arguments...)
	process.Env = append(os.Environ(), asShard+"=1")
	out, _ := process.CombinedOutput()
	if status := process.ProcessState.ExitCode(); status != want {
		t.Errorf("schedq-shard %s: exit status %d, not %d:\n%s", strings.Join(arguments, " "), status, want, out)
	}
	return string(out)
}

func TestOneCommandStartsAClusterOnAnEtcdOfItsOwn(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	_ = listener.Close()
	data := t.TempDir()
	etcdListen := []string{"--etcd-listen", address}
	plugins := data + "/plugins.json"
	if err := os.WriteFile(plugins, []byte(`[{"name":"Fit","events":["NodeAdd"]}]`), 0o600); err != nil {
		t.Fatal(err)
	}
	start := func() *shard {
		s := startShard(t, append(etcdListen, "--data", data+"/etcd", "--plugins", plugins, "--shards", "8", "--ttl", "2s", "--renew", "500ms")...)
		if s == nil {
			t.Fatal("no schedq-shard")
		}
		return s
	}
	s := start()
	for _, pod := range []string{"default/low", "default/high"} {
		run(t, 0, append(etcdListen, "put", pod, map[string]string{"default/low": `{"priority":1}`, "default/high": `{"priority":9}`}[pod])...)
	}
	if out := run(t, 1, append(etcdListen, "put", "default/low")...); !strings.Contains(out, "is there") {
		t.Errorf("a second pod of a name: %s", out)
	}
	if out := run(t, 1, append(etcdListen, "put", "default/typo", `{"prioriti":5}`)...); !strings.Contains(out, `"prioriti": legal are priority, data`) {
		t.Errorf("a field that no spec has: %s", out)
	}
	// etcdctl's way is the documented one: a key and JSON.
	etcd := clientOf(t, address)
	key := strings.TrimSpace(run(t, 0, append(etcdListen, "key", "default/other")...))
	if _, err := etcd.Put(context.Background(), key, `{"priority":5,"data":{"cpu":2}}`); err != nil {
		t.Fatal(err)
	}
	names := ""
	for range 3 {
		pods, err := s.pop(1, 5*time.Second)
		if err != nil || len(pods) != 1 {
			t.Fatalf("pop: %v, %v", pods, err)
		}
		names += pods[0].Name + " "
		if strings.HasSuffix(pods[0].Name, "other") {
			word, err := s.word("/fail", map[string]any{"ticket": pods[0].Ticket, "rejectors": []string{"Fit"}})
			if err != nil || word != "ok" {
				t.Errorf("fail: %s, %v", word, err)
			}
			continue
		}
		if word, err := s.word("/done", map[string]any{"tickets": []uint64{pods[0].Ticket}}); err != nil || word != "ok" {
			t.Errorf("done: %s, %v", word, err)
		}
	}
	if names != "default/high default/other default/low " {
		t.Errorf("popped in the order %s", names)
	}
	if out := run(t, 0, append(etcdListen, "status")...); !strings.Contains(out, "with an owner: 8") || !strings.Contains(out, "ready") {
		t.Errorf("status: %s", out)
	}
	for path, want := range map[string]int{"/ready": 200, "/metrics": 200, "/status": 200, "/nothing": 404} {
		if response, err := http.Get(s.url + path); err != nil || response.StatusCode != want {
			t.Errorf("%s: %v, %v", path, response, err)
		}
	}
	if err := s.ask("/pop", map[string]any{"max": 0}, nil); err == nil || !strings.Contains(err.Error(), "legal are 1..1024") {
		t.Errorf("a pop of 0 pods: %v", err)
	}
	s.signal(syscall.SIGTERM)
	<-s.ended
	if status := s.process.ProcessState.ExitCode(); status != 0 {
		t.Errorf("after SIGTERM: exit status %d", status)
	}
	if strings.Contains(s.log.String(), "lost") {
		t.Errorf("shards that were given away in order are logged as lost:\n%s", &s.log)
	}

	// What was parked is parked after a restart, with its attempts, and an event frees it.
	s = start()
	if pods, err := s.pop(1, 300*time.Millisecond); err != nil || len(pods) != 0 {
		t.Errorf("a parked pod came after a restart: %v, %v", pods, err)
	}
	run(t, 0, append(etcdListen, "event", "NodeAdd")...)
	pods, err := s.pop(1, 5*time.Second)
	if err != nil || len(pods) != 1 || pods[0].Attempts != 2 {
		t.Fatalf("after its event: %+v, %v", pods, err)
	}
	s.signal(syscall.SIGTERM)
	<-s.ended
}

func clientOf(t *testing.T, address string) *clientv3.Client {
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{"http://" + address}, DialTimeout: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

func TestBadUsageIsRefusedInWords(t *testing.T) {
	for _, line := range []string{
		"nothing", "key", "put", "status more", "--ttl 1s", "--ttl 2500ms", "--renew 4s", "--skew 5s", "--prefix x", "--engine fast",
		"--cert a", "--user a", "--timeout 1ms", "--nothing",
	} {
		var out, errs bytes.Buffer
		if status := command.Start(strings.Fields(line), &out, &errs); status != 2 || !strings.Contains(errs.String(), "--help") || out.Len() > 0 {
			t.Errorf("%s: exit status %d, %q, %q", line, status, errs.String(), out.String())
		}
	}
	for _, line := range []string{"--help", "-h", "--version", "status --version"} {
		var out, errs bytes.Buffer
		if status := command.Start(strings.Fields(line), &out, &errs); status != 0 || errs.Len() > 0 || out.Len() == 0 {
			t.Errorf("%s: exit status %d, %q", line, status, errs.String())
		}
		if strings.Count(out.String(), "  -version") > 1 {
			t.Errorf("%s tells of an option twice:\n%s", line, out.String())
		}
	}
}

// A full etcd refuses new pods in words; those that are there are popped and done, and go on afterwards.
func TestAFullEtcdStopsAdmissionAndLosesNothing(t *testing.T) {
	cluster := etcdtest.Start(t, 1, "--quota-backend-bytes", "6291456")
	urls := strings.Join(cluster.URLs(), ",")
	s := startShard(t, "--etcd", urls, "--shards", "4", "--ttl", "2s", "--renew", "500ms")
	if s == nil {
		t.Fatal("no schedq-shard")
	}
	for n := range 20 {
		run(t, 0, "put", fmt.Sprintf("ns-%d/pod", n), "--etcd", urls)
	}
	client := cluster.Client()
	ctx := context.Background()
	big := string(make([]byte, 1<<20))
	for range 30 {
		if _, err := client.Put(ctx, "big", big); err != nil {
			break
		}
	}
	if out := run(t, 1, "put", "more/pod", "--etcd", urls); !strings.Contains(out, "NOSPACE") {
		t.Errorf("a pod for a full etcd: %s", out)
	}
	done := 0
	for done < 10 {
		pods, err := s.pop(1, 5*time.Second)
		if err != nil || len(pods) == 0 {
			t.Fatalf("pop with a full etcd: %v, %v", pods, err)
		}
		if word, err := s.word("/done", map[string]any{"tickets": []uint64{pods[0].Ticket}}); err != nil || word != "ok" {
			t.Fatalf("done with a full etcd: %s, %v", word, err)
		}
		done++
	}
	head, err := client.Get(ctx, "big", clientv3.WithKeysOnly())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Compact(ctx, head.Header.Revision); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Defragment(ctx, cluster.URLs()[0]); err != nil {
		t.Fatal(err)
	}
	if _, err := client.AlarmDisarm(ctx, &clientv3.AlarmMember{}); err != nil {
		t.Fatal(err)
	}
	run(t, 0, "put", "more/pod", "--etcd", urls)
	for done < 21 {
		pods, err := s.pop(1, 10*time.Second)
		if err != nil || len(pods) == 0 {
			t.Fatalf("%d done, then: %v, %v", done, pods, err)
		}
		if word, _ := s.word("/done", map[string]any{"tickets": []uint64{pods[0].Ticket}}); word != "ok" {
			t.Fatalf("done: %s", word)
		}
		done++
	}
	left, err := client.Get(ctx, record.Layout{Prefix: record.DefaultPrefix}.Pods(), clientv3.WithPrefix(), clientv3.WithCountOnly())
	if err != nil || left.Count != 0 {
		t.Errorf("%d pods are left, %v", left.Count, err)
	}
	s.kill()
}
