package kubequeue

import (
	"errors"
	"strings"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"schedq"
)

// Several schedulers may be active at once and share the pods of a cluster: each pod belongs to a shard, and a queue has the pods of
// the shards that are its own. Who owns a shard is decided elsewhere, by Options.Shards; the queue is told of it by [Queue.Gain] and
// [Queue.Lose].
//
//	gain   the shard is the queue's, and then the informer's store is read: a pod that the informer told of earlier is in
//	       that store, one that it tells of later is taken in by the informer's call
//	lose   the shard is not the queue's, and then its pods are cancelled by their label
//
// A goroutine that puts a pod into the library holds shards.mutex, and does so only if the shard is owned. So either it comes before
// the end of the ownership, and the pod is cancelled; or it sees that end, and leaves the pod out. A goroutine that takes a pod out
// because the shard is not owned holds that mutex too: so it comes before a gain looks which pods are there.
//
// A pop gives a pod if the shard is served: the owner's lease is trusted. Between fence and loss of the shard the pop waits.

// Shards says whose a pod is. Its methods may be called from any goroutine.
type Shards interface {
	// Of numbers the shard of a pod, from 0. It looks at the pod only.
	Of(pod *v1.Pod) int
	// Serves says whether pods of a shard may be placed now. After Gain it may say no for a while, and then yes again.
	Serves(shard int) bool
}

// shards is which shards are this queue's.
type shards struct {
	Shards // nil: there are none, and every pod is this queue's

	mutex sync.RWMutex
	owned map[int]bool

	keeps bool // a defect that a test plants: what is lost stays
}

// of is the shard of a pod; 0 without shards.
func (shards *shards) of(pod *v1.Pod) int {
	if shards.Shards == nil {
		return 0
	}
	return shards.Of(pod)
}

// label is what the library knows the pods of a shard by; 0 = none.
func (shards *shards) label(shard int) uint64 {
	if shards.Shards == nil {
		return 0
	}
	return uint64(shard) + 1
}

// errNotOwned says that a pod is another queue's.
var errNotOwned = errors.New("kubequeue: the pod's shard is not owned")

// either does mine while the shard is owned, or else other while it is not, and says whether it is owned.
func (shards *shards) either(shard int, mine, other func()) bool {
	if shards.Shards == nil {
		mine()
		return true
	}
	shards.mutex.RLock()
	defer shards.mutex.RUnlock()
	if shards.owned[shard] {
		mine()
		return true
	}
	other()
	return false
}

func nothing() {}

func (shards *shards) owns(shard int) bool { return shards.either(shard, nothing, nothing) }

func (shards *shards) whileOwned(shard int, do func()) { shards.either(shard, do, nothing) }

func (shards *shards) own(list []int, owned bool) {
	shards.mutex.Lock()
	defer shards.mutex.Unlock()
	for _, shard := range list {
		if owned {
			shards.owned[shard] = true
		} else {
			delete(shards.owned, shard)
		}
	}
}

// fencedPause is how often a pop looks whether a fence is over.
const fencedPause = 10 * time.Millisecond

// mayPlace waits until a shard is served; false: it was lost, or the queue is closed.
func (queue *Queue) mayPlace(shard int) bool {
	if queue.shards.Shards == nil {
		return true
	}
	for queue.shards.owns(shard) {
		if queue.shards.Serves(shard) {
			return true
		}
		select {
		case <-queue.stop.Done():
			return false
		case <-time.After(fencedPause):
		}
	}
	return false
}

// Gain makes shards this queue's, and takes in the pods of theirs that the scheduler's informer knows. It returns how many pods
// these were.
func (queue *Queue) Gain(logger klog.Logger, gained ...int) (count int) {
	queue.shards.own(gained, true)
	wanted := map[int]bool{}
	for _, shard := range gained {
		wanted[shard] = true
	}
	pods, err := queue.lister.List(labels.Everything())
	must(err) // it only reads memory
	for _, pod := range pods {
		if wanted[queue.shards.of(pod)] && queue.waits(pod) && queue.adopt(logger, pod) {
			count++
		}
	}
	return count
}

// adopt takes in a pod as the informer's store has it. The informer may tell of it at the same time; whatever comes first, the queue
// has the newest state in the end, or no such pod.
func (queue *Queue) adopt(logger klog.Logger, pod *v1.Pod) bool {
	if queue.has(pod) {
		return false
	}
	queue.admit(logger, pod, framework.EventUnscheduledPodAdd)
	for {
		newest, err := queue.lister.Pods(pod.Namespace).Get(pod.Name)
		switch {
		case err != nil || !queue.waits(newest):
			queue.expel(pod)
			return false
		case newest.UID == pod.UID && newest.ResourceVersion == pod.ResourceVersion:
			return true
		}
		// It may have another UID: what was admitted above took its place then.
		queue.update(logger, pod, newest)
		pod = newest
	}
}

// waits says whether a pod is one to place.
func (queue *Queue) waits(pod *v1.Pod) bool {
	return pod.Spec.NodeName == "" && !queue.profiles.of(pod).unknown
}

// has says whether this pod is queued, or in flight.
func (queue *Queue) has(pod *v1.Pod) bool {
	found, err := queue.library.Find(nameOf(pod))
	if err != nil {
		return false
	}
	entry := queue.table.get(found.Object)
	return entry == nil || entry.uid == pod.UID // nil: its cycle ends just now
}

// expel takes this pod out, and no other of its name.
func (queue *Queue) expel(pod *v1.Pod) {
	found, err := queue.library.Find(nameOf(pod))
	if err != nil {
		return
	}
	if entry := queue.table.get(found.Object); entry != nil && entry.uid == pod.UID {
		queue.DeleteNominatedPodIfExists(pod)
		queue.remove(found.Pod)
	}
}

// Lose makes shards another's, and forgets their pods. Nodes that were intended for these stay so, until the informer says
// otherwise: the queue that owns the pods knows of these nodes by the pods' status. It returns how many pods these were.
func (queue *Queue) Lose(lost ...int) (count int) {
	if queue.shards.keeps {
		return 0
	}
	queue.shards.own(lost, false)
	for _, shard := range lost {
		var gone [batchSize]schedq.Result
		for more := true; more; {
			cancelled, err := queue.library.CancelLabel(queue.shards.label(shard), gone[:])
			for i := range cancelled {
				queue.left(&gone[i], nil)
			}
			count += cancelled
			more = err == nil && cancelled == len(gone)
		}
	}
	return count
}

// Abandon ends the cycle of a pod that is another queue's by now, and says whether it is. Then the other one tries it, and what came of
// this cycle is of no interest.
func (queue *Queue) Abandon(pod *v1.Pod) bool {
	return !queue.shards.either(queue.shards.of(pod), nothing, func() { queue.Done(pod.UID) })
}

// foreign takes note of a pod of another queue: only of the node that is intended for it.
func (queue *Queue) foreign(logger klog.Logger, old, pod *v1.Pod) {
	if old == nil {
		old = pod
	}
	queue.UpdateNominatedPod(logger, old, &framework.PodInfo{Pod: pod})
}

// elsewhere is a pod that another queue has, for the nominator; nil: there is none.
func (queue *Queue) elsewhere(name string, uid types.UID) *framework.PodInfo {
	if queue.shards.Shards == nil {
		return nil
	}
	namespace, name, _ := strings.Cut(name, "/")
	pod, err := queue.lister.Pods(namespace).Get(name)
	if err != nil || pod.UID != uid {
		return nil
	}
	info, _ := framework.NewPodInfo(pod)
	return info
}
