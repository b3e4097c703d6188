//go:build kube134

package main

import (
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

func (timed *timed) Add(logger klog.Logger, pod *v1.Pod) {
	defer timed.add(time.Now())
	timed.SchedulingQueue.Add(logger, pod)
}

func (timed *timed) Pop(logger klog.Logger) (*framework.QueuedPodInfo, error) {
	start := time.Now()
	info, err := timed.SchedulingQueue.Pop(logger)
	if info != nil {
		timed.pop(start, info)
	}
	return info, err
}
