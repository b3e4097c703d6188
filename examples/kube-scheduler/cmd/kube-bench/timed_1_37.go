//go:build !kube134

package main

import (
	"context"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

func (timed *timed) Add(ctx context.Context, pod *v1.Pod) {
	defer timed.add(time.Now())
	timed.SchedulingQueue.Add(ctx, pod)
}

func (timed *timed) Pop(logger klog.Logger) (framework.QueuedEntityInfo, error) {
	start := time.Now()
	entity, err := timed.SchedulingQueue.Pop(logger)
	if info, isPod := entity.(*framework.QueuedPodInfo); isPod {
		timed.pop(start, info)
	}
	return entity, err
}
