//go:build !kube134

package kubequeue

import (
	"math"
	"slices"
	"strconv"
	"time"

	v1 "k8s.io/api/core/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	internalqueue "k8s.io/kubernetes/pkg/scheduler/backend/queue"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	schedmetrics "k8s.io/kubernetes/pkg/scheduler/metrics"

	"schedq"
)

// A gang is the record of a root: the members that are tried together next. The library holds it as a pod of a name that no pod
// can have. It is active, or held until its backoff is over, or gated; never parked, since no event helps a group that failed.
// The library's own backoff would not do: that of a gang grows with its size, and no pop cuts it short.
//
// Its history is Go's, since the scheduler keeps it between a pop and the end of the cycle. What changes while it is queued
// changes its place at once: it is taken out of the library and put in again, under the mutex of podGroups. A pop that got it from
// the library before that finds that its entry is not the gang's any more, and pops again.

// gang is guarded by the mutex of podGroups.
type gang struct {
	groups *podGroups
	root   fwk.EntityKey
	info   *framework.QueuedPodGroupInfo

	entry  *entry // the library's pod; nil: it is not queued
	handle schedq.Pod
	place  schedq.Place // Active, Held: it backs off, Gated; Nowhere
	gate   schedq.Gate  // of entry.profile
	due    int64        // when the library lets go of it, if it backs off
	event  uint64       // the last event that it was judged for
}

// newRecord makes the record of a root, which is queued by enter or backOff.
func (groups *podGroups) newRecord(root fwk.EntityKey) *gang {
	made := &gang{groups: groups, root: root, info: &framework.QueuedPodGroupInfo{
		PodGroupInfo:   groups.forest.tree(root),
		QueuedPodInfos: map[fwk.EntityKey][]*framework.QueuedPodInfo{},
	}}
	groups.records[root] = made
	return made
}

func (groups *podGroups) now() time.Time { return groups.queue.options.Clock.Now() }

// forgetTry forgets what belongs to the last place before a cycle.
func forgetTry(params *framework.QueueingParams) {
	params.BackoffExpiration = time.Time{}
	params.WasFlushedFromUnschedulable, params.FlushTimestamp = false, time.Time{}
}

// insert puts a member in. If the tree does not have its group, which an update hung elsewhere, it is made anew.
func (gang *gang) insert(info *framework.QueuedPodInfo) {
	gang.info.AddPod(info)
	if gang.has(info) {
		return
	}
	members := append(gang.list(), info)
	gang.info.PodGroupInfo = gang.groups.forest.tree(gang.root)
	gang.info.QueuedPodInfos = map[fwk.EntityKey][]*framework.QueuedPodInfo{}
	for _, member := range members {
		gang.info.AddPod(member)
	}
}

func (gang *gang) has(info *framework.QueuedPodInfo) bool {
	return slices.Contains(gang.info.QueuedPodInfos[keyOfGroup(info.Pod)], info)
}

// list lists the members, group by group.
func (gang *gang) list() (members []*framework.QueuedPodInfo) {
	gang.info.ForEachPodInfo(func(info *framework.QueuedPodInfo) bool {
		members = append(members, info)
		return true
	})
	return members
}

func (gang *gang) pods() (pods []*v1.Pod) {
	gang.groups.mutex.Lock()
	defer gang.groups.mutex.Unlock()
	for _, member := range gang.list() {
		pods = append(pods, member.Pod)
	}
	return pods
}

func (gang *gang) gated() bool { return gang.place == schedq.Gated }

// word is kube-scheduler's word for its place.
func (gang *gang) word() string {
	switch gang.place {
	case schedq.Active:
		return "the active queue"
	case schedq.Held:
		return "the backoff queue"
	}
	return "unschedulable queue"
}

// tried counts a cycle in. kept: pods of the cycle are left; after a success they keep their turn.
func (gang *gang) tried(status *fwk.Status, kept bool) {
	params := &gang.info.QueueingParams
	switch {
	case status.IsSuccess():
		params.UnschedulableCount, params.ConsecutiveErrorsCount = 0, 0
	case status.IsRejected():
		params.UnschedulableCount++
		params.ConsecutiveErrorsCount = 0
	default:
		params.ConsecutiveErrorsCount++
	}
	if !status.IsSuccess() || !kept {
		params.Timestamp = gang.groups.now()
	}
	expiration := params.BackoffExpiration
	forgetTry(params)
	if status.IsSuccess() {
		params.BackoffExpiration = expiration
	}
}

// window is the step of backoffs: with SchedulerPopFromBackoffQ all that end within one end together, after it.
func (gang *gang) window() time.Duration {
	if gang.groups.queue.options.NoPopFromBackoff {
		return 1
	}
	return time.Second
}

// isBackingOff computes the end of the backoff when it is first asked, and keeps it.
func (gang *gang) isBackingOff() bool {
	options, params := &gang.groups.queue.options, &gang.info.QueueingParams
	failures := params.UnschedulableCount
	if params.ConsecutiveErrorsCount > 0 {
		failures = params.ConsecutiveErrorsCount
	}
	if options.MaxBackoff <= 0 || failures == 0 {
		return false
	}
	if params.BackoffExpiration.IsZero() {
		longest := options.MaxBackoff
		if size := gang.info.Size(); size > 1 {
			longest = time.Duration(float64(longest) * math.Sqrt(float64(size)))
		}
		length := longest
		if shift := failures - 1; options.InitialBackoff <= longest>>shift {
			length = options.InitialBackoff << shift
		}
		params.BackoffExpiration = params.Timestamp.Add(length).Truncate(gang.window())
	}
	return gang.groups.now().Before(params.BackoffExpiration.Add(gang.window()))
}

// requeue takes a queued record to where it belongs after its members changed, and counts all of them as incoming.
func (gang *gang) requeue(logger klog.Logger, label string) {
	switch gang.place {
	case schedq.Gated:
		gang.count(label, skip)
	case schedq.Held:
		gang.route(logger, label, afterBackoff)
	default:
		gang.enter(logger, label, immediately)
	}
}

// route takes a record where a judgement leads. A refusal counts as incoming.
func (gang *gang) route(logger klog.Logger, label string, judged strategy) {
	if judged == afterBackoff && gang.isBackingOff() {
		gang.backOff(logger, label, judged)
	} else {
		gang.enter(logger, label, judged)
	}
}

// enter makes a record active if no gate refuses.
func (gang *gang) enter(logger klog.Logger, label string, judged strategy) {
	gang.askGates(logger)
	gang.become(logger, schedq.Active)
	gang.count(label, judged)
}

// backOff lets it wait for the end of its backoff. With SchedulerPopFromBackoffQ gates are asked before that, else after.
func (gang *gang) backOff(logger klog.Logger, label string, judged strategy) {
	if !gang.groups.queue.options.NoPopFromBackoff {
		gang.askGates(logger)
	}
	gang.become(logger, schedq.Held)
	gang.count(label, judged)
}

// become puts the record at a place, or where gated ones are, if gates were asked and one refused. It says no to the library's
// RETRY by asking them again.
func (gang *gang) become(logger klog.Logger, place schedq.Place) {
	for {
		wanted, ungatedLater := place, place == schedq.Held && gang.groups.queue.options.NoPopFromBackoff
		if gang.info.Gated() && !ungatedLater {
			wanted = schedq.Gated
			gang.info.SetWasFlushedFromUnschedulable(false)
		} else if place == schedq.Active {
			gang.info.SetInitialAttemptTimestamp(gang.groups.now())
		}
		if gang.put(logger, wanted) {
			return
		}
		gang.askGates(logger)
	}
}

// put tells the library. false: an event came since the gate was asked.
func (gang *gang) put(logger klog.Logger, place schedq.Place) bool {
	queue := gang.groups.queue
	profile, gate := gang.profile(place)
	due := int64(0)
	if place == schedq.Held {
		due = queue.nanoseconds(gang.info.BackoffExpiration.Add(gang.window()))
	}
	if gang.entry != nil && gang.place == place && gang.due == due &&
		(gate == 0 || gang.entry.profile == profile && gang.gate == gate) {
		return true // a goroutine that looks for it there finds it, and waits for the mutex
	}
	gang.withdraw()
	entry := queue.table.addGroup(profile, gang)
	gang.entry, gang.place, gang.gate, gang.due = entry, place, gate, due
	spec := schedq.PodSpec{
		Object: entry.object, Priority: gang.info.GetPriority(), Profile: profile.number, Gate: gate,
		Timestamp: queue.nanoseconds(gang.info.Timestamp), NotBefore: due, JudgedUpTo: gang.groups.asked,
	}
	result, err := queue.library.Add(entry.name, &spec)
	if err == nil {
		gang.handle = result.Pod
		if place == schedq.Held {
			gang.groups.backingOff[gang] = struct{}{}
		}
		if logger := logger.V(5); logger.Enabled() {
			logger.Info("Pod group moved to an internal scheduling queue", "podGroup", klog.KObj(gang.info), "queue", place)
		}
		return true
	}
	queue.table.drop(entry.object)
	gang.entry, gang.place = nil, schedq.Nowhere
	if err == schedq.ErrRetry {
		return false
	}
	if err != schedq.ErrClosed {
		utilruntime.HandleErrorWithLogger(logger, err, "Pod group cannot be queued", "podGroup", klog.KObj(gang.info))
	}
	return true
}

// addGroup makes the entry of a group. No namespace has capital letters.
func (table *table) addGroup(profile *profile, group entity) *entry {
	made := &entry{object: table.last.Add(1), profile: profile, entity: group}
	made.name = "PodGroup/" + strconv.FormatUint(made.object, 10)
	table.keep(made)
	return made
}

// withdraw takes the record out of the library. A pop that has got it already finds nothing behind it.
func (gang *gang) withdraw() {
	if gang.entry == nil {
		return
	}
	_, _ = gang.groups.queue.library.DeletePod(gang.handle)
	gang.left()
}

// left notes that the library has it no more.
func (gang *gang) left() {
	gang.groups.queue.table.drop(gang.entry.object)
	gang.entry, gang.place, gang.gate, gang.due = nil, schedq.Nowhere, 0, 0
	delete(gang.groups.backingOff, gang)
}

// end forgets the record.
func (gang *gang) end() {
	gang.withdraw()
	delete(gang.groups.records, gang.root)
}

// refresh notes that the library has let go of it, since its backoff is over.
func (gang *gang) refresh(logger klog.Logger) {
	queue := gang.groups.queue
	if gang.place != schedq.Held || queue.now() < gang.due {
		return
	}
	if found, err := queue.library.Find(gang.entry.name); err != nil || found.Place == schedq.Held {
		return // the next tick does it
	}
	delete(gang.groups.backingOff, gang)
	gang.groups.released++
	gang.place, gang.due = schedq.Active, 0
	if queue.options.NoPopFromBackoff {
		gang.askGates(logger)
	}
	gang.become(logger, schedq.Active)
	gang.count(framework.BackoffComplete, unasked)
}

// askGates asks about every member. The last one that is refused names the gate of the record.
func (gang *gang) askGates(logger klog.Logger) {
	queue := gang.groups.queue
	gang.groups.asked = queue.words.EventSequence()
	name, events := "", []fwk.ClusterEvent(nil)
	for _, member := range gang.list() {
		profile := queue.profiles.of(member.Pod)
		refused := queue.gate(logger, profile, member.Pod, profile.gateOf(member.GatingPlugin))
		if refused == 0 {
			member.GatingPlugin = ""
			continue
		}
		member.GatingPlugin, member.GatingPluginEvents = profile.gating(refused)
		name, events = member.GatingPlugin, member.GatingPluginEvents
		if !member.UnschedulablePlugins.Has(name) && !member.PendingPlugins.Has(name) {
			profile.each(refused.Plugins(), func(plugin *plugin) { plugin.rejected.Inc() })
		}
		if member.UnschedulablePlugins == nil {
			member.UnschedulablePlugins = sets.New[string]()
		}
		member.UnschedulablePlugins.Insert(name)
	}
	gang.info.SetGatingPlugin(name, events)
}

// profile is the one by whose gate events find a gated record, and the gate.
func (gang *gang) profile(place schedq.Place) (found *profile, gate schedq.Gate) {
	queue := gang.groups.queue
	found = queue.profiles.unknown
	if place != schedq.Gated {
		return found, 0
	}
	gang.info.ForEachPodInfo(func(member *framework.QueuedPodInfo) bool {
		if member.GatingPlugin == gang.info.GatingPlugin {
			found = queue.profiles.of(member.Pod)
			gate = found.gateOf(member.GatingPlugin)
		}
		return gate == 0
	})
	return found, gate
}

// gateOf is the gate of a plugin's name; 0: it is none.
func (profile *profile) gateOf(name string) schedq.Gate {
	if known := profile.plugins.Load().byName[name]; known != nil && name != "" {
		return known.bit.Gate()
	}
	return 0
}

// count counts the record as incoming where it is.
func (gang *gang) count(label string, judged strategy) {
	place, expected := "active", immediately
	switch gang.place {
	case schedq.Nowhere: // the queue is closed
		return
	case schedq.Held:
		place, expected = "backoff", afterBackoff
	case schedq.Gated:
		place, expected = "unschedulable", skip
	}
	schedmetrics.SchedulerQueueIncomingPods.WithLabelValues(place, label).Add(float64(gang.info.Size()))
	if judged != expected {
		schedmetrics.SchedulerQueueIncomingEntities.WithLabelValues(place, label, schedmetrics.PodGroup).Inc()
	}
}

// activate makes it active that is gated or backs off. What a gate refuses where it is does not come in again.
func (gang *gang) activate(logger klog.Logger) {
	switch gang.place {
	case schedq.Gated:
		gang.askGates(logger)
	case schedq.Held:
		if gang.groups.queue.options.NoPopFromBackoff {
			gang.askGates(logger)
		}
	default:
		return
	}
	before := gang.place
	gang.become(logger, schedq.Active)
	if before != schedq.Gated || !gang.gated() {
		gang.count(framework.ForceActivate, unasked)
	}
}

// worth is what an event means to the member that it means most to.
func (gang *gang) worth(logger klog.Logger, kind *eventKind, named *named, old, new any) (best strategy) {
	queue := gang.groups.queue
	gang.info.ForEachPodInfo(func(member *framework.QueuedPodInfo) bool {
		profile := queue.profiles.of(member.Pod)
		by := rejectors{profile.bits(member.UnschedulablePlugins), profile.bits(member.PendingPlugins)}
		best = max(best, queue.worth(logger, kind, named, profile, member.Pod, by, old, new))
		return best != immediately
	})
	return best
}

// changed takes a gated record to where the first event leads that takes it anywhere.
func (gang *gang) changed(logger klog.Logger, events []*eventKind, old, new *v1.Pod) {
	for _, kind := range events {
		judged := gang.worth(logger, kind, nil, old, new)
		if judged == skip {
			continue
		}
		place := schedq.Active
		if judged == afterBackoff && gang.isBackingOff() {
			place = schedq.Held
		}
		if place == schedq.Active || !gang.groups.queue.options.NoPopFromBackoff {
			gang.askGates(logger)
		}
		gang.become(logger, place)
		if gang.gated() {
			continue // where it is, it does not come in again
		}
		gang.count(kind.label, judged)
		return
	}
}

func (gang *gang) happened(logger klog.Logger, entry *entry, event uint64, kind *eventKind, named *named, old, new any,
	check internalqueue.PreEnqueueCheck) {
	gang.groups.mutex.Lock()
	defer gang.groups.mutex.Unlock()
	if gang.entry != entry || gang.event == event {
		return
	}
	gang.event = event
	passes := func(member *framework.QueuedPodInfo) bool { return check == nil || check(member.Pod) }
	if named != nil && !named.groups.Has(gang.root.Namespace+"/"+gang.root.Name) ||
		named == nil && !slices.ContainsFunc(gang.list(), passes) {
		return
	}
	if judged := gang.worth(logger, kind, named, old, new); judged != skip {
		gang.route(logger, kind.label, judged)
	}
}

func (gang *gang) leftover(logger klog.Logger, entry *entry, event uint64, kind *eventKind, notAfter int64) {
	gang.groups.mutex.Lock()
	queue, params := gang.groups.queue, &gang.info.QueueingParams
	due := gang.entry == entry && gang.gated() && queue.nanoseconds(params.Timestamp) <= notAfter &&
		queue.nanoseconds(params.FlushTimestamp) <= notAfter
	if due {
		gang.info.SetWasFlushedFromUnschedulable(true)
		gang.info.SetFlushTimestamp(gang.groups.now())
	}
	gang.groups.mutex.Unlock()
	if due {
		gang.happened(logger, entry, event, kind, nil, nil, nil, nil)
	}
}

// resort sorts a record anew whose priority changed.
func (gang *gang) resort(logger klog.Logger, before int32) {
	if gang.info.GetPriority() == before {
		return
	}
	place := gang.place
	gang.groups.asked = gang.groups.queue.words.EventSequence()
	gang.withdraw()
	gang.become(logger, place)
}
