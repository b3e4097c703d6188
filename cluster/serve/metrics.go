package serve

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"schedq/cluster/member"
)

// collector reads a member's counts when it is asked.
type collector struct {
	member  *member.Member
	ready   *prometheus.Desc
	owned   *prometheus.Desc
	pods    *prometheus.Desc
	counter map[string]*prometheus.Desc
}

var counters = map[string]string{
	"pops_total":         "Pods that were popped.",
	"dones_total":        "Pods whose end was decided in etcd.",
	"failures_total":     "Pods that were put back.",
	"batches_total":      "Transactions for pods.",
	"batch_pods_total":   "Pods in these transactions.",
	"refused_total":      "Transactions that met another token.",
	"claims_total":       "Shards that became this process'.",
	"releases_total":     "Shards that were given away in order.",
	"lease_losses_total": "Leases that ended.",
	"renewals_total":     "Renewals that were asked for.",
	"unanswered_total":   "Transactions for pods that got no answer.",
	"pops_behind_total":  "Pops while another process had published a higher priority.",
}

func metrics(m *member.Member) http.Handler {
	c := &collector{
		member:  m,
		ready:   prometheus.NewDesc("schedq_shard_ready", "1: there is a lease that is trusted.", nil, nil),
		owned:   prometheus.NewDesc("schedq_shard_shards", "Shards that this process owns.", nil, nil),
		pods:    prometheus.NewDesc("schedq_shard_pods", "Pods in the shards that this process owns.", []string{"kind"}, nil),
		counter: map[string]*prometheus.Desc{},
	}
	for name, help := range counters {
		c.counter[name] = prometheus.NewDesc("schedq_shard_"+name, help, nil, nil)
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(c, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	own := promhttp.HandlerFor(registry, promhttp.HandlerOpts{DisableCompression: true})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Del("Accept") // the library's own lines follow, which are text
		own.ServeHTTP(w, r)
		_ = m.WriteMetrics(w)
	})
}

func (c *collector) Describe(out chan<- *prometheus.Desc) {
	out <- c.ready
	out <- c.owned
	out <- c.pods
	for _, desc := range c.counter {
		out <- desc
	}
}

func (c *collector) Collect(out chan<- prometheus.Metric) {
	status := c.member.Status()
	gauge := func(desc *prometheus.Desc, value float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, labels...)
	}
	ready := 0.0
	if status.Ready {
		ready = 1
	}
	gauge(c.ready, ready)
	gauge(c.owned, float64(status.Owned))
	all, flying, unsaved := 0, 0, 0
	for _, shard := range status.Shards {
		all, flying, unsaved = all+shard.Pods, flying+shard.InFlight, unsaved+shard.Unsaved
	}
	gauge(c.pods, float64(all), "all")
	gauge(c.pods, float64(flying), "in_flight")
	gauge(c.pods, float64(unsaved), "unsaved")
	counts := status.Counts
	for name, value := range map[string]uint64{
		"pops_total": counts.Pops, "dones_total": counts.Dones, "failures_total": counts.Failures, "batches_total": counts.Batches,
		"batch_pods_total": counts.BatchPods, "refused_total": counts.Rejections, "claims_total": counts.Claims,
		"releases_total": counts.Releases, "lease_losses_total": counts.Losses, "renewals_total": counts.Renewals,
		"unanswered_total": counts.Unanswered, "pops_behind_total": counts.Behind,
	} {
		out <- prometheus.MustNewConstMetric(c.counter[name], prometheus.CounterValue, float64(value))
	}
}
