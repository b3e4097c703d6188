//go:build !kube134

package kubeshard

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"schedq/cluster/owner"
	"schedq/cluster/store/etcd"
)

func pod(namespace string, labels map[string]string) *v1.Pod {
	return &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "pod", Labels: labels}}
}

func TestPodsOfALotAreInOneShard(t *testing.T) {
	shares := &Shares{count: 256}
	if shares.Of(pod("a", nil)) != shares.Of(pod("a", map[string]string{"tenant": "x"})) {
		t.Error("a namespace is in two shards")
	}
	shares.options.LotLabel = "tenant"
	if shares.Of(pod("a", map[string]string{"tenant": "x"})) != shares.Of(pod("b", map[string]string{"tenant": "x"})) {
		t.Error("a tenant is in two shards")
	}
	if shares.Of(pod("x", nil)) != shares.Of(pod("b", map[string]string{"tenant": "x"})) {
		t.Error("pods without the label are not shared out by their namespace")
	}
	seen := map[int]bool{}
	for number := range 1000 {
		seen[shares.Of(pod(fmt.Sprintf("team-%d", number), nil))] = true
	}
	if len(seen) < 240 {
		t.Errorf("1,000 namespaces are in %d shards of 256", len(seen))
	}
}

// Schedulers that would not agree whose a pod is are in different clusters.
func TestSchedulersOfOtherRulesAreOtherClusters(t *testing.T) {
	prefixes := map[string]bool{}
	for _, label := range []string{"", "tenant"} {
		for _, profiles := range [][]string{{"a"}, {"a", "b"}} {
			options := Options{Prefix: DefaultPrefix, LotLabel: label}
			prefixes[options.cluster(profiles)] = true
		}
	}
	if len(prefixes) != 4 {
		t.Errorf("four rules have the prefixes %v", prefixes)
	}
	options := Options{Prefix: "/p/"}
	if got := options.cluster([]string{"b", "a"}); got != options.cluster([]string{"a", "b"}) || got != "/p/a,b/by-namespace/" {
		t.Errorf("the prefix is %q", got)
	}
}

func TestOptionsThatDoNotFitAreRefused(t *testing.T) {
	urls := etcd.Access{URLs: []string{"http://x"}}
	for what, given := range map[string]struct {
		options    Options
		ours, lead bool
		want       string // in the error; "": none
	}{
		"nothing":         {Options{Prefix: DefaultPrefix}, false, true, ""},
		"etcd":            {Options{Etcd: urls, Prefix: "/p/"}, true, false, ""},
		"leader election": {Options{Etcd: urls, Prefix: "/p/"}, true, true, "--leader-elect=false"},
		"original":        {Options{Etcd: urls, Prefix: "/p/"}, false, false, "--schedq-engine=original"},
		"prefix":          {Options{Etcd: urls, Prefix: "/p"}, true, false, `"/p"`},
		"a key alone":     {Options{Etcd: etcd.Access{URLs: urls.URLs, Key: "k"}, Prefix: "/p/"}, true, false, "need each other"},
		"a user alone":    {Options{Etcd: etcd.Access{URLs: urls.URLs, User: "u"}, Prefix: "/p/"}, true, false, "need each other"},
		"label, no etcd":  {Options{LotLabel: "tenant"}, true, false, "--schedq-etcd is missing"},
		"CA, but no etcd": {Options{Etcd: etcd.Access{CACert: "f"}}, true, false, "--schedq-etcd is missing"},
	} {
		err := given.options.Check(given.ours, given.lead)
		if (err == nil) != (given.want == "") || err != nil && !strings.Contains(err.Error(), given.want) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestTheLastStepOfAShardCounts(t *testing.T) {
	gained, lost := changes([]owner.Step{
		{What: owner.Joined}, {What: owner.Claimed, Shard: 1}, {What: owner.Loaded, Shard: 1}, {What: owner.Loaded, Shard: 2},
		{What: owner.Stopped, Shard: 2}, {What: owner.Stopped, Shard: 3}, {What: owner.Resumed, Shard: 3},
		{What: owner.Dropped, Shard: 4}, {What: owner.Claimed, Shard: 4}, {What: owner.Released, Shard: 5},
	})
	if !slices.Equal(gained, []int{1, 3}) || !slices.Equal(lost, []int{2, 4}) {
		t.Errorf("gained %v, lost %v", gained, lost)
	}
}

// binder is a profile that binds as the test says.
type binder struct {
	framework.Framework
	bind func() *fwk.Status
}

func (binder *binder) RunBindPlugins(context.Context, fwk.CycleState, *v1.Pod, string) *fwk.Status {
	return binder.bind()
}

func TestABindIsCountedAndAskedForFirst(t *testing.T) {
	asked, serves := 0, true
	shares := &Shares{count: 4, binding: make([]atomic.Int64, 4)}
	shard := shares.Of(pod("a", nil))
	shares.serves = func(number int) bool {
		asked++
		if number != shard || shares.binding[shard].Load() != 1 {
			t.Errorf("shard %d is asked for with %d binds under way; want %d and 1", number, shares.binding[shard].Load(), shard)
		}
		return serves
	}
	sent := 0
	var answer *fwk.Status
	tested := &profile{&binder{bind: func() *fwk.Status {
		sent++
		return answer
	}}, shares}
	bind := func() *fwk.Status { return tested.RunBindPlugins(context.Background(), nil, pod("a", nil), "node") }

	if status := bind(); !status.IsSuccess() || asked != 1 || sent != 1 {
		t.Errorf("%v, asked %d times, sent %d times", status, asked, sent)
	}
	refusal := apierrors.NewConflict(schema.GroupResource{Resource: "pods/binding"}, "pod", errors.New("pod has a node"))
	answer = fwk.AsStatus(fmt.Errorf("running Bind plugin: %w", refusal))
	if status := bind(); status.IsSuccess() || shares.refused[conflict].Load() != 1 {
		t.Errorf("%v, %d conflicts are counted", status, shares.refused[conflict].Load())
	}
	answer = fwk.AsStatus(errors.New("no answer"))
	if bind(); shares.refused[conflict].Load() != 1 {
		t.Error("every error is taken for a conflict")
	}
	serves = false
	if status := bind(); status.IsSuccess() || sent != 3 || shares.refused[notServed].Load() != 1 {
		t.Errorf("for a shard that is not served: %v, sent %d times, %d are counted", status, sent, shares.refused[notServed].Load())
	}
	if shares.binding[shard].Load() != 0 {
		t.Errorf("%d binds are under way, want none", shares.binding[shard].Load())
	}
}
