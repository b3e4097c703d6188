// Package plant lists defects that tests plant in the code of an owner, to see that they are found. No program can ask for them.
package plant

// Defects are planted; the zero value plants none.
type Defects struct {
	NoToken    bool // writes do not compare the owner key
	WatchFromR bool // a watch begins at the revision of the range, not after it
	WatchLate  bool // a watch begins one revision too late
	NoFence    bool // an owner goes on when its lease may be over
	FlushLate  bool // a hand-over deletes the owner key first, and writes the states then
	NoGuard    bool // a put whose answer was lost may arrive after a newer one
	Forget     bool // an ended pod is forgotten before the watch brought its deletion
	DropEvents bool // after compaction event keys that are newer are not taken for events
}
