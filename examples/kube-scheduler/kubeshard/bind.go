//go:build !kube134

package kubeshard

import (
	"context"
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"schedq/examples/kube-scheduler/kubequeue"
)

// Two looks keep a pod from being bound twice. Before a bind this package asks whether the pod's shard is served; a scheduler that gives
// a shard away in order waits for the binds that asked before. A bind that is late all the same, because its process or the network
// stood still, meets the API server's own look: it refuses a pod that has a node, or another UID than the binding says. The API
// server's look alone is enough for "once"; the first look saves the work.

// profile is one of the scheduler's, with the look before its binds.
type profile struct {
	framework.Framework
	shares *Shares
}

// wrap gives the scheduler's profiles that look. What fails of a pod that is another's by now is not told to the API server: it may be
// bound.
func (shares *Shares) wrap(sched *scheduler.Scheduler, queue *kubequeue.Queue) {
	for name, inner := range sched.Profiles {
		sched.Profiles[name] = &profile{inner, shares}
	}
	failed := sched.FailureHandler
	sched.FailureHandler = func(ctx context.Context, profile framework.Framework, info *framework.QueuedPodInfo, status *fwk.Status,
		nominating *fwk.NominatingInfo, start time.Time) {
		if !queue.Abandon(info.Pod) {
			failed(ctx, profile, info, status, nominating, start)
		}
	}
}

// RunBindPlugins binds a pod if its shard is served.
func (profile *profile) RunBindPlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) *fwk.Status {
	shares, shard := profile.shares, profile.shares.Of(pod)
	// First count, then ask: a goroutine that stops a shard works in the other order.
	shares.binding[shard].Add(1)
	defer shares.binding[shard].Add(-1)
	if !shares.Serves(shard) {
		shares.refused[notServed].Add(1)
		return fwk.AsStatus(fmt.Errorf("shard %d of pod %s/%s is another scheduler's, or the lease on it may be over", shard, pod.Namespace, pod.Name))
	}
	status := profile.Framework.RunBindPlugins(ctx, state, pod, node)
	if err := status.AsError(); err != nil && apierrors.IsConflict(err) {
		shares.refused[conflict].Add(1)
	}
	return status
}
