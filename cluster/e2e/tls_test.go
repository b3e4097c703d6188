package e2e

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"schedq/cluster/internal/etcdtest"
	"schedq/cluster/record"
)

// authority makes certificates.
type authority struct {
	t      *testing.T
	dir    string
	key    *ecdsa.PrivateKey
	parent *x509.Certificate
	serial int64
}

func newAuthority(t *testing.T) *authority {
	a := &authority{t: t, dir: t.TempDir()}
	a.key, a.parent = a.make("ca", true)
	return a
}

func (a *authority) path(name string) string { return filepath.Join(a.dir, name) }

// make writes NAME.crt and NAME.key.
func (a *authority) make(name string, isCA bool) (*ecdsa.PrivateKey, *x509.Certificate) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	a.serial++
	certificate := &x509.Certificate{
		SerialNumber: big.NewInt(a.serial), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour), IsCA: isCA, BasicConstraintsValid: true,
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		IPAddresses: []net.IP{net.ParseIP("127.0.0.1")},
	}
	parent, signer := certificate, key
	if !isCA {
		parent, signer = a.parent, a.key
		certificate.Subject.CommonName = "" // users of etcd come by their passwords
	}
	der, err := x509.CreateCertificate(rand.Reader, certificate, parent, &key.PublicKey, signer)
	if err != nil {
		a.t.Fatal(err)
	}
	keyDER, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		a.t.Fatal(err)
	}
	for file, block := range map[string]*pem.Block{
		name + ".crt": {Type: "CERTIFICATE", Bytes: der}, name + ".key": {Type: "EC PRIVATE KEY", Bytes: keyDER},
	} {
		if err := os.WriteFile(a.path(file), pem.EncodeToMemory(block), 0o600); err != nil {
			a.t.Fatal(err)
		}
	}
	made, _ := x509.ParseCertificate(der)
	return key, made
}

func TestTLSAndAUserWhoMayOnlyReachThePrefix(t *testing.T) {
	a := newAuthority(t)
	a.make("server", false)
	a.make("client", false)
	pair, err := tls.LoadX509KeyPair(a.path("client.crt"), a.path("client.key"))
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(a.parent)
	config := &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{pair}}
	cluster := etcdtest.StartTLS(t, 1, config, "--cert-file", a.path("server.crt"), "--key-file", a.path("server.key"),
		"--trusted-ca-file", a.path("ca.crt"), "--client-cert-auth")
	root := cluster.Client()
	ctx := context.Background()
	must := func(_ any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(root.UserAdd(ctx, "root", "secret"))
	must(root.UserGrantRole(ctx, "root", "root"))
	must(root.RoleAdd(ctx, "schedq"))
	must(root.RoleGrantPermission(ctx, "schedq", record.DefaultPrefix, clientv3.GetPrefixRangeEnd(record.DefaultPrefix),
		clientv3.PermissionType(clientv3.PermReadWrite)))
	must(root.UserAdd(ctx, "schedq", "word"))
	must(root.UserGrantRole(ctx, "schedq", "schedq"))
	must(root.AuthEnable(ctx))
	password := a.path("password")
	if err := os.WriteFile(password, []byte("word\n"), 0o600); err != nil {
		t.Fatal(err)
	}

	way := []string{"--etcd", strings.Join(cluster.URLs(), ","), "--cacert", a.path("ca.crt")}
	mine := append(way, "--cert", a.path("client.crt"), "--key", a.path("client.key"))
	user := append(mine, "--user", "schedq", "--password-file", password)
	s := startShard(t, append(user, "--shards", "4", "--ttl", "2s", "--renew", "500ms")...)
	if s == nil {
		t.Fatal("no schedq-shard")
	}
	run(t, 0, append([]string{"put", "default/web"}, user...)...)
	pods, err := s.pop(1, 5*time.Second)
	if err != nil || len(pods) != 1 {
		t.Fatalf("pop: %v, %v", pods, err)
	}
	time.Sleep(3 * time.Second) // longer than the lease: it is renewed
	if word, err := s.word("/done", map[string]any{"tickets": []uint64{pods[0].Ticket}}); err != nil || word != "ok" {
		t.Errorf("done: %s, %v", word, err)
	}
	s.signal(syscall.SIGTERM)
	<-s.ended
	if status := s.process.ProcessState.ExitCode(); status != 0 {
		t.Errorf("after SIGTERM: exit status %d", status)
	}

	// Without a certificate, without a user, and outside of the prefix: refused in words.
	run(t, 1, append([]string{"key", "default/web", "--timeout", "1s"}, way...)...)
	if out := run(t, 1, append([]string{"key", "default/web"}, mine...)...); !strings.Contains(out, "etcdserver: ") {
		t.Errorf("without a user: %s", out)
	}
	if out := run(t, 1, append([]string{"key", "default/web", "--prefix", "/other/"}, user...)...); !strings.Contains(out, "permission denied") {
		t.Errorf("another prefix: %s", out)
	}
}
