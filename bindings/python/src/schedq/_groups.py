"""Groups as callers take them and look at them."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Optional

from ._constants import GroupOutcome, Place, Status
from ._errors import Stale, numbers, refuse
from ._pods import History, Popped, gate_bit, history
from ._schedq import ffi, lib

if TYPE_CHECKING:
    from ._queue import Queue


def fill_group(priority: int, quorum: int, profile: int, object: int, parent: int) -> Any:
    spec = ffi.new("schedq_group_spec_t *")
    lib.sqp_init_group(spec)
    try:
        numbers(spec, {"object": object})
    except TypeError as error:
        raise TypeError(f"{error}; a group's object is a number of yours, a member's is any value") from None
    numbers(spec, {"priority": priority, "quorum": quorum, "profile": profile, "parent": parent})
    return spec


class PoppedGroup:
    """A group in flight, with its members. Its holder ends those, then the group by end(); a with statement does it by what its body did.

    `group` is 0 if what was popped is a pod in no group: members[0]. Then there is no group to end.
    """

    __slots__ = ("_queue", "_c", "_ended", "members")

    members: list[Popped]

    def __init__(self, queue: Queue, c: Any, members: Any, count: int) -> None:
        self._ended = c.group == 0
        self._queue = queue
        self._c = c
        self.members = [Popped(queue, members + i, members) for i in range(count)]

    def end(self, outcome: GroupOutcome) -> Optional[Place]:
        """Ends the group's cycle, after those of its members. Where its record is; None: it was undeclared, or is no group."""
        if self._c.group == 0:
            return None
        queue = self._queue
        end = ffi.new("schedq_group_end_t *")
        lib.sqp_init_group_end(end)
        end.outcome = int(outcome)
        c = ffi.new("schedq_result_t *")
        status = lib.sqp_group_done(queue._c, ffi.addressof(self._c, "token"), end, c)
        if status & ~lib.SQP_DEAD in (Status.OK, Status.STALE):
            self._ended = True
        status = queue._settle(status)
        if status != Status.OK:
            refuse(status)
        return Place(c.place) if c.place != Place.NOWHERE else None

    @property
    def group(self) -> int:
        """The root."""
        return int(self._c.group)

    @property
    def object(self) -> int:
        """The 64 bits of its description."""
        return int(self._c.object)

    @property
    def history(self) -> History:
        """Of the record; this pop is counted in its attempts."""
        return history(self._c.history)

    @property
    def cycle(self) -> int:
        """Number of this pop, which its members have too; 0 unless count_cycles."""
        return int(self._c.cycle)

    @property
    def backoff_expiry_ns(self) -> int:
        return int(self._c.backoff_expiry_ns)

    @property
    def priority(self) -> int:
        return int(self._c.priority)

    @property
    def profile(self) -> int:
        return int(self._c.profile)

    @property
    def flushed(self) -> bool:
        return bool(self._c.flushed)

    @property
    def more(self) -> bool:
        """Something else is poppable (perhaps)."""
        return bool(self._c.more)

    def __enter__(self) -> PoppedGroup:
        return self

    def __exit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], traceback: Optional[TracebackType]
    ) -> None:
        """Members that have not ended are done, or, if the body raised, fail by an error. Then the group is ERROR if the body raised,
        REJECTED if each member has failed, else PLACED."""
        for member in self.members:
            member.__exit__(kind, error, traceback)
        if not self._ended:
            rejected = all(member._failed for member in self.members)
            try:
                if kind is not None:
                    self.end(GroupOutcome.ERROR)
                else:
                    self.end(GroupOutcome.REJECTED if rejected else GroupOutcome.PLACED)
            except Stale:  # what is raised came out of the end that ended it
                self._ended = True

    def __del__(self) -> None:
        if not self._ended and not self._queue._over:
            warnings.warn(f"group {self.group} stays in flight: it was not ended", ResourceWarning, source=self)

    def __repr__(self) -> str:
        return f"<schedq.PoppedGroup {self.group} of {len(self.members)} attempts={self.history.attempts}>"


@dataclass(frozen=True)
class GroupInfo:
    """A group that was looked at."""

    priority: int
    quorum: int
    place: Place  #: of its record; below a root: ASIDE
    gate: int  #: bit of the plugin that gates it
    profile: int
    declared: bool  #: False: it was undeclared in its cycle, which goes on
    object: int
    parent: int
    root: int  #: the topmost above it, or itself; 0: one above is not declared
    history: History
    backoff_expiry_ns: int
    unschedulable: int
    pending: int
    waiting: int  #: members aside, of it and all groups below


def group_info(c: Any) -> GroupInfo:
    return GroupInfo(
        priority=c.priority,
        quorum=c.quorum,
        place=Place(c.place),
        gate=gate_bit(c.gate),
        profile=c.profile,
        declared=bool(c.declared),
        object=c.object,
        parent=c.parent,
        root=c.root,
        history=history(c.history),
        backoff_expiry_ns=c.backoff_expiry_ns,
        unschedulable=c.unschedulable,
        pending=c.pending,
        waiting=c.waiting,
    )
