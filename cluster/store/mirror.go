package store

// Mirror keeps up with the keys under a prefix: a range, then a watch from the revision after it. A watch that ends is begun
// again where it was; one that asks for compacted revisions is replaced by another range.
type Mirror struct {
	Port   Port
	Prefix string
	// Listed gets all pairs as of a revision: at first, and again whenever changes may have been missed.
	Listed func(pairs []Pair, revision int64)
	// Changed gets what happened after that.
	Changed func(events []Event)
	// Repeated, if it is not nil, is told of changes that were known already: the store, or a user of it, is broken.
	Repeated func(Event)
	// Later calls back after a pause, to try again.
	Later func(func())
	// Overlap is how many revisions too early changes of a feed count. Only a planted defect has one.
	Overlap int64

	// Feed is where changes come from; nil: a watch of the mirror's own.
	Feed *Feed

	revision int64 // up to which all is known
	cancel   func()
	run      int // raised by each Start and Stop: callbacks of an earlier run are dropped

	// With a feed:
	listed bool
	from   int64   // what is newer counts
	early  []Event // came before the list
}

// page is how many pairs a range asks for at once.
const page = 2000

// Start begins with a range. The mirror may have been stopped before.
func (mirror *Mirror) Start() {
	mirror.Stop()
	if mirror.Feed != nil {
		mirror.Feed.subscribe(mirror)
		return
	}
	mirror.list()
}

// Stop ends it: no callback comes any more.
func (mirror *Mirror) Stop() {
	mirror.run++
	if mirror.cancel != nil {
		mirror.cancel()
		mirror.cancel = nil
	}
	if mirror.Feed != nil {
		mirror.Feed.unsubscribe(mirror)
		mirror.listed, mirror.early = false, nil
	}
}

// Revision is up to which everything under the prefix is known.
func (mirror *Mirror) Revision() int64 { return mirror.revision }

func (mirror *Mirror) list() {
	run := mirror.run
	alive := func() bool { return mirror.run == run }
	All(mirror.Port, mirror.Prefix, mirror.Later, alive, func(pairs []Pair, revision int64) {
		mirror.revision = revision
		mirror.Listed(pairs, revision)
		switch {
		case !alive():
		case mirror.Feed == nil:
			mirror.watch(run)
		default:
			early := mirror.early
			mirror.listed, mirror.early, mirror.from = true, nil, revision-mirror.Overlap
			mirror.bring(early)
		}
	})
}

// bring takes what the feed has.
func (mirror *Mirror) bring(events []Event) {
	if !mirror.listed {
		mirror.early = append(mirror.early, events...)
		return
	}
	for len(events) > 0 && events[0].Mod <= mirror.from {
		events = events[1:]
	}
	if len(events) > 0 {
		mirror.changed(events)
	}
}

func (mirror *Mirror) changed(events []Event) {
	if mirror.Repeated != nil && events[0].Mod <= mirror.revision {
		mirror.Repeated(events[0])
	}
	mirror.revision = max(mirror.revision, events[len(events)-1].Mod)
	mirror.Changed(events)
}

func (mirror *Mirror) watch(run int) {
	mirror.cancel = mirror.Port.Watch(Watch{mirror.Prefix, mirror.revision + 1}, func(events []Event, err error) {
		if mirror.run != run {
			return
		}
		if err == nil {
			mirror.changed(events)
			return
		}
		mirror.cancel = nil
		if err == ErrCompacted {
			mirror.Start()
			return
		}
		mirror.Later(func() {
			if mirror.run == run {
				mirror.watch(run)
			}
		})
	})
}
