//go:build kube134

package main

import (
	"context"

	"github.com/spf13/pflag"
	"k8s.io/kubernetes/cmd/kube-scheduler/app/config"
	"k8s.io/kubernetes/pkg/scheduler"

	"schedq/examples/kube-scheduler/kubequeue"
)

// sharing: one scheduler is active at a time. The modules of package kubeshard are newer than those of this release.
type sharing struct{}

func (*sharing) addFlags(*pflag.FlagSet) {}

func (*sharing) open(context.Context, *config.CompletedConfig, *scheduler.Scheduler, bool, *kubequeue.Options) error {
	return nil
}

func (*sharing) active() bool { return false }

func (*sharing) start(context.Context, *scheduler.Scheduler, *kubequeue.Queue) {}

func (*sharing) leave() {}
