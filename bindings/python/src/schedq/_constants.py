"""The numbers of the headers. tests/test_headers.py compares them with what the C compiler reads there."""

from enum import IntEnum, IntFlag

#: A time that never comes.
NO_DEADLINE = 2**63 - 1
#: Shared by the rejectors that have no bit of their own.
REJECTOR_OTHERS = 1 << 63


class Status(IntEnum):
    """Outcomes of the library's calls; those that are refusals are exceptions here (Error.status)."""

    OK = 0
    EMPTY = 1
    CLOSED = 2
    TIMEDOUT = 3
    EXISTS = 4
    NOT_FOUND = 5
    STALE = 6
    GONE = 7
    FULL = 8
    NOMEM = 9
    BUSY = 10
    RETRY = 11
    CHANGED = 12
    INVALID = 13
    NOT_EMPTY = 14
    CANCELED = 15


class Preset(IntEnum):
    """What a queue's configuration begins with."""

    DEFAULT = 0
    KUBE_1_12 = 12
    KUBE_1_26 = 26
    KUBE_1_34 = 34
    KUBE_1_37 = 37


class Engine(IntEnum):
    LOCKFREE = 1
    MUTEX = 2


class Order(IntEnum):
    STRICT = 0
    RELAXED = 1


class OverdueKind(IntEnum):
    """What a watchdog names."""

    INFLIGHT = 1
    GATED = 2
    LEFTOVER = 3
    CALL = 4
    CALLBACK = 5


class Fences(IntEnum):
    ASYMMETRIC = 0
    REAL = 1


class Requeue(IntEnum):
    HINTS = 0
    MOVE_CYCLE = 1


class Count(IntEnum):
    """What the length of a backoff grows with."""

    FAILURES = 0
    ATTEMPTS = 1


class Place(IntEnum):
    """Where a pod is."""

    NOWHERE = 0
    ACTIVE = 1
    BACKOFF = 2
    ERROR_BACKOFF = 3
    PARKED = 4
    GATED = 5
    INFLIGHT = 6
    HELD = 7
    ASIDE = 8

    def __str__(self) -> str:
        """As the library names it: "error-backoff"."""
        return self.name.lower().replace("_", "-")


class GroupOutcome(IntEnum):
    """What became of a group in its cycle."""

    PLACED = 0
    REJECTED = 1
    ERROR = 2


class Action(IntFlag):
    """What happened to an object; an event has one or more of these, and so has an interest."""

    ADD = 0x001
    DELETE = 0x002
    UPDATE_NODE_ALLOCATABLE = 0x004
    UPDATE_NODE_LABEL = 0x008
    UPDATE_NODE_TAINT = 0x010
    UPDATE_NODE_CONDITION = 0x020
    UPDATE_NODE_ANNOTATION = 0x040
    UPDATE_NODE_DECLARED_FEATURE = 0x080
    UPDATE_NODE_PREEMPTION_POLICY = 0x100
    UPDATE_POD_LABEL = 0x200
    UPDATE_POD_SCALE_DOWN = 0x400
    UPDATE_POD_SCALE_UP = 0x800
    UPDATE_POD_TOLERATION = 0x1000
    UPDATE_POD_GATES_ELIMINATED = 0x2000
    UPDATE_POD_GENERATED_CLAIM = 0x4000
    UPDATE = 0x7FFC
    ALL = 0x7FFF


class Event(IntEnum):
    """Events that every queue knows; Queue.define_event gives others."""

    NONE = 0
    WILDCARD = 1
    UNSCHEDULED_POD_ADD = 2
    UNSCHEDULED_POD_DELETE = 3
    UNSCHEDULED_POD_UPDATE = 4
    UNSCHEDULED_POD_UPDATE_LABEL = 5
    UNSCHEDULED_POD_UPDATE_SCALE_DOWN = 6
    UNSCHEDULED_POD_UPDATE_GATES_ELIMINATED = 7
    UNSCHEDULED_POD_UPDATE_TOLERATION = 8
    UNSCHEDULED_POD_UPDATE_GENERATED_CLAIM = 9
    ASSIGNED_POD_ADD = 10
    ASSIGNED_POD_DELETE = 11
    ASSIGNED_POD_UPDATE = 12
    ASSIGNED_POD_UPDATE_LABEL = 13
    ASSIGNED_POD_UPDATE_SCALE_DOWN = 14
    ASSIGNED_POD_UPDATE_GATES_ELIMINATED = 15
    ASSIGNED_POD_UPDATE_TOLERATION = 16
    ASSIGNED_POD_UPDATE_GENERATED_CLAIM = 17
    NODE_ADD = 18
    NODE_DELETE = 19
    NODE_UPDATE_ALLOCATABLE = 20
    NODE_UPDATE_LABEL = 21
    NODE_UPDATE_TAINT = 22
    NODE_UPDATE_CONDITION = 23
    NODE_UPDATE_ANNOTATION = 24
    NODE_UPDATE_DECLARED_FEATURE = 25
    NODE_UPDATE_PREEMPTION_POLICY = 26
    UNSCHEDULED_POD_UPDATE_SCALE_UP = 27
    ASSIGNED_POD_UPDATE_SCALE_UP = 28
    TARGET_POD_UPDATE = 29
    TARGET_POD_UPDATE_LABEL = 30
    TARGET_POD_UPDATE_SCALE_DOWN = 31
    TARGET_POD_UPDATE_SCALE_UP = 32
    TARGET_POD_UPDATE_GATES_ELIMINATED = 33
    TARGET_POD_UPDATE_TOLERATION = 34
    TARGET_POD_UPDATE_GENERATED_CLAIM = 35
