package owner

import (
	"encoding/json"
	"strconv"
	"strings"

	"schedq/cluster/record"
	"schedq/cluster/store"
)

// What an owner knows of the others: members, owner keys, events, top priorities. Each is a mirror of a prefix.

func (o *Owner) membersListed(pairs []store.Pair) {
	clear(o.memberKeys)
	for _, pair := range pairs {
		o.noteMember(store.Event{Pair: pair})
	}
	o.sortProcesses()
	o.reconcile()
}

func (o *Owner) membersChanged(events []store.Event) {
	for _, event := range events {
		o.noteMember(event)
	}
	o.sortProcesses()
	o.reconcile()
}

func (o *Owner) noteMember(event store.Event) {
	id := strings.TrimPrefix(event.Key, o.layout.Members())
	if event.Deleted {
		delete(o.memberKeys, id)
		return
	}
	var member record.Member
	// What cannot be read is a process of another version: alive, and nothing is given to it.
	if json.Unmarshal(event.Value, &member) != nil {
		member.Leaving = true
	}
	o.memberKeys[id] = member
}

func (o *Owner) ownersListed(pairs []store.Pair) {
	found := make([]store.Pair, len(o.keys))
	for _, pair := range pairs {
		if s, ok := o.shardOf(pair.Key); ok {
			found[s] = pair
		}
	}
	for s := range found {
		o.noteOwner(s, found[s])
	}
	o.reconcile()
}

func (o *Owner) ownersChanged(events []store.Event) {
	for _, event := range events {
		s, ok := o.shardOf(event.Key)
		if !ok {
			continue
		}
		pair := event.Pair
		if event.Deleted {
			pair = store.Pair{}
		}
		o.noteOwner(s, pair)
		o.reconcileShard(s)
	}
	o.leaveIfDone()
}

func (o *Owner) shardOf(key string) (s int, ok bool) {
	s, ok = record.ParseShard(strings.TrimPrefix(key, o.layout.Owners()))
	return s, ok && s < len(o.keys)
}

// noteOwner: a shard without an owner may be claimed by whoever should not own it after a random time.
func (o *Owner) noteOwner(s int, pair store.Pair) {
	if pair.Create == 0 && (o.keys[s].Create != 0 || o.absent[s] == 0) {
		o.absent[s] = o.config.Now() + o.between(o.config.Renew/4, o.config.Renew*3/4)
	}
	o.keys[s] = pair
}

func (o *Owner) eventsListed(pairs []store.Pair) {
	for _, pair := range pairs {
		name := strings.TrimPrefix(pair.Key, o.layout.Events())
		if o.config.Defects.DropEvents {
			o.eventRev[name] = pair.Mod
			o.seen = max(o.seen, pair.Mod)
			continue
		}
		o.noteEvent(name, pair.Mod)
	}
}

func (o *Owner) eventsChanged(events []store.Event) {
	for _, event := range events {
		if !event.Deleted {
			o.noteEvent(strings.TrimPrefix(event.Key, o.layout.Events()), event.Mod)
		}
	}
}

func (o *Owner) noteEvent(name string, revision int64) {
	if revision <= o.eventRev[name] {
		return
	}
	o.eventRev[name] = revision
	o.seen = max(o.seen, revision)
	o.queue.Event(name)
}

func (o *Owner) topsListed(pairs []store.Pair) {
	clear(o.topOf)
	for _, pair := range pairs {
		o.noteTop(store.Event{Pair: pair})
	}
}

func (o *Owner) topsChanged(events []store.Event) {
	for _, event := range events {
		o.noteTop(event)
	}
}

func (o *Owner) noteTop(event store.Event) {
	id := strings.TrimPrefix(event.Key, o.layout.Tops())
	top, err := strconv.ParseInt(string(event.Value), 10, 32)
	if id == o.config.ID {
		return
	}
	if event.Deleted || err != nil {
		delete(o.topOf, id)
		return
	}
	o.topOf[id] = int32(top)
}
