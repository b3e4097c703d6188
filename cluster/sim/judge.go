package sim

import (
	"fmt"
	"strings"

	"schedq"
	"schedq/cluster/owner"
	"schedq/cluster/queue"
	"schedq/cluster/record"
	"schedq/cluster/store"
)

// judge sees everything, and says what must not be.
type judge struct {
	world      *world
	layout     record.Layout
	processes  []*process
	pods       map[int64]*podRecord // by UID
	order      []int64              // UIDs, as submitted
	facts      []int64              // revision of each fact's event; 0 = not yet
	violations []string
	stats      Stats
	say        func(format string, args ...any)
}

// podRecord is what the judge knows of a pod.
type podRecord struct {
	uid       int64
	place     string
	shard     int
	needs     int // the fact that it waits for; -1 = none
	cancelled bool
	decidedBy string
	acks      int
	lostBy    map[string]bool // ownerships whose owners were told that nothing was written
	askedBy   map[string]bool
	attempts  uint32 // of the last failure that its owner knows
	firm      uint32 // attempts that a clean hand-over has to carry over
	failedBy  string // the ownership of that failure
	binds     int
}

func (j *judge) violate(format string, args ...any) {
	j.violations = append(j.violations, fmt.Sprintf("at %.3f s: ", float64(j.world.now)/1e9)+fmt.Sprintf(format, args...))
}

// popped: nobody else may pop from the shard now, the pod is not done, and a clean hand-over kept its attempts.
func (j *judge) popped(p *process, popped queue.Popped) {
	j.stats.Pops++
	j.say("%s pops %s (UID %d), token %d, attempt %d", p.id, popped.Name, popped.UID, popped.Token, popped.Attempts)
	for _, other := range j.processes {
		if other != p && other.alive && !other.paused && other.owner.Serves(popped.Shard) {
			j.violate("two owners: %s pops from shard %d, and %s would", p.id, popped.Shard, other.id)
		}
	}
	pod := j.pods[popped.UID]
	if pod == nil {
		j.violate("%s pops UID %d, which nobody submitted", p.id, popped.UID)
		return
	}
	if pod.decidedBy != "" {
		j.violate("popped after done: %s pops %s (UID %d), which %s ended", p.id, pod.place, pod.uid, pod.decidedBy)
	}
	if popped.Attempts <= pod.firm {
		j.violate("state lost: %s pops %s at attempt %d, a clean hand-over came after attempt %d", p.id, pod.place, popped.Attempts, pod.firm)
	}
}

func (j *judge) fits(uid, seen int64) (rejector schedq.Plugins, ok bool) {
	pod := j.pods[uid]
	if pod == nil || pod.needs < 0 {
		return 0, true
	}
	fact := j.facts[pod.needs]
	return 1 << pod.needs, fact != 0 && fact <= seen
}

func (j *judge) failed(p *process, popped queue.Popped, err error) {
	if pod := j.pods[popped.UID]; pod != nil && err == nil {
		pod.attempts, pod.failedBy = popped.Attempts, ownership(p, popped.Token)
		j.stats.Failures++
	}
}

func (j *judge) bound(_ *process, popped queue.Popped) {
	if pod := j.pods[popped.UID]; pod != nil {
		if pod.binds++; pod.binds > 1 {
			j.stats.Conflicts++
		}
	}
}

func (j *judge) asked(p *process, popped queue.Popped) {
	if pod := j.pods[popped.UID]; pod != nil {
		pod.askedBy[p.id] = true
	}
}

// done: the answer to a done has to be true.
func (j *judge) done(p *process, popped queue.Popped, err error) {
	pod := j.pods[popped.UID]
	if pod == nil || !p.alive {
		return
	}
	j.say("%s: done of UID %d, token %d: %v", p.id, popped.UID, popped.Token, err)
	switch err {
	case nil:
		pod.acks++
		if pod.acks > 1 {
			j.violate("done twice: %s (UID %d)", pod.place, pod.uid)
		}
		if pod.decidedBy == "" && !pod.cancelled {
			j.violate("a done was acknowledged and %s (UID %d) is still there", pod.place, pod.uid)
		}
	case queue.ErrLost:
		pod.lostBy[ownership(p, popped.Token)] = true
	case queue.ErrGone:
		if !pod.cancelled && (pod.decidedBy == "" || pod.decidedBy == p.id) {
			j.violate("%s learned that %s (UID %d) was deleted, and nobody else did that", p.id, pod.place, pod.uid)
		}
	case queue.ErrUnknown:
		j.stats.Unknown++
	}
}

// before a transaction of a process takes effect, the judge looks whether its sender may write.
func (j *judge) before(p *process, ops []store.Op) {
	for _, op := range ops {
		var place string
		switch {
		case op.Kind == store.Get:
			continue
		case strings.HasPrefix(op.Key, j.layout.Pods()):
			place = op.Key[len(j.layout.Pods()):]
		case strings.HasPrefix(op.Key, j.layout.States()):
			place = op.Key[len(j.layout.States()):]
		default:
			continue
		}
		shard, _, _ := record.SplitPlace(place)
		key := j.world.store.Pair(j.layout.Owner(shard))
		if key == nil || string(key.Value) != p.id {
			j.violate("%s writes %s and does not own shard %d", p.id, op.Key, shard)
		}
		if pair := j.world.store.Pair(op.Key); op.Kind == store.Delete && pair != nil && strings.HasPrefix(op.Key, j.layout.Pods()) {
			j.decided(p, key, pair)
		}
	}
}

// ownership names what a token gives to a process.
func ownership(p *process, token int64) string { return fmt.Sprint(p.id, " ", token) }

func (j *judge) decided(p *process, key, pair *store.Pair) {
	pod := j.pods[pair.Create]
	if pod == nil {
		return
	}
	if !pod.askedBy[p.id] {
		j.violate("%s deletes %s (UID %d), which it never placed", p.id, pair.Key, pair.Create)
	}
	if key != nil && pod.lostBy[ownership(p, key.Create)] {
		j.violate("%s was told that nothing was written of %s, and it was", p.id, pair.Key)
	}
	pod.decidedBy = p.id
	j.say("%s deletes UID %d", p.id, pod.uid)
	j.stats.Dones++
}

// step: after a clean hand-over nothing of what the owner knew may be missing.
func (j *judge) step(p *process, step owner.Step) {
	j.say("%s: %s", p.id, step)
	switch step.What {
	case owner.Released:
		j.stats.Releases++
		for _, uid := range j.order {
			if pod := j.pods[uid]; step.InFlight == 0 && pod.shard == step.Shard && pod.failedBy == ownership(p, step.Token) {
				pod.firm = pod.attempts
			}
		}
	case owner.Claimed:
		j.stats.Claims++
	case owner.Repeated:
		j.violate("%s: %s", p.id, step)
	case owner.Lost:
		j.stats.Losses++
	}
}

// open lists pods that have neither been done nor cancelled.
func (j *judge) open() (open []*podRecord) {
	for _, uid := range j.order {
		if pod := j.pods[uid]; pod.decidedBy == "" && !pod.cancelled {
			open = append(open, pod)
		}
	}
	return open
}
