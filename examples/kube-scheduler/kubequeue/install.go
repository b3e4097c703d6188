package kubequeue

import (
	"context"
	"fmt"
	"os/signal"
	"syscall"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/scheduler"
	apicache "k8s.io/kubernetes/pkg/scheduler/backend/api_cache"
	"k8s.io/kubernetes/pkg/scheduler/backend/cache/debugger"
	internalqueue "k8s.io/kubernetes/pkg/scheduler/backend/queue"

	"schedq/examples/kube-scheduler/internal/release"
)

// No option of scheduler.New takes a queue, but everything that holds the one it makes can be reached through exported names.

// Install gives a scheduler another queue. Call it after scheduler.New and before the informers start, with the context of
// scheduler.New. What New configured its queue with and does not show, the backoff times and the time in the unschedulable pods,
// has to be in options; SchedulerPopFromBackoffQ is read from the feature gates.
//
// Errors: as New; a queue sort plugin that is not PrioritySort; a feature gate that a queue with these options has no answer to.
// The scheduler is as it was then.
func Install(ctx context.Context, sched *scheduler.Scheduler, factory informers.SharedInformerFactory,
	options Options) (*Queue, error) {
	if err := fitGates(&options); err != nil {
		return nil, fmt.Errorf("kubequeue: %w", err)
	}
	plugins, err := PluginsOf(sched)
	if err != nil {
		return nil, fmt.Errorf("kubequeue: %w", err)
	}
	var dispatcher fwk.APIDispatcher
	if sched.APIDispatcher != nil {
		dispatcher = sched.APIDispatcher
	}
	options.NoPopFromBackoff = !utilfeature.DefaultFeatureGate.Enabled(features.SchedulerPopFromBackoffQ)
	queue, err := New(ctx, plugins, factory.Core().V1().Pods().Lister(), dispatcher, options)
	if err != nil {
		return nil, err
	}
	Replace(ctx, sched, factory, queue)
	return queue, nil
}

// Replace puts any queue in the place of the one that the scheduler has.
func Replace(ctx context.Context, sched *scheduler.Scheduler, factory informers.SharedInformerFactory,
	queue internalqueue.SchedulingQueue) {
	release.Replace(sched, queue)
	var cacher release.APICacher
	if sched.APIDispatcher != nil {
		cacher = apicache.New(queue, sched.Cache)
	}
	for _, profile := range sched.Profiles {
		profile.SetPodNominator(queue)
		profile.SetPodActivator(queue)
		profile.SetAPICacher(cacher)
	}
	// The debugger that scheduler.New started shows the old queue, and nothing here can end it: take its signal away.
	signal.Reset(syscall.SIGUSR2)
	debugger.New(factory.Core().V1().Nodes().Lister(), factory.Core().V1().Pods().Lister(), sched.Cache, queue).
		ListenForSignal(ctx)
}
