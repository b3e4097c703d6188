package kubequeue

import (
	"context"
	"sync"
	"sync/atomic"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"schedq"
	"schedq/examples/kube-scheduler/internal/release"
)

// The library holds 64 bits for a pod, from its add to the end of its life. They are the number of an entry, which is Go's side
// of that pod. What changes during the life is the entry's record: a record itself never changes, so a goroutine that judges one
// needs no lock. The library counts versions, and refuses a judgement on a record that was replaced meanwhile.
//
// The queued pods are found by name in the library's index. The table here only leads from the number that the library gives
// back to the entry.

// record is a pod as it was at one time.
type record struct {
	pod       *v1.Pod
	info      *framework.PodInfo // the pod with its parsed terms
	signature release.Signature
	class     uint64 // see class.go; 0: none
}

func newRecord(profile *profile, pod *v1.Pod) *record {
	// The API server does not check affinity terms; a pod whose terms cannot be parsed has none.
	info, _ := framework.NewPodInfo(pod)
	signature, class := profile.alike(pod)
	return &record{pod, info, signature, class}
}

// with is the record after an update: terms cannot change in the API, so they are not parsed again.
func (old *record) with(profile *profile, pod *v1.Pod) *record {
	signature, class := profile.alike(pod)
	return &record{pod, old.infoOf(pod), signature, class}
}

// alike is the signature of a pod, and its class.
func (profile *profile) alike(pod *v1.Pod) (release.Signature, uint64) {
	signature := profile.signatureOf(pod)
	return signature, profile.classOf(pod, signature)
}

func (profile *profile) signatureOf(pod *v1.Pod) (signature release.Signature) {
	if profile.sign != nil {
		signature = profile.sign(context.Background(), pod)
	}
	return signature
}

func (old *record) infoOf(pod *v1.Pod) *framework.PodInfo {
	return &framework.PodInfo{
		Pod:                        pod,
		RequiredAffinityTerms:      old.info.RequiredAffinityTerms,
		RequiredAntiAffinityTerms:  old.info.RequiredAntiAffinityTerms,
		PreferredAffinityTerms:     old.info.PreferredAffinityTerms,
		PreferredAntiAffinityTerms: old.info.PreferredAntiAffinityTerms,
	}
}

// private is a PodInfo for a caller that may write into it: the framework caches in it what it computes.
func (old *record) private() *framework.PodInfo {
	return old.infoOf(old.pod)
}

// entry is a pod during its life in the queue.
type entry struct {
	object  uint64 // the library's bits for it
	name    string // "namespace/name"
	uid     types.UID
	profile *profile
	shard   int    // as it was added
	label   uint64 // of the shard, see shards.go
	record  atomic.Pointer[record]
	// flushed is when the pod was tried as a leftover last, in the library's nanoseconds; 0: never.
	flushed atomic.Int64
	entity  entity // the group that it stands for, and then it has no record and no uid; nil: a pod
}

// spec describes a record to the library. Nominations are kept in Go.
func (queue *Queue) spec(entry *entry, record *record) schedq.PodSpec {
	return schedq.PodSpec{
		Object:   entry.object,
		Priority: priorityOf(record.pod),
		Profile:  entry.profile.number,
		Label:    entry.label,
		Class:    queue.classNow(record),
	}
}

func priorityOf(pod *v1.Pod) int32 { return corev1helpers.PodPriority(pod) }

func nameOf(pod *v1.Pod) string { return pod.Namespace + "/" + pod.Name }

const tableShards = 64

// table leads from the library's bits to entries.
type table struct {
	last   atomic.Uint64
	shards [tableShards]struct {
		sync.RWMutex
		entries map[uint64]*entry
		_       [32]byte // shards do not share a cache line
	}
}

func (table *table) init() {
	for i := range table.shards {
		table.shards[i].entries = map[uint64]*entry{}
	}
}

// add makes an entry. It must be in the table before the library hears of it: the pod can be popped before the call returns.
func (table *table) add(profile *profile, shards *shards, record *record) *entry {
	made := &entry{
		object: table.last.Add(1), name: nameOf(record.pod), uid: record.pod.UID, profile: profile, shard: shards.of(record.pod),
	}
	made.label = shards.label(made.shard)
	made.record.Store(record)
	table.keep(made)
	return made
}

func (table *table) keep(made *entry) {
	shard := &table.shards[made.object%tableShards]
	shard.Lock()
	shard.entries[made.object] = made
	shard.Unlock()
}

// get is nil for a pod whose life has ended.
func (table *table) get(object uint64) *entry {
	shard := &table.shards[object%tableShards]
	shard.RLock()
	defer shard.RUnlock()
	return shard.entries[object]
}

// drop ends the life of a pod. It may be called again.
func (table *table) drop(object uint64) {
	shard := &table.shards[object%tableShards]
	shard.Lock()
	delete(shard.entries, object)
	shard.Unlock()
}

// count is the number of entries.
func (table *table) count() (count int) {
	for i := range table.shards {
		shard := &table.shards[i]
		shard.RLock()
		count += len(shard.entries)
		shard.RUnlock()
	}
	return count
}
