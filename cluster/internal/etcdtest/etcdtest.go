// Package etcdtest starts real etcd members for tests, on loopback addresses, and ends them. The members are processes: a program that
// SCHEDQ_ETCD names, or else the test itself, started again as the etcd of go.etcd.io/etcd/server/v3.
package etcdtest

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"go.uber.org/zap"
)

const serve = "SCHEDQ_TEST_SERVES_ETCD"

// Main runs the tests of a package that starts members; its TestMain calls it.
func Main(m *testing.M) {
	if os.Getenv(serve) != "" {
		etcdmain.Main(os.Args)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// Cluster is some members.
type Cluster struct {
	t       testing.TB
	dir     string
	members []*member
	extra   []string
	tls     *tls.Config
}

type member struct {
	name, host         string
	clientURL, peerURL string
	process            *exec.Cmd
	ended              chan struct{}
}

// Start starts members, and waits until they have a leader. They end with the test. options go to each etcd.
func Start(t testing.TB, count int, options ...string) *Cluster {
	return StartTLS(t, count, nil, options...)
}

// StartTLS starts members that clients reach with TLS; options name the certificates. nil: without.
func StartTLS(t testing.TB, count int, config *tls.Config, options ...string) *Cluster {
	scheme := "http://"
	if config != nil {
		scheme = "https://"
	}
	cluster := &Cluster{t: t, dir: t.TempDir(), extra: options, tls: config}
	for n := range count {
		host := fmt.Sprintf("127.0.0.%d", n+1)
		cluster.members = append(cluster.members, &member{
			name: fmt.Sprintf("m%d", n+1), host: host, clientURL: scheme + freePort(t, host), peerURL: "http://" + freePort(t, host),
		})
	}
	for n := range cluster.members {
		cluster.Restart(n)
	}
	t.Cleanup(cluster.end)
	client := cluster.Client()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for {
		if _, err := client.Get(ctx, "x"); err == nil {
			return cluster
		}
		if ctx.Err() != nil {
			t.Fatal("etcdtest: the members found no leader in a minute")
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func freePort(t testing.TB, host string) string {
	listener, err := net.Listen("tcp", host+":0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// URLs are the members' client URLs.
func (cluster *Cluster) URLs() (urls []string) {
	for _, m := range cluster.members {
		urls = append(urls, m.clientURL)
	}
	return urls
}

// Program says which etcd it is.
func Program() string {
	if program := os.Getenv("SCHEDQ_ETCD"); program != "" {
		return program
	}
	return "go.etcd.io/etcd/server/v3"
}

// Restart starts a member that was killed, or never ran.
func (cluster *Cluster) Restart(n int) {
	m := cluster.members[n]
	var initial []string
	for _, other := range cluster.members {
		initial = append(initial, other.name+"="+other.peerURL)
	}
	program, environment := os.Getenv("SCHEDQ_ETCD"), os.Environ()
	if program == "" {
		program, environment = os.Args[0], append(environment, serve+"=1")
	}
	m.process = exec.Command(program, append([]string{
		"--name", m.name, "--data-dir", filepath.Join(cluster.dir, m.name), "--listen-client-urls", m.clientURL,
		"--advertise-client-urls", m.clientURL, "--listen-peer-urls", m.peerURL, "--initial-advertise-peer-urls", m.peerURL,
		"--initial-cluster", strings.Join(initial, ","), "--log-level", "error", "--logger", "zap",
	}, cluster.extra...)...)
	m.process.Env = environment
	log, err := os.OpenFile(filepath.Join(cluster.dir, m.name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		cluster.t.Fatal(err)
	}
	defer log.Close()
	m.process.Stdout, m.process.Stderr = log, log
	m.process.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := m.process.Start(); err != nil {
		cluster.t.Fatal(err)
	}
	ended := make(chan struct{})
	m.ended = ended
	process := m.process
	go func() {
		_ = process.Wait()
		close(ended)
	}()
}

// Kill ends a member at once.
func (cluster *Cluster) Kill(n int) {
	m := cluster.members[n]
	_ = m.process.Process.Kill()
	<-m.ended
}

func (cluster *Cluster) end() {
	for n := range cluster.members {
		cluster.Kill(n)
		if cluster.t.Failed() {
			if log, err := os.ReadFile(filepath.Join(cluster.dir, cluster.members[n].name+".log")); err == nil && len(log) > 0 {
				cluster.t.Logf("etcd %d:\n%s", n, log[max(0, len(log)-2000):])
			}
		}
	}
}

// Client is a client of all members, or of the given URLs. It is closed with the test.
func (cluster *Cluster) Client(urls ...string) *clientv3.Client {
	if len(urls) == 0 {
		urls = cluster.URLs()
	}
	client, err := clientv3.New(clientv3.Config{Endpoints: urls, DialTimeout: 5 * time.Second, Logger: zap.NewNop(), TLS: cluster.tls})
	if err != nil {
		cluster.t.Fatal(err)
	}
	cluster.t.Cleanup(func() { _ = client.Close() })
	return client
}

// Proxy stands between a client and a member, and can be cut.
type Proxy struct {
	URL      string
	listener net.Listener
	to       string
	gate     chan bool // holds whether it is open
	open     map[net.Conn]bool
}

// NewProxy leads to a member. It ends with the test.
func (cluster *Cluster) NewProxy(n int) *Proxy {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		cluster.t.Fatal(err)
	}
	proxy := &Proxy{
		URL: "http://" + listener.Addr().String(), listener: listener, to: strings.TrimPrefix(cluster.members[n].clientURL, "http://"),
		gate: make(chan bool, 1), open: map[net.Conn]bool{},
	}
	proxy.gate <- true
	go proxy.serve()
	cluster.t.Cleanup(func() {
		_ = listener.Close()
		proxy.Cut(true)
	})
	return proxy
}

func (proxy *Proxy) serve() {
	for {
		from, err := proxy.listener.Accept()
		if err != nil {
			return
		}
		go proxy.carry(from)
	}
}

func (proxy *Proxy) carry(from net.Conn) {
	to, err := net.DialTimeout("tcp", proxy.to, time.Second)
	if err != nil {
		_ = from.Close()
		return
	}
	isOpen := <-proxy.gate
	if isOpen {
		proxy.open[from], proxy.open[to] = true, true
	}
	proxy.gate <- isOpen
	if isOpen {
		done := make(chan struct{})
		go func() {
			_, _ = io.Copy(to, from)
			_ = to.Close()
			close(done)
		}()
		_, _ = io.Copy(from, to)
		_ = from.Close()
		<-done
	}
	_, _ = from.Close(), to.Close()
	isOpen = <-proxy.gate
	delete(proxy.open, from)
	delete(proxy.open, to)
	proxy.gate <- isOpen
}

// Cut ends all connections and lets no other through, until Cut(false).
func (proxy *Proxy) Cut(cut bool) {
	<-proxy.gate
	if cut {
		for connection := range proxy.open {
			_ = connection.Close()
		}
	}
	proxy.gate <- !cut
}
