// Package client submits pods to a cluster, changes and deletes them, and tells of events. It needs no process of the cluster, only its
// etcd: all it does is to write the documented form (docs/CLUSTER.md).
package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"schedq/cluster/record"
	"schedq/cluster/store"
	"schedq/cluster/store/etcd"
)

var (
	// ErrExists: a pod of that name is there. Nothing changed.
	ErrExists = errors.New("cluster: a pod of that name is there")
	// ErrNotFound: no pod of that name, or not that one, is there. Nothing changed.
	ErrNotFound = errors.New("cluster: no such pod")
	// ErrNoConfig: nobody made the cluster yet: start a schedq-shard, or call Create.
	ErrNoConfig = errors.New("cluster: there is no configuration under this prefix: start a schedq-shard first")
)

// Client submits to one cluster. All methods may be called from any goroutine.
type Client struct {
	etcd   *clientv3.Client
	layout record.Layout
	config record.Config
}

// Pod is what a submitter says of a pod.
type Pod struct {
	Name string // "namespace/name"
	Lot  string // pods of one lot stay together; "": the namespace
	Spec record.Spec
}

// Open reads a cluster's configuration. The etcd client stays the caller's.
//
// Errors: ErrNoConfig; the configuration is of another version, in words; etcd's.
func Open(ctx context.Context, etcd *clientv3.Client, prefix string) (*Client, error) {
	client := &Client{etcd: etcd, layout: record.Layout{Prefix: prefix}}
	answer, err := etcd.Get(ctx, client.layout.Config())
	if err != nil {
		return nil, meaning(err)
	}
	if len(answer.Kvs) == 0 {
		return nil, ErrNoConfig
	}
	client.config, err = record.DecodeConfig(answer.Kvs[0].Value)
	return client, err
}

// Create writes a cluster's configuration if there is none, and returns the one that is there then.
//
// Errors: config is out of range, in words; etcd's.
func Create(ctx context.Context, etcd *clientv3.Client, prefix string, config record.Config) (record.Config, error) {
	if err := config.Check(); err != nil {
		return config, err
	}
	key := record.Layout{Prefix: prefix}.Config()
	answer, err := etcd.Txn(ctx).If(clientv3.Compare(clientv3.CreateRevision(key), "=", 0)).
		Then(clientv3.OpPut(key, string(config.Encode()))).Else(clientv3.OpGet(key)).Commit()
	if err != nil {
		return config, meaning(err)
	}
	if answer.Succeeded {
		return config, nil
	}
	return record.DecodeConfig(answer.Responses[0].GetResponseRange().Kvs[0].Value)
}

func meaning(err error) error {
	if errors.Is(err, rpctypes.ErrNoSpace) {
		return store.ErrNoSpace
	}
	return err
}

// Config is the cluster's.
func (client *Client) Config() record.Config { return client.config }

// Key is where a pod's spec is kept.
//
// Errors: the name is out of range, in words.
func (client *Client) Key(name, lot string) (string, error) {
	place, err := record.PlaceOf(name, lot, client.config.Shards)
	return client.layout.Pod(place), err
}

// Submit adds pods, all of them or none, as many as store.TxnMax at once. It returns the revision that is their UID: pods of one call
// share it, and have different names. When it returns nil the pods survive whatever etcd survives.
//
// Errors: ErrExists, one of them is there; store.ErrNoSpace; a name or a number of pods is out of range, in words; another error: it
// happened, or did not, or will: submit again, ErrExists says that it had happened.
func (client *Client) Submit(ctx context.Context, pods ...Pod) (uid int64, err error) {
	if len(pods) == 0 || len(pods) > store.TxnMax {
		return 0, fmt.Errorf("cluster: %d pods: legal are 1..%d at once", len(pods), store.TxnMax)
	}
	var txn store.Txn
	for i := range pods {
		key, err := client.Key(pods[i].Name, pods[i].Lot)
		if err != nil {
			return 0, err
		}
		txn.If = append(txn.If, store.Compare{Key: key})
		txn.Then = append(txn.Then, store.Op{Kind: store.Put, Key: key, Value: pods[i].Spec.Encode()})
	}
	answer, err := etcd.Do(ctx, client.etcd, txn)
	if err != nil {
		return 0, meaning(err)
	}
	if !answer.Held {
		return 0, ErrExists
	}
	return answer.Revision, nil
}

// Update replaces the spec of a pod. uid: only of this one; 0: of whoever has the name.
//
// Errors: ErrNotFound; store.ErrNoSpace; another: it happened, or did not, or will.
func (client *Client) Update(ctx context.Context, pod Pod, uid int64) error {
	key, err := client.Key(pod.Name, pod.Lot)
	if err != nil {
		return err
	}
	return client.change(ctx, key, uid, clientv3.OpPut(key, string(pod.Spec.Encode())))
}

// Delete deletes a pod. In flight: its holder gets queue.ErrGone. uid as in Update.
//
// Errors: as Update, without ErrNoSpace.
func (client *Client) Delete(ctx context.Context, name, lot string, uid int64) error {
	key, err := client.Key(name, lot)
	if err != nil {
		return err
	}
	return client.change(ctx, key, uid, clientv3.OpDelete(key))
}

func (client *Client) change(ctx context.Context, key string, uid int64, op clientv3.Op) error {
	compare := clientv3.Compare(clientv3.CreateRevision(key), ">", 0)
	if uid != 0 {
		compare = clientv3.Compare(clientv3.CreateRevision(key), "=", uid)
	}
	answer, err := client.etcd.Txn(ctx).If(compare).Then(op).Commit()
	if err != nil {
		return meaning(err)
	}
	if !answer.Succeeded {
		return ErrNotFound
	}
	return nil
}

// Event tells all processes that something happened; the change must be visible to them before. data is for other readers.
//
// Errors: the name is out of range, in words; store.ErrNoSpace; another: it happened, or did not, or will: tell it again, that does no harm.
func (client *Client) Event(ctx context.Context, name string, data json.RawMessage) error {
	if err := record.CheckEvent(name); err != nil {
		return err
	}
	_, err := client.etcd.Put(ctx, client.layout.Event(name), string(data))
	return meaning(err)
}
