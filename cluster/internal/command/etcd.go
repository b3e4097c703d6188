package command

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"go.etcd.io/etcd/client/pkg/v3/transport"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"
)

func (o *options) urls() string {
	if o.etcd != "" {
		return o.etcd
	}
	return "http://" + o.etcdListen
}

// connect makes a client; it connects when it is used.
func connect(o *options) (*clientv3.Client, error) {
	config := clientv3.Config{
		Endpoints: strings.Split(o.urls(), ","), DialTimeout: 5 * time.Second, DialKeepAliveTime: 2 * time.Second,
		DialKeepAliveTimeout: 2 * time.Second, Username: o.user, Logger: zap.NewNop(),
	}
	if o.passwordFile != "" {
		text, err := os.ReadFile(o.passwordFile)
		if err != nil {
			return nil, fmt.Errorf("--password-file: %w", err)
		}
		config.Password, _, _ = strings.Cut(string(text), "\n")
	}
	if o.cacert != "" || o.cert != "" {
		info := transport.TLSInfo{TrustedCAFile: o.cacert, CertFile: o.cert, KeyFile: o.key}
		tls, err := info.ClientConfig()
		if err != nil {
			return nil, fmt.Errorf("--cacert, --cert, --key: %w", err)
		}
		config.TLS = tls
	}
	client, err := clientv3.New(config)
	if err != nil {
		return nil, fmt.Errorf("--etcd %s: %w", o.urls(), err)
	}
	return client, nil
}

// embedded starts an etcd of one member in this process.
func embedded(ctx context.Context, o *options) (end func(), err error) {
	config := embed.NewConfig()
	config.Dir = o.data
	config.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zap.NewNop())
	client, err := url.Parse("http://" + o.etcdListen)
	if err != nil {
		return nil, fmt.Errorf("--etcd-listen %s: %w", o.etcdListen, err)
	}
	// One member has no peers: it listens for them where nobody looks.
	peer := url.URL{Scheme: "http", Host: "127.0.0.1:0"}
	config.ListenClientUrls, config.AdvertiseClientUrls = []url.URL{*client}, []url.URL{*client}
	config.ListenPeerUrls, config.AdvertisePeerUrls = []url.URL{peer}, []url.URL{peer}
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	config.AutoCompactionMode, config.AutoCompactionRetention = embed.CompactorModePeriodic, "10m"
	etcd, err := embed.StartEtcd(config)
	if err != nil {
		return nil, fmt.Errorf("etcd in --data %s, on --etcd-listen %s: %w", o.data, o.etcdListen, err)
	}
	select {
	case <-etcd.Server.ReadyNotify():
		return etcd.Close, nil
	case err = <-etcd.Err():
	case <-ctx.Done():
		err = ctx.Err()
	case <-time.After(time.Minute):
		err = errors.New("it was not ready within a minute")
	}
	etcd.Close()
	return nil, fmt.Errorf("etcd in --data %s: %w", o.data, err)
}
