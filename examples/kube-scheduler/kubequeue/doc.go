// Package kubequeue is kube-scheduler's scheduling queue on schedq: the queue of a real, unpatched kube-scheduler v1.37, or with
// the tag kube134 v1.34, is replaced after it was made, see [Install].
//
// The library decides order, places, versions, backoff and which parked pods an event may concern. Go keeps the pods, asks hints
// and gates, and keeps the log of events for the pods in flight. C never calls Go: Go reads candidates, judges them, and
// applies its decisions to the pods that are still at the version that it judged.
//
// From the top:
//
//   - install.go puts the queue in; queue.go makes it; interface_*.go is what a release calls.
//   - admit.go: what the informer tells of pods. cycle.go: pop, done, failure. move.go: cluster events and activation. time.go: time.
//   - narrow.go: events that concern named pods only. class.go: pods that fail alike.
//   - judge.go asks plugins; plugins.go and kinds.go know them and the events that they registered.
//   - records.go, flights.go, log.go: the pods, the pods in flight, and the events during their flight.
//   - shards.go: pods that are shared with other schedulers.
//   - entity.go: groups of pods, as the rest sees them. groups_1_37.go: what they are; forest_1_37.go: which there are;
//     gang_1_37.go: the record of one.
//   - nominator.go, metrics.go, look.go stand by themselves.
//
// docs/KUBE.md says how it differs from the original.
package kubequeue
