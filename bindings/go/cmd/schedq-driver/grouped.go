package main

/*
#cgo pkg-config: schedq
#include <stdlib.h>
#include "judge.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unsafe"

	"schedq"
)

// grouped performs a vector with groups. Those are for queues that the library decides: hints and gates are C functions (judge.h),
// which judge things in C memory, the payloads of the queue.
type grouped struct {
	*host
	isComposite bool
	gangs       gangs
	payloads    map[uint64]*object // by the address of the thing
	uids        map[string]uint64  // numbers, for C
	newest      map[identity]uint64
	position    map[identity]int // among the pods of its pop
	flights     map[string]*schedq.Token
	lastPopped  string            // the group that the last pop took; "": it took a pod
	phantoms    map[string]uint64 // by queue: what upstream counts as incoming, see delete
	gates       []unsafe.Pointer  // numbers, for C
}

var judges = map[string]unsafe.Pointer{
	"":        nil,
	"always":  unsafe.Pointer(C.judge_always),
	"never":   unsafe.Pointer(C.judge_never),
	"error":   unsafe.Pointer(C.judge_error),
	"parity":  unsafe.Pointer(C.judge_parity),
	"fits":    unsafe.Pointer(C.judge_fits),
	"grew":    unsafe.Pointer(C.judge_grew),
	"mine":    unsafe.Pointer(C.judge_mine),
	"mygroup": unsafe.Pointer(C.judge_mygroup),
	"mindown": unsafe.Pointer(C.judge_mindown),
}

func hasGroups(head []string) bool {
	return slices.ContainsFunc(head, func(text string) bool {
		line := parseLine(text)
		return line.words[0] == "config" && line.number("groups") == 1
	})
}

func openGrouped(head []string) (*grouped, error) {
	made := &grouped{
		host:     &host{now: startNS, pods: map[identity]*pod{}, nodes: []string{""}},
		gangs:    gangs{all: map[string]*gang{}, exist: map[identity]string{}},
		payloads: map[uint64]*object{},
		uids:     map[string]uint64{},
		newest:   map[identity]uint64{},
		position: map[identity]int{},
		flights:  map[string]*schedq.Token{},
		phantoms: map[string]uint64{},
	}
	for _, text := range head {
		line := parseLine(text)
		if err := made.configure(line); err != nil {
			return nil, err
		}
		made.isComposite = made.isComposite || line.number("composite") == 1
	}
	made.config.Decide = schedq.DecideLibrary
	made.config.Flush = 1_000_000 // each tick of a vector looks for leftovers
	queue, err := schedq.New(made.config, func() int64 { return made.now })
	if err != nil {
		return nil, err
	}
	made.queue = queue
	for _, text := range head {
		if err := made.register(parseLine(text)); err != nil {
			return nil, err
		}
	}
	return made, nil
}

func (grouped *grouped) end() error {
	err := grouped.queue.DestroyWithPods()
	for payload := range grouped.payloads {
		C.free(address(payload))
	}
	for _, gate := range grouped.gates {
		C.free(gate)
	}
	grouped.gangs.free()
	return err
}

func (grouped *grouped) register(line line) error {
	if line.words[0] == "profile" {
		_, err := grouped.profile(line.words[1])
		return err
	}
	if line.words[0] != "plugin" {
		return nil
	}
	profile, err := grouped.profile(line.text("profile", "default-scheduler"))
	if err != nil {
		return err
	}
	var callbacks schedq.Callbacks
	var interests []schedq.Interest
	gate := line.number("preenqueue")
	for _, word := range line.words[2:] {
		if word == "preenqueue" {
			gate = 1
			continue
		}
		text, name, _ := strings.Cut(word, "=")
		judge, found := judges[name]
		if !found {
			return fmt.Errorf("plugin %s: there is no hint %q", line.words[1], name)
		}
		kind := parseKind(text)
		interests = append(interests, schedq.Interest{Resource: kind.resource, Actions: kind.actions})
		callbacks.Hints = append(callbacks.Hints, judge)
	}
	if line.text("preenqueue", "") == "gang" {
		callbacks.PreEnqueue = unsafe.Pointer(C.judge_gang)
	} else if gate != 0 {
		number := (*C.int64_t)(C.calloc(1, C.sizeof_int64_t))
		*number = C.int64_t(gate)
		grouped.gates = append(grouped.gates, unsafe.Pointer(number))
		callbacks.PreEnqueue, callbacks.Context = unsafe.Pointer(C.judge_gate), unsafe.Pointer(number)
	}
	plugin := &plugin{name: line.words[1]}
	options := schedq.PluginOptions(0)
	if plugin.name == "PodTopologySpread" {
		options = schedq.PluginSpread
	}
	plugin.bit, err = grouped.queue.RegisterPluginInC(profile.number, plugin.name, options, callbacks, interests...)
	profile.plugins = append(profile.plugins, plugin)
	return err
}

// address of a payload, which is C's.
func address(payload uint64) unsafe.Pointer {
	return *(*unsafe.Pointer)(unsafe.Pointer(&payload))
}

// keep writes an object where C finds it; its payload is 0 for nil. "": no group.
func (grouped *grouped) keep(object *object, group string, least int64) uint64 {
	if object == nil {
		return 0
	}
	thing := (*C.struct_thing)(C.calloc(1, C.sizeof_struct_thing))
	thing.number, thing.name_number = C.int64_t(object.number), C.int64_t(object.nameNumber)
	thing.gate, thing.min = C.int64_t(object.gate), C.int64_t(least)
	if object.uid != "" {
		if grouped.uids[object.uid] == 0 {
			grouped.uids[object.uid] = uint64(len(grouped.uids) + 1)
		}
		thing.uid = C.uint64_t(grouped.uids[object.uid])
	}
	if group != "" {
		thing.gang = grouped.gangs.named(group).c
	}
	payload := uint64(uintptr(unsafe.Pointer(thing)))
	grouped.payloads[payload] = object
	return payload
}

func (grouped *grouped) spec(id identity, line line) (schedq.PodSpec, *profile, error) {
	profile, err := grouped.profile(line.text("profile", "default-scheduler"))
	if err != nil {
		return schedq.PodSpec{}, nil, err
	}
	object := &object{
		uid:        id.uid,
		number:     line.number("need"),
		nameNumber: nameNumber(id.name),
		gate:       line.number("gate"),
		affinity:   line.text("affinity", ""),
	}
	group := line.text("group", "")
	return schedq.PodSpec{
		Object:        grouped.keep(object, group, 0),
		NominatedNode: grouped.node(line.text("nominated", "")),
		Priority:      int32(line.number("prio")),
		Profile:       profile.number,
		Flags:         flags(object),
		Group:         groupNumber(group),
	}, profile, nil
}

func (grouped *grouped) noted(id identity, profile *profile, handle schedq.Pod, payload uint64) {
	grouped.note(id, profile, handle)
	grouped.newest[id] = payload
}

func (grouped *grouped) answer(text string, out io.Writer) {
	switch text {
	case "state":
		grouped.writeState(out)
	case "metrics":
		if err := grouped.queue.WriteMetrics(out); err != nil {
			fmt.Fprintln(out, "error", err)
		}
		for queue, count := range grouped.phantoms {
			fmt.Fprintf(out, "scheduler_queue_incoming_pods_total{queue=%q,event=\"UnscheduledPodAdd\"} %d\n", queue, count)
		}
	default:
		verb, line := grouped.begin(text)
		result, err := grouped.run(verb, line)
		if err != nil {
			result = fmt.Sprint("error ", err)
		}
		fmt.Fprintln(out, ">", result)
	}
}

func (grouped *grouped) run(verb string, line line) (string, error) {
	switch verb {
	case "group-add", "composite-add":
		return grouped.declare(line, grouped.queue.AddGroup)
	case "group-update", "composite-update":
		return grouped.declare(line, grouped.queue.UpdateGroup)
	case "group-delete", "composite-delete":
		return grouped.undeclare(line.words[0])
	case "group-done":
		return grouped.groupDone(line)
	case "group-get":
		return grouped.groupGet(line.words[0])
	case "add":
		return grouped.add(identityOf(line), line)
	case "pop":
		return grouped.pop()
	case "fail":
		return grouped.fail(identityOf(line), line)
	case "update":
		return grouped.update(identityOf(line), line)
	case "delete":
		return grouped.delete(identityOf(line), line)
	case "move":
		return grouped.move(line)
	case "activate":
		return grouped.activate(line.words[0])
	case "tick":
		_, _, err := grouped.queue.Tick()
		return "ok", err
	case "get":
		return grouped.get(identityOf(line))
	case "done", "nominate", "denominate", "pending", "close":
		return grouped.host.run(verb, line)
	}
	return "", fmt.Errorf("there is no operation %q with groups", verb)
}

// ---- pods -----------------------------------------------------------------------------------------

func (grouped *grouped) add(id identity, line line) (string, error) {
	spec, profile, err := grouped.spec(id, line)
	if err != nil {
		return "", err
	}
	grouped.gangs.come(id, line.text("group", ""))
	result, err := grouped.queue.Add(fullName(id), &spec)
	if err == nil {
		grouped.noted(id, profile, result.Pod, spec.Object)
	}
	return "ok", err
}

func (grouped *grouped) pop() (string, error) {
	room := make([]schedq.Popped, 4) // less than some groups have: they are asked for again
	group, count, err := grouped.queue.TryPopGroup(room)
	if errors.Is(err, schedq.ErrFull) {
		room = make([]schedq.Popped, count)
		group, count, err = grouped.queue.TryPopGroup(room)
	}
	switch err {
	case nil:
	case schedq.ErrEmpty:
		return "empty", nil
	case schedq.ErrClosed:
		return "closed", nil
	default:
		return "", err
	}
	grouped.lastPopped = groupName(group.Group)
	var texts []string
	for i := range room[:count] {
		id, err := grouped.took(&room[i], i)
		if err != nil {
			return "", err
		}
		texts = append(texts, fmt.Sprintf("%s/%d", id.name, room[i].History.Attempts))
		if group.Group == 0 {
			return grouped.poppedText(id, &room[i]), nil
		}
	}
	grouped.flights[grouped.lastPopped] = &group.Token
	text := fmt.Sprintf("group %s %s cycle=%d", grouped.lastPopped, historyText(&group.History), group.Cycle)
	if group.Flushed {
		text += " flushed=1"
	}
	return text + " pods=" + strings.Join(texts, ","), nil
}

func (grouped *grouped) took(popped *schedq.Popped, position int) (identity, error) {
	id := identity{strings.TrimPrefix(popped.Name, namespace+"/"), grouped.payloads[popped.Object].uid}
	pod := grouped.pods[id]
	if pod == nil {
		return id, fmt.Errorf("popped %q, which no operation made", popped.Name)
	}
	pod.handle, pod.token, pod.inFlight = popped.Pod, popped.Token, true
	grouped.position[id] = position
	return id, nil
}

func (grouped *grouped) sets(profile *profile, line line) (failure schedq.Failure, err error) {
	failure.Unschedulable, err = profile.set(line.list("plugins"))
	if err == nil {
		failure.Pending, err = profile.set(line.list("pending"))
	}
	return failure, err
}

func (grouped *grouped) fail(id identity, line line) (string, error) {
	newest, profile, err := grouped.spec(id, line)
	if err != nil {
		return "", err
	}
	pod := grouped.pods[id]
	isAfterDone := line.number("after-done") == 1
	if !isAfterDone && (pod == nil || !pod.inFlight) {
		return "", errors.New("not in flight: there is no token to fail with")
	}
	if !isAfterDone {
		profile = pod.profile
	}
	failure, err := grouped.sets(profile, line)
	if err != nil {
		return "", err
	}
	if isAfterDone {
		return grouped.readd(id, line, &newest, profile, &failure)
	}
	failure.Newest = &newest
	grouped.newest[id] = newest.Object
	_, err = grouped.queue.Fail(&pod.token, &failure)
	pod.inFlight = err != nil && err != schedq.ErrGone
	if err == schedq.ErrGone {
		return "error present", nil
	}
	return "ok", err
}

func (grouped *grouped) readd(id identity, line line, spec *schedq.PodSpec, profile *profile,
	failure *schedq.Failure) (string, error) {
	history := afterDone(line)
	result, err := grouped.queue.Readd(fullName(id), spec, &history, failure)
	if err == schedq.ErrExists {
		return "error present", nil
	}
	if err == nil {
		grouped.noted(id, profile, result.Pod, spec.Object)
	}
	return "ok", err
}

// update: upstream drops that of an unknown member without a root, where the library adds the pod.
func (grouped *grouped) update(id identity, line line) (string, error) {
	spec, profile, err := grouped.spec(id, line)
	if err != nil {
		return "", err
	}
	group := line.text("group", "")
	found, err := grouped.queue.Find(fullName(id))
	if err == schedq.ErrNotFound && group != "" && grouped.rootName(group) == "-" {
		return "ok", nil
	}
	if err == nil && found.Place != schedq.InFlight && grouped.payloads[found.Object].uid == id.uid {
		object := grouped.payloads[spec.Object]
		object.affinity = grouped.payloads[found.Object].affinity
		spec.Flags = flags(object)
	}
	spec.Flags |= schedq.PodAdd
	var events []schedq.Event
	for _, text := range line.list("events") {
		events = append(events, grouped.label(parseKind(text), ""))
	}
	grouped.gangs.come(id, group)
	result, err := grouped.queue.Update(fullName(id), &spec, grouped.keep(numbered(line, "old"), "", 0), events)
	if err == nil {
		grouped.noted(id, profile, result.Pod, spec.Object)
	}
	return "ok", err
}

// delete: upstream takes a queued record out also for a pod that it does not have, and puts it back: its members count as
// incoming once more. The library has no pod to delete then.
func (grouped *grouped) delete(id identity, line line) (string, error) {
	_, err := grouped.queue.Delete(fullName(id))
	grouped.gangs.leave(id)
	if err != schedq.ErrNotFound || !line.has("group") {
		if err == schedq.ErrNotFound {
			err = nil
		}
		return "ok", err
	}
	queues := map[schedq.Place]string{
		schedq.Active: "active", schedq.ErrorBackoff: "backoff", schedq.Gated: "unschedulable",
	}
	info, err := grouped.queue.GetGroup(groupNumber(line.text("group", "")))
	if err != nil || info.Root == 0 {
		return "ok", nil
	}
	root, err := grouped.queue.GetGroup(info.Root)
	if queue := queues[root.Place]; err == nil && queue != "" {
		grouped.phantoms[queue] += root.Waiting
	}
	return "ok", err
}

func (grouped *grouped) activate(names string) (string, error) {
	var handles []schedq.Pod
	for _, name := range strings.Split(names, ",") {
		if pod := grouped.pods[parseIdentity(name)]; pod != nil {
			handles = append(handles, pod.handle)
		}
	}
	_, err := grouped.queue.Activate(handles)
	return "ok", err
}

func (grouped *grouped) move(line line) (string, error) {
	change := schedq.Change{
		Event:     grouped.label(parseKind(line.words[0]), line.words[1]),
		OldObject: grouped.keep(numbered(line, "old"), "", 0),
		NewObject: grouped.keep(numbered(line, "new"), "", 0),
	}
	if line.has("target") {
		id := parseIdentity(line.text("target", ""))
		id.uid = line.text("uid", id.uid)
		if pod := grouped.pods[id]; pod != nil {
			change.Target = pod.handle
		} else { // a wildcard with an object and without a target reaches nobody
			change.NewObject = grouped.keep(&object{}, "", 0)
		}
	}
	if line.has("pod") {
		change.NewObject = grouped.newest[parseIdentity(line.text("pod", ""))]
	}
	if line.has("group") {
		change.NewObject = grouped.keep(&object{}, line.text("group", ""), line.number("min"))
	}
	if line.has("oldgroup") || line.has("oldmin") {
		group := line.text("oldgroup", line.text("group", ""))
		change.OldObject = grouped.keep(&object{}, group, line.number("oldmin"))
	}
	if line.has("precheck") {
		change.Precheck = unsafe.Pointer(C.judge_precheck)
	}
	grouped.gangs.refresh()
	_, err := grouped.queue.Notify(&change)
	return "ok", err
}

func (grouped *grouped) get(id identity) (string, error) {
	found, err := grouped.queue.Find(fullName(id))
	if err == schedq.ErrNotFound || err == nil && found.Place == schedq.InFlight {
		return "absent", nil
	}
	if err != nil {
		return "", err
	}
	info, err := grouped.queue.Get(found.Pod)
	return grouped.podText(identity{id.name, grouped.payloads[info.Object].uid}, &info), err
}

// ---- groups ---------------------------------------------------------------------------------------

// rootName is the root as the queue has it; "-": none.
func (grouped *grouped) rootName(group string) string {
	info, err := grouped.queue.GetGroup(groupNumber(group))
	if err != nil || info.Root == 0 {
		return "-"
	}
	return groupName(info.Root)
}

func (grouped *grouped) declare(line line, call func(uint64, *schedq.GroupSpec) (schedq.Result, error)) (string, error) {
	name := line.words[0]
	gang := grouped.gangs.named(name)
	gang.exists, gang.min, gang.parent = true, line.number("min"), ""
	if grouped.isComposite {
		gang.parent = line.text("parent", "")
	}
	profile, err := grouped.profile("default-scheduler")
	if err != nil {
		return "", err
	}
	grouped.gangs.refresh()
	_, err = call(groupNumber(name), &schedq.GroupSpec{
		Priority: int32(line.number("prio")), Profile: profile.number, Object: groupNumber(name), Parent: groupNumber(gang.parent),
	})
	return "ok", err
}

// undeclare: upstream's plugins see it go before the queue does.
func (grouped *grouped) undeclare(name string) (string, error) {
	grouped.gangs.named(name).exists = false
	grouped.gangs.refresh()
	_, err := grouped.queue.DeleteGroup(groupNumber(name))
	if err == schedq.ErrNotFound {
		err = nil
	}
	return "ok", err
}

func (grouped *grouped) groupDone(line line) (string, error) {
	outcomes := map[string]schedq.GroupOutcome{
		"success": schedq.GroupPlaced, "unschedulable": schedq.GroupRejected, "error": schedq.GroupError,
	}
	token := grouped.flights[line.words[0]]
	if token == nil {
		return "", errors.New("not in flight: there is no token to end it with")
	}
	_, err := grouped.queue.GroupDone(token, outcomes[line.text("status", "")])
	return "ok", err
}

func (grouped *grouped) groupGet(name string) (string, error) {
	info, err := grouped.queue.GetGroup(groupNumber(name))
	if err == schedq.ErrNotFound || err == nil && (info.Place == schedq.Aside || info.Place == schedq.InFlight) {
		return "absent", nil
	}
	if err != nil {
		return "", err
	}
	gating := grouped.numbered(info.Profile).names(info.Gate.Plugins())
	return fmt.Sprintf("%s %s gating=%s size=%d", name, historyText(&info.History), gating, info.Waiting), nil
}

// ---- state ----------------------------------------------------------------------------------------

func (grouped *grouped) writeState(out io.Writer) {
	pods, err := grouped.queue.Snapshot()
	if err != nil {
		fmt.Fprintln(out, "error", err)
	}
	for i := range pods {
		pod := &pods[i]
		id := identity{strings.TrimPrefix(pod.Name, namespace+"/"), grouped.payloads[pod.Object].uid}
		group, root := "-", "-"
		if pod.Group != 0 {
			group = groupName(pod.Group)
			root = grouped.rootName(group)
		}
		fmt.Fprintln(out, stateText(id, pod), group, root, pod.History.Attempts, grouped.position[id])
	}
	grouped.writeRecords(out)
	grouped.writeNominated(out)
}

// writeRecords: of roots that are in a place, or in their cycle if nothing was popped since.
func (grouped *grouped) writeRecords(out io.Writer) {
	for name := range grouped.gangs.all {
		info, err := grouped.queue.GetGroup(groupNumber(name))
		if err != nil || info.Place == schedq.Aside || info.Place == schedq.InFlight && name != grouped.lastPopped {
			continue
		}
		fmt.Fprintln(out, "record", name, placeName(info.Place), info.Priority, info.History.Timestamp-startNS,
			info.BackoffExpiry-startNS)
	}
}
