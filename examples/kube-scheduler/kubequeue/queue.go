package kubequeue

import (
	"cmp"
	"context"
	"fmt"
	"sync/atomic"
	"time"

	listersv1 "k8s.io/client-go/listers/core/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	internalqueue "k8s.io/kubernetes/pkg/scheduler/backend/queue"
	schedmetrics "k8s.io/kubernetes/pkg/scheduler/metrics"
	"k8s.io/utils/clock"

	v1 "k8s.io/api/core/v1"

	"schedq"
)

// Options are what a queue cannot read back from the scheduler that it serves. The zero value is kube-scheduler's defaults on
// the lock-free engine.
type Options struct {
	Engine         schedq.Engine // 0: schedq.LockFree
	InitialBackoff time.Duration // 0: 1 s
	// MaxBackoff: 0: 10 s. Negative: no backoff, what kube-scheduler does with podMaxBackoffSeconds: 0.
	MaxBackoff time.Duration
	// MaxParked is --pod-max-in-unschedulable-pods-duration; 0: 5 minutes.
	MaxParked time.Duration
	// NoPopFromBackoff is the feature gate SchedulerPopFromBackoffQ, off.
	NoPopFromBackoff bool
	// Classes says which pods fail alike: then one of them is tried for all (class.go). nil: each of them is tried.
	Classes Classes
	// ClassPatience is how long a pod waits for another one of its class at most; 0: 5 minutes.
	ClassPatience time.Duration
	// Shards says which pods are this queue's, if other schedulers are active beside it; nil: all. Then it has none before Gain.
	Shards Shards
	// Clock is for tests; nil: the real one. Another one brings pods back at its own tickers' ticks; if it has none
	// (clock.WithTicker), nothing happens by itself when time goes on.
	Clock clock.PassiveClock
}

// Queue is kube-scheduler's scheduling queue on schedq. All its methods may be called from any goroutine, also after Close.
type Queue struct {
	*nominator

	library *schedq.Queue
	words   *schedq.Words
	options Options
	lister  listersv1.PodLister
	shards  shards
	start   time.Time // times and the library's nanoseconds meet here

	profiles profiles
	kinds    kinds
	table    table
	flights  flights
	log      eventLog
	groups   groups // nil: there are none

	cycle      atomic.Int64
	stop       context.Context
	cancel     context.CancelFunc
	recorder   *schedmetrics.MetricAsyncRecorder
	dispatcher fwk.APIDispatcher // nil without the feature gate SchedulerAsyncAPICalls
	counted    counted
}

var _ internalqueue.SchedulingQueue = (*Queue)(nil)

// New makes a queue. Its goroutines end with ctx, or with Close.
//
// plugins are those of each profile, by scheduler name. lister is the scheduler's. dispatcher is nil without the feature gate
// SchedulerAsyncAPICalls. The scheduler's metrics must be registered.
//
// Errors: options out of range, a plugin's events, too many plugins or profiles.
func New(ctx context.Context, plugins map[string]Plugins, lister listersv1.PodLister, dispatcher fwk.APIDispatcher,
	options Options) (*Queue, error) {
	queue := &Queue{
		options: options, dispatcher: dispatcher, lister: lister, shards: shards{Shards: options.Shards, owned: map[int]bool{}},
	}
	if options.Clock == nil {
		queue.options.Clock = clock.RealClock{}
	}
	queue.start = queue.options.Clock.Now()
	config, err := queue.options.config()
	if err != nil {
		return nil, err
	}
	queue.library, err = schedq.New(config, queue.now)
	if err != nil {
		return nil, fmt.Errorf("kubequeue: %w", err)
	}
	if err := queue.profiles.define(ctx, queue.library, plugins, options.Classes); err != nil {
		_ = queue.library.DestroyWithPods()
		return nil, fmt.Errorf("kubequeue: %w", err)
	}
	queue.words = queue.library.Words()
	queue.kinds.init(&queue.profiles)
	queue.table.init()
	queue.flights.init()
	queue.nominator = newNominator(lister, queue.queued)
	queue.groups = newGroups(queue)
	queue.stop, queue.cancel = context.WithCancel(ctx)
	queue.recorder = schedmetrics.NewMetricsAsyncRecorder(1000, time.Second, queue.stop.Done())
	queue.counted.init()
	go queue.showPending()
	return queue, nil
}

// config is the library's configuration: kube-scheduler's without caps, decided here.
func (options *Options) config() (schedq.Config, error) {
	config, err := schedq.PresetConfig(preset)
	if err != nil {
		return config, err
	}
	config.Decide = schedq.DecideHost
	config.MaxPods, config.MaxBands, config.MaxEvents = 0, 0, 0
	if options.Engine != 0 {
		config.Engine = options.Engine
	}
	if options.InitialBackoff != 0 {
		config.InitialBackoff = int64(options.InitialBackoff)
	}
	switch {
	case options.MaxBackoff > 0:
		config.MaxBackoff = int64(options.MaxBackoff)
	case options.MaxBackoff < 0:
		config.MaxBackoff = 0
	}
	if options.MaxParked != 0 {
		config.MaxParked = int64(options.MaxParked)
	}
	if options.NoPopFromBackoff {
		config.PopFromBackoff, config.BackoffWindow = false, false
	}
	config.ClassPatience = 0
	if options.Classes != nil {
		config.ClassPatience = int64(cmp.Or(options.ClassPatience, classPatience))
	}
	options.MaxParked = time.Duration(config.MaxParked)
	options.InitialBackoff, options.MaxBackoff = time.Duration(config.InitialBackoff), time.Duration(config.MaxBackoff)
	return config, nil
}

// now is the queue's clock: wall time when it started, and never back from there, whatever the wall clock does.
func (queue *Queue) now() int64 {
	return queue.start.UnixNano() + int64(queue.options.Clock.Since(queue.start))
}

// time makes the library's nanoseconds a time.
func (queue *Queue) time(ns int64) time.Time {
	if ns == 0 {
		return time.Time{}
	}
	return queue.start.Add(time.Duration(ns - queue.start.UnixNano()))
}

// nanoseconds makes a time the library's; not before the epoch.
func (queue *Queue) nanoseconds(at time.Time) int64 {
	if at.IsZero() {
		return 0
	}
	return max(1, queue.start.UnixNano()+int64(at.Sub(queue.start)))
}

// SchedulingCycle is how many pops there were: of a pod, or of a group.
func (queue *Queue) SchedulingCycle() int64 { return queue.cycle.Load() }

// Close ends the queue's goroutines and all flights, and wakes Pop, which then returns nil. It may be called again. The
// memory stays: the scheduler's goroutines may call for a while.
func (queue *Queue) Close() {
	queue.cancel()
	queue.library.Close()
	for _, flight := range queue.flights.all() {
		queue.land(flight)
	}
	if queue.groups != nil {
		queue.groups.close()
	}
	queue.show()
}

// patch hands a status to the API dispatcher. Only with the feature gate SchedulerAsyncAPICalls.
func (queue *Queue) patch(status fwk.APICall) (<-chan error, error) {
	finished := make(chan error, 1)
	if err := queue.dispatcher.Add(status, fwk.APICallOptions{OnFinish: finished}); fwk.IsUnexpectedError(err) {
		return finished, err
	}
	return finished, nil
}

// moved says in the scheduler's log where a pod went.
func moved(logger klog.Logger, pod *v1.Pod, label string, place schedq.Place) {
	if logger := logger.V(5); logger.Enabled() {
		logger.Info("Pod moved to an internal scheduling queue", "pod", klog.KObj(pod), "event", label, "queue", place)
	}
}
