package sim

import (
	"testing"

	"schedq/cluster/internal/plant"
)

// A defect that is planted in the owner has to be found, and soon: a simulation that does not find it shows nothing about others.
func TestPlantedDefectsAreFound(t *testing.T) {
	for _, planted := range []struct {
		name    string
		defects plant.Defects
	}{
		{"no token check", plant.Defects{NoToken: true}},
		{"watch from R", plant.Defects{WatchFromR: true}},
		{"watch from R+2", plant.Defects{WatchLate: true}},
		{"no self-fencing", plant.Defects{NoFence: true}},
		{"flush after the delete", plant.Defects{FlushLate: true}},
		{"a late put may replace a newer state", plant.Defects{NoGuard: true}},
		{"ended pods forgotten too soon", plant.Defects{Forget: true}},
		{"events dropped after compaction", plant.Defects{DropEvents: true}},
	} {
		t.Run(planted.name, func(t *testing.T) {
			const most = 5000
			for n := range most {
				violations, _ := Round(*seed+uint64(n), planted.defects, nil)
				if len(violations) > 0 {
					t.Logf("found in round %d (seed %d): %s", n+1, *seed+uint64(n), violations[0])
					return
				}
			}
			t.Errorf("not found in %d rounds from seed %d", most, *seed)
		})
	}
}
