//go:build kube134

package main

import "k8s.io/kubernetes/cmd/kube-scheduler/app/options"

// nameInformers: informers have no name yet.
func nameInformers(*options.Options) error { return nil }
