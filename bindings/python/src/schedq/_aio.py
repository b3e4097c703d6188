"""Waiting in an asyncio loop: one Waiters for each queue and loop.

The loop reads the queue's descriptor while somebody waits and nobody is woken. When it is readable, one waiter is woken and the
descriptor is left alone; each waiter that finds a pod wakes the next, and one that finds none has the descriptor read again. So
while there are waiters, either the descriptor is read, or a woken one is about to look: no pod waits for a waiter that
sleeps. A waiter takes its pod itself, after it was woken: one that is cancelled has taken none, and wakes the next.

Waiters for groups are woken beside those for pods: what is there may be for one kind only. Each kind has a line of its own.

A pop of pods passes groups by. When it finds nothing, the descriptor is not readable any more, though a group may be there. So each such pop,
in whatever thread, has a waiter for groups look again (look_again). A loop is told of from before its waiter's first look: what is told
later finds it asleep, or about to look.
"""

from __future__ import annotations

import asyncio
import contextlib
import weakref
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Optional, TypeVar

from ._constants import NO_DEADLINE
from ._groups import PoppedGroup
from ._pods import Popped

if TYPE_CHECKING:
    from ._queue import Queue

#: Pops in a row before the loop gets to hear its other callbacks.
TURNS = 64

_T = TypeVar("_T")
_Line = deque["asyncio.Future[None]"]


class Waiters:
    def __init__(self, queue: Queue, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        # The thread keeps the Waiters, and must not keep the queue by them. Whoever waits has it.
        self._queue = weakref.ref(queue)
        self._fd = queue.fileno()
        self._pods: _Line = deque()
        self._groups: _Line = deque()
        self._reading = False
        self._timer: Optional[asyncio.TimerHandle] = None
        self._turns = 0
        self._for_groups = 0  # who is in get_group
        self._told = False  # to look again

    async def get(self, queue: Queue) -> Popped:
        return await self._get(queue, queue.try_pop, self._pods)

    async def get_group(self, queue: Queue) -> PoppedGroup:
        self._for_groups += 1
        queue._group_loops.add(self)
        try:
            return await self._get(queue, queue.try_pop_group, self._groups)
        finally:
            self._for_groups -= 1
            if self._for_groups == 0:
                queue._group_loops.discard(self)

    def look_again(self) -> None:
        """From any thread."""
        if not self._told:
            self._told = True
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits
                self.loop.call_soon_threadsafe(self._look_again)

    def _look_again(self) -> None:
        self._told = False
        self._wake_one(self._groups)

    async def _get(self, queue: Queue, take: Callable[[], Optional[_T]], line: _Line) -> _T:
        self._turns += 1
        if self._turns >= TURNS:
            self._turns = 0
            await asyncio.sleep(0)
        popped = take()
        while popped is None:
            await self._sleep(queue, line)
            try:
                popped = take()
                if popped is not None:
                    self._wake()
            except BaseException:
                self._wake()
                raise
            finally:
                self._rest()
        return popped

    async def _sleep(self, queue: Queue, line: _Line) -> None:
        self._turns = 0
        woken = self.loop.create_future()
        queue._begin_wait(woken)
        line.append(woken)
        if not self._reading:
            self.loop.add_reader(self._fd, self._readable)
            self._reading = True
        self._set_timer(queue)
        try:
            await woken
        except BaseException:
            if woken.done() and not woken.cancelled():
                self._wake()
            elif woken in line:
                line.remove(woken)
            self._rest()
            raise
        finally:
            queue._end_wait(woken)

    def _wake(self) -> None:
        self._wake_one(self._pods)
        self._wake_one(self._groups)

    @staticmethod
    def _wake_one(line: _Line) -> None:
        while line:
            woken = line.popleft()
            if not woken.done():
                woken.set_result(None)
                break

    def _readable(self) -> None:
        self._stop_reading()
        self._wake()

    def _rest(self) -> None:
        """Without waiters the loop has nothing of this queue, so that the queue may end."""
        if not self._pods and not self._groups:
            self._stop_reading()
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None

    def _stop_reading(self) -> None:
        if self._reading:
            self.loop.remove_reader(self._fd)
            self._reading = False

    def _set_timer(self, queue: Queue) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        deadline_ns = queue.next_deadline_ns()
        if deadline_ns != NO_DEADLINE and not queue.external_clock:
            delay_ns = deadline_ns - queue.now_ns()
            self._timer = self.loop.call_later(max(delay_ns, 0) / 1e9, self._due)

    def _due(self) -> None:
        """Serves time. A pod that becomes poppable makes the descriptor readable."""
        self._timer = None
        queue = self._queue()
        if queue is not None and (self._pods or self._groups):
            queue.tick()
            self._set_timer(queue)
