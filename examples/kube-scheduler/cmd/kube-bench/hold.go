package main

import (
	"context"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"

	"schedq/examples/kube-scheduler/internal/release"
)

// Hold is a plugin that keeps pods in flight for as long as their labels say, so that a scenario can do something to them
// meanwhile: holdCycle in the scheduling cycle, holdPermit in Permit, which then rejects them.

const (
	holdName   = "Hold"
	holdCycle  = "hold-cycle"
	holdPermit = "hold-permit"
)

type hold struct{}

func newHold(context.Context, runtime.Object, release.Handle) (release.Plugin, error) {
	return hold{}, nil
}

func (hold) Name() string { return holdName }

func (hold) PreFilter(_ context.Context, _ fwk.CycleState, pod *v1.Pod, _ []fwk.NodeInfo) (*release.PreFilterResult,
	*fwk.Status) {
	if length, err := time.ParseDuration(pod.Labels[holdCycle]); err == nil {
		time.Sleep(length)
	}
	return nil, nil
}

func (hold) PreFilterExtensions() release.PreFilterExtensions { return nil }

func (hold) Permit(_ context.Context, _ fwk.CycleState, pod *v1.Pod, _ string) (*fwk.Status, time.Duration) {
	if length, err := time.ParseDuration(pod.Labels[holdPermit]); err == nil {
		return fwk.NewStatus(fwk.Wait), length
	}
	return nil, 0
}

func (hold) EventsToRegister(context.Context) ([]fwk.ClusterEventWithHint, error) {
	return []fwk.ClusterEventWithHint{
		{Event: fwk.ClusterEvent{Resource: fwk.Pod, ActionType: fwk.UpdatePodLabel}},
	}, nil
}
