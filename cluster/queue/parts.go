package queue

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"schedq"
	"schedq/cluster/record"
	"schedq/cluster/store"
)

// Load takes a shard in: all specs and states as of one revision that is not before the token. events says when each event was
// put last. What the store holds and cannot be read is returned, key by key, and left alone.
func (q *Queue) Load(shard int, token int64, specs, states []store.Pair, events map[string]int64) (unreadable []error) {
	part := &part{
		shard: shard, token: token, guard: token, pods: make(map[string]*pod, len(specs)), stray: map[string]bool{}, ended: map[string]int64{},
	}
	q.parts[shard] = part
	saved := make(map[string]store.Pair, len(states))
	for _, pair := range states {
		saved[q.placeOf(pair.Key, q.config.Layout.States())] = pair
	}
	since := q.since(events)
	var plain []*pod
	for _, pair := range specs {
		p, err := q.admit(part, pair)
		if err != nil {
			unreadable = append(unreadable, err)
			continue
		}
		pair, stored := saved[p.place]
		delete(saved, p.place)
		state, err := record.DecodeState(pair.Value)
		// A state that is older than its spec is of an earlier pod of that name.
		if !stored || pair.Mod < p.uid || err != nil {
			p.stored = stored
			plain = append(plain, p)
			continue
		}
		q.restore(p, state, since)
	}
	q.addMany(plain)
	for _, place := range sortedKeys(saved) {
		q.sweep(part, place)
	}
	return unreadable
}

func sortedKeys[V any](set map[string]V) []string {
	keys := make([]string, 0, len(set))
	for key := range set {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

func (q *Queue) placeOf(key, prefix string) string { return key[len(prefix):] }

// admit makes a pod of a pair, and puts it nowhere.
func (q *Queue) admit(part *part, pair store.Pair) (*pod, error) {
	spec, err := record.DecodeSpec(pair.Value)
	place := q.placeOf(pair.Key, q.config.Layout.Pods())
	if _, name, ok := record.SplitPlace(place); !ok || len(name) > record.NameMax || strings.IndexByte(name, 0) >= 0 {
		err = fmt.Errorf("name %q: legal are 1..%d bytes, none of them 0", name, record.NameMax)
	}
	if err != nil {
		return nil, &UnreadableError{pair.Key, err}
	}
	q.lastID++
	p := &pod{
		id: q.lastID, part: part, place: place, uid: pair.Create, mod: pair.Mod, spec: spec,
		node: spec.Nominated, since: q.config.Wall(),
	}
	// The end of this pod deletes what an earlier one of its name left.
	p.stored = part.stray[p.place]
	delete(part.stray, p.place)
	part.pods[p.place] = p
	q.byID[p.id] = p
	return p, nil
}

// UnreadableError is a spec, or the name of one, that is none: the pod waits until its submitter puts it right, or deletes it.
type UnreadableError struct {
	Key string
	Why error
}

func (err *UnreadableError) Error() string {
	return "cluster: " + err.Key + ": no spec: " + err.Why.Error()
}

func (err *UnreadableError) Unwrap() error { return err.Why }

// addMany puts pods in that never failed.
func (q *Queue) addMany(pods []*pod) {
	items := make([]schedq.AddItem, len(pods))
	handles := make([]schedq.Pod, len(pods))
	names := make([]byte, 0, 32*len(pods))
	for i, p := range pods {
		items[i] = schedq.AddItem{NameOffset: uint32(len(names)), NameLength: uint32(len(p.place)), Spec: q.inner(p)}
		names = append(names, p.place...)
	}
	_, err := q.queue.AddMany(string(names), items, handles, nil)
	if err != nil {
		panic("cluster: a shard's pods do not fit the queue: " + err.Error())
	}
	for i, p := range pods {
		p.handle = handles[i]
	}
}

func (q *Queue) add(p *pod) {
	q.addMany([]*pod{p})
	if p.part.held {
		_, _ = q.queue.Hold(p.handle)
	}
}

// Changed takes in what a watch of the shard's specs brought.
func (q *Queue) Changed(shard int, changes []store.Event) (unreadable []error) {
	part := q.parts[shard]
	if part == nil {
		return nil
	}
	for _, change := range changes {
		place := q.placeOf(change.Key, q.config.Layout.Pods())
		p := part.pods[place]
		if p != nil && (change.Deleted || change.Create != p.uid) {
			q.deleted(p)
			p = part.pods[place]
		}
		if change.Deleted {
			delete(part.ended, place)
			continue
		}
		if err := q.put(part, p, change.Pair); err != nil {
			unreadable = append(unreadable, err)
		}
	}
	return unreadable
}

// put takes in a spec: of a pod that is here under the same UID, or a new one. A pod that ended may have been updated shortly
// before: what comes of it until its deletion does is of no interest.
func (q *Queue) put(part *part, p *pod, pair store.Pair) error {
	if part.ended[q.placeOf(pair.Key, q.config.Layout.Pods())] == pair.Create {
		return nil
	}
	if p != nil && p.uid == pair.Create {
		if pair.Mod > p.mod {
			return q.update(p, pair)
		}
		return nil
	}
	p, err := q.admit(part, pair)
	if err != nil {
		return err
	}
	q.add(p)
	return nil
}

// update replaces a spec. The pod is tried again: what rejected it rejected another spec.
func (q *Queue) update(p *pod, pair store.Pair) error {
	spec, err := record.DecodeSpec(pair.Value)
	if err != nil {
		return &UnreadableError{pair.Key, err}
	}
	p.mod = pair.Mod
	if spec.Nominated != p.spec.Nominated {
		p.node = spec.Nominated
	}
	p.spec = spec
	inner := q.inner(p)
	if _, err := q.queue.Update(p.place, &inner, 0, nil); err != nil {
		panic("cluster: a pod could not be updated: " + err.Error())
	}
	if !p.part.held {
		q.free(p)
	}
	return nil
}

// Relist compares the shard with all its specs as of a revision, after a watch missed some.
func (q *Queue) Relist(shard int, specs []store.Pair) (unreadable []error) {
	part := q.parts[shard]
	if part == nil {
		return nil
	}
	listed := make(map[string]bool, len(specs))
	missing := make(map[string]*pod, len(part.pods))
	for place, p := range part.pods {
		missing[place] = p
	}
	for _, pair := range specs {
		place := q.placeOf(pair.Key, q.config.Layout.Pods())
		delete(missing, place)
		listed[place] = true
		p := part.pods[place]
		if p != nil && p.uid != pair.Create {
			q.deleted(p)
			p = part.pods[place]
		}
		if err := q.put(part, p, pair); err != nil {
			unreadable = append(unreadable, err)
		}
	}
	for _, place := range sortedKeys(missing) {
		q.deleted(missing[place])
	}
	for place := range part.ended {
		if !listed[place] {
			delete(part.ended, place)
		}
	}
	return unreadable
}

// deleted: the store has this pod no more. If its deletion is this queue's own, the answer to that tells.
func (q *Queue) deleted(p *pod) {
	if p.sending == endPod || p.unsure {
		// The name may have a next pod already, so it is given up here; the ticket stays.
		q.unname(p)
		return
	}
	stored, place, part := p.stored, p.place, p.part
	q.remove(p, ErrGone)
	if stored {
		q.sweep(part, place)
	}
}

// unname takes a pod out of schedq and out of its shard.
func (q *Queue) unname(p *pod) {
	if p.part.pods[p.place] != p {
		return
	}
	_, _ = q.queue.DeletePod(p.handle)
	if p.ticket != 0 {
		_ = q.queue.Done(p.token)
	}
	delete(p.part.pods, p.place)
	delete(q.byID, p.id)
}

// remove ends a pod here, for a reason; who waits for one of its writes that is not under way learns it.
func (q *Queue) remove(p *pod, why error) {
	q.unname(p)
	q.end(p, why)
}

// end: the ticket of a pod in flight stays, to tell its holder why.
func (q *Queue) end(p *pod, why error) {
	if p.ticket != 0 {
		p.part.inFlight--
	}
	if p.ending {
		delete(q.tickets, p.ticket)
	}
	if p.want != nothing && p.sending == nothing {
		p.part.busy--
	}
	p.want, p.gone = nothing, why
	settled := p.settled
	p.settled = nil
	if p.unsure && why == ErrLost {
		why = ErrUnknown
	}
	for _, then := range settled {
		then(why)
	}
}

// Stop begins to give a shard away: nothing is popped from it any more.
func (q *Queue) Stop(shard int) {
	part := q.parts[shard]
	part.held = true
	_, _ = q.queue.HoldLabel(part.label())
}

// Resume takes Stop back. All pods that waited are tried again.
func (q *Queue) Resume(shard int) {
	part := q.parts[shard]
	part.held = false
	_, _ = q.queue.ReleaseLabel(part.label())
}

// Quiet says how many pods of a shard are in flight, and how many have something to be written.
func (q *Queue) Quiet(shard int) (inFlight, unsaved int) {
	part := q.parts[shard]
	return part.inFlight, part.busy
}

// Drop forgets a shard: it is, or may be, another's. Tickets of its pods are worth nothing.
func (q *Queue) Drop(shard int) {
	part := q.parts[shard]
	if part == nil {
		return
	}
	delete(q.parts, shard)
	pods := make([]*pod, 0, len(part.pods))
	for _, p := range part.pods {
		pods = append(pods, p)
	}
	slices.SortFunc(pods, func(a, b *pod) int { return cmp.Compare(a.id, b.id) })
	_, _ = q.queue.CancelLabel(part.label(), nil)
	for _, p := range pods {
		q.remove(p, ErrLost)
	}
	// Those that are in the shard under no name any more: a deletion of theirs is under way.
	var unnamed []*pod
	for _, p := range q.tickets {
		if p.part == part && p.gone == nil {
			unnamed = append(unnamed, p)
		}
	}
	slices.SortFunc(unnamed, func(a, b *pod) int { return cmp.Compare(a.id, b.id) })
	for _, p := range unnamed {
		q.end(p, ErrLost)
	}
}
