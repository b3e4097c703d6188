package schedq

/*
#cgo noescape schedq_add
#cgo nocallback schedq_add
#cgo noescape schedq_add_many
#cgo nocallback schedq_add_many
#cgo noescape schedq_done_many
#cgo nocallback schedq_done_many
#cgo nocallback schedq_done
#cgo nocallback schedq_token_alive
#cgo noescape fail_with_newest
#cgo nocallback fail_with_newest
#cgo noescape schedq_readd
#cgo nocallback schedq_readd
#cgo noescape schedq_find
#cgo nocallback schedq_find
#cgo noescape schedq_update
#cgo nocallback schedq_update
#cgo noescape schedq_delete
#cgo nocallback schedq_delete
#cgo noescape schedq_delete_name
#cgo nocallback schedq_delete_name
#cgo noescape schedq_activate
#cgo nocallback schedq_activate
#cgo nocallback schedq_nominate
#include <schedq/schedq.h>

// What Go passes to C must not point to what is Go's: the pointer is set here.
static schedq_status_t
fail_with_newest(schedq_worker_t *worker, schedq_token_t *token, schedq_failure_t *failure,
                 const schedq_pod_spec_t *newest, schedq_result_t *result)
{
    schedq_status_t status;

    failure->newest = newest;
    status = schedq_fail(worker, token, failure, result);
    failure->newest = NULL;
    return status;
}
*/
import "C"

import "unsafe"

// sized is a spec as C wants it.
func sized(spec *PodSpec) PodSpec {
	copied := *spec
	copied.structSize = uint32(unsafe.Sizeof(copied))
	return copied
}

func (spec *PodSpec) c() *C.schedq_pod_spec_t { return (*C.schedq_pod_spec_t)(unsafe.Pointer(spec)) }

func (result *Result) c() *C.schedq_result_t { return (*C.schedq_result_t)(unsafe.Pointer(result)) }

func statuses(values []Status) *C.uint8_t {
	return (*C.uint8_t)(unsafe.Pointer(unsafe.SliceData(values)))
}

// checkLength panics if a slice that the library fills, or nil, is shorter than what it answers.
func checkLength(call string, length, count int) {
	if length != 0 && length < count {
		panic("schedq: " + call + ": a slice of answers is shorter than the one of questions")
	}
}

// Add puts a new pod in the queue. A name has 1..NameMax bytes, none of them 0; with Config.KubeMinor it is
// "namespace/name".
//
// Errors: ErrExists, with a Result that describes the pod that has the name; ErrRetry, [DecideHost] its gate has a newer
// stamp: ask PreEnqueue again; ErrClosed; ErrFull; ErrNoMemory; ErrInvalid.
func (queue *Queue) Add(name string, spec *PodSpec) (result Result, err error) {
	if spec == nil {
		return result, isNil("Add", "spec")
	}
	copied := sized(spec)
	worker := queue.enter()
	status := Status(C.schedq_add(worker, text(name), C.size_t(len(name)), copied.c(), result.c()))
	err = queue.leave(worker, "Add", status)
	queue.tell(&result)
	return result, err
}

// AddItem is one pod of [Queue.AddMany].
type AddItem struct {
	NameOffset uint32 // where its name begins in the text of all names
	NameLength uint32
	Spec       PodSpec
}

// AddMany adds many pods: no pop takes one of them while another that ranks before it is still to come.
//
// names holds the names, where each item says; an item that reaches past it is ErrInvalid. pods and results receive, for
// each item, the handle and what Add would have answered; each may be nil, else it is as long as items. Without results
// one invalid item stops all.
//
// Errors: that of the first pod that was not added; the others were still added.
func (queue *Queue) AddMany(names string, items []AddItem, pods []Pod, results []Status) (sum Result, err error) {
	checkLength("AddMany", len(pods), len(items))
	checkLength("AddMany", len(results), len(items))
	if len(items) == 0 {
		return sum, nil
	}
	for i := range items {
		items[i].Spec.structSize = uint32(unsafe.Sizeof(items[i].Spec))
	}
	worker := queue.enter()
	status := Status(C.schedq_add_many(worker, text(names), C.size_t(len(names)),
		(*C.schedq_add_item_t)(unsafe.Pointer(&items[0])), C.size_t(len(items)),
		(*C.schedq_pod_t)(unsafe.Pointer(unsafe.SliceData(pods))), statuses(results), sum.c()))
	err = queue.leave(worker, "AddMany", status)
	queue.tell(&sum)
	return sum, err
}

// Done ends a pod that was placed; its nomination ends.
//
// Errors: ErrGone, it was deleted meanwhile, the token is used up; ErrStale, the token was used before.
func (queue *Queue) Done(token Token) error {
	worker := queue.enter()
	status := Status(C.schedq_done(worker, C.schedq_token_t{C.uint64_t(token.bits)}))
	err := queue.leave(worker, "Done", status)
	queue.tellEnd()
	return err
}

// DoneMany ends many pods. results may be nil, else it receives for each token what Done would have answered.
//
// Errors: the first that is not OK; the others were still ended.
func (queue *Queue) DoneMany(tokens []Token, results []Status) error {
	checkLength("DoneMany", len(results), len(tokens))
	if len(tokens) == 0 {
		return nil
	}
	worker := queue.enter()
	status := Status(C.schedq_done_many(worker, (*C.schedq_token_t)(unsafe.Pointer(&tokens[0])), C.size_t(len(tokens)),
		statuses(results)))
	err := queue.leave(worker, "DoneMany", status)
	queue.tellEnd()
	return err
}

// TokenAlive asks before binding whether the pod still exists.
//
// Errors: ErrGone, it was deleted meanwhile, and the token still has to be used; ErrStale, the token was used before.
func (queue *Queue) TokenAlive(token Token) error {
	worker := queue.enter()
	status := Status(C.schedq_token_alive(worker, C.schedq_token_t{C.uint64_t(token.bits)}))
	return queue.leave(worker, "TokenAlive", status)
}

// Fail ends a cycle without success: the pod is parked, backs off or is tried again.
//
// The token is in and out: after ErrRetry, ErrNoMemory and ErrInvalid the pod is still in flight, under the token that is
// stored there.
//
// Errors: ErrRetry, [DecideHost] judge events up to Result.Sequence, call again; ErrGone, it was deleted meanwhile, the
// token is used up; ErrStale, the token was used before; ErrNoMemory; ErrInvalid.
func (queue *Queue) Fail(token *Token, failure *Failure) (result Result, err error) {
	var newest *C.schedq_pod_spec_t

	if failure == nil {
		return result, isNil("Fail", "failure")
	}
	copied := *failure
	copied.structSize = uint32(unsafe.Sizeof(copied))
	copied.Newest = nil
	if failure.Newest != nil {
		spec := sized(failure.Newest)
		newest = spec.c()
	}
	worker := queue.enter()
	status := Status(C.fail_with_newest(worker, (*C.schedq_token_t)(unsafe.Pointer(token)),
		(*C.schedq_failure_t)(unsafe.Pointer(&copied)), newest, result.c()))
	err = queue.leave(worker, "Fail", status)
	queue.tell(&result)
	return result, err
}

// Readd puts back a pod that failed after its Done (binding): it comes with its history, from before this failure, and is
// never parked. spec.Gate and failure.Newest stay zero; [DecideHost] failure holds the gate.
//
// Errors: as Add.
func (queue *Queue) Readd(name string, spec *PodSpec, history *History, failure *Failure) (result Result, err error) {
	if spec == nil {
		return result, isNil("Readd", "spec")
	}
	if failure == nil {
		return result, isNil("Readd", "failure")
	}
	copied := sized(spec)
	why := *failure
	why.structSize = uint32(unsafe.Sizeof(why))
	if why.Newest != nil {
		return result, &Error{ErrInvalid, "Readd", "failure.newest: NULL, since the spec of a readd is the newest"}
	}
	worker := queue.enter()
	status := Status(C.schedq_readd(worker, text(name), C.size_t(len(name)), copied.c(), (*C.schedq_history_t)(unsafe.Pointer(history)),
		(*C.schedq_failure_t)(unsafe.Pointer(&why)), result.c()))
	err = queue.leave(worker, "Readd", status)
	queue.tell(&result)
	return result, err
}

// Find looks a name up: place, handle, object, sets, [DecideHost] ref.
//
// Errors: ErrNotFound; ErrInvalid.
func (queue *Queue) Find(name string) (result Result, err error) {
	worker := queue.enter()
	status := Status(C.schedq_find(worker, text(name), C.size_t(len(name)), result.c()))
	return result, queue.leave(worker, "Find", status)
}

// Update replaces the description of a pod; with PodAdd it adds the pod if its name is unknown. events are what the update
// was classified as; before is the object from before the update, for whoever looks at events, 0 = none.
//
// [DecideHost] nothing is decided: a waiting pod's new Ref comes back: judge the events, then Apply.
//
// Errors: as Add when it acts as one; ErrNotFound without PodAdd, also if another pod than spec.Only has the name;
// ErrInvalid also for another profile than before.
func (queue *Queue) Update(name string, spec *PodSpec, before uint64, events []Event) (result Result, err error) {
	if spec == nil {
		return result, isNil("Update", "spec")
	}
	copied := sized(spec)
	worker := queue.enter()
	status := Status(C.schedq_update(worker, text(name), C.size_t(len(name)), copied.c(), C.uint64_t(before),
		(*C.schedq_event_t)(unsafe.Pointer(unsafe.SliceData(events))), C.size_t(len(events)), result.c()))
	err = queue.leave(worker, "Update", status)
	queue.tell(&result)
	return result, err
}

// Delete removes a pod by its name. In flight: the name is free at once, its holder gets ErrGone.
//
// Errors: ErrNotFound; ErrInvalid.
func (queue *Queue) Delete(name string) (result Result, err error) {
	worker := queue.enter()
	status := Status(C.schedq_delete_name(worker, text(name), C.size_t(len(name)), result.c()))
	return result, queue.leave(worker, "Delete", status)
}

// DeletePod removes a pod by its handle. As Delete otherwise.
//
// Errors: ErrNotFound, also of the zero value.
func (queue *Queue) DeletePod(pod Pod) (result Result, err error) {
	worker := queue.enter()
	status := Status(C.schedq_delete(worker, C.schedq_pod_t{C.uint64_t(pod.bits)}, result.c()))
	return result, queue.leave(worker, "DeletePod", status)
}

// Activate makes pods active that are parked, gated or backing off; those in flight are tried again when they fail.
// Unknown handles are ignored. [DecideHost] it only marks those in flight; Find the others and Apply.
//
// Errors: ErrNoMemory.
func (queue *Queue) Activate(pods []Pod) (sum Result, err error) {
	if len(pods) == 0 {
		return sum, nil
	}
	worker := queue.enter()
	status := Status(C.schedq_activate(worker, (*C.schedq_pod_t)(unsafe.Pointer(&pods[0])), C.size_t(len(pods)), sum.c()))
	err = queue.leave(worker, "Activate", status)
	queue.tell(&sum)
	return sum, err
}

// Nominate intends a node for a pod; it replaces an earlier one. node is the caller's number, 0 = none.
//
// Errors: ErrNotFound; ErrNoMemory.
func (queue *Queue) Nominate(pod Pod, node uint64) error {
	worker := queue.enter()
	status := Status(C.schedq_nominate(worker, C.schedq_pod_t{C.uint64_t(pod.bits)}, C.uint64_t(node)))
	return queue.leave(worker, "Nominate", status)
}
