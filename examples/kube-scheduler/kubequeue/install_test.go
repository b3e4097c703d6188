package kubequeue

import (
	"context"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kubernetes/pkg/scheduler"
	schedconfig "k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"schedq"
	"schedq/examples/kube-scheduler/internal/memapi"
	"schedq/examples/kube-scheduler/internal/release"
)

// otherSort orders pods in a way that the queue does not know.
type otherSort struct{}

func (otherSort) Name() string                  { return "OtherSort" }
func (otherSort) Less(_, _ release.Queued) bool { return false }
func newOtherSort(context.Context, runtime.Object, release.Handle) (release.Plugin, error) {
	return otherSort{}, nil
}

// newScheduler makes a scheduler over an API in memory. configure may be nil.
func newScheduler(t *testing.T, api *memapi.Server, configure func(*schedconfig.KubeSchedulerProfile)) (context.Context,
	*scheduler.Scheduler, func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	config, err := latest.Default()
	if err != nil {
		t.Fatal(err)
	}
	if configure != nil {
		configure(&config.Profiles[0])
	}
	factory := release.Informers(api.Client)
	sched, err := scheduler.New(ctx, api.Client, factory, nil, func(string) release.EventRecorder { return memapi.NoEvents{} },
		scheduler.WithProfiles(config.Profiles...),
		scheduler.WithFrameworkOutOfTreeRegistry(frameworkruntime.Registry{"OtherSort": newOtherSort}))
	if err != nil {
		t.Fatal(err)
	}
	install := func() error {
		_, err := Install(ctx, sched, factory, Options{})
		if err == nil {
			factory.Start(ctx.Done())
			factory.WaitForCacheSync(ctx.Done())
		}
		return err
	}
	return ctx, sched, install
}

func TestInstallRefusesAnotherOrder(t *testing.T) {
	_, sched, install := newScheduler(t, memapi.New(), func(profile *schedconfig.KubeSchedulerProfile) {
		profile.Plugins.QueueSort.Enabled = []schedconfig.Plugin{{Name: "OtherSort"}}
		profile.Plugins.QueueSort.Disabled = []schedconfig.Plugin{{Name: "*"}}
	})
	before := sched.SchedulingQueue
	if err := install(); err == nil || !strings.Contains(err.Error(), "OtherSort") {
		t.Errorf("Install answers %v", err)
	}
	if sched.SchedulingQueue != before {
		t.Error("the scheduler has another queue all the same")
	}
}

func TestInstalledQueueSchedules(t *testing.T) {
	api := memapi.New()
	api.PutNode(&v1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "node"},
		Status: v1.NodeStatus{
			Allocatable: v1.ResourceList{v1.ResourcePods: resource.MustParse("1")},
			Conditions:  []v1.NodeCondition{{Type: v1.NodeReady, Status: v1.ConditionTrue}},
		},
	})
	for _, name := range []string{"a", "b"} {
		api.CreatePod(&v1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID(name)},
			Spec:       v1.PodSpec{SchedulerName: v1.DefaultSchedulerName},
		})
	}
	ctx, sched, install := newScheduler(t, api, nil)
	if err := install(); err != nil {
		t.Fatal(err)
	}
	go sched.Run(ctx)
	queue := sched.SchedulingQueue.(*Queue)
	for range 1000 {
		if api.Bound() == 1 && len(queue.UnschedulablePods()) == 1 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	_, summary := queue.PendingPods()
	t.Errorf("one pod fits and one does not: %d bound, %s", api.Bound(), summary)
}

// refused has Install refuse a scheduler because of a feature gate.
func refused(t *testing.T, gate string) {
	t.Helper()
	_, sched, install := newScheduler(t, memapi.New(), nil)
	before := sched.SchedulingQueue
	if err := install(); err == nil || !strings.Contains(err.Error(), gate) {
		t.Errorf("Install answers %v", err)
	}
	if sched.SchedulingQueue != before {
		t.Error("the scheduler has another queue all the same")
	}
}

// oddName is a plugin with a name that the library takes for none.
type oddName struct {
	nodePlugin
	name string
}

func (plugin *oddName) Name() string { return plugin.name }

func TestPluginsMayHaveAnyName(t *testing.T) {
	for what, name := range map[string]string{"no name": "", "a long one": strings.Repeat("x", schedq.NameMax+1)} {
		t.Run(what, func(t *testing.T) {
			odd := &oddName{nodePlugin{answer: always}, name}
			test := newFixtureWith(t, Options{}, Plugins{Extensions: []release.EnqueueExtensions{odd}})
			test.add("a", "1")
			test.fail(test.pop(), name)
			if got := test.get("a").UnschedulablePlugins; !got.Has(name) || got.Len() != 1 {
				t.Errorf("rejected by %q", got)
			}
			test.want("activeQ:0; backoffQ:0; unschedulable:1; inFlight:0; records:1")
			test.MoveAllToActiveOrBackoffQueue(test.logger, nodeAdd, nil, nil, nil)
			test.want("activeQ:0; backoffQ:1; unschedulable:0; inFlight:0; records:1")
			if odd.asked.Load() != 1 {
				t.Errorf("its hint was asked %d times, want once", odd.asked.Load())
			}
		})
	}
}
