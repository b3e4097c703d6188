//go:build !kube134

package main

import (
	"context"
	"sync/atomic"

	"github.com/spf13/pflag"
	"k8s.io/kubernetes/cmd/kube-scheduler/app/config"
	"k8s.io/kubernetes/pkg/scheduler"

	"schedq/examples/kube-scheduler/kubequeue"
	"schedq/examples/kube-scheduler/kubeshard"
)

// sharing is what this scheduler shares with others, if it is told to.
type sharing struct {
	options kubeshard.Options
	shares  atomic.Pointer[kubeshard.Shares] // nil: nothing; leave reads it while open may write it
}

func (sharing *sharing) addFlags(flags *pflag.FlagSet) { sharing.options.AddFlags(flags) }

// open tells the queue that it shares. ours: the queue is schedq's.
func (sharing *sharing) open(ctx context.Context, config *config.CompletedConfig, sched *scheduler.Scheduler, ours bool,
	options *kubequeue.Options) error {
	if err := sharing.options.Check(ours, config.ComponentConfig.LeaderElection.LeaderElect); err != nil || !sharing.options.Wanted() {
		return err
	}
	shares, err := kubeshard.Open(ctx, sharing.options, sched)
	if err != nil {
		return err
	}
	sharing.shares.Store(shares)
	options.Shards = shares
	return nil
}

func (sharing *sharing) active() bool { return sharing.shares.Load() != nil }

func (sharing *sharing) start(ctx context.Context, sched *scheduler.Scheduler, queue *kubequeue.Queue) {
	if shares := sharing.shares.Load(); shares != nil {
		shares.Start(ctx, sched, queue)
	}
}

// leave gives to the others what this one has.
func (sharing *sharing) leave() {
	if shares := sharing.shares.Load(); shares != nil {
		shares.Leave()
	}
}
