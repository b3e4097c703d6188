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
	"k8s.io/client-go/tools/events"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	schedconfig "k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"schedq/examples/kube-scheduler/internal/memapi"
)

// otherSort orders pods in a way that the queue does not know.
type otherSort struct{}

func (otherSort) Name() string                     { return "OtherSort" }
func (otherSort) Less(_, _ fwk.QueuedPodInfo) bool { return false }
func newOtherSort(context.Context, runtime.Object, framework.Handle) (framework.Plugin, error) {
	return otherSort{}, nil
}

type silent struct{}

func (silent) Eventf(runtime.Object, runtime.Object, string, string, string, string, ...any) {}

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
	factory := scheduler.NewInformerFactory(api.Client, 0)
	sched, err := scheduler.New(ctx, api.Client, factory, nil, func(string) events.EventRecorder { return silent{} },
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
