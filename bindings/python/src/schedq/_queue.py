"""The queue."""

from __future__ import annotations

import asyncio
import atexit
import math
import select
import threading
import time
import weakref
from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Optional, TypeVar, Union, overload

from ._aio import Waiters
from ._callbacks import Asked
from ._constants import (
    NO_DEADLINE,
    Action,
    Count,
    Engine,
    Fences,
    Order,
    OverdueKind,
    Place,
    Preset,
    Requeue,
    Status,
)
from ._errors import Closed, NoMemory, NotAllAdded, asked, number, numbers, one_of, refuse, says_workers_are_left, text, words
from ._groups import GroupInfo, PoppedGroup, fill_group, group_info
from ._objects import Objects
from ._pods import (
    ADD,
    Explanation,
    History,
    Overdue,
    PodInfo,
    Popped,
    Reasons,
    Result,
    Spec,
    decode,
    encode,
    gate_bit,
    history,
    pod_info,
    result,
)
from ._schedq import ffi, lib

_T = TypeVar("_T")
_new = ffi.new
_popped_type = ffi.typeof("schedq_popped_t *")
_handle_type = ffi.typeof("schedq_pod_t *")
_DEAD: int = lib.SQP_DEAD
_OK, _EMPTY, _TIMEDOUT, _GONE, _NOT_FOUND = (
    int(Status.OK),
    int(Status.EMPTY),
    int(Status.TIMEDOUT),
    int(Status.GONE),
    int(Status.NOT_FOUND),
)
_LONGEST_WAIT_NS = 2**62
_LONGEST_POLL_MS = 2**31 - 1
_THREAD_END_S = 1.0  # of a thread that was joined, until it has given back what it had

#: May this change help the pod? Its object, the object that changed as it was and as it is.
Hint = Callable[[Any, Any, Any], object]


@dataclass(frozen=True)
class Interest:
    """Events that could help what a plugin rejected or gates; without a hint each of them is worth another try.

    `resource` is any word. Those of Event are "Node", "AssignedPod", "UnschedulablePod" and "TargetPod"; "Pod" stands for the three of
    pods, "*" for all.
    """

    resource: str
    actions: Action
    hint: Optional[Hint] = None


_live: weakref.WeakSet[Queue] = weakref.WeakSet()


@atexit.register
def _stop_timers() -> None:
    """At exit no thread may be left that could call into an interpreter that ends."""
    for queue in list(_live):
        lib.sqp_stop(queue._c)


def _end(c: Any, kept: list[Any]) -> None:
    """Ends a queue that nothing refers to. In a callable of this queue that is refused: another thread does it then.

    What C has lives until the queue has ended.
    """
    if lib.sqp_end(c) == Status.BUSY:
        threading.Thread(target=_end_later, args=(c, kept), daemon=True).start()


def _end_later(c: Any, kept: list[Any]) -> None:
    while lib.sqp_end(c) == Status.BUSY:
        time.sleep(0.01)
    kept.clear()


def _text(get: Callable[[Any, int], Any]) -> str:
    room = ffi.new("char[]", 1024)
    status = get(room, 1024) & ~_DEAD
    if status != _OK:
        refuse(status)
    return str(ffi.string(room).decode(errors="replace"))


class Watchdog:
    """Limits for Queue.watch, and what its looks left for the next one; of one queue. A limit of 0: that is not looked for."""

    def __init__(
        self,
        *,
        inflight_ns: Optional[int] = None,
        gated_ns: Optional[int] = None,
        call_ns: Optional[int] = None,
        callback_ns: Optional[int] = None,
        leftovers: bool = True,
    ) -> None:
        self._c = _new("schedq_watch_t *")
        #: False: the lock was not to be had, and the last look saw only workers (MUTEX).
        self.complete = True
        lib.sqp_init_watch(self._c)
        self._c.leftovers = leftovers
        for name, limit in (
            ("inflight_ns", inflight_ns),
            ("gated_ns", gated_ns),
            ("call_ns", call_ns),
            ("callback_ns", callback_ns),
        ):
            if limit is not None:
                numbers(self._c, {name: limit})


class Queue:
    """Decides which pod comes next. Any thread may call it at any time.

    Every refusal of the library is an exception of this package, with the library's words; `Closed` tells that the queue is
    closed. Names ending in _ns are integers, nanoseconds on the queue's clock (now_ns; time.monotonic_ns unless external_clock); a
    `timeout` is in seconds. A queue ends when nothing refers to it any more, with the pods that it has then.

    The configuration is the preset's, but for what is given: the fields of schedq_config_t in schedq/config.h.
    """

    def __init__(
        self,
        preset: Preset = Preset.DEFAULT,
        *,
        max_pods: Optional[int] = None,
        max_bands: Optional[int] = None,
        max_workers: Optional[int] = None,
        max_events: Optional[int] = None,
        event_log: Optional[int] = None,
        max_lots: Optional[int] = None,
        fences: Optional[Fences] = None,
        sample_calls: Optional[int] = None,
        initial_backoff_ns: Optional[int] = None,
        max_backoff_ns: Optional[int] = None,
        max_parked_ns: Optional[int] = None,
        tick_ns: Optional[int] = None,
        class_patience_ns: Optional[int] = None,
        engine: Optional[Engine] = None,
        order: Optional[Order] = None,
        external_clock: Optional[bool] = None,
        requeue: Optional[Requeue] = None,
        pop_from_backoff: Optional[bool] = None,
        backoff_window: Optional[bool] = None,
        backoff_at_expiry: Optional[bool] = None,
        backoff_counts: Optional[Count] = None,
        errors_park: Optional[bool] = None,
        keep_order: Optional[bool] = None,
        gates_see_wildcards: Optional[bool] = None,
        count_cycles: Optional[bool] = None,
        fifo: Optional[bool] = None,
        kube_minor: Optional[int] = None,
        flush_ns: Optional[int] = None,
        start_ns: Optional[int] = None,
        affinity_matches: Optional[Callable[[Any, Any], object]] = None,
    ) -> None:
        given = {key: value for key, value in locals().items() if value is not None}
        for key in ("self", "preset", "affinity_matches"):
            given.pop(key, None)
        asked("affinity_matches", affinity_matches)
        config = ffi.new("schedq_config_t *")
        lib.sqp_init_config(config)
        if lib.schedq_config_preset(config, preset) != _OK:
            refuse(Status.INVALID, f"preset {preset}: legal are {', '.join(str(int(one)) for one in Preset)}")
        numbers(config, given)
        self._over = False
        self._ending = False
        self._runs = False  # the timer thread
        self._waiting: set[object] = set()  # who waits outside of the library
        self._objects = Objects()
        self._kept: list[Any] = []  # what C has: the memory of the queue, handles of the callables
        matches = self._keep(Asked(self._objects, affinity_matches)) if affinity_matches is not None else ffi.NULL
        # No finalizer frees this: others, which come later, may call the queue. It is with those that C may call, too.
        memory = ffi.new("char[]", lib.sqp_size())
        self._kept.append(memory)
        self._c = self._objects.queue = ffi.cast("sqp_queue *", memory)
        status = lib.sqp_create(config, matches, affinity_matches is not None, self._c)
        if status != _OK:
            self._over = True
            refuse(status)
        self.external_clock = bool(config.external_clock)
        self.kube_minor = int(config.kube_minor)
        self._fd = -1
        self._loops = threading.local()
        self._group_loops: set[Waiters] = set()  # in which somebody waits for groups
        _live.add(self)

    def _keep(self, asked: Asked) -> Any:
        handle = ffi.new_handle(asked)
        self._kept.append(handle)
        return handle

    def __del__(self) -> None:
        if not getattr(self, "_over", True):
            self._over = True
            _end(self._c, self._kept)

    def __enter__(self) -> Queue:
        return self

    def __exit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], traceback: Optional[TracebackType]
    ) -> None:
        """Closes the queue: threads that wait end with Closed. Ends the timer thread."""
        self.close()
        self.stop()

    def destroy(self, *, with_pods: bool = False) -> None:
        """Ends the queue now, not with its last reference. Every later call raises Invalid.

        NotEmpty: there are pods, in flight too, and with_pods is False. Busy: a call has not returned, a thread or a task waits in a pop
        (close the queue, and join them), or the timer thread runs (stop). Nothing changed then.
        """
        self._ending = True  # before it looks who waits: one that begins later is refused
        try:
            if self._over:
                return
            if self._waiting:
                refuse(Status.BUSY, f"threads and tasks that wait in a pop: {len(self._waiting)}")
            status = lib.sqp_destroy(self._c, with_pods)
            # A thread gives its worker back behind the moment at which join() returns.
            until = time.monotonic() + _THREAD_END_S
            while status == Status.BUSY and not self._runs and says_workers_are_left() and time.monotonic() < until:
                time.sleep(0.001)
                status = lib.sqp_destroy(self._c, with_pods)
            if status != _OK:
                refuse(status)
            self._over = True
            self._fd = -1
            self._objects.forget()
        finally:
            self._ending = False

    def _begin_wait(self, waiter: object) -> None:
        """Of a wait outside of the library, by the descriptor: the queue does not end until _end_wait."""
        self._waiting.add(waiter)
        if self._ending or self._over:
            self._waiting.discard(waiter)
            refuse(Status.INVALID, "the queue has ended, or is being destroyed")

    def _end_wait(self, waiter: object) -> None:
        self._waiting.discard(waiter)

    def _settle(self, status: int) -> int:
        """The status without what the C side adds: that there are objects to let go."""
        if status & _DEAD:
            self._objects.collect()
            status &= ~_DEAD
        return status

    def _must(self, status: int) -> None:
        status = self._settle(status)
        if status != _OK:
            refuse(status)

    def _result(self, status: int, c: Any) -> Result:
        self._must(status)
        return result(c)

    def _found(self, status: int) -> bool:
        status = self._settle(status)
        if status not in (_OK, _NOT_FOUND):
            refuse(status)
        return status == _OK

    # ---- pods --------------------------------------------------------------------------------------------

    def add(
        self,
        name: str,
        object: Any = None,
        *,
        priority: int = 0,
        profile: int = 0,
        nominated_node: int = 0,
        timestamp_ns: int = 0,
        order_key: Optional[int] = None,
        not_before_ns: int = 0,
        label: int = 0,
        group: int = 0,
        affinity: bool = False,
        class_id: int = 0,
    ) -> int:
        """Puts a new pod in the queue; returns its handle. `object` is what pops, hints and gates get.

        Exists: a pod in any place has this name; nothing changed.
        """
        if (
            profile
            or nominated_node
            or timestamp_ns
            or order_key is not None
            or not_before_ns
            or label
            or group
            or affinity
            or class_id
        ):
            spec = Spec(
                object,
                priority,
                profile,
                nominated_node,
                timestamp_ns,
                order_key,
                not_before_ns,
                label,
                group,
                affinity,
                class_id,
            )
            return self._add_spec(name, spec)
        try:
            encoded = name.encode("utf-8", "surrogateescape")
        except AttributeError:
            encoded = encode(name)
        if type(priority) is not int or not -0x80000000 <= priority <= 0x7FFFFFFF:
            priority = number("priority", priority, "int32_t")
        handle = _new(_handle_type)
        status = lib.sqp_add_plain(self._c, encoded, len(encoded), priority, self._objects.ref(object), handle)
        if status:
            self._must(status)
        return handle.bits  # type: ignore[no-any-return]

    def _add_spec(self, name: str, spec: Spec) -> int:
        encoded = encode(name)
        filled = spec.fill()
        c = _new("schedq_result_t *")
        filled.object = self._objects.ref(spec.object)
        status = lib.sqp_add(self._c, encoded, len(encoded), filled, c)
        self._must_and_drop(status, filled.object)
        return int(c.pod.bits)

    def _must_and_drop(self, status: int, *refs: int) -> None:
        """As _must; before, drops the references that this package had for the call."""
        said = "" if status & ~_DEAD == _OK else words(status & ~_DEAD)
        self._objects.drop(*refs)
        if self._settle(status) != _OK:
            refuse(status & ~_DEAD, said)

    def add_many(
        self,
        names: Sequence[str],
        objects: Optional[Sequence[Any]] = None,
        priorities: Union[Sequence[int], int] = 0,
        *,
        profile: int = 0,
        label: int = 0,
        group: int = 0,
        not_before_ns: int = 0,
        class_id: int = 0,
    ) -> list[int]:
        """Adds many pods in one call; returns their handles. NotAllAdded tells which were refused."""
        if isinstance(names, str):
            raise TypeError(f"names {names!r} is one str: a sequence of them")
        count = len(names)
        try:
            texts = [name.encode("utf-8", "surrogateescape") for name in names]
        except AttributeError:
            texts = [encode(name) for name in names]
        lengths = array("I", map(len, texts))
        spec = Spec(profile=profile, label=label, group=group, not_before_ns=not_before_ns, class_id=class_id).fill()
        ranks: Any = ffi.NULL
        if isinstance(priorities, int):
            numbers(spec, {"priority": priorities})
        else:
            ranks = ffi.from_buffer("int32_t[]", _ranks(priorities), require_writable=True)
            if len(priorities) != count:
                raise ValueError(f"{len(priorities)} priorities for {count} names")
        if objects is not None and len(objects) != count:
            raise ValueError(f"{len(objects)} objects for {count} names")
        joined = b"".join(texts)
        handles = _new("schedq_pod_t[]", count or 1)
        statuses = _new("uint8_t[]", count or 1)
        refs: Any = ffi.NULL
        if objects is not None and count:
            refs = _new("uint64_t[]", self._objects.refs(objects))
        status = lib.sqp_add_many(
            self._c, joined, len(joined), ffi.from_buffer("uint32_t[]", lengths), ranks, refs, spec, count, handles, statuses
        )
        said = "" if status & ~_DEAD == _OK else words(status & ~_DEAD)
        status = self._settle(status)
        added = list(ffi.unpack(ffi.cast("uint64_t *", handles), count))
        if status in (Status.INVALID, Status.BUSY, Status.NOMEM) and not any(added):
            refuse(status, said)
        if status != _OK:
            raise NotAllAdded(said, added, [Status(one) for one in ffi.unpack(statuses, count)])
        return added

    def update(
        self,
        name: str,
        spec: Spec,
        events: Sequence[int] = (),
        *,
        old_object: Any = None,
        add: bool = False,
        only: int = 0,
    ) -> Optional[Result]:
        """Replaces a pod's description. `events`: what the change is; a waiting pod that one could help is tried again.

        None: no pod has that name (or `only` is the handle of another). With add=True it is added then.
        """
        encoded = encode(name)
        one_of(Spec, spec)
        filled = spec.fill(ADD if add else 0)
        filled.only.bits = number("only", only, "uint64_t")
        c = _new("schedq_result_t *")
        kinds = _new("schedq_event_t[]", [number("event", event, "uint16_t") for event in events])
        filled.object = self._objects.ref(spec.object)
        old = self._objects.ref(old_object)
        status = lib.sqp_update(self._c, encoded, len(encoded), filled, old, kinds, len(events), c)
        if status & ~_DEAD == _NOT_FOUND:
            self._objects.drop(filled.object, old)
            return None
        self._must_and_drop(status, filled.object, old)
        return result(c)

    def readd(self, name: str, spec: Spec, before: History, rejectors: int = 0, pending: int = 0) -> Result:
        """Puts back a pod that failed after its done, with its history. It is never parked."""
        encoded = encode(name)
        one_of(Spec, spec)
        one_of(History, before)
        filled = spec.fill()
        past = _new("schedq_history_t *")
        numbers(past, vars(before))
        failure = _new("schedq_failure_t *")
        lib.sqp_init_failure(failure)
        failure.unschedulable = number("rejectors", rejectors, "uint64_t")
        failure.pending = number("pending", pending, "uint64_t")
        c = _new("schedq_result_t *")
        filled.object = self._objects.ref(spec.object)
        self._must_and_drop(lib.sqp_readd(self._c, encoded, len(encoded), filled, past, failure, c), filled.object)
        return result(c)

    def delete(self, pod: Union[str, int]) -> bool:
        """Removes a pod, by name or handle. False: there is none. One in flight loses its name; its holder hears of it."""
        if isinstance(pod, str):
            encoded = encode(pod)
            return self._found(lib.sqp_delete_name(self._c, encoded, len(encoded), ffi.NULL))
        return self._found(lib.sqp_delete(self._c, (self._handle(pod),), ffi.NULL))

    def activate(self, handles: Iterable[int]) -> Result:
        """Makes waiting pods active, if their gates let them; unknown ones are ignored."""
        pods = _new("schedq_pod_t[]", [(number("handle", handle, "uint64_t"),) for handle in handles])
        c = _new("schedq_result_t *")
        return self._result(lib.sqp_activate(self._c, pods, len(pods), c), c)

    def _handle(self, pod: Union[str, int]) -> Optional[int]:
        """The handle of a pod that the caller names, or has the handle of. None: no pod has that name."""
        if isinstance(pod, int):
            return number("handle", pod, "uint64_t")
        if not isinstance(pod, str):
            raise TypeError(f"pod {pod!r} is neither a name nor a handle")
        encoded = encode(pod)
        c = _new("schedq_result_t *")
        return int(c.pod.bits) if self._found(lib.sqp_find(self._c, encoded, len(encoded), c)) else None

    def nominate(self, pod: Union[str, int], node: int) -> bool:
        """A node is meant for the pod; 0: none is. By name or handle. False: there is no such pod."""
        number("node", node, "uint64_t")
        handle = self._handle(pod)
        return handle is not None and self._found(lib.sqp_nominate(self._c, (handle,), node))

    def hold(self, pod: Union[str, int]) -> Optional[Place]:
        """Keeps a pod back until it is released; by name or handle. Where it is then; None: there is no such pod."""
        return self._placed(lib.sqp_hold, pod)

    def release(self, pod: Union[str, int]) -> Optional[Place]:
        """Lets a pod go that hold keeps back; by name or handle."""
        return self._placed(lib.sqp_release, pod)

    def not_before(self, pod: Union[str, int], time_ns: int) -> Optional[Place]:
        """Keeps a pod back until a time on the queue's clock; 0: lets it go. By name or handle."""
        return self._placed(lib.sqp_not_before, pod, number("time_ns", time_ns, "int64_t"))

    def _placed(self, call: Callable[..., int], pod: Union[str, int], *arguments: int) -> Optional[Place]:
        handle = self._handle(pod)
        c = _new("schedq_result_t *")
        return Place(c.place) if handle is not None and self._found(call(self._c, (handle,), *arguments, c)) else None

    def _counted(self, call: Callable[..., int], *arguments: Any) -> int:
        count = _new("size_t *")
        self._must(call(self._c, *arguments, count))
        return int(count[0])

    def label_cancel(self, label: int) -> int:
        """Deletes all pods of a label; returns how many."""
        return self._counted(lib.sqp_label_cancel, number("label", label, "uint64_t"), ffi.NULL, 0)

    def label_hold(self, label: int) -> int:
        return self._counted(lib.sqp_label_hold, number("label", label, "uint64_t"))

    def label_release(self, label: int) -> int:
        return self._counted(lib.sqp_label_release, number("label", label, "uint64_t"))

    def label_count(self, label: int) -> int:
        return self._counted(lib.sqp_label_count, number("label", label, "uint64_t"))

    # ---- groups: docs/GROUPS.md ----------------------------------------------------------------------------

    def group_add(
        self, group: int, *, priority: int = 0, quorum: int = 0, profile: int = 0, object: int = 0, parent: int = 0
    ) -> Result:
        """Declares a group, a number that is not 0; pods name it by add(group=). `object`: 64 bits that its pop gives back.

        Exists: it was declared. Full: max_pods, of which it is one.
        """
        c = _new("schedq_result_t *")
        spec = fill_group(priority, quorum, profile, object, parent)
        return self._result(lib.sqp_group_add(self._c, _group(group), spec, c), c)

    def group_update(
        self, group: int, *, priority: int = 0, quorum: int = 0, profile: int = 0, object: int = 0, parent: int = 0
    ) -> Optional[Result]:
        """Replaces priority, quorum and object of a group; profile and parent are those of its declaration. None: it has none."""
        c = _new("schedq_result_t *")
        spec = fill_group(priority, quorum, profile, object, parent)
        return result(c) if self._found(lib.sqp_group_update(self._c, _group(group), spec, c)) else None

    def group_delete(self, group: int) -> bool:
        """Ends a declaration; its members stay, and wait for another one. False: it has none."""
        return self._found(lib.sqp_group_delete(self._c, _group(group), ffi.NULL))

    def group_activate(self, group: int) -> Optional[Result]:
        """Makes a group active that waits, if its gates let it. None: it is not declared."""
        c = _new("schedq_result_t *")
        return result(c) if self._found(lib.sqp_group_activate(self._c, _group(group), c)) else None

    def group_look(self, group: int) -> Optional[GroupInfo]:
        """A group as it is. None: it is neither declared nor in its cycle."""
        c = _new("schedq_group_info_t *")
        lib.sqp_init_group_info(c)
        return group_info(c) if self._found(lib.sqp_group_get(self._c, _group(group), c)) else None

    def try_pop_group(self) -> Optional[PoppedGroup]:
        """Takes the best of what is active, a group with all its members or a pod in none; None: nothing is poppable."""
        return self._take_group(lib.sqp_try_pop_group)

    @overload
    def pop_group(self, timeout: None = None) -> PoppedGroup: ...
    @overload
    def pop_group(self, timeout: float) -> Optional[PoppedGroup]: ...
    def pop_group(self, timeout: Optional[float] = None) -> Optional[PoppedGroup]:
        """Takes a group, or a pod in none; waits for one. None: `timeout` seconds are over. As pop otherwise."""
        _timeout(timeout)
        popped = self.try_pop_group()
        if popped is not None or (timeout is not None and timeout <= 0):
            return popped
        if self._must_poll():
            return self._poll(self.try_pop_group, timeout)
        deadline_ns = NO_DEADLINE if timeout is None else self.now_ns() + _ns(timeout)
        return self._take_group(lambda c, *rest: lib.sqp_pop_group_until(c, deadline_ns, *rest))

    def _take_group(self, take: Callable[..., int]) -> Optional[PoppedGroup]:
        """With more room as long as that is too little for the group that is the best."""
        c = _new("schedq_popped_group_t *")
        count = _new("size_t *")
        room = 16
        while True:
            members = _new("schedq_popped_t[]", room)
            status = self._settle(take(self._c, c, members, room, count))
            if status == _OK:
                return PoppedGroup(self, c, members, count[0])
            if status in (_EMPTY, _TIMEDOUT):
                return None
            if status != Status.FULL:
                refuse(status)
            room = max(2 * room, count[0])

    async def get_group(self) -> PoppedGroup:
        """Takes a group, or a pod in none; waits for one in the running event loop. As get otherwise."""
        return await self._waiters().get_group(self)

    # ---- taking pods -------------------------------------------------------------------------------------

    def try_pop(self) -> Optional[Popped]:
        """Takes the best pod; None: nothing is poppable. Closed: and nothing will come."""
        c = _new(_popped_type)
        status = lib.sqp_try_pop(self._c, c)
        if status & _DEAD:
            status = self._settle(status)
        if status == _OK:
            return Popped(self, c)
        if status == _EMPTY:
            if self._group_loops:
                self._passed_groups()
            return None
        refuse(status)

    def _passed_groups(self) -> None:
        for waiters in tuple(self._group_loops):
            waiters.look_again()

    @overload
    def pop(self, timeout: None = None) -> Popped: ...
    @overload
    def pop(self, timeout: float) -> Optional[Popped]: ...
    def pop(self, timeout: Optional[float] = None) -> Optional[Popped]:
        """Takes the best pod; waits for one. None: `timeout` seconds are over. Other threads run meanwhile; ctrl-C ends it."""
        _timeout(timeout)
        popped = self.try_pop()
        if popped is not None or (timeout is not None and timeout <= 0):
            return popped
        if self._must_poll():
            return self._poll(self.try_pop, timeout)
        c = _new(_popped_type)
        status = self._settle(
            lib.sqp_pop(self._c, c) if timeout is None else lib.sqp_pop_for(self._c, _ns(timeout), c)
        )
        if status == _OK:
            return Popped(self, c)
        if status == _TIMEDOUT:
            return None
        refuse(status)

    def try_pop_many(self, capacity: int) -> list[Popped]:
        """Takes up to `capacity` of the best pods, best first. An empty list: nothing is poppable."""
        return self._take_many(lib.sqp_try_pop_many, capacity)

    def pop_many(self, capacity: int, timeout: Optional[float] = None) -> list[Popped]:
        """Takes up to `capacity` of the best pods; waits for the first. An empty list: `timeout` seconds are over."""
        _timeout(timeout)
        popped = self.try_pop_many(capacity)
        if popped or (timeout is not None and timeout <= 0):
            return popped
        if self._must_poll():
            return self._poll(lambda: self.try_pop_many(capacity) or None, timeout) or []
        if timeout is None:
            return self._take_many(lib.sqp_pop_many, capacity)
        wait_ns = _ns(timeout)
        return self._take_many(lambda c, *rest: lib.sqp_pop_many_for(c, wait_ns, *rest), capacity)

    def _take_many(self, take: Callable[..., Any], capacity: int) -> list[Popped]:
        capacity = number("capacity", capacity, "size_t", 1)
        try:
            room = _new("schedq_popped_t[]", capacity)
        except (MemoryError, OverflowError):
            raise NoMemory(f"capacity {capacity}: there is no memory for so many") from None
        count = _new("size_t *")
        status = self._settle(take(self._c, room, capacity, count))
        if status == _OK:
            return [Popped(self, room + i, room) for i in range(count[0])]
        if status in (_EMPTY, _TIMEDOUT):
            if self._group_loops:
                self._passed_groups()
            return []
        refuse(status)

    def done_many(self, pods: Iterable[Popped]) -> int:
        """Ends many cycles, each as Popped.done does. Returns how many were there still: not deleted meanwhile.

        Stale: one had ended before; the others have ended all the same.
        """
        all_of_them = list(pods)
        count = len(all_of_them)
        try:
            pointers = _new("schedq_popped_t *[]", [pod._c for pod in all_of_them])
        except AttributeError:
            for pod in all_of_them:
                one_of(Popped, pod)
            raise
        statuses = _new("uint8_t[]", count or 1)
        status = self._settle(lib.sqp_done_many(self._c, pointers, count, statuses))
        if status in (Status.INVALID, Status.NOMEM):
            refuse(status)
        for pod in all_of_them:
            pod._ended = True
        got = ffi.unpack(statuses, count)
        if int(Status.STALE) in got:
            refuse(Status.STALE)
        return int(got.count(_OK))

    def __iter__(self) -> Queue:
        return self

    def __next__(self) -> Popped:
        """Waits for the next pod; ends when the queue is closed."""
        try:
            popped = self.pop()
        except Closed:
            raise StopIteration from None
        assert popped is not None
        return popped

    def _must_poll(self) -> bool:
        """Signals reach Python's main thread when it is interrupted: in poll, not in the library's wait."""
        return self.external_clock or threading.get_ident() == threading.main_thread().ident

    def _poll(self, take: Callable[[], Optional[_T]], timeout: Optional[float]) -> Optional[_T]:
        """Waits by the queue's descriptor, and serves time (THE LOOP in schedq/wait.h)."""
        waiter = object()
        self._begin_wait(waiter)
        try:
            return self._poll_until(take, math.inf if timeout is None else time.monotonic() + timeout)
        finally:
            self._end_wait(waiter)

    def _poll_until(self, take: Callable[[], Optional[_T]], end: float) -> Optional[_T]:
        poll = select.poll()
        poll.register(self.fileno(), select.POLLIN)
        while True:
            taken = take()
            if taken is not None:
                return taken
            left = end - time.monotonic()
            if left <= 0:
                return None
            if not self.external_clock:
                left = min(left, (self.next_deadline_ns() - self.now_ns()) / 1e9)
            poll.poll(None if left > _LONGEST_POLL_MS / 1000 else max(math.ceil(left * 1000), 0))
            if self.next_deadline_ns() <= self.now_ns():
                self.tick()

    # ---- asyncio -----------------------------------------------------------------------------------------

    async def get(self) -> Popped:
        """Takes the best pod; waits for one in the running event loop, which serves time meanwhile. Raises Closed as pop does."""
        return await self._waiters().get(self)

    def _waiters(self) -> Waiters:
        loop = asyncio.get_running_loop()
        waiters: Optional[Waiters] = getattr(self._loops, "waiters", None)
        if waiters is None or waiters.loop is not loop:
            waiters = self._loops.waiters = Waiters(self, loop)
        return waiters

    def __aiter__(self) -> Queue:
        return self

    async def __anext__(self) -> Popped:
        try:
            return await self.get()
        except Closed:
            raise StopAsyncIteration from None

    def fileno(self) -> int:
        """The descriptor for select and the like: readable while a pod is poppable, until try_pop returns None."""
        if self._fd < 0:
            fd = _new("int *")
            self._must(lib.sqp_wait_fd(self._c, fd))
            self._fd = fd[0]
        return self._fd

    # ---- plugins and events ------------------------------------------------------------------------------

    def plugin(
        self,
        name: str,
        interests: Sequence[Interest] = (),
        *,
        gate: Optional[Callable[[Any], object]] = None,
        profile: int = 0,
        spread: bool = False,
    ) -> int:
        """Registers a plugin, before the first pod; returns its bit in the rejectors of its profile.

        A hint, gate or preCheck gets the pods' objects. It runs inside a call, at times in the timer thread: it must be quick,
        must not call this queue but for done (Busy), and must not wait for a lock that somebody holds who calls it.
        """
        asked("gate", gate)
        for interest in interests:
            one_of(Interest, interest)
            asked("hint", interest.hint)
        kinds = _new("schedq_interest_t[]", len(interests) or 1)
        hinted = _new("uint8_t[]", len(interests) or 1)
        resources = [_new("char[]", text("resource", interest.resource)) for interest in interests]
        for i, interest in enumerate(interests):
            kinds[i].resource = resources[i]
            kinds[i].actions = number("actions", interest.actions, "uint32_t")
            hinted[i] = interest.hint is not None
        called = _new("char[]", encode(name))
        c = _new("schedq_plugin_t *")
        lib.sqp_init_plugin(c)
        numbers(c, {"profile": profile})
        c.flags = 1 if spread else 0
        c.name = called
        c.interest_count = len(interests)
        bit = _new("uint64_t *")
        handle = self._keep(Asked(self._objects, gate, tuple(interest.hint for interest in interests)))
        self._must(lib.sqp_plugin_register(self._c, c, kinds, hinted, gate is not None, handle, bit))
        return int(bit[0])

    def define_profile(self, name: str) -> int:
        """A set of plugins that are numbered by themselves; before the first pod. 0 always exists."""
        number = _new("schedq_profile_t *")
        self._must(lib.sqp_profile_define(self._c, encode(name), number))
        return int(number[0])

    def define_event(self, resource: str, actions: Action, label: str = "") -> int:
        """The number of an event, a new one or the one that it has. `label` is for the metrics."""
        event = _new("schedq_event_t *")
        kind = number("actions", actions, "uint32_t")
        self._must(lib.sqp_event_define(self._c, text("resource", resource), kind, text("label", label), event))
        return int(event[0])

    def rejector_bit(self, name: str, profile: int = 0) -> int:
        """The bit of a rejector by its name; a name that no plugin has becomes one that every event concerns."""
        encoded = encode(name)
        bit = _new("uint64_t *")
        self._must(lib.sqp_rejector_bit(self._c, _profile(profile), encoded, len(encoded), bit))
        if bit[0] == 0:
            said = f"no bit for rejector {name!r} of profile {profile}: legal are 1..127 bytes, a defined profile"
            refuse(Status.INVALID, said)
        return int(bit[0])

    def rejector_names(self, bits: int, profile: int = 0) -> list[str]:
        """The names behind a rejector set."""
        number("bits", bits, "uint64_t")
        return [self._rejector_name(1 << n, _profile(profile), bits) for n in range(64) if bits >> n & 1]

    def _rejector_name(self, bit: int, profile: int, bits: int) -> str:
        room = _new("char[]", 1024)
        status = self._settle(lib.sqp_rejector_name(self._c, profile, bit, room, 1024))
        if status == _NOT_FOUND:
            refuse(Status.INVALID, f"bits {bits:#x}: no rejector of profile {profile} has bit {bit:#x}")
        self._must(status)
        return decode(ffi.string(room))

    def event_plugins(self, event: int, profile: int = 0) -> int:
        """The plugins of a profile that an event concerns, as bits."""
        bits = _new("uint64_t *")
        self._must(lib.sqp_event_plugins(self._c, _profile(profile), number("event", event, "uint16_t"), bits))
        return int(bits[0])

    def _change(self, event: int, target: int, precheck: Optional[Callable[[Any], object]]) -> tuple[Any, Any]:
        if not isinstance(event, int):
            raise TypeError(f"event {event!r} is no number: legal are those of Event, and what define_event returned")
        asked("precheck", precheck)
        change = _new("schedq_change_t *")
        lib.sqp_init_change(change)
        try:
            change.event = event
            change.target.bits = target
        except (OverflowError, TypeError):
            change.event = number("event", event, "uint16_t")
            change.target.bits = number("target", target, "uint64_t")
        handle = None
        if precheck is not None:
            handle = ffi.new_handle(Asked(self._objects, precheck))
            lib.sqp_set_precheck(change, handle)
        return change, handle

    def notify(
        self,
        event: int,
        old: Any = None,
        new: Any = None,
        *,
        target: int = 0,
        precheck: Optional[Callable[[Any], object]] = None,
    ) -> Result:
        """Something changed: waiting pods that it could help are tried again. `old` and `new` are what hints get."""
        change, handle = self._change(event, target, precheck)
        return self._tell(lambda c: lib.sqp_notify(self._c, change, c), change, old, new, handle)

    def assigned_pod_added(self, event: int, namespace: str, old: Any = None, new: Any = None) -> Result:
        """A pod got a node: reaches pods whose affinity matches `new`, and those that a spread=True plugin rejected."""
        change, handle = self._change(event, 0, None)
        encoded = text("namespace", namespace)
        call = lib.sqp_assigned_pod_added
        return self._tell(lambda c: call(self._c, change, encoded, len(encoded), c), change, old, new, handle)

    def assigned_pod_updated(self, event: int, namespace: str, old: Any = None, new: Any = None) -> Result:
        change, handle = self._change(event, 0, None)
        encoded = text("namespace", namespace)
        call = lib.sqp_assigned_pod_updated
        return self._tell(lambda c: call(self._c, change, encoded, len(encoded), c), change, old, new, handle)

    def _tell(self, call: Callable[[Any], Any], change: Any, old: Any, new: Any, handle: Any) -> Result:
        """`handle` is only kept alive."""
        c = _new("schedq_result_t *")
        change.old_object = self._objects.ref(old)
        change.new_object = self._objects.ref(new)
        self._must_and_drop(call(c), change.old_object, change.new_object)
        return result(c)

    # ---- time --------------------------------------------------------------------------------------------

    def now_ns(self) -> int:
        return self._time(lib.sqp_now)

    def next_deadline_ns(self) -> int:
        """When to call tick; NO_DEADLINE: nothing will be due."""
        return self._time(lib.sqp_next_deadline)

    def _time(self, read: Callable[..., int]) -> int:
        """Lets no objects go: waits ask this between two steps, and only the end of the queue may stop them there."""
        time_ns = _new("int64_t *")
        status = read(self._c, time_ns) & ~_DEAD
        if status != _OK:
            refuse(status)
        return int(time_ns[0])

    def tick(self) -> int:
        """Serves time: pods whose backoff is over become active. Returns when to call it again.

        Pops that wait serve it themselves, and so does the timer thread.
        """
        next_ns = _new("int64_t *")
        self._must(lib.sqp_tick(self._c, next_ns, ffi.NULL))
        return int(next_ns[0])

    def run(self) -> None:
        """Starts the timer thread, which serves time. Exists: it runs already."""
        status = self._settle(lib.sqp_run(self._c))
        if status == Status.EXISTS:
            refuse(status, "the timer thread runs already")
        self._must(status)
        self._runs = True

    def stop(self) -> None:
        """Ends the timer thread."""
        self._must(lib.sqp_stop(self._c))
        self._runs = False

    def advance(self, now_ns: int) -> None:
        """Raises the clock of a queue with external_clock. It serves no time."""
        status = self._settle(lib.sqp_clock_advance(self._c, number("now_ns", now_ns, "int64_t")))
        if status == Status.INVALID and not self.external_clock and not self._over:
            refuse(status, "the queue has no external clock: Queue(external_clock=True) has")
        self._must(status)

    # ---- looking -----------------------------------------------------------------------------------------

    def find(self, name: str) -> Optional[PodInfo]:
        """The pod that has a name."""
        encoded = encode(name)
        c = _new("schedq_result_t *")
        return self.look(c.pod.bits) if self._found(lib.sqp_find(self._c, encoded, len(encoded), c)) else None

    def look(self, handle: int) -> Optional[PodInfo]:
        """The pod of a handle, in flight too."""
        pods = self._visit(lib.sqp_get, (number("handle", handle, "uint64_t"),))
        return pods[0] if pods else None

    def snapshot(self) -> list[PodInfo]:
        """Every pod, in no order."""
        return self._visit(lib.sqp_snapshot)

    def nominated_pods(self, node: int) -> list[PodInfo]:
        return self._visit(lib.sqp_nominated_pods, number("node", node, "uint64_t"))

    def peek(self) -> Optional[PodInfo]:
        """The pod that try_pop would take now."""
        pods = self._visit(lib.sqp_peek)
        return pods[0] if pods else None

    def peek_many(self, count: int) -> list[PodInfo]:
        """The pods that the next pops would take, in that order."""
        return self._visit(lib.sqp_peek_many, number("count", count, "size_t", 1))

    def _visit(self, call: Callable[..., int], *arguments: Any) -> list[PodInfo]:
        visited = _new("sqp_visited *")
        status = self._settle(call(self._c, *arguments, visited))
        try:
            if status not in (_OK, _EMPTY, _NOT_FOUND):
                refuse(status)
            table = self._objects.table
            return [pod_info(visited.pods[i], table) for i in range(visited.count)]
        finally:
            lib.sqp_visited_free(self._c, visited)

    def position(self, pod: Union[str, int]) -> Optional[tuple[int, int]]:
        """How many active pods rank before it, at least and at most; by name or handle. None: it is not active."""
        handle = self._handle(pod)
        if handle is None:
            return None
        bounds = _new("uint64_t[2]")
        status = self._settle(lib.sqp_position(self._c, (handle,), bounds, bounds + 1))
        if status in (_GONE, _NOT_FOUND):
            return None
        self._must(status)
        return bounds[0], bounds[1]

    def explain(self, pod: Union[str, int]) -> Optional[Explanation]:
        """Why a pod is where it is; by name or handle."""
        handle = self._handle(pod)
        why = _new("schedq_explanation_t *")
        lib.sqp_init_explanation(why)
        if handle is None or not self._found(lib.sqp_explain(self._c, (handle,), why)):
            return None
        return Explanation(
            text=_text(lambda room, size: lib.sqp_explanation_text(self._c, why, room, size)),
            place=Place(why.place),
            unschedulable=why.unschedulable,
            pending=why.pending,
            gate=gate_bit(why.gate),
            history=history(why.history),
            now_ns=why.now_ns,
            backoff_expiry_ns=why.backoff_expiry_ns,
            wake_ns=why.wake_ns,
            nominated_node=why.nominated_node,
            freed_by=None if why.freed_by == ffi.NULL else decode(ffi.string(why.freed_by)),
            group=why.group,
            group_root=why.group_root,
            group_waiting=why.group_waiting,
            group_quorum=why.group_quorum,
            group_place=Place(why.group_place),
            group_declared=bool(why.group_declared),
            kept_by_class=bool(why.kept_by_class),
            class_id=why.class_id,
            scout=why.scout.bits,
        )

    def watch(self, watchdog: Watchdog, limit: int = 100) -> list[Overdue]:
        """What takes too long, `limit` of them at most. To be called once a period, by one thread at a time."""
        one_of(Watchdog, watchdog)
        out = _new("schedq_overdue_t[]", number("limit", limit, "uint32_t"))
        found = _new("size_t *")
        status = self._settle(lib.sqp_watch(self._c, watchdog._c, out, limit, found))
        if status not in (_OK, _TIMEDOUT):
            refuse(status)
        watchdog.complete = status == _OK
        return [self._overdue(out + i) for i in range(min(found[0], limit))]

    def _overdue(self, c: Any) -> Overdue:
        return Overdue(
            text=_text(lambda room, size: lib.sqp_overdue_text(self._c, c, room, size)),
            kind=OverdueKind(c.kind),
            handle=c.pod.bits,
            rejectors=c.rejectors,
            gate=gate_bit(c.plugin),
            worker=c.worker,
            thread=c.thread,
            for_ns=c.for_ns,
        )

    def count_reasons(self, profile: int = 0) -> Reasons:
        """How many pods of a profile wait for what."""
        c = _new("schedq_reasons_t *")
        lib.sqp_init_reasons(c)
        self._must(lib.sqp_count_reasons(self._c, _profile(profile), c))

        def named(counts: Any) -> dict[str, int]:
            return {self.rejector_names(1 << n, profile)[0]: counts[n] for n in range(64) if counts[n]}

        return Reasons(c.parked, c.gated, c.backoff, c.error_backoff, named(c.parked_by), named(c.gated_by))

    def stats(self) -> dict[str, int]:
        """Counts and bytes: the fields of schedq_stats_t. "parked" and its like count each member of groups that wait there;
        "groups_at_parked" counts the groups.
        """
        c = _new("schedq_stats_t *")
        lib.sqp_init_stats(c)
        self._must(lib.sqp_stats(self._c, c))
        return _fields(c)

    def words(self) -> dict[str, int]:
        """The fields of schedq_words_t. In "parked" and its like a group counts as one; stats() counts its members."""
        c = _new("schedq_words_t *")
        self._must(lib.sqp_read_words(self._c, c))
        return _fields(c)

    def metrics(self) -> str:
        """The metrics in the Prometheus text format."""
        text = _new("sqp_text *")
        try:
            self._must(lib.sqp_metrics_write(self._c, text))
            return decode(ffi.unpack(text.bytes, text.length)) if text.length else ""
        finally:
            lib.sqp_text_free(text)

    def pending_text(self) -> str:
        """ "activeQ:N; backoffQ:N; unschedulablePods:N" """
        return _text(lambda room, size: lib.sqp_pending_text(self._c, room, size))

    # ---- the queue itself --------------------------------------------------------------------------------

    def close(self) -> None:
        """Closes the queue: add is refused; pops go on until nothing is poppable, then raise Closed.

        It does not wait for pods that back off, are parked or gated. To finish all, count the pods that are done or deleted, and close
        at the last one.
        """
        self._must(lib.sqp_close(self._c))

    def reserve(self, pods: int, bands: int = 0, workers: int = 0) -> None:
        """Allocates for that many pods, priorities and threads."""
        given = {"pods": pods, "bands": bands, "workers": workers}
        self._must(lib.sqp_reserve(self._c, *(number(name, value, "uint32_t") for name, value in given.items())))

    def trim(self) -> None:
        """Frees memory that holds no pod, and lets objects go that no pod needs."""
        self._must(lib.sqp_trim(self._c))
        self._objects.collect()

    def leave(self) -> None:
        """Gives the calling thread's worker back, of which there are max_workers. The end of a thread does it too."""
        self._must(lib.sqp_leave_worker(self._c))


def _group(group: int) -> int:
    return number("group", group, "uint64_t")


def _profile(profile: int) -> int:
    return number("profile", profile, "uint8_t")


def _ranks(priorities: Sequence[int]) -> array[int]:
    try:
        return array("i", priorities)
    except (OverflowError, TypeError):
        return array("i", [number("priority", priority, "int32_t") for priority in priorities])


def _timeout(timeout: Optional[float]) -> None:
    """Before a pod is taken: a wait that cannot be made takes none."""
    try:
        if timeout is None or timeout == timeout + 0:
            return
    except TypeError:
        raise TypeError(f"timeout {timeout!r} is no number of seconds") from None
    raise ValueError(f"timeout {timeout!r} is no number of seconds")  # NaN


def _ns(timeout: float) -> int:
    return min(int(timeout * 1e9), _LONGEST_WAIT_NS) if timeout < 4e9 else _LONGEST_WAIT_NS


def _fields(c: Any) -> dict[str, int]:
    read: dict[str, int] = {}
    for name, kind in ffi.typeof(c).item.fields:
        if name == "struct_size" or name.startswith("reserved"):
            continue
        value = getattr(c, name)
        if kind.type.kind == "array":
            read.update({f"{name}_{place.name.lower()}": value[place] for place in Place})
        else:
            read[name] = value
    return read
