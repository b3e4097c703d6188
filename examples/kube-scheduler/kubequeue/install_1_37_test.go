//go:build !kube134

package kubequeue

import (
	"strings"
	"testing"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
	featuregatetesting "k8s.io/component-base/featuregate/testing"
	"k8s.io/kubernetes/pkg/features"
)

func TestGroupsOfPodsAreNotSplitOverSchedulers(t *testing.T) {
	featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, features.GenericWorkload, true)
	if err := fitGates(&Options{}); err != nil {
		t.Errorf("a scheduler alone is refused: %v", err)
	}
	err := fitGates(&Options{Shards: new(byLabel)})
	if err == nil || !strings.Contains(err.Error(), "GenericWorkload") {
		t.Errorf("one of several is answered %v", err)
	}
}
