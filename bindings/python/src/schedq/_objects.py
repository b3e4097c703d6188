"""Which Python object the 64 bits stand for that the library keeps.

An object's bits are the address of a counter in C (shim.h), a ref. The library counts its references there, without the GIL, so no
call of the library ever waits for it. `table` holds the object while the counter is not 0. A ref that came to 0 is taken out
by `collect`, which the calls make when some have come together, so an object may outlive its pod by some calls.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any, Optional

from ._errors import refuse
from ._constants import Status
from ._schedq import ffi, lib

_MANY = 64


class Objects:
    __slots__ = ("queue", "table", "interrupted", "_spare")

    def __init__(self) -> None:
        self.queue: Any = None  # sqp_queue *
        self.table: dict[int, Any] = {0: None}
        self.interrupted: Optional[BaseException] = None
        self._spare: list[int] = []  # refs with one reference, for the next objects

    def ref(self, value: Any) -> int:
        """Bits for an object, with one reference, which drop() or the C call that it is given to ends."""
        if value is None:
            return 0
        try:
            ref = self._spare.pop()
        except IndexError:
            ref = self._make(1)[0]
        self.table[ref] = value
        return ref

    def refs(self, values: Sequence[Any]) -> list[int]:
        """As ref, of each; bits of None are no exception here."""
        refs: list[int] = []
        try:
            for _ in values:
                refs.append(self._spare.pop())
        except IndexError:
            refs += self._make(len(values) - len(refs))
        self.table.update(zip(refs, values))
        return refs

    def _make(self, count: int) -> list[int]:
        """New refs for the caller; some more become spare."""
        made = ffi.new("uint64_t[]", count + _MANY)
        status = lib.sqp_make_refs(self.queue, made, count + _MANY) & ~lib.SQP_DEAD
        if status != Status.OK:
            refuse(status)
        refs: list[int] = ffi.unpack(made, count + _MANY)
        self._spare.extend(refs[count:])
        return refs[:count]

    def drop(self, *refs: int) -> None:
        if any(refs) and lib.sqp_drop_refs(self.queue, ffi.new("uint64_t[]", refs), len(refs)):
            self.collect()

    def forget(self) -> None:
        """The queue has ended, and with it all refs."""
        self._spare.clear()
        self.table = {0: None}

    def interrupt(self, error: BaseException) -> None:
        """Ctrl-C came in a callable: the call that asked it raises the error when it has returned from the library."""
        self.interrupted = error
        lib.sqp_ask_for_attention(self.queue, 1)

    def collect(self) -> None:
        """Lets objects go that the library has no reference to. Their finalizers may call the queue."""
        if self.interrupted is not None and threading.current_thread() is threading.main_thread():
            error, self.interrupted = self.interrupted, None
            lib.sqp_ask_for_attention(self.queue, 0)
            raise error
        count = lib.sqp_dead_count(self.queue)
        taken = ffi.new("uint64_t[]", count or 1)
        refs = ffi.unpack(taken, lib.sqp_take_dead(self.queue, taken, count))
        gone = [self.table.pop(ref) for ref in refs]
        self._spare.extend(refs)
        del gone
