//go:build !kube134

package kubequeue

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	listersv1 "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	featuregatetesting "k8s.io/component-base/featuregate/testing"
	"k8s.io/component-base/metrics/legacyregistry"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/features"
	internalqueue "k8s.io/kubernetes/pkg/scheduler/backend/queue"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/queuesort"
	schedmetrics "k8s.io/kubernetes/pkg/scheduler/metrics"
	testclock "k8s.io/utils/clock/testing"

	"schedq"
)

// The same operations, drawn from a seed, on the original queue and on this one: after each of them every pod is at the same place,
// and every record of a group has the same members in the same order, and the same history; each pop gives the same; at the end the
// metrics are the same. A script holds to what the scheduler does: a group's cycle ends before the next pop, and what fails
// meanwhile are its members. Where the original leaves the answer to the order of a map, the script does not go.

var (
	groupSeeds = flag.Int("group-seeds", 40, "scripts of TestGroupsAgreeWithTheOriginal")
	groupSeed  = flag.Int64("group-seed", 1, "its first seed")
	groupSteps = flag.Int("group-steps", 150, "operations of each script")
)

const (
	gangPluginName = "Gang"
	scriptStart    = 1_700_000_000
)

// script is a run of a seed on a queue.
type script struct {
	*testing.T
	rng    *rand.Rand
	clock  *testclock.FakeClock
	lister cache.Indexer
	queue  internalqueue.SchedulingQueue
	// passed takes what time demands, after the clock went on. flush writes the metrics that the queue holds back.
	passed func()
	flush  func()
	trace  []string

	number  int
	pods    map[string]*v1.Pod // by name; what the informer has
	groups  map[string]*schedulingv1beta1.PodGroup
	above   map[string]string // the composite above a group
	roots   map[string]*schedulingv1alpha3.CompositePodGroup
	waiting []*framework.QueuedPodInfo // members that are placed, and not bound yet
	missing bool                       // what pods of the gate "claim" need
}

var logger = klog.Background()

// PreEnqueue refuses a member of a group that is unknown, or has too few pods.
func (script *script) PreEnqueue(_ context.Context, pod *v1.Pod) *fwk.Status {
	if pod.Labels["gate"] == "shut" || pod.Labels["gate"] == "claim" && script.missing {
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, "shut")
	}
	if pod.Spec.SchedulingGroup == nil {
		return nil
	}
	group := script.groups[*pod.Spec.SchedulingGroup.PodGroupName]
	if group == nil || script.known(group.Name) < int(group.Spec.SchedulingPolicy.Gang.MinCount) {
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, "too few")
	}
	return nil
}

func (script *script) Name() string { return gangPluginName }

func (script *script) known(group string) (count int) {
	for _, pod := range script.pods {
		if groupOf(pod) == group {
			count++
		}
	}
	return count
}

func groupOf(pod *v1.Pod) string {
	if pod.Spec.SchedulingGroup == nil {
		return ""
	}
	return *pod.Spec.SchedulingGroup.PodGroupName
}

// EventsToRegister are what the scheduler makes of GangScheduling's, and of SchedulingGates'.
func (script *script) EventsToRegister(context.Context) ([]fwk.ClusterEventWithHint, error) {
	same := func(_ klog.Logger, pod *v1.Pod, _, new any) (fwk.QueueingHint, error) {
		other := ""
		switch new := new.(type) {
		case *v1.Pod:
			other = groupOf(new)
		case *schedulingv1beta1.PodGroup:
			other = new.Name
		}
		if groupOf(pod) != "" && groupOf(pod) == other {
			return fwk.Queue, nil
		}
		return fwk.QueueSkip, nil
	}
	own := func(_ klog.Logger, pod *v1.Pod, _, new any) (fwk.QueueingHint, error) {
		if changed, isPod := new.(*v1.Pod); isPod && changed.UID == pod.UID {
			return fwk.Queue, nil
		}
		return fwk.QueueSkip, nil
	}
	return []fwk.ClusterEventWithHint{
		{Event: fwk.ClusterEvent{Resource: fwk.UnscheduledPod, ActionType: fwk.Add}, QueueingHintFn: same},
		{Event: fwk.ClusterEvent{Resource: fwk.PodGroup, ActionType: fwk.Add | fwk.Update}, QueueingHintFn: same},
		{Event: fwk.ClusterEvent{Resource: fwk.TargetPod, ActionType: fwk.UpdatePodLabel}, QueueingHintFn: own},
		{
			Event: claimAdd, QueueingHintFn: everyOther,
			PreQueueingHintFn: func(_ klog.Logger, _, new any) (fwk.PreQueueingHintResult, error) {
				return fwk.PreQueueingHintResult{Pods: new.(*claim).gated}, nil
			},
		},
		{Event: claimDelete, QueueingHintFn: everyOther},
	}, nil
}

var (
	claimAdd    = fwk.ClusterEvent{Resource: fwk.ResourceClaim, ActionType: fwk.Add}
	claimDelete = fwk.ClusterEvent{Resource: fwk.ResourceClaim, ActionType: fwk.Delete}
)

// claim is what pre-queueing hints answer about it: Gang names the gated pods, and claimed the others, unless that answers that all
// pods are concerned, or fails.
type claim struct {
	number       int
	gated, named []types.NamespacedName
	all, fails   bool
}

// everyOther hints that a claim helps every other pod, whoever is named.
func everyOther(_ klog.Logger, pod *v1.Pod, _, new any) (fwk.QueueingHint, error) {
	if (int(pod.UID[len(pod.UID)-1])+new.(*claim).number)%2 == 0 {
		return fwk.Queue, nil
	}
	return fwk.QueueSkip, nil
}

// claimed is a plugin that wants to hear of claims.
type claimed struct{}

const claimedName = "Claimed"

func (claimed) Name() string { return claimedName }

func (claimed) EventsToRegister(context.Context) ([]fwk.ClusterEventWithHint, error) {
	return []fwk.ClusterEventWithHint{{
		Event:          fwk.ClusterEvent{Resource: fwk.ResourceClaim, ActionType: fwk.Add | fwk.Update | fwk.Delete},
		QueueingHintFn: everyOther,
		PreQueueingHintFn: func(_ klog.Logger, _, new any) (fwk.PreQueueingHintResult, error) {
			if new.(*claim).fails {
				return fwk.PreQueueingHintResult{}, errors.New("no index")
			}
			return fwk.PreQueueingHintResult{AllPods: new.(*claim).all, Pods: new.(*claim).named}, nil
		},
	}}, nil
}

func (script *script) plugins() []fwk.EnqueueExtensions {
	return []fwk.EnqueueExtensions{script, newNodes(), claimed{}}
}

// nodes hints that a node helps every other pod.
type nodes struct{ nodePlugin }

func newNodes() *nodes {
	return &nodes{nodePlugin{answer: func(pod *v1.Pod, _, _ any) fwk.QueueingHint {
		if pod.UID[len(pod.UID)-1]%2 == 0 {
			return fwk.Queue
		}
		return fwk.QueueSkip
	}}}
}

const (
	initialBackoff = time.Second
	maxBackoff     = 1500 * time.Millisecond // from the second failure on the size of a group matters
	maxParked      = time.Hour
)

func newScript(t *testing.T, seed int64, above map[string]string) *script {
	return &script{
		above: above, roots: map[string]*schedulingv1alpha3.CompositePodGroup{},
		T: t, rng: rand.New(rand.NewSource(seed)), clock: testclock.NewFakeClock(time.Unix(scriptStart, 0)),
		lister: cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{}),
		pods:   map[string]*v1.Pod{}, groups: map[string]*schedulingv1beta1.PodGroup{},
	}
}

// onOriginal gives the script kube-scheduler's own queue. It serves time by goroutines, so the script waits until what is due is
// done.
func (script *script) onOriginal() {
	hints := internalqueue.QueueingHintMap{}
	for _, plugin := range script.plugins() {
		events, _ := plugin.EventsToRegister(context.Background())
		for _, event := range events {
			hints[event.Event] = append(hints[event.Event], &internalqueue.QueueingHintFunction{
				PluginName: plugin.Name(), QueueingHintFn: event.QueueingHintFn, PreQueueingHintFn: event.PreQueueingHintFn,
			})
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	recorder := schedmetrics.NewMetricsAsyncRecorder(10_000, time.Hour, ctx.Done())
	factory := informers.NewSharedInformerFactory(fake.NewSimpleClientset(), 0) //nolint:staticcheck // the other one parses all schemas
	original := internalqueue.NewPriorityQueue((&queuesort.PrioritySort{}).Less, factory,
		internalqueue.WithClock(script.clock), internalqueue.WithPodLister(listersv1.NewPodLister(script.lister)),
		internalqueue.WithPodInitialBackoffDuration(initialBackoff), internalqueue.WithPodMaxBackoffDuration(maxBackoff),
		internalqueue.WithPodMaxInUnschedulablePodsDuration(maxParked),
		internalqueue.WithQueueingHintMapPerProfile(internalqueue.QueueingHintMapPerProfile{profileName: hints}),
		internalqueue.WithPreEnqueuePluginMap(map[string]map[string]fwk.PreEnqueuePlugin{
			profileName: {gangPluginName: script},
		}),
		internalqueue.WithMetricsRecorder(recorder))
	script.queue, script.flush = original, recorder.FlushMetrics
	original.Run(logger)
	script.passed = func() { // its timer waits for the first second, and after that a ticker
		for !script.clock.HasWaiters() {
			time.Sleep(time.Millisecond)
		}
	}
	script.passed()
	script.pass(time.Second)
	script.passed = func() {
		for deadline := time.Now().Add(time.Minute); script.due(); time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				script.Fatal("the original does not serve time")
			}
		}
	}
	script.Cleanup(func() { original.Close(); cancel() })
}

// pass lets time go on.
func (script *script) pass(length time.Duration) {
	script.clock.Step(length)
	script.passed()
}

// due: is there a pod in backoff that should not be?
func (script *script) due() bool {
	now := script.clock.Now().Truncate(time.Second)
	for _, pod := range script.queue.PodsInBackoffQ() {
		var expiration time.Time
		if info, found := script.record(groupOf(pod)); found {
			expiration = info.BackoffExpiration
		} else if info, found := script.queue.GetPod(pod.Name, "ns", pod.Spec.SchedulingGroup); found {
			expiration = info.BackoffExpiration
		}
		if expiration.Before(now) {
			return true
		}
	}
	script.queue.UnschedulablePods() // waits for the lock of who is at it
	return false
}

func (script *script) onEngine(engine schedq.Engine) {
	plugins := map[string]Plugins{profileName: {
		PreEnqueue: []fwk.PreEnqueuePlugin{script}, Extensions: script.plugins(),
	}}
	queue, err := New(context.Background(), plugins, listersv1.NewPodLister(script.lister), nil, Options{
		Engine: engine, Clock: script.clock, InitialBackoff: initialBackoff, MaxBackoff: maxBackoff, MaxParked: maxParked,
	})
	if err != nil {
		script.Fatal(err)
	}
	script.queue, script.flush = queue, func() {}
	script.passed = func() {
		result, _, err := queue.library.Tick()
		if err != nil {
			script.Fatal(err)
		}
		queue.ticked(logger, &result)
	}
	script.pass(time.Second)
	script.Cleanup(queue.Close)
}

// note writes what happened, and what is where then.
func (script *script) note(format string, args ...any) {
	places := map[string]string{}
	for place, pods := range map[string][]*v1.Pod{
		"active": script.queue.PodsInActiveQ(), "backoff": script.queue.PodsInBackoffQ(),
		"unschedulable": script.queue.UnschedulablePods(), "pending": script.queue.PendingPodGroupPods(),
		"incomplete": script.queue.IncompletePodGroupPodsPods(), "in flight": script.queue.InFlightPods(),
	} {
		for _, pod := range pods {
			places[pod.Name] += " " + place
		}
	}
	lines := []string{fmt.Sprintf(format, args...)}
	for _, name := range sortedKeys(places) {
		lines = append(lines, fmt.Sprintf("    %s:%s", name, places[name]))
	}
	for _, name := range slices.Concat(sortedKeys(script.groups), sortedKeys(script.roots)) {
		if info, found := script.record(name); found && info.Name == name {
			lines = append(lines, "    record "+describe(info))
		}
	}
	_, summary := script.queue.PendingPods()
	lines[0] = fmt.Sprintf("%v ", script.clock.Now().Sub(time.Unix(scriptStart, 0))) + lines[0]
	script.trace = append(script.trace, strings.Join(append(lines, "    "+summary), "\n"))
}

func sortedKeys[value any](from map[string]value) (keys []string) {
	for key := range from {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	return keys
}

func describeParams(params *framework.QueueingParams) string {
	since := func(at time.Time) string {
		if at.IsZero() {
			return "-"
		}
		return at.Sub(time.Unix(scriptStart, 0)).String()
	}
	initial := "-"
	if params.InitialAttemptTimestamp != nil {
		initial = since(*params.InitialAttemptTimestamp)
	}
	rejectors := append(params.UnschedulablePlugins.UnsortedList(), params.PendingPlugins.UnsortedList()...)
	slices.Sort(rejectors)
	return fmt.Sprintf("attempts=%d unschedulable=%d errors=%d initial=%s gate=%s rejectors=%v since=%s",
		params.Attempts, params.UnschedulableCount, params.ConsecutiveErrorsCount, initial, params.GatingPlugin, rejectors,
		since(params.Timestamp))
}

func describe(entity framework.QueuedEntityInfo) string {
	group, isGroup := entity.(*framework.QueuedPodGroupInfo)
	if !isGroup {
		info := entity.(*framework.QueuedPodInfo)
		// The library gives pods that come at the same time different ones.
		return fmt.Sprintf("pod %s attempts=%d unschedulable=%d errors=%d", info.Pod.Name, info.Attempts, info.UnschedulableCount,
			info.ConsecutiveErrorsCount)
	}
	text := fmt.Sprintf("group %s %s", group.Name, describeParams(&group.QueueingParams))
	if !group.BackoffExpiration.IsZero() {
		text += fmt.Sprintf(" backoff until %v", group.BackoffExpiration.Sub(time.Unix(scriptStart, 0)))
	}
	leaves := map[string]string{}
	for key, members := range group.QueuedPodInfos {
		for _, info := range members {
			leaves[key.Name] += fmt.Sprintf("\n      %s %s", info.Pod.Name, describeParams(&info.QueueingParams))
		}
	}
	var walk func(*framework.PodGroupInfo)
	walk = func(info *framework.PodGroupInfo) {
		names := []string{}
		for _, pod := range info.UnscheduledPods {
			names = append(names, pod.Name)
		}
		text += fmt.Sprintf("\n    %s %s%s\n      unscheduled: %v", info.Type, info.Name, leaves[info.Name], names)
		for _, child := range info.GetChildGroups() {
			walk(child)
		}
	}
	walk(group.PodGroupInfo)
	return text
}

// record is that of a group, or of the composite above it.
func (script *script) record(name string) (*framework.QueuedPodGroupInfo, bool) {
	if root := script.above[name]; root != "" {
		name = root
	}
	if script.roots[name] != nil {
		return script.queue.GetPodGroup(name, "ns", fwk.CompositePodGroupKeyType)
	}
	return script.queue.GetPodGroup(name, "ns", fwk.PodGroupKeyType)
}

// play does all steps, and gives what happened.
func (script *script) play(steps int) []string {
	for range steps {
		script.pass(time.Millisecond)
		script.step(true)
	}
	script.flush()
	return script.trace
}

var groupNames = []string{"g0", "g1", "g2", "g3"}

// step does one thing. alone: no group's cycle is open.
func (script *script) step(alone bool) {
	name := groupNames[script.rng.Intn(len(groupNames))]
	switch choice := script.rng.Intn(36); {
	case choice >= 32:
		script.claim()
	case choice >= 30 && len(script.above) > 0:
		script.composite()
	case choice < 7:
		script.addPod(name)
	case choice < 8:
		script.addPod("")
	case choice < 10:
		script.addGroup(name)
	case choice < 11:
		script.deleteGroup(name)
	case choice < 12:
		script.updateGroup(name)
	case choice < 13:
		script.deletePod()
	case choice < 15:
		script.updatePod()
	case choice < 16:
		if pod := script.somePod(); pod != nil {
			script.queue.Activate(logger, map[string]*v1.Pod{pod.Name: pod})
			script.note("activate %s", pod.Name)
		}
	case choice < 17:
		script.queue.MoveAllToActiveOrBackoffQueue(logger, nodeAdd, nil, nil, nil)
		script.note("a node")
	case choice < 18:
		script.queue.MoveAllToActiveOrBackoffQueue(logger, framework.EventUnschedulableTimeout, nil, nil, nil)
		script.note("a wildcard")
	case !alone:
	case choice < 19:
		length := time.Duration(1+script.rng.Intn(6000)) * time.Millisecond
		script.pass(length)
		script.note("%v later", length)
	case choice < 20:
		script.endWaiting()
	default:
		script.cycle()
	}
}

func (script *script) addPod(group string) {
	script.number++
	priority := int32(script.rng.Intn(2))
	pod := &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns", Name: fmt.Sprintf("p%02d", script.number), UID: types.UID(fmt.Sprintf("u%d", script.number)),
			Labels: map[string]string{},
		},
		Spec: v1.PodSpec{SchedulerName: profileName, Priority: &priority},
	}
	if script.rng.Intn(8) == 0 {
		pod.Labels["gate"] = "shut"
	} else if script.rng.Intn(8) == 0 {
		pod.Labels["gate"] = "claim"
	}
	if group != "" {
		if root := script.above[group]; (script.groups[group] == nil || root != "" && script.roots[root] == nil) &&
			script.incomplete(group) > 0 {
			return // a group's Timestamp would be any of theirs
		}
		pod.Spec.SchedulingGroup = &v1.PodSchedulingGroup{PodGroupName: &group}
	}
	script.pods[pod.Name] = pod
	_ = script.lister.Add(pod)
	script.queue.Add(context.Background(), pod)
	script.queue.MoveAllToActiveOrBackoffQueue(logger, framework.EventUnscheduledPodAdd, nil, pod, nil)
	script.note("add %s of %q, priority %d, %v", pod.Name, group, priority, pod.Labels)
}

// incomplete is how many pods wait that a group's declaration could let join.
func (script *script) incomplete(group string) (count int) {
	for _, pod := range script.queue.IncompletePodGroupPodsPods() {
		if name := groupOf(pod); name == group || script.above[name] != "" && script.above[name] == script.above[group] {
			count++
		}
	}
	return count
}

// composite adds the composite above some groups, or deletes it.
func (script *script) composite() {
	const name = "c0"
	if old := script.roots[name]; old != nil {
		waiting := 0
		for _, pod := range script.pods {
			if script.above[groupOf(pod)] == name {
				waiting++
			}
		}
		if waiting > 1 {
			return
		}
		delete(script.roots, name)
		script.queue.DeleteCompositePodGroup(logger, old)
		script.note("composite %s is deleted", name)
		return
	}
	if script.incomplete("g0") > 1 {
		return
	}
	priority := int32(script.rng.Intn(2))
	made := &schedulingv1alpha3.CompositePodGroup{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name},
		Spec:       schedulingv1alpha3.CompositePodGroupSpec{Priority: &priority},
	}
	script.roots[name] = made
	script.queue.AddCompositePodGroup(logger, made)
	script.note("composite %s", name)
}

func podGroup(name string, quorum, priority int32) *schedulingv1beta1.PodGroup {
	return &schedulingv1beta1.PodGroup{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name},
		Spec: schedulingv1beta1.PodGroupSpec{
			SchedulingPolicy: schedulingv1beta1.PodGroupSchedulingPolicy{
				Gang: &schedulingv1beta1.GangSchedulingPolicy{MinCount: quorum},
			},
			Priority: &priority,
		},
	}
}

func (script *script) addGroup(name string) {
	group := podGroup(name, int32(1+script.rng.Intn(4)), int32(script.rng.Intn(2)))
	if script.groups[name] != nil || script.incomplete(name) > 1 {
		return
	}
	script.hang(group)
	script.groups[name] = group
	script.queue.AddPodGroup(logger, group)
	script.queue.MoveAllToActiveOrBackoffQueue(logger, fwk.ClusterEvent{Resource: fwk.PodGroup, ActionType: fwk.Add}, nil, group, nil)
	script.note("group %s, at least %d", name, group.Spec.SchedulingPolicy.Gang.MinCount)
}

func (script *script) hang(group *schedulingv1beta1.PodGroup) {
	if root := script.above[group.Name]; root != "" {
		group.Spec.ParentCompositePodGroupName = &root
	}
}

func (script *script) updateGroup(name string) {
	quorum, old := int32(1+script.rng.Intn(4)), script.groups[name]
	if old == nil {
		return
	}
	group := podGroup(name, quorum, *old.Spec.Priority)
	script.hang(group)
	script.groups[name] = group
	script.queue.UpdatePodGroup(logger, group)
	script.queue.MoveAllToActiveOrBackoffQueue(logger, fwk.ClusterEvent{Resource: fwk.PodGroup, ActionType: fwk.Update}, old, group, nil)
	script.note("group %s, at least %d from now on", name, quorum)
}

func (script *script) deleteGroup(name string) {
	group := script.groups[name]
	if group == nil {
		return
	}
	if script.known(name) > 1 {
		return
	}
	delete(script.groups, name)
	script.queue.DeletePodGroup(logger, group)
	script.note("group %s is deleted", name)
}

func (script *script) somePod() *v1.Pod {
	names := sortedKeys(script.pods)
	if len(names) == 0 {
		return nil
	}
	return script.pods[names[script.rng.Intn(len(names))]]
}

func (script *script) deletePod() {
	if pod := script.somePod(); pod != nil {
		script.remove(pod)
		script.note("delete %s", pod.Name)
	}
}

func (script *script) remove(pod *v1.Pod) {
	delete(script.pods, pod.Name)
	_ = script.lister.Delete(pod)
	script.queue.Delete(logger, pod)
}

func (script *script) updatePod() {
	old := script.somePod()
	if old == nil {
		return
	}
	pod := old.DeepCopy()
	if pod.Labels["gate"] == "shut" {
		delete(pod.Labels, "gate")
	} else if script.rng.Intn(3) == 0 {
		pod.Labels["gate"] = "shut"
	} else {
		pod.Labels["other"] = fmt.Sprint(script.rng.Intn(1000))
	}
	script.pods[pod.Name] = pod
	_ = script.lister.Update(pod)
	script.queue.Update(context.Background(), old, pod)
	script.note("update %s: %v", pod.Name, pod.Labels)
}

// cycle pops, and ends what it popped.
func (script *script) cycle() {
	if len(script.queue.PodsInActiveQ()) == 0 {
		return
	}
	entity, err := script.queue.Pop(logger)
	if err != nil {
		script.Fatal(err)
	}
	script.note("pop %s", describe(entity))
	group, isGroup := entity.(*framework.QueuedPodGroupInfo)
	if !isGroup {
		info := entity.(*framework.QueuedPodInfo)
		if script.rng.Intn(3) == 0 {
			script.claim()
		}
		if script.rng.Intn(2) == 0 {
			script.bind(info.Pod)
		} else {
			script.fail(info, script.rejectors()...)
		}
		script.note("pod ended")
		return
	}
	members := []*framework.QueuedPodInfo{}
	group.ForEachPodInfo(func(info *framework.QueuedPodInfo) bool {
		members = append(members, info)
		return true
	})
	slices.SortFunc(members, func(a, b *framework.QueuedPodInfo) int { return strings.Compare(a.Pod.Name, b.Pod.Name) })
	meanwhile := func() {
		script.pass(time.Millisecond) // equal times come in any order
		if script.rng.Intn(3) == 0 {
			script.step(false)
			script.pass(time.Millisecond)
		}
	}
	meanwhile()
	outcome := fwk.NewStatus([]fwk.Code{fwk.Success, fwk.Success, fwk.Unschedulable, fwk.Unschedulable, fwk.Error}[script.rng.Intn(5)])
	placed := 0
	for _, info := range members {
		switch {
		case outcome.IsSuccess() && (placed == 0 || script.rng.Intn(3) > 0):
			placed++
			if script.rng.Intn(3) == 0 {
				script.waiting = append(script.waiting, info)
			} else {
				script.bind(info.Pod)
			}
		case outcome.IsRejected() && script.rng.Intn(2) == 0:
			script.fail(info, script.rejectors()...)
		default:
			script.fail(info)
		}
		meanwhile()
	}
	meanwhile()
	err = script.queue.AddAttemptedPodGroupIfNeeded(logger, group, script.queue.SchedulingCycle(), outcome)
	script.note("group %s ended as %v: %v", group.Name, outcome.Code(), err)
}

// bind places a pod: it is not pending any more.
func (script *script) bind(pod *v1.Pod) {
	script.queue.Done(pod.UID)
	if script.pods[pod.Name] != nil {
		script.remove(pod)
	}
}

func (script *script) rejectors() []string {
	return [][]string{{nodePluginName}, {claimedName}, {nodePluginName, claimedName}}[script.rng.Intn(3)]
}

// claim is an event that names pods.
func (script *script) claim() {
	made := &claim{number: script.rng.Intn(1000)}
	for _, name := range append(sortedKeys(script.pods), "unknown") {
		if script.rng.Intn(4) == 0 {
			made.named = append(made.named, types.NamespacedName{Namespace: "ns", Name: name})
		}
		if script.rng.Intn(4) == 0 {
			made.gated = append(made.gated, types.NamespacedName{Namespace: "ns", Name: name})
		}
	}
	event := []fwk.ClusterEvent{claimAdd, claimUpdate, claimDelete}[script.rng.Intn(3)]
	if event != claimAdd { // one hint alone is asked, so that it is the same one for both queues
		made.all, made.fails = script.rng.Intn(4) == 0, script.rng.Intn(8) == 0
	}
	script.missing = script.rng.Intn(3) == 0
	var check internalqueue.PreEnqueueCheck
	if script.rng.Intn(3) == 0 {
		check = func(pod *v1.Pod) bool { // the pods of a group are alike
			name := cmp.Or(groupOf(pod), pod.Name)
			return (int(name[len(name)-1])+made.number/2)%2 == 0
		}
	}
	script.queue.MoveAllToActiveOrBackoffQueue(logger, event, nil, made, check)
	script.note("%s: %+v", event.Label(), *made)
}

// fail does what the scheduler's failure handler does.
func (script *script) fail(info *framework.QueuedPodInfo, rejectors ...string) {
	pod := script.pods[info.Pod.Name]
	if pod == nil {
		script.queue.Done(info.Pod.UID)
		return
	}
	copied := *info
	copied.PodInfo, _ = framework.NewPodInfo(pod)
	copied.UnschedulablePlugins, copied.PendingPlugins = sets.New(rejectors...), sets.New[string]()
	copied.GatingPlugin, copied.GatingPluginEvents = "", nil
	if err := script.queue.AddUnschedulablePodIfNotPresent(logger, &copied, script.queue.SchedulingCycle()); err != nil {
		script.note("%v", err)
	}
}

// endWaiting binds a member that was placed, or fails to.
func (script *script) endWaiting() {
	if len(script.waiting) == 0 {
		return
	}
	at := script.rng.Intn(len(script.waiting))
	info := script.waiting[at]
	script.waiting = slices.Delete(script.waiting, at, at+1)
	if script.rng.Intn(2) == 0 {
		script.bind(info.Pod)
		script.note("bound %s", info.Pod.Name)
	} else {
		script.fail(info)
		script.note("%s cannot be bound", info.Pod.Name)
	}
}

// metricsOf gathers what the queue counts.
func metricsOf(t *testing.T) map[string]float64 {
	families, err := legacyregistry.DefaultGatherer.Gather()
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for _, family := range families {
		name := strings.TrimPrefix(family.GetName(), "scheduler_")
		if !slices.Contains([]string{
			"queue_incoming_pods_total", "queue_incoming_entities_total", "unschedulable_pods", "pre_queueing_hint_evaluations_total",
		}, name) {
			continue
		}
		for _, metric := range family.GetMetric() {
			for _, label := range metric.GetLabel() {
				name += " " + label.GetValue()
			}
			if value := metric.GetCounter().GetValue() + metric.GetGauge().GetValue(); value != 0 {
				values[name] = value
			}
			name, _, _ = strings.Cut(name, " ")
		}
	}
	return values
}

// grown is what came to metrics since.
func grown(before, after map[string]float64) map[string]float64 {
	changed := map[string]float64{}
	for name := range after {
		changed[name] = after[name] - before[name]
	}
	for name := range before {
		changed[name] = after[name] - before[name]
	}
	for name, by := range changed {
		if by == 0 {
			delete(changed, name)
		}
	}
	return changed
}

func TestGroupsAgreeWithTheOriginal(t *testing.T) {
	featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, features.GenericWorkload, true)
	agree(t, nil)
}

// Two of the groups have a composite above them.
func TestCompositesAgreeWithTheOriginal(t *testing.T) {
	featuregatetesting.SetFeatureGatesDuringTest(t, utilfeature.DefaultFeatureGate, featuregatetesting.FeatureOverrides{
		features.GenericWorkload: true, features.TopologyAwareWorkloadScheduling: true, features.CompositePodGroup: true,
	})
	agree(t, map[string]string{"g0": "c0", "g1": "c0"})
}

// Nothing is narrowed with composites, and the hints are asked all the same.
func TestPreQueueingHintsAgreeWithTheOriginal(t *testing.T) {
	plain := featuregatetesting.FeatureOverrides{features.SchedulerPreQueueingHints: true}
	groups := featuregatetesting.FeatureOverrides{features.SchedulerPreQueueingHints: true, features.GenericWorkload: true}
	composites := featuregatetesting.FeatureOverrides{
		features.SchedulerPreQueueingHints: true, features.GenericWorkload: true,
		features.TopologyAwareWorkloadScheduling: true, features.CompositePodGroup: true,
	}
	for _, test := range []struct {
		name  string
		gates featuregatetesting.FeatureOverrides
		above map[string]string
	}{{"pods", plain, nil}, {"groups", groups, nil}, {"composites", composites, map[string]string{"g0": "c0", "g1": "c0"}}} {
		t.Run(test.name, func(t *testing.T) {
			featuregatetesting.SetFeatureGatesDuringTest(t, utilfeature.DefaultFeatureGate, test.gates)
			agree(t, test.above)
		})
	}
}

func agree(t *testing.T, above map[string]string) {
	schedmetrics.Register()
	pops := 0
	for seed := *groupSeed; seed < *groupSeed+int64(*groupSeeds); seed++ {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			before := metricsOf(t)
			original := newScript(t, seed, above)
			original.onOriginal()
			want := original.play(*groupSteps)
			counted := grown(before, metricsOf(t))
			for _, line := range want {
				if strings.Contains(line, " pop group") {
					pops++
				}
			}
			for name, engine := range map[string]schedq.Engine{"lockfree": schedq.LockFree, "mutex": schedq.Mutex} {
				before := metricsOf(t)
				ours := newScript(t, seed, above)
				ours.onEngine(engine)
				compareTraces(t, name, want, ours.play(*groupSteps))
				got := grown(before, metricsOf(t))
				for _, metric := range sortedKeys(grown(counted, got)) {
					t.Errorf("%s: %s grew by %v, want %v", name, metric, got[metric], counted[metric])
				}
			}
		})
	}
	t.Logf("%d pops of groups", pops)
	if pops < *groupSeeds && utilfeature.DefaultFeatureGate.Enabled(features.GenericWorkload) {
		t.Errorf("%d pops of groups in %d scripts: too few to say anything", pops, *groupSeeds)
	}
}

// compareTraces shows the first difference, and the operations that led to it.
func compareTraces(t *testing.T, name string, want, got []string) {
	t.Helper()
	for i := range want {
		if i >= len(got) || want[i] != got[i] {
			led := ""
			for j := range i {
				operation, _, _ := strings.Cut(want[j], "\n")
				led += fmt.Sprintf("%d %s\n", j, operation)
			}
			t.Fatalf("%s: operation %d, after\n%swant:\n%s\ngot:\n%s", name, i, led, want[i], strings.Join(got[i:min(len(got), i+1)], ""))
		}
	}
	if len(got) != len(want) {
		t.Fatalf("%s: %d operations, want %d", name, len(got), len(want))
	}
}
