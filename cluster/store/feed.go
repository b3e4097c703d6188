package store

import (
	"slices"
	"strings"
)

// Feed is one watch that many mirrors share: each has the keys under a part of the prefix, up to the next "/". A transaction that
// changes keys of many parts is one message of the store, not one for each part.
//
// A mirror subscribes before it lists, and keeps what comes meanwhile. The feed had brought nothing newer than the list then, so
// what it brings later, and is newer than the list, is all that there is.
type Feed struct {
	Port   Port
	Prefix string
	Later  func(func())

	revision int64 // up to which all was brought
	ready    bool  // revision means something
	cancel   func()
	run      int
	parts    map[string]*Mirror
}

// Start begins to watch. It may have been stopped before.
func (feed *Feed) Start() {
	feed.Stop()
	run := feed.run
	feed.Port.Range(Range{Prefix: feed.Prefix, Limit: 1}, func(answer RangeAnswer, err error) {
		switch {
		case feed.run != run:
		case err != nil:
			feed.Later(func() {
				if feed.run == run {
					feed.Start()
				}
			})
		default:
			feed.revision, feed.ready = answer.Revision, true
			feed.watch(run)
			for _, mirror := range feed.mirrors() {
				mirror.list()
			}
		}
	})
}

// Revision is up to which all was brought.
func (feed *Feed) Revision() int64 { return feed.revision }

// Stop ends it. The mirrors stay, and get nothing.
func (feed *Feed) Stop() {
	feed.run++
	feed.ready = false
	if feed.cancel != nil {
		feed.cancel()
		feed.cancel = nil
	}
}

func (feed *Feed) mirrors() []*Mirror {
	list := make([]*Mirror, 0, len(feed.parts))
	for _, mirror := range feed.parts {
		list = append(list, mirror)
	}
	slices.SortFunc(list, func(a, b *Mirror) int { return strings.Compare(a.Prefix, b.Prefix) })
	return list
}

func (feed *Feed) subscribe(mirror *Mirror) {
	if feed.parts == nil {
		feed.parts = map[string]*Mirror{}
	}
	feed.parts[mirror.Prefix] = mirror
	if feed.ready {
		mirror.list()
	}
}

func (feed *Feed) unsubscribe(mirror *Mirror) {
	if feed.parts[mirror.Prefix] == mirror {
		delete(feed.parts, mirror.Prefix)
	}
}

func (feed *Feed) watch(run int) {
	feed.cancel = feed.Port.Watch(Watch{feed.Prefix, feed.revision + 1}, func(events []Event, err error) {
		if feed.run != run {
			return
		}
		if err == nil {
			feed.revision = events[len(events)-1].Mod
			feed.deal(events)
			return
		}
		feed.cancel = nil
		if err == ErrCompacted {
			feed.Start()
			for _, mirror := range feed.mirrors() {
				mirror.Start()
			}
			return
		}
		feed.Later(func() {
			if feed.run == run {
				feed.watch(run)
			}
		})
	})
}

// deal gives each mirror what is of its part, in order.
func (feed *Feed) deal(events []Event) {
	shares := map[*Mirror][]Event{}
	var order []*Mirror
	for _, event := range events {
		rest := event.Key[len(feed.Prefix):]
		mirror := feed.parts[event.Key[:len(feed.Prefix)+strings.IndexByte(rest, '/')+1]]
		if mirror == nil {
			continue
		}
		if shares[mirror] == nil {
			order = append(order, mirror)
		}
		shares[mirror] = append(shares[mirror], event)
	}
	for _, mirror := range order {
		mirror.bring(shares[mirror])
	}
}
