package shard

import (
	"fmt"
	"testing"
)

func TestAProcessThatComesMovesOnlyWhatItGets(t *testing.T) {
	processes := []string{}
	before := make([]string, Default)
	for n := range 8 {
		name := fmt.Sprintf("process-%d", n)
		processes = append(processes, name)
		got := 0
		for s := range Default {
			owner := Owner(s, processes)
			if owner == name {
				got++
			} else if owner != before[s] {
				t.Fatalf("shard %d moved from %s to %s when %s came", s, before[s], owner, name)
			}
			before[s] = owner
		}
		// A fair share, within four standard deviations of a binomial.
		share := float64(Default) / float64(n+1)
		if low, high := share*0.5-8, share*1.5+8; float64(got) < low || float64(got) > high {
			t.Errorf("%s got %d of %d shards as one of %d", name, got, Default, n+1)
		}
	}
}

func TestLotsSpreadOverShards(t *testing.T) {
	counts := make([]int, Default)
	for n := range 100 * Default {
		counts[Of(fmt.Sprintf("namespace-%d", n), Default)]++
	}
	for s, count := range counts {
		if count < 50 || count > 160 {
			t.Errorf("shard %d has %d of %d lots", s, count, 100*Default)
		}
	}
}

func TestTheHashIsTheDocumentedOne(t *testing.T) {
	// FNV-1a's published values.
	for text, want := range map[string]uint64{"": 0xcbf29ce484222325, "a": 0xaf63dc4c8601ec8c, "foobar": 0x85944171f73967e8} {
		if got := hash(text); got != want {
			t.Errorf("hash(%q) = %#x, not %#x", text, got, want)
		}
	}
	if Lot("team/web-1") != "team" || Owner(3, nil) != "" || CheckCount(0) == nil || CheckCount(Max+1) == nil || CheckCount(Max) != nil {
		t.Error("lot, owner of none, or the range of shards")
	}
}
