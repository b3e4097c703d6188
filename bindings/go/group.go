package schedq

/*
#cgo noescape schedq_group_add
#cgo nocallback schedq_group_add
#cgo noescape schedq_group_update
#cgo nocallback schedq_group_update
#cgo noescape schedq_group_delete
#cgo nocallback schedq_group_delete
#cgo noescape schedq_group_activate
#cgo nocallback schedq_group_activate
#cgo noescape schedq_group_get
#cgo nocallback schedq_group_get
#cgo noescape schedq_try_pop_group
#cgo nocallback schedq_try_pop_group
#cgo noescape schedq_group_done
#cgo nocallback schedq_group_done
#include <schedq/schedq.h>
*/
import "C"

import (
	"context"
	"errors"
	"unsafe"
)

// GroupDepthMax is how many groups a chain from a group up to its root may have, both among them. A group with a longer chain
// has no root.
const GroupDepthMax = C.SCHEDQ_GROUP_DEPTH_MAX

// GroupSpec is a group as its caller describes it: docs/GROUPS.md says what groups are. Their calls are for [DecideLibrary]: with
// [DecideHost] they answer ErrInvalid. A gate or a hint for a group's members is a C function: [Callbacks].
type GroupSpec struct {
	structSize uint32
	Priority   int32   // of a root; higher first
	Quorum     uint32  // how many members, or groups right below it, it needs; 0 means 1
	Profile    Profile // of its members; no update changes it
	reserved   [3]uint8
	Object     uint64 // the caller's group: 64 bits that its pop returns
	Parent     uint64 // the group above it, declared or not; 0: it is a root. No update changes it
}

// PoppedGroup is a group that a pop took: the caller's, until GroupDone. Times are nanoseconds on the queue's clock.
type PoppedGroup struct {
	Token         Token  // for [Queue.GroupDone]; zero if Group is 0
	Group         uint64 // the root; 0: the pop took a pod that is in no group
	Object        uint64
	History       History // this pop is counted in its Attempts
	Seen          uint64  // sequence of the newest event at this pop
	Cycle         uint64  // 1, 2, ...; its members have it too; 0 unless Config.CountCycles
	BackoffExpiry int64   // end of its last backoff; 0 = it had none
	Priority      int32
	More          bool // something else is poppable
	Profile       Profile
	Flushed       bool // as Popped.Flushed
	reserved      [25]uint8
}

// GroupOutcome is what became of a group in its cycle.
type GroupOutcome uint8

const (
	GroupPlaced   GroupOutcome = C.SCHEDQ_GROUP_PLACED   // members were placed; those that failed are tried again at once
	GroupRejected GroupOutcome = C.SCHEDQ_GROUP_REJECTED // it fits nowhere: what rejected its members keeps it back
	GroupError    GroupOutcome = C.SCHEDQ_GROUP_ERROR    // something broke: it backs off
)

// GroupInfo is a copy of a group. Times are nanoseconds on the queue's clock.
type GroupInfo struct {
	structSize    uint32
	Priority      int32 // as described, and so is Quorum
	Quorum        uint32
	Place         Place // of its record; below a root: Aside
	Gate          Gate
	Profile       Profile
	Declared      bool // false: DeleteGroup came during its cycle, which goes on
	Object        uint64
	Parent        uint64
	Root          uint64 // the topmost above it, or itself; 0: one above is not declared
	History       History
	BackoffExpiry int64   // while it backs off; else 0
	Unschedulable Plugins // what its record waits for
	Pending       Plugins
	Waiting       uint64 // members that are aside, of it and all groups below; without a root: of it alone
}

func sizedGroup(spec *GroupSpec) GroupSpec {
	copied := *spec
	copied.structSize = uint32(unsafe.Sizeof(copied))
	return copied
}

func (spec *GroupSpec) c() *C.schedq_group_spec_t {
	return (*C.schedq_group_spec_t)(unsafe.Pointer(spec))
}

// AddGroup declares a group, not 0. Members that wait for it join.
//
// Errors: ErrExists, it was declared; ErrClosed; ErrFull, Config.MaxPods, for which it counts as a pod; ErrNoMemory; ErrInvalid.
func (queue *Queue) AddGroup(group uint64, spec *GroupSpec) (result Result, err error) {
	if spec == nil {
		return result, isNil("AddGroup", "spec")
	}
	copied := sizedGroup(spec)
	worker := queue.enter()
	status := Status(C.schedq_group_add(worker, C.uint64_t(group), copied.c(), result.c()))
	err = queue.leave(worker, "AddGroup", status)
	queue.tell(&result)
	return result, err
}

// UpdateGroup replaces a group's priority, quorum and object; its profile and parent are those of the declaration.
//
// Errors: ErrNotFound, it is not declared; ErrNoMemory; ErrInvalid, another profile or parent.
func (queue *Queue) UpdateGroup(group uint64, spec *GroupSpec) (result Result, err error) {
	if spec == nil {
		return result, isNil("UpdateGroup", "spec")
	}
	copied := sizedGroup(spec)
	worker := queue.enter()
	status := Status(C.schedq_group_update(worker, C.uint64_t(group), copied.c(), result.c()))
	err = queue.leave(worker, "UpdateGroup", status)
	queue.tell(&result)
	return result, err
}

// DeleteGroup ends a group's declaration, and its history. Its members stay in the queue, and wait for another declaration. During
// the group's cycle it leaves a note, and GroupDone ends the record.
//
// Errors: ErrNotFound, it is not declared; ErrInvalid.
func (queue *Queue) DeleteGroup(group uint64) (result Result, err error) {
	worker := queue.enter()
	status := Status(C.schedq_group_delete(worker, C.uint64_t(group), result.c()))
	return result, queue.leave(worker, "DeleteGroup", status)
}

// ActivateGroup makes the record of a group's root active, if it waits and no member's gate refuses.
//
// Errors: ErrNotFound, it is not declared; ErrNoMemory; ErrInvalid.
func (queue *Queue) ActivateGroup(group uint64) (result Result, err error) {
	worker := queue.enter()
	status := Status(C.schedq_group_activate(worker, C.uint64_t(group), result.c()))
	err = queue.leave(worker, "ActivateGroup", status)
	queue.tell(&result)
	return result, err
}

// GetGroup copies what the queue knows of a group.
//
// Errors: ErrNotFound, it is neither declared nor in its cycle; ErrInvalid.
func (queue *Queue) GetGroup(group uint64) (GroupInfo, error) {
	info := GroupInfo{structSize: uint32(unsafe.Sizeof(GroupInfo{}))}
	worker := queue.enter()
	status := Status(C.schedq_group_get(worker, C.uint64_t(group), (*C.schedq_group_info_t)(unsafe.Pointer(&info))))
	return info, queue.leave(worker, "GetGroup", status)
}

// TryPopGroup takes the best of what is active, without waiting: a group with all its members, or a pod that is in none.
// count pods are in out: all members, also those above the quorum, or one pod, with Group 0. With ErrFull none is, and count is how
// many need room.
//
// Errors: ErrEmpty; ErrClosed, and nothing is poppable; ErrFull, len(out) is too small; ErrNoMemory; ErrInvalid, out is empty.
func (queue *Queue) TryPopGroup(out []Popped) (group PoppedGroup, count int, err error) {
	var found C.size_t

	batch := make([]C.schedq_popped_t, len(out))
	worker := queue.enter()
	status := Status(C.schedq_try_pop_group(worker, (*C.schedq_popped_group_t)(unsafe.Pointer(&group)),
		unsafe.SliceData(batch), C.size_t(len(out)), &found))
	err = queue.leave(worker, "TryPopGroup", status)
	queue.tellPop()
	if err == nil {
		fillMany(out, batch[:found])
	}
	return group, int(found), err
}

// PopGroup takes the best of what is active, as TryPopGroup does, and waits for something as Pop does.
//
// Errors: as TryPopGroup but for ErrEmpty; the context's, and nothing is poppable.
func (queue *Queue) PopGroup(ctx context.Context, out []Popped) (group PoppedGroup, count int, err error) {
	err = queue.wait(ctx, &queue.groups, func() (more bool, err error) {
		group, count, err = queue.TryPopGroup(out)
		return group.More, err
	})
	if err == nil {
		return group, count, nil
	}
	if errors.Is(err, ErrFull) { // what was found is there for others
		queue.wakeOne()
	}
	return group, count, err
}

// GroupDone ends a group's cycle, after its members were tried: the outcome says what became of it. A member may stay in flight
// and end later.
//
// As with Fail, *token is replaced if the group stays in flight (ErrNoMemory).
//
// Errors: ErrStale, the token was used before, or is that of a pod; ErrNoMemory; ErrInvalid.
func (queue *Queue) GroupDone(token *Token, outcome GroupOutcome) (result Result, err error) {
	end := C.schedq_group_end_t{struct_size: C.sizeof_schedq_group_end_t, outcome: C.uint8_t(outcome)}
	worker := queue.enter()
	status := Status(C.schedq_group_done(worker, (*C.schedq_token_t)(unsafe.Pointer(token)), &end, result.c()))
	err = queue.leave(worker, "GroupDone", status)
	queue.tell(&result)
	return result, err
}
