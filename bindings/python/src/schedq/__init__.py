"""schedq: which pod does a scheduler look at next.

A queue of pods (jobs, tasks): active, backing off, parked and gated ones, events that wake them, nominations. It is taught by
/usr/share/doc/python3-schedq/PYTHON.md, or docs/PYTHON.md of the source tree; the headers in include/schedq say what each call promises.
"""

from . import _callbacks  # noqa: F401: the callables' C side has to be there
from ._classify import NodeFacts, PodFacts, classify_node_update, classify_pod_update
from ._constants import (
    NO_DEADLINE,
    REJECTOR_OTHERS,
    Action,
    Count,
    Engine,
    Event,
    Fences,
    GroupOutcome,
    Order,
    OverdueKind,
    Place,
    Preset,
    Requeue,
    Status,
)
from ._errors import Busy, Closed, Error, Exists, Full, Invalid, NoMemory, NotAllAdded, NotEmpty, Stale
from ._groups import GroupInfo, PoppedGroup
from ._pods import Explanation, History, Overdue, PodInfo, Popped, Reasons, Result, Spec
from ._queue import Hint, Interest, Queue, Watchdog
from ._schedq import lib as _lib

_version = _lib.schedq_version()
__version__ = f"{_version >> 16}.{_version >> 8 & 0xFF}.{_version & 0xFF}"

__all__ = [
    "NO_DEADLINE",
    "REJECTOR_OTHERS",
    "Action",
    "Busy",
    "Closed",
    "Count",
    "Engine",
    "Error",
    "Event",
    "Exists",
    "Explanation",
    "Fences",
    "Full",
    "GroupInfo",
    "GroupOutcome",
    "Hint",
    "History",
    "Interest",
    "Invalid",
    "NoMemory",
    "NodeFacts",
    "NotAllAdded",
    "NotEmpty",
    "Order",
    "Overdue",
    "OverdueKind",
    "Place",
    "PodFacts",
    "PodInfo",
    "Popped",
    "PoppedGroup",
    "Preset",
    "Queue",
    "Reasons",
    "Requeue",
    "Result",
    "Spec",
    "Stale",
    "Status",
    "Watchdog",
    "classify_node_update",
    "classify_pod_update",
]
