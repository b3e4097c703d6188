//go:build kube134

package main

import (
	v1 "k8s.io/api/core/v1"

	"schedq/examples/kube-scheduler/internal/memapi"
)

// This release has no groups of pods.

var scenarioNames = []string{"mixed", "random", "throughput", "storm", "starvation"}

func withGangs(scenarios map[string]func([]queueName) error) map[string]func([]queueName) error {
	return scenarios
}

type groups struct{}

func serveGroups(*memapi.Server) (none groups) { return none }

const gangSteps = 0

func hasGangs() bool { return false }

func (*random) settledButGangs([]*v1.Pod) bool { return true }

func (*random) endGangs() bool { return true }

func makeGangStep(int, int) (none step) { return none }
