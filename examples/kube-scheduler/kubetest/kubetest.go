// Package kubetest lets Kubernetes' own integration tests run on this queue: tests/kube/kubernetes.patch has them call [Install]
// where they have called scheduler.New.
package kubetest

import (
	"context"
	"fmt"
	"os"
	"reflect"

	"k8s.io/client-go/informers"
	"k8s.io/kubernetes/pkg/scheduler"
	internalqueue "k8s.io/kubernetes/pkg/scheduler/backend/queue"

	"schedq"
	"schedq/examples/kube-scheduler/kubequeue"
)

// Variable names the queue in the environment: original, or nothing, for the one that the scheduler has; lockfree; mutex.
const Variable = "SCHEDQ_ENGINE"

// Install gives the scheduler of a test the queue that the environment names, configured as the one that scheduler.New made.
//
// Errors: another name; what kubequeue.Install refuses.
func Install(ctx context.Context, sched *scheduler.Scheduler, factory informers.SharedInformerFactory) error {
	var engine schedq.Engine
	switch name := os.Getenv(Variable); name {
	case "", "original":
		return nil
	case "lockfree":
		engine = schedq.LockFree
	case "mutex":
		engine = schedq.Mutex
	default:
		return fmt.Errorf("%s=%q: legal are original, lockfree and mutex", Variable, name)
	}
	options, err := optionsOf(sched.SchedulingQueue)
	if err != nil {
		return err
	}
	options.Engine = engine
	_, err = kubequeue.Install(ctx, sched, factory, options)
	return err
}

// optionsOf reads back what a test told scheduler.New and only the queue knows.
func optionsOf(queue internalqueue.SchedulingQueue) (options kubequeue.Options, err error) {
	for _, field := range []struct {
		path []string
		into any
	}{
		{[]string{"backoffQ", "podInitialBackoff"}, &options.InitialBackoff},
		{[]string{"backoffQ", "podMaxBackoff"}, &options.MaxBackoff},
		{[]string{"podMaxInUnschedulablePodsDuration"}, &options.MaxParked},
		{[]string{"clock"}, &options.Clock},
	} {
		value := reflect.ValueOf(queue)
		for _, name := range field.path {
			for value.Kind() == reflect.Pointer || value.Kind() == reflect.Interface {
				value = value.Elem()
			}
			if value.Kind() == reflect.Struct {
				value = value.FieldByName(name)
			}
			if !value.IsValid() {
				return options, fmt.Errorf("kubetest: a queue of type %T has no %v", queue, field.path)
			}
		}
		// What is not exported can be read only where it lies.
		reflect.ValueOf(field.into).Elem().Set(reflect.NewAt(value.Type(), value.Addr().UnsafePointer()).Elem())
	}
	if options.MaxBackoff == 0 {
		options.MaxBackoff = -1
	}
	return options, nil
}
