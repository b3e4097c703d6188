//go:build !kube134

package kubequeue

import (
	"fmt"
	"slices"
	"sync"

	v1 "k8s.io/api/core/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-helpers/resource"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/features"
	internalqueue "k8s.io/kubernetes/pkg/scheduler/backend/queue"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	schedmetrics "k8s.io/kubernetes/pkg/scheduler/metrics"

	"schedq"
)

// With the feature gate GenericWorkload a pod that names a pod group is a member: it is tried with the others of its root, or not at
// all. A member is in one of four states, as in kube-scheduler's own queue:
//
//	incomplete   its group has no root yet
//	queued       in the record of its root, which is one entity of the library: active, backing off, or gated
//	pending      its root is in its cycle; it waits for the end of that
//	in flight    popped with its root
//
// The library knows a record as it knows a pod: a priority, a Timestamp, a place, a gate. It does not know the members. Its own
// groups (schedq/group.h) are for queues that it decides by callbacks, and here C calls no Go.
//
// One mutex guards all of this. For pods that are no members it is taken only by a nomination, and by a Done that finds no flight. Gates
// and hints of members are asked with it held, as the original asks them with the queue's lock held: a join asks all members, so no
// other member may join in between. The mutex is taken before the nominator's, and never held while a goroutine waits for something to pop.

// podGroups are the groups of a queue, and their members.
type podGroups struct {
	queue  *Queue
	resize bool // the feature gate InPlacePodVerticalScalingSchedulerPreemption

	mutex      sync.Mutex
	forest     forest
	records    map[fwk.EntityKey]*gang             // the queued ones, by root
	open       sets.Set[fwk.EntityKey]             // roots that are in their cycle
	members    map[string]*framework.QueuedPodInfo // that are not in flight, by "namespace/name"
	pending    pool
	incomplete pool
	flying     map[types.UID]*v1.Pod
	backingOff map[*gang]struct{}
	asked      uint64 // the newest event when gates were asked last
	released   int    // those whose backoff was noted to be over since the last tick
}

// newGroups: nil without the feature gate GenericWorkload.
func newGroups(queue *Queue) groups {
	gates := utilfeature.DefaultFeatureGate
	if !gates.Enabled(features.GenericWorkload) {
		return nil
	}
	return &podGroups{
		queue:      queue,
		resize:     gates.Enabled(features.InPlacePodVerticalScalingSchedulerPreemption),
		forest:     newForest(gates.Enabled(features.CompositePodGroup)),
		records:    map[fwk.EntityKey]*gang{},
		open:       sets.New[fwk.EntityKey](),
		members:    map[string]*framework.QueuedPodInfo{},
		pending:    pool{},
		incomplete: pool{},
		flying:     map[types.UID]*v1.Pod{},
		backingOff: map[*gang]struct{}{},
	}
}

// of is where a pod's group is kept; nil: the pod is no member.
func (queue *Queue) of(pod *v1.Pod) *podGroups {
	groups, _ := queue.groups.(*podGroups)
	if groups == nil || pod.Spec.SchedulingGroup == nil || pod.Spec.SchedulingGroup.PodGroupName == nil {
		return nil
	}
	// A pod that runs and waits to be resized is looked at by itself.
	if groups.resize && resource.IsPodResizeDeferred(pod) {
		return nil
	}
	return groups
}

// pool has members that wait in no place, by pod group and name.
type pool map[fwk.EntityKey]map[string]*framework.QueuedPodInfo

func (pool pool) put(info *framework.QueuedPodInfo) {
	key := keyOfGroup(info.Pod)
	if pool[key] == nil {
		pool[key] = map[string]*framework.QueuedPodInfo{}
	}
	pool[key][info.Pod.Name] = info
}

// take takes a pod out; nil: it is not there.
func (pool pool) take(pod *v1.Pod) *framework.QueuedPodInfo {
	key := keyOfGroup(pod)
	info := pool[key][pod.Name]
	delete(pool[key], pod.Name)
	if len(pool[key]) == 0 {
		delete(pool, key)
	}
	return info
}

// empty takes all pods of some groups out, the oldest first.
func (pool pool) empty(keys ...fwk.EntityKey) (infos []*framework.QueuedPodInfo) {
	for _, key := range keys {
		for _, info := range pool[key] {
			infos = append(infos, info)
		}
		delete(pool, key)
	}
	slices.SortFunc(infos, func(a, b *framework.QueuedPodInfo) int {
		if order := a.Timestamp.Compare(b.Timestamp); order != 0 {
			return order
		}
		return framework.PodGroupMemberPodsOrderingFunc(a, b)
	})
	return infos
}

func (pool pool) pods() (pods []*v1.Pod) {
	for _, infos := range pool {
		for _, info := range infos {
			pods = append(pods, info.Pod)
		}
	}
	return pods
}

func (pool pool) size() (size int) {
	for _, infos := range pool {
		size += len(infos)
	}
	return size
}

// add puts a new member in the queue.
func (groups *podGroups) add(logger klog.Logger, pod *v1.Pod) {
	groups.mutex.Lock()
	defer groups.mutex.Unlock()
	groups.admit(logger, pod)
}

func (groups *podGroups) admit(logger klog.Logger, pod *v1.Pod) {
	made := newRecord(groups.queue.profiles.of(pod), pod)
	info := &framework.QueuedPodInfo{PodInfo: made.private(), PodSignature: made.signature}
	info.Timestamp, info.UnschedulablePlugins = groups.now(), sets.New[string]()
	groups.queue.AddNominatedPod(logger, info.PodInfo, nil)
	groups.join(logger, info)
}

// join is the one way of a member into the queue.
func (groups *podGroups) join(logger klog.Logger, info *framework.QueuedPodInfo) {
	groups.members[nameOf(info.Pod)] = info
	root, found := groups.forest.root(keyOfGroup(info.Pod))
	if !found {
		groups.incomplete.put(info)
		return
	}
	record := groups.record(logger, root)
	switch {
	case record != nil:
		record.insert(info)
		record.requeue(logger, framework.EventUnscheduledPodAdd.Label())
	case groups.open.Has(root):
		groups.pending.put(info)
	default:
		record = groups.newRecord(root)
		record.insert(info)
		record.info.Timestamp, record.info.InitialAttemptTimestamp = info.Timestamp, info.InitialAttemptTimestamp
		record.enter(logger, framework.EventUnscheduledPodAdd.Label(), unasked)
	}
}

// update takes a member's new state. One in flight will be tried as the informer has it then.
func (groups *podGroups) update(logger klog.Logger, old, pod *v1.Pod, events []*eventKind) {
	groups.mutex.Lock()
	defer groups.mutex.Unlock()
	if groups.flying[pod.UID] != nil {
		return
	}
	info := groups.members[nameOf(pod)]
	if info == nil {
		groups.admit(logger, pod)
		return
	}
	record := groups.recordOf(logger, pod)
	if record == nil || !record.has(info) {
		info.Pod = pod // terms cannot change
		record = nil
	} else if _, err := record.info.Update(pod); err != nil {
		logger.Error(err, "Pod of a group has terms that cannot be parsed", "pod", klog.KObj(pod))
	}
	if old != nil {
		groups.queue.UpdateNominatedPod(logger, old, info.PodInfo)
	}
	info.PodSignature = groups.queue.profiles.of(pod).signatureOf(pod)
	if record != nil && record.gated() {
		record.changed(logger, events, old, pod)
	}
}

// forget takes a member out. If it was the last one of its record, that ends.
func (groups *podGroups) forget(logger klog.Logger, pod *v1.Pod) {
	groups.mutex.Lock()
	defer groups.mutex.Unlock()
	groups.queue.DeleteNominatedPodIfExists(pod)
	record := groups.recordOf(logger, pod)
	if info := groups.members[nameOf(pod)]; info != nil {
		delete(groups.members, nameOf(pod))
		groups.count(info, -1)
		if record == nil || record.info.RemovePod(pod) == nil {
			groups.pending.take(pod)
			groups.incomplete.take(pod)
		}
	}
	if record == nil {
		return
	}
	// Also if the pod is not in it: a gate that counts pods may refuse those that are left.
	if record.info.HasQueuedPodInfos() {
		record.requeue(logger, framework.EventUnscheduledPodAdd.Label())
	} else {
		record.end()
	}
}

// count raises or lowers the gauges of the plugins that reject a member.
func (groups *podGroups) count(info *framework.QueuedPodInfo, by float64) {
	profile := groups.queue.profiles.of(info.Pod)
	profile.each(profile.bits(info.UnschedulablePlugins)|profile.bits(info.PendingPlugins), func(plugin *plugin) {
		plugin.rejected.Add(by)
	})
}

// activate makes the record of a member's root active that is gated or backs off. What is in flight is tried again in any case.
func (groups *podGroups) activate(logger klog.Logger, pod *v1.Pod) {
	groups.mutex.Lock()
	defer groups.mutex.Unlock()
	if record := groups.recordOf(logger, pod); record != nil {
		record.activate(logger)
	}
}

// recordOf is the record of a member's root; nil: it is not queued.
func (groups *podGroups) recordOf(logger klog.Logger, pod *v1.Pod) *gang {
	root, found := groups.forest.root(keyOfGroup(pod))
	if !found {
		return nil
	}
	return groups.record(logger, root)
}

// record is the queued record of a root, at the place where it is now; nil: there is none.
func (groups *podGroups) record(logger klog.Logger, root fwk.EntityKey) *gang {
	record := groups.records[root]
	if record != nil {
		record.refresh(logger)
	}
	return record
}

// pop describes a record that the library gave, and begins its cycle. nil: it was taken back meanwhile. For the library its life
// ends here.
func (groups *podGroups) pop(logger klog.Logger, entry *entry, token schedq.Token) *framework.QueuedPodGroupInfo {
	groups.mutex.Lock()
	defer groups.mutex.Unlock()
	record := entry.entity.(*gang)
	if record.entry == entry {
		record.refresh(logger) // a gate may refuse it that was not asked before its backoff
	}
	_ = groups.queue.library.Done(token)
	if record.entry != entry {
		return nil
	}
	record.left()
	record.end()
	info := record.info
	info.IncAttempts()
	for _, member := range record.list() {
		if groups.flying[member.Pod.UID] == nil {
			continue
		}
		logger.Error(nil, "Pod of a group is in flight already", "pod", klog.KObj(member.Pod), "podGroup", klog.KObj(info))
		delete(groups.members, nameOf(member.Pod))
		info.RemovePod(member.Pod)
	}
	if !info.HasQueuedPodInfos() {
		return nil
	}
	for _, member := range record.list() {
		groups.flying[member.Pod.UID] = member.Pod
		delete(groups.members, nameOf(member.Pod))
		groups.queue.counted.flying.Inc()
		groups.count(member, -1)
	}
	groups.open.Insert(record.root)
	groups.queue.cycle.Add(1)
	return info
}

// narrows: with composites all groups are looked at, as by the original.
func (groups *podGroups) narrows() bool { return !groups.forest.composites }

// name: of a pod that is in no group, or not known any more, it names none. The pod may be in flight, or bound.
func (groups *podGroups) name(named *named, name types.NamespacedName, check internalqueue.PreEnqueueCheck) {
	pod, err := groups.queue.lister.Pods(name.Namespace).Get(name.Name)
	if err != nil || pod.Spec.SchedulingGroup == nil || pod.Spec.SchedulingGroup.PodGroupName == nil {
		return
	}
	if check == nil || check(pod) {
		named.groups.Insert(pod.Namespace + "/" + *pod.Spec.SchedulingGroup.PodGroupName)
	}
}

func (groups *podGroups) land(uid types.UID) {
	groups.mutex.Lock()
	defer groups.mutex.Unlock()
	groups.landed(uid)
}

func (groups *podGroups) landed(uid types.UID) {
	if groups.flying[uid] != nil {
		delete(groups.flying, uid)
		groups.queue.counted.flying.Dec()
	}
}

// putBack takes a member that failed: in its group's cycle, or later, if it could not be bound.
func (groups *podGroups) putBack(logger klog.Logger, info *framework.QueuedPodInfo) {
	groups.mutex.Lock()
	defer groups.mutex.Unlock()
	if len(info.UnschedulablePlugins) == 0 && len(info.PendingPlugins) == 0 {
		info.ConsecutiveErrorsCount++
	} else {
		info.UnschedulableCount++
		info.ConsecutiveErrorsCount = 0
	}
	info.Timestamp = groups.now()
	forgetTry(&info.QueueingParams)
	groups.landed(info.Pod.UID)
	groups.count(info, 1)
	groups.join(logger, info)
}

// done ends the cycle of a group: the members that failed, and those that came meanwhile, are tried together.
//
// Errors: the group is queued.
func (groups *podGroups) done(logger klog.Logger, popped *framework.QueuedPodGroupInfo, status *fwk.Status) error {
	groups.mutex.Lock()
	defer groups.mutex.Unlock()
	root := fwk.EntityKey{Type: popped.GetType(), Namespace: popped.Namespace, Name: popped.Name}
	if there := groups.record(logger, root); there != nil {
		return fmt.Errorf("pod group %v is already present in %s", klog.KObj(popped), there.word())
	}
	groups.open.Delete(root)
	members := groups.pending.empty(groups.forest.leaves(root)...)
	if len(members) == 0 {
		return nil
	}
	record := groups.newRecord(root)
	record.info.QueueingParams = popped.QueueingParams
	for _, member := range members {
		record.insert(member)
	}
	record.tried(status, isAmong(popped, members))
	label := framework.ScheduleAttemptFailure
	if !status.IsSuccess() && record.isBackingOff() {
		record.backOff(logger, label, unasked)
	} else {
		record.enter(logger, label, unasked)
	}
	return nil
}

// isAmong: is one of the pods among those that were popped?
func isAmong(popped *framework.QueuedPodGroupInfo, pods []*framework.QueuedPodInfo) (found bool) {
	uids := sets.New[types.UID]()
	for _, pod := range pods {
		uids.Insert(pod.Pod.UID)
	}
	popped.ForEachPodInfo(func(info *framework.QueuedPodInfo) bool {
		found = uids.Has(info.Pod.UID)
		return !found
	})
	return found
}

// addPodGroup tells of a group. The pods that waited for it join, the oldest first.
func (groups *podGroups) addPodGroup(logger klog.Logger, group *schedulingv1beta1.PodGroup) {
	groups.mutex.Lock()
	defer groups.mutex.Unlock()
	groups.declare(logger, group)
}

func (groups *podGroups) declare(logger klog.Logger, group *schedulingv1beta1.PodGroup) {
	groups.forest.addPodGroup(group)
	root, found := groups.forest.root(keyOf(group))
	if !found {
		return
	}
	if record := groups.record(logger, root); record != nil {
		record.info.AddPodGroup(group)
	}
	groups.complete(logger, root)
}

// complete lets the pods join that waited for a root.
func (groups *podGroups) complete(logger klog.Logger, root fwk.EntityKey) {
	for _, info := range groups.incomplete.empty(groups.forest.leaves(root)...) {
		groups.join(logger, info)
	}
}

// updatePodGroup takes a group's new state. One that is unknown is added.
func (groups *podGroups) updatePodGroup(logger klog.Logger, group *schedulingv1beta1.PodGroup) {
	groups.mutex.Lock()
	defer groups.mutex.Unlock()
	if groups.forest.podGroups[keyOf(group)] == nil {
		groups.declare(logger, group)
		return
	}
	groups.forest.podGroups[keyOf(group)] = group
	if root, found := groups.forest.root(keyOf(group)); found {
		if record := groups.record(logger, root); record != nil {
			before := record.info.GetPriority()
			record.info.UpdatePodGroup(group)
			record.resort(logger, before)
		}
	}
}

// deletePodGroup forgets a group. Its pods wait for another one of that name.
func (groups *podGroups) deletePodGroup(logger klog.Logger, group *schedulingv1beta1.PodGroup) {
	groups.mutex.Lock()
	defer groups.mutex.Unlock()
	root, found := groups.forest.root(keyOf(group))
	groups.forest.deletePodGroup(group)
	if !found {
		return
	}
	if record := groups.record(logger, root); record != nil {
		groups.part(logger, record, record.info.RemovePodGroup(group))
		return
	}
	for _, info := range groups.pending.empty(keyOf(group)) {
		groups.incomplete.put(info)
	}
}

// part goes on with what is left of a record.
func (groups *podGroups) part(logger klog.Logger, record *gang, gone []*framework.QueuedPodInfo) {
	for _, info := range gone {
		groups.incomplete.put(info)
	}
	if record.info.HasQueuedPodInfos() {
		record.requeue(logger, framework.EventUnscheduledPodUpdate.Label())
	} else {
		record.end()
	}
}

func (groups *podGroups) addComposite(logger klog.Logger, group *schedulingv1alpha3.CompositePodGroup) {
	groups.mutex.Lock()
	defer groups.mutex.Unlock()
	groups.declareComposite(logger, group)
}

func (groups *podGroups) declareComposite(logger klog.Logger, group *schedulingv1alpha3.CompositePodGroup) {
	groups.forest.addComposite(group)
	root, found := groups.forest.root(keyOfComposite(group))
	if !found {
		return
	}
	if record := groups.record(logger, root); record != nil {
		record.info.AddCompositePodGroup(group, groups.forest.tree(keyOfComposite(group)))
	}
	groups.complete(logger, root)
}

func (groups *podGroups) updateComposite(logger klog.Logger, group *schedulingv1alpha3.CompositePodGroup) {
	groups.mutex.Lock()
	defer groups.mutex.Unlock()
	if groups.forest.composite[keyOfComposite(group)] == nil {
		groups.declareComposite(logger, group)
		return
	}
	groups.forest.composite[keyOfComposite(group)] = group
	if root, found := groups.forest.root(keyOfComposite(group)); found {
		if record := groups.record(logger, root); record != nil {
			before := record.info.GetPriority()
			record.info.UpdateCompositePodGroup(group)
			record.resort(logger, before)
		}
	}
}

func (groups *podGroups) deleteComposite(logger klog.Logger, group *schedulingv1alpha3.CompositePodGroup) {
	groups.mutex.Lock()
	defer groups.mutex.Unlock()
	root, found := groups.forest.root(keyOfComposite(group))
	if !found {
		groups.forest.deleteComposite(group)
		return
	}
	leaves := groups.forest.leaves(root)
	groups.forest.deleteComposite(group)
	if record := groups.record(logger, root); record != nil {
		groups.part(logger, record, record.info.RemoveCompositePodGroup(group))
		return
	}
	for _, info := range groups.pending.empty(leaves...) {
		if _, found := groups.forest.root(keyOfGroup(info.Pod)); found {
			groups.pending.put(info)
		} else {
			groups.incomplete.put(info)
		}
	}
}

// queued returns a copy, which belongs to the caller.
func (groups *podGroups) queued(name string, uid types.UID) *framework.PodInfo {
	groups.mutex.Lock()
	defer groups.mutex.Unlock()
	info := groups.members[name]
	if info == nil || info.Pod.UID != uid {
		return nil
	}
	copied := &record{pod: info.Pod, info: info.PodInfo}
	return copied.private()
}

// find describes a member that waits.
func (groups *podGroups) find(name, namespace string) (*framework.QueuedPodInfo, bool) {
	groups.mutex.Lock()
	defer groups.mutex.Unlock()
	info := groups.members[namespace+"/"+name]
	if info == nil {
		return nil, false
	}
	return copyOf(info), true
}

func copyOf(info *framework.QueuedPodInfo) *framework.QueuedPodInfo {
	copied := &record{pod: info.Pod, info: info.PodInfo}
	return &framework.QueuedPodInfo{
		PodInfo: copied.private(), QueueingParams: *info.QueueingParams.DeepCopy(), PodSignature: info.PodSignature,
	}
}

// findGroup describes the record of a root.
func (groups *podGroups) findGroup(root fwk.EntityKey) (*framework.QueuedPodGroupInfo, bool) {
	groups.mutex.Lock()
	defer groups.mutex.Unlock()
	record := groups.records[root]
	if record == nil {
		return nil, false
	}
	copied := &framework.QueuedPodGroupInfo{
		PodGroupInfo:   groups.forest.tree(root),
		QueueingParams: *record.info.QueueingParams.DeepCopy(),
		QueuedPodInfos: map[fwk.EntityKey][]*framework.QueuedPodInfo{},
	}
	for _, member := range record.list() {
		copied.AddPod(copyOf(member))
	}
	return copied, true
}

func (groups *podGroups) inFlight() (pods []*v1.Pod) {
	groups.mutex.Lock()
	defer groups.mutex.Unlock()
	for _, pod := range groups.flying {
		pods = append(pods, pod)
	}
	return pods
}

func (groups *podGroups) aside() (pending, incomplete []*v1.Pod) {
	groups.mutex.Lock()
	defer groups.mutex.Unlock()
	return groups.pending.pods(), groups.incomplete.pods()
}

// ticked notes whose backoff is over; some may have been noted since the tick.
func (groups *podGroups) ticked(logger klog.Logger) int {
	groups.mutex.Lock()
	defer groups.mutex.Unlock()
	for record := range groups.backingOff {
		record.refresh(logger)
	}
	released := groups.released
	groups.released = 0
	return released
}

func (groups *podGroups) shown() (shown shown) {
	groups.mutex.Lock()
	defer groups.mutex.Unlock()
	for _, record := range groups.records {
		at := &shown.active
		switch record.place {
		case schedq.Held:
			at = &shown.backoff
		case schedq.Gated:
			at = &shown.gated
		}
		at.groups++
		at.pods += record.info.Size()
	}
	schedmetrics.PendingPodGroupPods().Set(float64(groups.pending.size()))
	schedmetrics.IncompletePodGroupPods().Set(float64(groups.incomplete.size()))
	return shown
}

func (groups *podGroups) close() {
	groups.mutex.Lock()
	defer groups.mutex.Unlock()
	for uid := range groups.flying {
		groups.landed(uid)
	}
}
