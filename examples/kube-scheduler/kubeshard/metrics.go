//go:build !kube134

package kubeshard

import (
	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"
)

// reason is why a bind was refused.
type reason int

const (
	conflict  reason = iota // by the API server: the pod has a node, or is another one of its name
	notServed               // here: the pod's shard is another's, or the lease may be over
	reasons
)

var reasonNames = [reasons]string{"conflict", "not_served"}

// collector reads the counts when they are asked for.
type collector struct {
	metrics.BaseStableCollector
	shares *Shares
}

var (
	readyDesc = metrics.NewDesc("schedq_shard_ready", "1: there is a lease that is trusted.", nil, nil, metrics.ALPHA, "")
	ownedDesc = metrics.NewDesc("schedq_shard_shards", "Shards that this process owns.", nil, nil, metrics.ALPHA, "")
	lossDesc  = metrics.NewDesc("schedq_shard_lease_losses_total", "Leases that ended.", nil, nil, metrics.ALPHA, "")
	bindsDesc = metrics.NewDesc("schedq_shard_binds_refused_total",
		"Binds that were refused, by the API server (conflict), or here because the shard is not served (not_served).",
		[]string{"reason"}, nil, metrics.ALPHA, "")
)

func register(shares *Shares) { legacyregistry.CustomMustRegister(&collector{shares: shares}) }

// DescribeWithStability is metrics.StableCollector's.
func (*collector) DescribeWithStability(out chan<- *metrics.Desc) {
	for _, desc := range []*metrics.Desc{readyDesc, ownedDesc, lossDesc, bindsDesc} {
		out <- desc
	}
}

// CollectWithStability is metrics.StableCollector's.
func (collector *collector) CollectWithStability(out chan<- metrics.Metric) {
	ready, owned, losses := 0.0, 0.0, 0.0
	if m := collector.shares.member.Load(); m != nil {
		status := m.Status()
		owned, losses = float64(status.Owned), float64(status.Counts.Losses)
		if status.Ready {
			ready = 1
		}
	}
	out <- metrics.NewLazyConstMetric(readyDesc, metrics.GaugeValue, ready)
	out <- metrics.NewLazyConstMetric(ownedDesc, metrics.GaugeValue, owned)
	out <- metrics.NewLazyConstMetric(lossDesc, metrics.CounterValue, losses)
	for reason, name := range reasonNames {
		out <- metrics.NewLazyConstMetric(bindsDesc, metrics.CounterValue, float64(collector.shares.refused[reason].Load()), name)
	}
}
