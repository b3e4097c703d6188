package store

// All reads everything under a prefix as of one revision, page by page, and begins again where that fails, until then is called.
// later calls back after a pause; alive tells whether anybody still wants to know.
func All(port Port, prefix string, later func(func()), alive func() bool, then func(pairs []Pair, revision int64)) {
	var pairs []Pair
	var next func(ask Range)
	first := Range{Prefix: prefix, Limit: page}
	next = func(ask Range) {
		port.Range(ask, func(answer RangeAnswer, err error) {
			switch {
			case !alive():
			case err != nil:
				later(func() {
					if alive() {
						pairs = nil
						next(first)
					}
				})
			default:
				pairs = append(pairs, answer.Pairs...)
				if !answer.More {
					then(pairs, answer.Revision)
					return
				}
				ask.After, ask.Revision = answer.Pairs[len(answer.Pairs)-1].Key, answer.Revision
				next(ask)
			}
		})
	}
	next(first)
}
