package kubequeue

import (
	"slices"
	"sync"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	listersv1 "k8s.io/client-go/listers/core/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	v1 "k8s.io/api/core/v1"

	"schedq/examples/kube-scheduler/internal/release"
)

// Preemption intends a node for a pod before the API shows it. Filters ask for every node that they look at, which is nearly all
// calls that the queue gets, and nearly always no pod is nominated anywhere: one atomic count answers those calls. The rules are
// those of the original, but for one: to nominate to no node ends a nomination, where the original keeps a list for the
// node "" that it never reads.

// nominated is a pod that a node is intended for.
type nominated struct {
	namespace, name string
	uid             types.UID
}

type nominator struct {
	lister listersv1.PodLister
	queued func(name string, uid types.UID) *framework.PodInfo // the pod as the queue has it; nil: it has not

	count  atomic.Int64 // of nominations
	mutex  sync.RWMutex
	byNode map[string][]nominated
	nodeOf map[types.UID]string
}

func newNominator(lister listersv1.PodLister, queued func(string, types.UID) *framework.PodInfo) *nominator {
	return &nominator{
		lister: lister, queued: queued, byNode: map[string][]nominated{}, nodeOf: map[types.UID]string{},
	}
}

// AddNominatedPod nominates a pod: to the node of an overriding info, else to the one in its status.
func (nominator *nominator) AddNominatedPod(logger klog.Logger, info fwk.PodInfo, nominating *release.NominatingInfo) {
	nominator.mutex.Lock()
	defer nominator.mutex.Unlock()
	nominator.add(logger, info.GetPod(), nominating)
}

func (nominator *nominator) add(logger klog.Logger, pod *v1.Pod, nominating *release.NominatingInfo) {
	nominator.remove(pod.UID)
	node := pod.Status.NominatedNodeName
	if nominating.Mode() == release.ModeOverride {
		node = nominating.NominatedNodeName
	}
	if node == "" {
		return
	}
	if nominator.lister != nil {
		known, err := nominator.lister.Pods(pod.Namespace).Get(pod.Name)
		if err != nil {
			logger.V(4).Info("Pod doesn't exist in podLister, aborted adding it to the nominator", "pod", klog.KObj(pod))
			return
		}
		if known.Spec.NodeName != "" {
			logger.V(4).Info("Pod is already scheduled to a node, aborted adding it to the nominator", "pod", klog.KObj(pod),
				"node", known.Spec.NodeName)
			return
		}
	}
	nominator.nodeOf[pod.UID] = node
	nominator.byNode[node] = append(nominator.byNode[node], nominated{pod.Namespace, pod.Name, pod.UID})
	nominator.count.Add(1)
}

func (nominator *nominator) remove(uid types.UID) {
	node, found := nominator.nodeOf[uid]
	if !found {
		return
	}
	delete(nominator.nodeOf, uid)
	left := slices.DeleteFunc(nominator.byNode[node], func(pod nominated) bool { return pod.uid == uid })
	if len(left) == 0 {
		delete(nominator.byNode, node)
	} else {
		nominator.byNode[node] = left
	}
	nominator.count.Add(-1)
}

// nominates: a node is intended for the pod.
func (nominator *nominator) nominates(uid types.UID) bool {
	if nominator.count.Load() == 0 {
		return false
	}
	nominator.mutex.RLock()
	defer nominator.mutex.RUnlock()
	return nominator.nodeOf[uid] != ""
}

// DeleteNominatedPodIfExists ends a pod's nomination.
func (nominator *nominator) DeleteNominatedPodIfExists(pod *v1.Pod) {
	if nominator.count.Load() == 0 {
		return
	}
	nominator.mutex.Lock()
	defer nominator.mutex.Unlock()
	nominator.remove(pod.UID)
}

// UpdateNominatedPod takes a pod's new state. A nomination that only the scheduler knows of outlives an update that does not
// speak of nominations.
func (nominator *nominator) UpdateNominatedPod(logger klog.Logger, old *v1.Pod, info fwk.PodInfo) {
	if nominator.count.Load() == 0 && info.GetPod().Status.NominatedNodeName == "" {
		return
	}
	nominator.mutex.Lock()
	defer nominator.mutex.Unlock()
	var nominating *release.NominatingInfo
	if old.Status.NominatedNodeName == "" && info.GetPod().Status.NominatedNodeName == "" {
		if node, found := nominator.nodeOf[old.UID]; found {
			nominating = &release.NominatingInfo{NominatingMode: release.ModeOverride, NominatedNodeName: node}
		}
	}
	nominator.remove(old.UID)
	nominator.add(logger, info.GetPod(), nominating)
}

// NominatedPodsForNode returns copies of the pods that a node is intended for; the caller may write into them.
func (nominator *nominator) NominatedPodsForNode(node string) []fwk.PodInfo {
	if nominator.count.Load() == 0 {
		return nil
	}
	nominator.mutex.RLock()
	pods := slices.Clone(nominator.byNode[node])
	nominator.mutex.RUnlock()
	if len(pods) == 0 {
		return nil
	}
	infos := make([]fwk.PodInfo, len(pods))
	for i, pod := range pods {
		if info := nominator.queued(pod.namespace+"/"+pod.name, pod.uid); info != nil {
			infos[i] = info.DeepCopy()
			continue
		}
		infos[i] = &framework.PodInfo{Pod: &v1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: pod.namespace, Name: pod.name, UID: pod.uid},
		}}
	}
	return infos
}
