package sim

import (
	"flag"
	"testing"

	"schedq/cluster/internal/plant"
)

var (
	rounds = flag.Int("rounds", 300, "how many rounds")
	seed   = flag.Uint64("seed", 1, "the first seed; round n has seed + n")
	tell   = flag.Bool("tell", false, "say what the world of the first round does")
)

func TestNothingIsLostAndNothingIsDoneTwice(t *testing.T) {
	t.Logf("seed %d, %d rounds", *seed, *rounds)
	var sum Stats
	var trace func(string)
	if *tell {
		trace = func(line string) { t.Log(line) }
	}
	for n := range *rounds {
		violations, stats := Round(*seed+uint64(n), plant.Defects{}, trace)
		sum.Add(stats)
		for _, violation := range violations {
			t.Errorf("seed %d: %s", *seed+uint64(n), violation)
		}
		if t.Failed() || *tell {
			break
		}
		if (n+1)%1000 == 0 {
			t.Logf("%d rounds, %d faults, nothing found", n+1, sum.Faults())
		}
	}
	t.Logf("%d faults: %+v", sum.Faults(), sum)
}
