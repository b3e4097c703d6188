//go:build !kube134

package kubequeue

import (
	"context"
	"testing"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	schedconfig "k8s.io/kubernetes/pkg/scheduler/apis/config"

	"schedq"
	"schedq/examples/kube-scheduler/internal/memapi"
	"schedq/examples/kube-scheduler/internal/release"
)

func TestPodsOfOneSignatureAreOneClass(t *testing.T) {
	for _, engine := range []schedq.Engine{schedq.LockFree, schedq.Mutex} {
		kinds := map[string]string{"a": "small", "b": "", "c": "small", "d": "large", "e": ""}
		test := newFixtureWith(t, Options{Engine: engine, Classes: BySignature}, Plugins{
			Extensions: []release.EnqueueExtensions{&fitPlugin{nodePlugin{answer: always}}},
			Sign: func(_ context.Context, pod *v1.Pod) fwk.PodSignature {
				return fwk.PodSignature(kinds[pod.Name])
			},
		})
		for _, name := range []string{"a", "b", "c", "d", "e"} {
			test.add(name, name)
		}
		tried := ""
		test.tryAll(func(pod *v1.Pod) bool { tried += pod.Name; return false }, fit)
		if tried != "abde" {
			t.Errorf("%v: tried %s, want abde: one of each signature, and both that have none", engine, tried)
		}
	}
}

// Whom kube-scheduler signs: docs/KUBE.md states it.
func TestWhichPodsAreSigned(t *testing.T) {
	constraints := func(defaulting schedconfig.PodTopologySpreadConstraintsDefaulting) func(*schedconfig.KubeSchedulerProfile) {
		return func(profile *schedconfig.KubeSchedulerProfile) {
			for i := range profile.PluginConfig {
				if args, found := profile.PluginConfig[i].Args.(*schedconfig.PodTopologySpreadArgs); found {
					args.DefaultingType = defaulting
				}
			}
		}
	}
	signer := func(defaulting schedconfig.PodTopologySpreadConstraintsDefaulting) func(*v1.Pod) bool {
		_, sched, _ := newScheduler(t, memapi.New(), constraints(defaulting))
		plugins, err := PluginsOf(sched)
		if err != nil {
			t.Fatal(err)
		}
		sign := plugins[v1.DefaultSchedulerName].Sign
		return func(pod *v1.Pod) bool { return len(BySignature(pod, sign(context.Background(), pod))) > 0 }
	}
	plain := &v1.Pod{Spec: v1.PodSpec{SchedulerName: v1.DefaultSchedulerName}}
	beside := plain.DeepCopy()
	beside.Spec.Affinity = &v1.Affinity{PodAffinity: &v1.PodAffinity{}}
	spread := plain.DeepCopy()
	spread.Spec.TopologySpreadConstraints = []v1.TopologySpreadConstraint{{MaxSkew: 1}}
	claiming := plain.DeepCopy()
	claiming.Spec.ResourceClaims = []v1.PodResourceClaim{{Name: "c"}}
	if signer(schedconfig.SystemDefaulting)(plain) {
		t.Error("a pod is signed although there are default constraints")
	}
	signed := signer(schedconfig.ListDefaulting)
	if !signed(plain) {
		t.Error("without default constraints a plain pod is not signed")
	}
	for name, pod := range map[string]*v1.Pod{"affinity": beside, "constraints": spread, "claims": claiming} {
		if signed(pod) {
			t.Errorf("a pod with %s is signed", name)
		}
	}
}
