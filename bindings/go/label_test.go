package schedq_test

import (
	"fmt"
	"testing"

	"schedq"
)

func TestPodsOfALabelAreHeldReleasedCountedAndCancelled(t *testing.T) {
	onBothEngines(t, nil, func(f *fixture) {
		const label, pods = 7, 5
		for i := range pods {
			f.add(fmt.Sprintf("default/%d", i), schedq.PodSpec{Label: label})
		}
		other := f.add("default/other", schedq.PodSpec{Label: label + 1}).Pod
		count, err := f.CountLabel(label)
		f.ok(err)
		equal(f, "counted", count, pods)
		count, err = f.HoldLabel(label)
		f.ok(err)
		equal(f, "held", count, pods)
		equal(f, "in the words", f.Words().Held(), pods)
		f.pop("default/other")
		count, err = f.ReleaseLabel(label)
		f.ok(err)
		equal(f, "released", count, pods)
		f.pop("default/0")
		results := make([]schedq.Result, 3)
		count, err = f.CancelLabel(label, results)
		f.ok(err)
		equal(f, "cancelled", count, 3)
		count, err = f.CancelLabel(label, nil)
		f.ok(err)
		equal(f, "the others", count, pods-3)
		count, err = f.CountLabel(label)
		f.ok(err)
		equal(f, "none is left", count, 0)
		info, err := f.Get(other)
		f.ok(err)
		equal(f, "its label", info.Label, label+1)
		_, err = f.CountLabel(0)
		f.wants(err, schedq.ErrInvalid)
	})
}
