package command

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"

	storeetcd "schedq/cluster/store/etcd"
)

func (o *options) urls() string {
	if o.etcd != "" {
		return o.etcd
	}
	return "http://" + o.etcdListen
}

// connect makes a client; it connects when it is used.
func connect(o *options) (*clientv3.Client, error) {
	return storeetcd.Connect(storeetcd.Access{
		URLs: strings.Split(o.urls(), ","), CACert: o.cacert, Cert: o.cert, Key: o.key, User: o.user, PasswordFile: o.passwordFile,
	})
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
