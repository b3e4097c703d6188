"""Hints, gates, preChecks and affinity: Python callables that the library asks.

The library calls them on the thread of the call that needs the answer, or on the timer thread. They take the GIL. No thread waits
for the queue with the GIL held, so they always get it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import TracebackType
from typing import Any, Optional

from ._objects import Objects
from ._schedq import ffi

#: A hint's answer when it raised: it counts as "worth another try".
HINT_ERROR = 2
#: A gate's or preCheck's: the pod passes.
PASSES = 1


class Asked:
    """What a callback's context is a handle of."""

    __slots__ = ("objects", "hints", "ask")

    def __init__(
        self,
        objects: Objects,
        ask: Optional[Callable[..., Any]] = None,
        hints: tuple[Optional[Callable[..., Any]], ...] = (),
    ) -> None:
        self.objects = objects
        self.ask = ask
        self.hints = hints


def _raised(kind: type[BaseException], error: BaseException, traceback: Optional[TracebackType]) -> None:
    """Python cannot raise through C: ctrl-C is kept for the call that asked, the rest is reported."""
    asked = _asked_in(traceback)
    if isinstance(error, KeyboardInterrupt) and asked is not None:
        asked.objects.interrupt(error)
    else:
        sys.excepthook(kind, error, traceback)


def _asked_in(traceback: Optional[TracebackType]) -> Optional[Asked]:
    """cffi tells no more than the traceback, whose first frame is the function below that was called."""
    return None if traceback is None else traceback.tb_frame.f_locals.get("asked")


@ffi.def_extern(error=HINT_ERROR, onerror=_raised)  # type: ignore[misc]
def sqp_py_hint(context: Any, number: int, pod: int, old: int, new: int) -> int:
    asked: Asked = ffi.from_handle(context)
    table = asked.objects.table
    hint = asked.hints[number]
    assert hint is not None
    return 1 if hint(table[pod], table[old], table[new]) else 0


@ffi.def_extern(error=PASSES, onerror=_raised)  # type: ignore[misc]
def sqp_py_gate(context: Any, pod: int) -> int:
    asked: Asked = ffi.from_handle(context)
    assert asked.ask is not None
    return 1 if asked.ask(asked.objects.table[pod]) else 0


@ffi.def_extern(error=PASSES, onerror=_raised)  # type: ignore[misc]
def sqp_py_precheck(context: Any, pod: int) -> int:
    asked: Asked = ffi.from_handle(context)
    assert asked.ask is not None
    return 1 if asked.ask(asked.objects.table[pod]) else 0


@ffi.def_extern(error=0, onerror=_raised)  # type: ignore[misc]
def sqp_py_affinity(context: Any, pod: int, assigned: int) -> int:
    asked: Asked = ffi.from_handle(context)
    assert asked.ask is not None
    table = asked.objects.table
    return 1 if asked.ask(table[pod], table[assigned]) else 0
