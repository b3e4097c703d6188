#!/usr/bin/env python3
"""Pods a second through the package beside C, one at a time and in batches of 64: added, popped, done.

    bindings/python/bench.py [SECONDS]

after bindings/python/tests/run, which builds both. The loops in C are those that bindings/go measures itself beside.
"""

import ctypes
import pathlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from statistics import median

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BUILT = ROOT / "build" / "python"
LOOPS = ROOT / "bindings" / "go" / "internal" / "cloop" / "cloop.c"
BATCH = 64
RUNS = 5

sys.path.insert(0, str(BUILT / "lib"))
import schedq  # noqa: E402

NAMES = [f"default/pod-{i}" for i in range(BATCH)]


def singly(queue: schedq.Queue) -> None:
    for i, name in enumerate(NAMES):
        queue.add(name, i, priority=1)
        pod = queue.try_pop()
        assert pod is not None
        pod.done()


def in_batches(queue: schedq.Queue) -> None:
    queue.add_many(NAMES, range(BATCH), 1)
    queue.done_many(queue.try_pop_many(BATCH))


def rate(pods: int, turn: Callable[[], object], seconds: float) -> str:
    """Median and range of some runs of `turn`, which has so many pods."""
    rates = []
    for _ in range(RUNS):
        begin = time.perf_counter()
        turns = 0
        while time.perf_counter() - begin < seconds / RUNS:
            turn()
            turns += 1
        rates.append(turns * pods / (time.perf_counter() - begin))
    return f"{median(rates):12,.0f}   ({min(rates):,.0f} .. {max(rates):,.0f})"


def c_loops(folder: str) -> ctypes.CDLL:
    shared = folder + "/cloop.so"
    library = BUILT / "library" / "lib" / "libschedq.a"
    command = ["cc", "-O2", "-shared", "-fPIC", f"-I{ROOT}/include", "-o", shared, str(LOOPS), str(library), "-pthread"]
    subprocess.run(command, check=True)
    return ctypes.CDLL(shared)


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 5.0
    print(f"pods a second; Python {sys.version.split()[0]}, schedq {schedq.__version__}, {RUNS} runs of {seconds / RUNS:g} s")
    with tempfile.TemporaryDirectory() as folder:
        loops = c_loops(folder)
        for engine in schedq.Engine:
            room = ctypes.create_string_buffer(1 << 20)  # a struct loop
            if loops.loop_open(room, ctypes.c_uint8(engine), ctypes.c_size_t(0)) != 0:
                sys.exit("the queue of the C loops was refused")
            many = ctypes.c_size_t(BATCH * 16)
            queue = schedq.Queue(engine=engine)
            for title, pods, turn in (
                ("C, one by one", BATCH * 16, lambda: loops.loop_lives(room, many)),
                ("Python, one by one", BATCH, lambda: singly(queue)),
                ("C, batches", BATCH * 16, lambda: loops.loop_batches(room, many)),
                ("Python, batches", BATCH, lambda: in_batches(queue)),
            ):
                print(f"{engine.name.lower():9} {title:20} {rate(pods, turn, seconds)}")
            loops.loop_close(room)


if __name__ == "__main__":
    main()
