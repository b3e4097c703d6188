package kubetest

import (
	"context"
	"reflect"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/informers"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	testclock "k8s.io/utils/clock/testing"

	"schedq/examples/kube-scheduler/internal/memapi"
	"schedq/examples/kube-scheduler/internal/release"
	"schedq/examples/kube-scheduler/kubequeue"
)

func newScheduler(t *testing.T, told ...scheduler.Option) (context.Context, *scheduler.Scheduler, informers.SharedInformerFactory) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	config, err := latest.Default()
	if err != nil {
		t.Fatal(err)
	}
	api := memapi.New()
	factory := release.Informers(api.Client)
	sched, err := scheduler.New(ctx, api.Client, factory, nil, func(string) release.EventRecorder { return memapi.NoEvents{} },
		append(told, scheduler.WithProfiles(config.Profiles...))...)
	if err != nil {
		t.Fatal(err)
	}
	return ctx, sched, factory
}

func TestInstallTakesTheEnginesNames(t *testing.T) {
	for _, test := range []struct {
		engine   string
		ours     bool
		complain string
	}{
		{"", false, ""},
		{"original", false, ""},
		{"lockfree", true, ""},
		{"mutex", true, ""},
		{"Mutex", false, `SCHEDQ_ENGINE="Mutex": legal are original, lockfree and mutex`},
	} {
		t.Run(test.engine, func(t *testing.T) {
			t.Setenv(Variable, test.engine)
			ctx, sched, factory := newScheduler(t)
			err := Install(ctx, sched, factory)
			if (err != nil) != (test.complain != "") || err != nil && !strings.Contains(err.Error(), test.complain) {
				t.Errorf("Install answers %v", err)
			}
			if _, ours := sched.SchedulingQueue.(*kubequeue.Queue); ours != test.ours {
				t.Errorf("the queue is a %T", sched.SchedulingQueue)
			}
		})
	}
}

func TestOptionsAreWhatTheSchedulerWasTold(t *testing.T) {
	for _, test := range []struct {
		initial, most int64
		told          kubequeue.Options
	}{
		{3, 7, kubequeue.Options{InitialBackoff: 3 * time.Second, MaxBackoff: 7 * time.Second, MaxParked: time.Minute}},
		{0, 0, kubequeue.Options{MaxBackoff: -1, MaxParked: time.Minute}},
	} {
		told := testclock.NewFakeClock(time.Now())
		test.told.Clock = told
		_, sched, _ := newScheduler(t, scheduler.WithClock(told), scheduler.WithPodInitialBackoffSeconds(test.initial),
			scheduler.WithPodMaxBackoffSeconds(test.most), scheduler.WithPodMaxInUnschedulablePodsDuration(time.Minute))
		read, err := optionsOf(sched.SchedulingQueue)
		if err != nil || !reflect.DeepEqual(read, test.told) {
			t.Errorf("told %+v, read %+v, %v", test.told, read, err)
		}
	}
}

func TestOptionsOfAnotherQueue(t *testing.T) {
	if _, err := optionsOf(&kubequeue.Queue{}); err == nil || !strings.Contains(err.Error(), "has no [backoffQ podInitialBackoff]") {
		t.Errorf("optionsOf answers %v", err)
	}
}
