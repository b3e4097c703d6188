"""What the tests share."""

import os
import signal
import subprocess
import sys
import threading
import unittest
from collections.abc import Callable
from typing import Any

import schedq

ENGINES = list(schedq.Engine)
#: Long enough for a loaded machine; a test that waits so long has failed.
PATIENCE = 60.0
SECOND_NS = 1_000_000_000

# It is ignored where a shell started the tests behind an &.
signal.signal(signal.SIGINT, signal.default_int_handler)


class Case(unittest.TestCase):
    def each_engine(self, test: Callable[[schedq.Engine], None]) -> None:
        for engine in ENGINES:
            with self.subTest(engine=engine.name):
                test(engine)


def thread(target: Callable[..., Any], *arguments: Any) -> threading.Thread:
    started = threading.Thread(target=target, args=arguments, daemon=True)
    started.start()
    return started


def join(case: unittest.TestCase, *threads: threading.Thread) -> None:
    for one in threads:
        one.join(PATIENCE)
        case.assertFalse(one.is_alive(), "a thread does not end")


def take(queue: schedq.Queue, count: int = 9) -> list[str]:
    """Pops what is poppable and ends it; the names."""
    pods = queue.try_pop_many(count)
    queue.done_many(pods)
    return [pod.name for pod in pods]


def script(text: str, **options: Any) -> "subprocess.CompletedProcess[str]":
    """A Python program that has this package and faulthandler."""
    return subprocess.run(
        [sys.executable, "-X", "faulthandler", "-W", "error::ResourceWarning", "-c", text],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env=dict(os.environ),
        **options,
    )
