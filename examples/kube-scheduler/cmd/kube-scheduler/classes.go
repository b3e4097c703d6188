package main

import (
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"schedq/examples/kube-scheduler/kubequeue"
)

// alike is which pods fail alike, and how long one of them waits for another.
type alike struct {
	by       string
	patience time.Duration
}

var classesBy = map[string]kubequeue.Classes{"off": nil, "signature": kubequeue.BySignature, "spec": kubequeue.BySpec}

const maxPatience = 365 * 24 * time.Hour

func (alike *alike) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&alike.by, "schedq-classes", "off",
		"Which pods fail alike, so that one of them is tried for all: off, signature (kube-scheduler's own, 1.37), or spec.")
	flags.DurationVar(&alike.patience, "schedq-class-patience", 5*time.Minute,
		"How long a pod waits for another one of its class at most.")
}

// check refuses what has no meaning. ours: the queue is schedq's.
func (alike *alike) check(ours bool) error {
	if _, known := classesBy[alike.by]; !known {
		return fmt.Errorf("--schedq-classes=%q: legal are off, signature and spec", alike.by)
	}
	if alike.by != "off" && !ours {
		return fmt.Errorf("--schedq-classes=%s: kube-scheduler's own queue has no classes", alike.by)
	}
	if alike.patience < time.Millisecond || alike.patience > maxPatience {
		return fmt.Errorf("--schedq-class-patience=%v: legal are %v to %v", alike.patience, time.Millisecond, maxPatience)
	}
	return nil
}
