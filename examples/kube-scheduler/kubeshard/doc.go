//go:build !kube134

// Package kubeshard lets several kube-schedulers be active at once: they share the pods of a cluster by shards, which they own with
// leases on etcd as docs/CLUSTER.md says. Package schedq/cluster decides who owns what; kubequeue has the pods of the shards that this
// process owns; and nothing is bound for a shard that it does not.
//
//   - kubeshard.go: which pods are whose, and how the queue learns of it. bind.go: the look before a bind. metrics.go.
//
// docs/KUBE.md says what two schedulers guarantee together.
package kubeshard
