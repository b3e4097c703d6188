"""Refusals of the library as exceptions; and of values that no call of it can be made with, in the same way."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NoReturn

from ._constants import Status
from ._schedq import ffi, lib


class Error(Exception):
    """The library refused a call; nothing changed. The text is the library's."""

    status: Status


class Invalid(Error, ValueError):
    """An argument is out of range; or the queue has ended, or was made before a fork."""

    status = Status.INVALID


class NoMemory(Error, MemoryError):
    status = Status.NOMEM


class Full(Error):
    """A cap is reached."""

    status = Status.FULL


class Busy(Error, RuntimeError):
    """Called from a hint, a gate or a preCheck of this queue; or setup is over."""

    status = Status.BUSY


class NotEmpty(Error):
    """Queue.destroy: there are pods."""

    status = Status.NOT_EMPTY


class Closed(Error):
    """The queue is closed; a pop: and nothing is poppable now."""

    status = Status.CLOSED


class Exists(Error):
    """That name is there already."""

    status = Status.EXISTS


class Stale(Error):
    """This cycle ended before."""

    status = Status.STALE


class NotAllAdded(Error):
    """Queue.add_many: some were refused. The others were added."""

    def __init__(self, words: str, handles: list[int], statuses: list[Status]) -> None:
        super().__init__(words)
        self.handles = handles  #: of each pod; 0: it was not added
        self.statuses = statuses  #: of each pod
        self.status = next(status for status in statuses if status != Status.OK)


_classes = {error.status: error for error in (Invalid, NoMemory, Full, Busy, NotEmpty, Closed, Exists, Stale)}


# The library's words name what a C program calls; this is what the package calls it.
_SETUP_OVER = "a worker is registered (the timer thread is one), which ends setup"
_NAMES = {
    _SETUP_OVER: "setup is over: plugin and define_profile come before any thread adds, pops or looks for a pod",
    "schedq_destroy_with_pods": "destroy(with_pods=True)",
    "schedq_tick": "tick",
    "schedq_update": "update",
    "SCHEDQ_POD_ADD 0x4": "add",
}
_NAME = re.compile("|".join(map(re.escape, _NAMES)))
_WORKERS_LEFT = re.compile(r"^workers that are registered: [0-9]+: .*")


def _of_this_package(text: str) -> str:
    text = _WORKERS_LEFT.sub("the timer thread runs: stop() it first", text)
    return _NAME.sub(lambda found: _NAMES[found[0]], text)


def says_workers_are_left() -> bool:
    """Of this thread's last call."""
    return bool(_WORKERS_LEFT.match(str(ffi.string(lib.sqp_words()).decode(errors="replace"))))


def words(status: int) -> str:
    """What the library says of this thread's last call, which returned `status`."""
    text: str = ffi.string(lib.sqp_words()).decode(errors="replace")
    return _of_this_package(text) or str(ffi.string(lib.schedq_status_text(status)).decode())


def refuse(status: int, said: str = "") -> NoReturn:
    """Raises the exception for a status: of this thread's last call, unless its words are given."""
    error = _classes.get(Status(status), Error)(said or words(status))
    error.status = Status(status)
    raise error


_BITS = {"uint8_t": 8, "uint16_t": 16, "uint32_t": 32, "uint64_t": 64, "size_t": 64, "int32_t": -32, "int64_t": -64}


def number(name: str, value: Any, kind: str, least: int = 0) -> int:
    """The value, if a field of that kind in C can hold it. Else Invalid, or TypeError: it names the argument."""
    if not hasattr(value, "__index__"):
        raise TypeError(f"{name} {value!r}: an integer is required")
    bits = _BITS[kind]
    most = 2**bits - 1 if bits > 0 else 2 ** (-bits - 1) - 1
    if bits < 0:
        least = -most - 1
    whole: int = value.__index__()
    if kind == "int64_t" and not least <= whole <= most:  # times: the library has a narrower range
        refuse(Status.INVALID, f"{name} {whole}: " + (f"at most {most}" if whole > most else f"at least {least}"))
    if not least <= whole <= most:
        refuse(Status.INVALID, f"{name} {whole}: {least}..{most}")
    return whole


def numbers(c: Any, values: Mapping[str, Any]) -> None:
    """Sets fields of a struct, each by its name."""
    for name, value in values.items():
        try:
            setattr(c, name, value)
        except (OverflowError, TypeError):
            setattr(c, name, number(name, value, _kind(c, name)))


def _kind(c: Any, name: str) -> str:
    field = dict(ffi.typeof(c).item.fields)[name].type
    sign = "" if int(ffi.cast(field, -1)) < 0 else "u"
    return f"{sign}int{8 * ffi.sizeof(field)}_t"


def text(name: str, value: Any) -> bytes:
    """A str as the library has it."""
    if not isinstance(value, str):
        raise TypeError(f"{name} {value!r} is no str")
    return value.encode("utf-8", "surrogateescape")


def asked(name: str, value: Any) -> None:
    """Refuses what is to be called, and cannot be: it would count as yes, at each call."""
    if value is not None and not callable(value):
        raise TypeError(f"{name} {value!r} cannot be called")


def one_of(kind: type[Any], value: Any) -> None:
    if not isinstance(value, kind):
        raise TypeError(f"{value!r} is no {kind.__name__}")
