package main

import (
	"context"
	"fmt"
	"reflect"
	"sync/atomic"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/kubernetes/pkg/scheduler"
	schedconfig "k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	internalqueue "k8s.io/kubernetes/pkg/scheduler/backend/queue"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"schedq"
	"schedq/examples/kube-scheduler/internal/memapi"
	"schedq/examples/kube-scheduler/internal/release"
	"schedq/examples/kube-scheduler/kubequeue"
)

// A cluster is the real scheduler over an API in memory, on one of some queues. Nothing else differs between them.

// queueName says which queue a scheduler runs on.
type queueName string

const (
	original queueName = "original"
	lockFree queueName = "lockfree"
	mutex    queueName = "mutex"
	classes  queueName = "classes" // the lock-free engine, with classes of pods
)

var queueNames = []queueName{original, lockFree, mutex, classes}

var engines = map[queueName]schedq.Engine{lockFree: schedq.LockFree, mutex: schedq.Mutex, classes: schedq.LockFree}

const namespace = "default"

type cluster struct {
	api    *memapi.Server
	sched  *scheduler.Scheduler
	queue  *kubequeue.Queue // nil with the original
	timed  *timed           // nil unless asked for
	groups groups           // the API's groups of pods

	classes bool // one pod is tried for all that fail alike

	ctx    context.Context
	cancel context.CancelFunc

	factory informers.SharedInformerFactory
	uids    atomic.Int64
}

// newCluster makes a scheduler that does not run yet. timing wraps its queue in one that measures calls. With a queue other than
// the original that one is poisoned: a call that still reaches it crashes the process.
func newCluster(name queueName, timing bool, maxBackoff time.Duration) (*cluster, error) {
	made := &cluster{api: memapi.New()}
	made.groups = serveGroups(made.api)
	made.ctx, made.cancel = context.WithCancel(context.Background())
	made.factory = release.Informers(made.api.Client)
	config, err := latest.Default()
	if err != nil {
		return nil, err
	}
	profile := &config.Profiles[0]
	profile.Plugins.Permit.Enabled = append(profile.Plugins.Permit.Enabled, schedconfig.Plugin{Name: holdName})
	profile.Plugins.PreFilter.Enabled = append(profile.Plugins.PreFilter.Enabled, schedconfig.Plugin{Name: holdName})
	made.sched, err = scheduler.New(made.ctx, made.api.Client, made.factory, nil,
		func(string) release.EventRecorder { return memapi.NoEvents{} },
		scheduler.WithProfiles(config.Profiles...),
		scheduler.WithFrameworkOutOfTreeRegistry(frameworkruntime.Registry{holdName: newHold}),
		scheduler.WithPodMaxBackoffSeconds(int64(maxBackoff/time.Second)))
	if err != nil {
		return nil, err
	}
	before := made.sched.SchedulingQueue
	if name != original {
		options := kubequeue.Options{Engine: engines[name], MaxBackoff: maxBackoff}
		if made.classes = name == classes; made.classes {
			options.Classes = kubequeue.BySpec
		}
		made.queue, err = kubequeue.Install(made.ctx, made.sched, made.factory, options)
		if err != nil {
			return nil, err
		}
		poison(before)
	}
	if timing {
		made.timed = &timed{SchedulingQueue: made.sched.SchedulingQueue}
		kubequeue.Replace(made.ctx, made.sched, made.factory, made.timed)
	}
	return made, nil
}

// shortBackoff keeps scenarios short in which pods are tried many times.
const shortBackoff = 2 * time.Second

// poison empties a queue, so that any use of it dereferences nil.
func poison(queue internalqueue.SchedulingQueue) {
	value := reflect.ValueOf(queue.(*internalqueue.PriorityQueue)).Elem()
	value.Set(reflect.Zero(value.Type()))
}

// start runs informers and scheduler.
func (cluster *cluster) start() error {
	cluster.factory.Start(cluster.ctx.Done())
	cluster.factory.WaitForCacheSync(cluster.ctx.Done())
	if err := cluster.sched.WaitForHandlersSync(cluster.ctx); err != nil {
		return err
	}
	go cluster.sched.Run(cluster.ctx)
	return nil
}

// stop ends them; goroutines of the scheduler may go on for a moment.
func (cluster *cluster) stop() {
	cluster.cancel()
	cluster.factory.Shutdown()
	time.Sleep(50 * time.Millisecond)
}

const podsPerNode = 5000

// node makes a node of that many CPUs.
func node(name, cpu string) *v1.Node {
	resources := v1.ResourceList{
		v1.ResourceCPU: resource.MustParse(cpu), v1.ResourceMemory: resource.MustParse("256Gi"),
		v1.ResourcePods: *resource.NewQuantity(podsPerNode, resource.DecimalSI),
	}
	return &v1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, UID: types.UID(name), Labels: map[string]string{"kubernetes.io/hostname": name},
		},
		Status: v1.NodeStatus{
			Allocatable: resources, Capacity: resources,
			Conditions: []v1.NodeCondition{{Type: v1.NodeReady, Status: v1.ConditionTrue}},
		},
	}
}

// pod makes a pod with a uid of its own.
func (cluster *cluster) pod(name, cpu string, priority int32) *v1.Pod {
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: namespace, UID: types.UID(fmt.Sprintf("uid-%d", cluster.uids.Add(1))),
			CreationTimestamp: metav1.Now(),
		},
		Spec: v1.PodSpec{
			SchedulerName: v1.DefaultSchedulerName, Priority: &priority,
			Containers: []v1.Container{{Name: "c", Image: "i", Resources: requests(cpu)}},
		},
	}
}

// deleteNode deletes a node, and its pods when the scheduler has heard of it: they are collected later than their node.
func (cluster *cluster) deleteNode(name string) error {
	cluster.api.DeleteNode(name)
	heard := waitFor(settleLimit, func() bool {
		info := cluster.sched.Cache.Dump().Nodes[name]
		return info == nil || info.Node() == nil
	})
	if !heard {
		return fmt.Errorf("node %s was deleted, and the scheduler still has it", name)
	}
	return cluster.collect(func(pod *v1.Pod) bool { return pod.Spec.NodeName == name })
}

// collect deletes the pods that are to go.
func (cluster *cluster) collect(goes func(*v1.Pod) bool) error {
	for _, pod := range cluster.api.Pods() {
		if goes(pod) {
			if err := cluster.api.DeletePod(pod.Namespace, pod.Name); err != nil {
				return err
			}
		}
	}
	return nil
}

func requests(cpu string) v1.ResourceRequirements {
	return v1.ResourceRequirements{Requests: v1.ResourceList{v1.ResourceCPU: resource.MustParse(cpu)}}
}

// waitFor waits until something holds, and says whether it did in time.
func waitFor(limit time.Duration, holds func() bool) bool {
	return waitEvery(2*time.Millisecond, limit, holds)
}

func waitEvery(pause, limit time.Duration, holds func() bool) bool {
	for deadline := time.Now().Add(limit); time.Now().Before(deadline); time.Sleep(pause) {
		if holds() {
			return true
		}
	}
	return holds()
}

// state says in words where the pods are.
func (cluster *cluster) state() string {
	_, summary := cluster.sched.SchedulingQueue.PendingPods()
	return fmt.Sprintf("bound:%d; %s; inFlight:%d", cluster.api.Bound(), summary,
		len(cluster.sched.SchedulingQueue.InFlightPods()))
}

// counts reads how many pods are active, back off, and are unschedulable. Upstream's UnschedulablePods reads a map without a
// lock, so the summary has to do.
func (cluster *cluster) counts() (active, backoff, unschedulable int) {
	_, summary := cluster.sched.SchedulingQueue.PendingPods()
	_, _ = fmt.Sscanf(summary, "activeQ:%d; backoffQ:%d; "+release.Unschedulable+":%d", &active, &backoff, &unschedulable)
	return active, backoff, unschedulable
}
