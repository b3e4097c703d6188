//go:build !kube134

package main

import (
	"k8s.io/client-go/tools/cache"
	"k8s.io/kubernetes/cmd/kube-scheduler/app/options"
)

// nameInformers gives the informers the name under which their metrics are, as app.NewSchedulerCommand does.
func nameInformers(opts *options.Options) (err error) {
	opts.InformerName, err = cache.NewInformerName("kube-scheduler")
	return err
}
