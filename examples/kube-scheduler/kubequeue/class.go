package kubequeue

import (
	"encoding/binary"
	"encoding/json"
	"hash/maphash"
	"maps"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	pluginnames "k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"

	"schedq"
	"schedq/examples/kube-scheduler/internal/release"
)

// Pods that fail alike may have a class: while one of them, the scout, is rejected and waits, the library keeps the others back,
// untried (CLASSES in schedq/hold.h). The pods of one class have equal bytes from Options.Classes, and the same namespace, labels
// and preemption policy, which decide too; no signature of kube-scheduler has all of these. The library adds profile and priority.
//
// A pod with something of its own has no class, or none for now: one that is nominated, or that has a node (a resize that is
// deferred). A rejection is the pod's own, and shuts no class, if a plugin gave it that may look at more than the class has
// (sharedReasons), or if a gate refuses the pod now: its preemption is under way, so the next one may preempt too.
//
// A pod that is kept back passed its gates before. They are not asked again when its class lets it go.

// Classes says in bytes what a pod has in common with those that fail alike; none: it has no class. signature is kube-scheduler's,
// if there is one.
type Classes func(pod *v1.Pod, signature release.Signature) []byte

const classPatience = 5 * time.Minute

// BySignature makes a class of the pods of one signature of kube-scheduler. It signs pods with the feature gate
// OpportunisticBatching (1.37, on by default), but none that has an affinity to pods, spread constraints or resource claims, and
// none at all if a plugin of the profile cannot sign, there is an extender, or PodTopologySpread has default constraints, as it has
// by default.
func BySignature(_ *v1.Pod, signature release.Signature) []byte { return release.Signed(signature) }

// BySpec makes a class of the pods whose specs are equal but for the names of volumes, environment and hostname: of what a
// controller makes of one template. With the same labels and namespace, kube-scheduler's own filters answer alike about them.
func BySpec(pod *v1.Pod, _ release.Signature) []byte {
	if len(pod.Spec.ResourceClaims) > 0 {
		return nil
	}
	spec := pod.Spec.DeepCopy()
	spec.Hostname = ""
	for i := range spec.Volumes {
		spec.Volumes[i].Name = ""
	}
	for _, containers := range [][]v1.Container{spec.InitContainers, spec.Containers} {
		for i := range containers {
			container := &containers[i]
			container.Env, container.EnvFrom, container.VolumeMounts, container.VolumeDevices = nil, nil, nil, nil
		}
	}
	bytes, err := json.Marshal(spec)
	if err != nil {
		return nil
	}
	return bytes
}

// sharedReasons are the plugins that reject the pods of a class alike: all that they look at in a pod its class has. Those of
// volumes and claims are not among them: the names may be a pod's own. Extenders and foreign plugins are not known.
var sharedReasons = map[string]bool{
	pluginnames.InterPodAffinity: true, pluginnames.NodeAffinity: true, "NodeDeclaredFeatures": true, pluginnames.NodeName: true,
	pluginnames.NodePorts: true, pluginnames.NodeResourcesFit: true, pluginnames.NodeUnschedulable: true, pluginnames.PodTopologySpread: true,
	pluginnames.TaintToleration: true,
}

var classSeed = maphash.MakeSeed()

// classOf is the number of a pod's class; 0: it has none.
func (profile *profile) classOf(pod *v1.Pod, signature release.Signature) uint64 {
	if profile.classes == nil || pod.Spec.NodeName != "" || pod.Status.NominatedNodeName != "" {
		return 0
	}
	alike := profile.classes(pod, signature)
	if len(alike) == 0 {
		return 0
	}
	var hash maphash.Hash
	hash.SetSeed(classSeed)
	write := func(text string) {
		var length [8]byte
		binary.LittleEndian.PutUint64(length[:], uint64(len(text)))
		_, _ = hash.Write(length[:])
		_, _ = hash.WriteString(text)
	}
	write(string(alike))
	write(pod.Namespace)
	if pod.Spec.PreemptionPolicy != nil {
		write(string(*pod.Spec.PreemptionPolicy))
	}
	for _, key := range slices.Sorted(maps.Keys(pod.Labels)) {
		write(key)
		write(pod.Labels[key])
	}
	return max(1, hash.Sum64())
}

// classNow is the class that counts at present: a pod that is nominated waits for a node of its own.
func (queue *Queue) classNow(record *record) uint64 {
	if record.class == 0 || queue.nominates(record.pod.UID) {
		return 0
	}
	return record.class
}

// alikeTo: the library need not hear of the change.
func (record *record) alikeTo(before *record) bool {
	return record.class != 0 && record.class == before.class && priorityOf(record.pod) == priorityOf(before.pod)
}

// ownReasons: the rejection of a pod that is to be parked says nothing about the others of its class.
func (queue *Queue) ownReasons(logger klog.Logger, failure *schedq.Failure, profile *profile, record *record) bool {
	if failure.Newest.Class == 0 {
		return false
	}
	rejectors := failure.Unschedulable | failure.Pending
	own := rejectors&schedq.RejectorOthers != 0
	profile.each(rejectors, func(plugin *plugin) { own = own || !sharedReasons[plugin.name] })
	return own || queue.gate(logger, profile, record.pod, 0) != 0
}

// asParked is the place at which a pod is that its class keeps back, as kube-scheduler would have it.
func asParked(place schedq.Place) schedq.Place {
	if place == schedq.Held {
		return schedq.Parked
	}
	return place
}

// AddNominatedPod nominates a pod: to the node of an overriding info, else to the one in its status. The scheduler does so after
// the failure that it parks the pod with, so the pod leaves its class now.
func (queue *Queue) AddNominatedPod(logger klog.Logger, info fwk.PodInfo, nominating *release.NominatingInfo) {
	queue.nominator.AddNominatedPod(logger, info, nominating)
	pod := info.GetPod()
	if queue.options.Classes == nil || !queue.nominates(pod.UID) {
		return
	}
	for {
		found, err := queue.library.Find(nameOf(pod))
		if err != nil {
			return
		}
		entry := queue.table.get(found.Object)
		if entry == nil || entry.uid != pod.UID || found.Place == schedq.InFlight { // in flight its failure says so
			return
		}
		record := entry.record.Load()
		if record.class == 0 {
			return
		}
		spec := queue.spec(entry, record)
		spec.Only = found.Pod
		_, _ = queue.library.Update(entry.name, &spec, 0, nil)
		if entry.record.Load() == record {
			return
		}
	}
}
