"""Pods as callers describe them, take them and look at them."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Optional

from ._constants import OverdueKind, Place, Status
from ._errors import Stale, number, numbers, refuse, text
from ._schedq import ffi, lib

if TYPE_CHECKING:
    from ._queue import Queue

_unpack = ffi.unpack
_OK = int(Status.OK)

_NUMBERS = (
    "priority", "profile", "nominated_node", "timestamp_ns", "order_key", "not_before_ns", "label", "group",
    "class_id",
)  # fmt: skip
AFFINITY = 1
ORDER_KEY = 2
ADD = 4


def encode(name: str) -> bytes:
    return text("name", name)


def decode(text: bytes) -> str:
    return text.decode("utf-8", "surrogateescape")


@dataclass(frozen=True)
class Spec:
    """What a pod is: the arguments of Queue.add, for the newest description of a failure and for readd."""

    object: Any = None
    priority: int = 0
    profile: int = 0
    nominated_node: int = 0
    timestamp_ns: int = 0
    order_key: Optional[int] = None
    not_before_ns: int = 0
    label: int = 0
    group: int = 0
    affinity: bool = False
    class_id: int = 0

    def fill(self, flags: int = 0) -> Any:
        """As the library wants it, but for the object."""
        spec = ffi.new("schedq_pod_spec_t *")
        lib.sqp_init_spec(spec)
        spec.flags = flags | (AFFINITY if self.affinity else 0) | (0 if self.order_key is None else ORDER_KEY)
        try:
            spec.priority = self.priority
            spec.profile = self.profile
            spec.nominated_node = self.nominated_node
            spec.timestamp_ns = self.timestamp_ns
            spec.order_key = self.order_key or 0
            spec.not_before_ns = self.not_before_ns
            spec.label = self.label
            spec.group = self.group
            spec.class_id = self.class_id
        except (OverflowError, TypeError):
            given = {name: getattr(self, name) for name in _NUMBERS}
            numbers(spec, {name: value for name, value in given.items() if value is not None})
        return spec


@dataclass(frozen=True)
class History:
    """What a pod went through. Times are on the queue's clock; 0: never yet."""

    timestamp_ns: int = 0
    initial_attempt_ns: int = 0
    attempts: int = 0
    rejections: int = 0
    errors: int = 0


def history(c: Any) -> History:
    return History(c.timestamp_ns, c.initial_attempt_ns, c.attempts, c.rejections, c.errors)


@dataclass(frozen=True)
class Result:
    """What a call did: to one pod, or summed up over many (then only the counts and `poppable` are set)."""

    handle: int
    place: Place
    gate: int  #: bit of the plugin that gates it
    unschedulable: int  #: bits of its rejectors
    pending: int
    timestamp_ns: int
    added: bool
    poppable: bool  #: a pod became poppable
    to_active: int  #: pods that the call put there
    to_backoff: int
    to_parked: int
    to_gated: int


def gate_bit(gate: int) -> int:
    """The bit of a plugin that is told as 1 + its number."""
    return 1 << (gate - 1) if gate else 0


def result(c: Any) -> Result:
    return Result(
        c.pod.bits, Place(c.place), gate_bit(c.gate), c.unschedulable, c.pending, c.timestamp_ns, bool(c.added),
        bool(c.poppable), c.to_active, c.to_backoff, c.to_parked, c.to_gated,
    )  # fmt: skip


class Popped:
    """A pod in flight. Its holder ends the cycle by done() or fail(); a with statement does it by its outcome.

    One that is dropped without either stays in flight, and a ResourceWarning says so.
    """

    __slots__ = ("_queue", "_c", "_room", "_ended", "_failed", "name", "object")

    name: str
    object: Any  #: what the pod was added or updated with

    def __init__(self, queue: Queue, c: Any, room: Any = None) -> None:
        """`room` is the memory of `c`, if that is not its own."""
        self._ended = False
        self._failed = False
        self._queue = queue
        self._c = c
        self._room = room
        self.name = _unpack(c.name, c.name_length).decode("utf-8", "surrogateescape")
        self.object = queue._objects.table[c.object]

    def done(self) -> bool:
        """The pod was placed; it leaves the queue. False: it was deleted meanwhile."""
        queue = self._queue
        status: int = lib.sqp_done(queue._c, self._c)
        if status == _OK:
            self._ended = True
            return True
        self._note_end(status)
        status = queue._settle(status)
        if status not in (Status.OK, Status.GONE):
            refuse(status)
        return status == Status.OK

    def fail(
        self, rejectors: int = 0, pending: int = 0, *, newest: Optional[Spec] = None, own_reasons: bool = False
    ) -> Optional[Place]:
        """The pod was not placed: bits of the plugins that rejected it; none: an error. Returns where it is.

        `pending`: bits of those that only wait for something. `newest`: its description from now on. `own_reasons`: they say
        nothing about the others of its class. None: the pod was deleted meanwhile.
        """
        queue = self._queue
        failure = ffi.new("schedq_failure_t *")
        lib.sqp_init_failure(failure)
        failure.own_reasons = bool(own_reasons)
        try:
            failure.unschedulable = rejectors
            failure.pending = pending
        except (OverflowError, TypeError):
            failure.unschedulable = number("rejectors", rejectors, "uint64_t")
            failure.pending = number("pending", pending, "uint64_t")
        spec = None
        if newest is not None:
            spec = newest.fill()
            spec.object = queue._objects.ref(newest.object)
            failure.newest = spec
        c = ffi.new("schedq_result_t *")
        status = lib.sqp_fail(queue._c, ffi.addressof(self._c, "token"), failure, c)
        self._note_end(status)
        self._failed = self._ended
        if spec is not None:
            queue._objects.drop(spec.object)
        status = queue._settle(status)
        if status == Status.OK:
            return Place(c.place)
        if status != Status.GONE:
            refuse(status)
        return None

    def _note_end(self, status: int) -> None:
        """Before the package does anything that may raise."""
        if status & ~lib.SQP_DEAD in (Status.OK, Status.GONE):
            self._ended = True

    def alive(self) -> bool:
        """Whether the pod still exists: a question before binding. If not, done or fail still has to end the cycle."""
        status = self._queue._settle(lib.sqp_token_alive(self._queue._c, self._c.token))
        if status not in (Status.OK, Status.GONE):
            refuse(status)
        return status == Status.OK

    @property
    def handle(self) -> int:
        return int(self._c.pod.bits)

    @property
    def priority(self) -> int:
        return int(self._c.priority)

    @property
    def profile(self) -> int:
        return int(self._c.profile)

    @property
    def history(self) -> History:
        """This pop is counted in its attempts."""
        return history(self._c.history)

    @property
    def unschedulable(self) -> int:
        """Bits of the plugins that rejected it before this pop."""
        return int(self._c.unschedulable)

    @property
    def pending(self) -> int:
        return int(self._c.pending)

    @property
    def nominated_node(self) -> int:
        return int(self._c.nominated_node)

    @property
    def cycle(self) -> int:
        """Number of this pop; 0 unless count_cycles."""
        return int(self._c.cycle)

    @property
    def from_backoff(self) -> bool:
        return bool(self._c.from_backoff)

    @property
    def flushed(self) -> bool:
        """The leftover limit brought it out of where it waited, and it has not failed since."""
        return bool(self._c.flushed)

    @property
    def more(self) -> bool:
        """Another pod is poppable (perhaps)."""
        return bool(self._c.more)

    @property
    def backoff_expiry_ns(self) -> int:
        return int(self._c.backoff_expiry_ns)

    def __enter__(self) -> Popped:
        return self

    def __exit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], traceback: Optional[TracebackType]
    ) -> None:
        if not self._ended:
            if kind is None:
                self.done()
            else:
                try:
                    self.fail()
                except Stale:  # what is raised came out of the done or fail that ended it
                    self._ended = True

    def __del__(self) -> None:
        if not self._ended and not self._queue._over:
            warnings.warn(f"pod {self.name!r} stays in flight: it got neither done nor fail", ResourceWarning, source=self)

    def __repr__(self) -> str:
        return f"<schedq.Popped {self.name!r} priority={self.priority} attempts={self.history.attempts}>"


@dataclass(frozen=True)
class PodInfo:
    """A pod that was looked at."""

    name: str
    handle: int
    object: Any
    place: Place
    priority: int
    profile: int
    history: History
    unschedulable: int
    pending: int
    gate: int  #: bit of the plugin that gates it
    backoff_expiry_ns: int
    pop_order: int  #: in flight: grows from pop to pop
    cycle: int
    nominated_node: int
    nomination: int  #: orders the pods nominated to one node
    not_before_ns: int
    held: bool
    label: int
    group: int  #: what it is tried together with
    deleted: bool  #: in flight, deleted meanwhile
    kept_by_class: bool  #: held since another pod of its class was rejected
    class_id: int  #: the pods that fail alike; 0: none, or it has no effect
    scout: int  #: handle of the pod of its class that is tried for all of them; 0: there is none


def pod_info(c: Any, table: dict[int, Any]) -> PodInfo:
    return PodInfo(
        name=decode(ffi.unpack(c.name, c.name_length)),
        handle=c.pod.bits,
        object=table[c.object],
        place=Place(c.place),
        priority=c.priority,
        profile=c.profile,
        history=history(c.history),
        unschedulable=c.unschedulable,
        pending=c.pending,
        gate=gate_bit(c.gate),
        backoff_expiry_ns=c.backoff_expiry_ns,
        pop_order=c.pop_order,
        cycle=c.cycle,
        nominated_node=c.nominated_node,
        nomination=c.nomination,
        not_before_ns=c.not_before_ns,
        held=bool(c.held),
        label=c.label,
        group=c.group,
        deleted=bool(c.deleted),
        kept_by_class=bool(c.kept_by_class),
        class_id=c.class_id,
        scout=c.scout.bits,
    )


@dataclass(frozen=True)
class Explanation:
    """Why a pod is where it is; str() says it in a sentence."""

    text: str
    place: Place
    unschedulable: int
    pending: int
    gate: int
    history: History
    now_ns: int
    backoff_expiry_ns: int
    wake_ns: int  #: when time alone brings it on; NO_DEADLINE: never
    nominated_node: int
    freed_by: Optional[str]  #: what brought it out of PARKED or GATED last
    group: int  #: what it is tried together with; 0: it is tried by itself, and the rest of the group is 0
    group_root: int  #: as GroupInfo.root; 0: it has none, or is not declared
    group_waiting: int  #: members that are aside, as GroupInfo.waiting
    group_quorum: int  #: as described; 0 means 1, or that it is not declared
    group_place: Place  #: of its root's record; ASIDE: a quorum is missing; NOWHERE: it has no root
    group_declared: bool
    kept_by_class: bool  #: as PodInfo's
    class_id: int
    scout: int

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Overdue:
    """What takes too long; str() says it in a sentence."""

    text: str
    kind: OverdueKind
    handle: int  #: of the pod; 0: it is a worker
    rejectors: int  #: LEFTOVER: what rejected the pod, until its next pop
    gate: int  #: GATED; CALLBACK of a hint or a gate: the plugin's bit
    worker: int  #: CALL, CALLBACK: its number
    thread: int  #: the same: threading.get_native_id() of the thread
    for_ns: int  #: at least so long

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Reasons:
    """How many pods wait for what; by the names of the plugins."""

    parked: int
    gated: int
    backoff: int
    error_backoff: int
    parked_by: dict[str, int]
    gated_by: dict[str, int]
