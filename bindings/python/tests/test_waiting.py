"""Threads that wait, ctrl-C, fork and exit."""

import os
import signal
import threading
import time
import unittest
from collections.abc import Callable

import schedq
from schedq import Engine, Queue
from support import Case, join, script, thread


class Waiting(Case):
    def test_a_timeout_ends_a_wait(self) -> None:
        def test(engine: Engine) -> None:
            queue = Queue(engine=engine)
            seen: list[object] = []

            def wait() -> None:
                begin = time.monotonic()
                seen.extend([queue.pop(timeout=0.05), queue.pop_many(3, timeout=0.05), queue.pop(timeout=0)])
                seen.append(time.monotonic() - begin >= 0.1)

            wait()
            join(self, thread(wait))
            self.assertEqual(seen, [None, [], None, True] * 2)

        self.each_engine(test)

    def test_a_thread_that_waits_lets_others_run_and_is_woken(self) -> None:
        def test(engine: Engine) -> None:
            queue = Queue(engine=engine)
            names: list[str] = []

            def take_all() -> None:
                for pod in queue:
                    names.append(pod.name)
                    pod.done()

            takers = [thread(take_all) for _ in range(3)]
            for i in range(1000):
                queue.add(f"{i}")
            while queue.stats()["dones"] < 1000:
                time.sleep(0.001)
            queue.close()
            join(self, *takers)
            self.assertEqual(sorted(names, key=int), [str(i) for i in range(1000)])

        self.each_engine(test)

    def test_the_main_thread_is_woken_by_others(self) -> None:
        def test(engine: Engine) -> None:
            queue = Queue(engine=engine, initial_backoff_ns=20_000_000, pop_from_backoff=False)

            def add() -> None:
                for i in range(200):
                    queue.add(f"{i}")
                    time.sleep(0.0005)

            adder = thread(add)
            failed: set[str] = set()
            for _ in range(201):
                pod = queue.pop(timeout=60)
                assert pod is not None
                if pod.name == "7" and not failed:
                    failed.add(pod.name)
                    pod.fail()  # its backoff ends while nobody but this thread serves time
                else:
                    pod.done()
            join(self, adder)
            self.assertIsNone(queue.try_pop())

        self.each_engine(test)

    def test_close_ends_every_wait(self) -> None:
        def test(engine: Engine) -> None:
            with Queue(engine=engine) as queue:
                ended = []

                def wait() -> None:
                    try:
                        queue.pop()
                    except schedq.Closed:
                        ended.append(True)

                waiters = [thread(wait) for _ in range(4)]
                closer = threading.Timer(0.05, queue.close)
                closer.start()
                self.assertEqual(list(queue), [])
                join(self, *waiters)
                self.assertEqual(len(ended), 4)

        self.each_engine(test)

    def test_ctrl_c_ends_a_wait_of_the_main_thread(self) -> None:
        def test(engine: Engine) -> None:
            queue = Queue(engine=engine)
            waits: list[Callable[[], object]] = [
                lambda: queue.pop(),
                lambda: queue.pop_many(2),
                lambda: queue.pop(timeout=1000),
                lambda: list(queue),
            ]
            for wait in waits:
                begin = time.monotonic()
                signaller = threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT))
                signaller.start()
                with self.assertRaises(KeyboardInterrupt):
                    wait()
                self.assertLess(time.monotonic() - begin, 30)
                signaller.join()
            queue.add("a")
            pod = queue.pop()
            self.assertTrue(pod is not None and pod.done())

        self.each_engine(test)

    def test_ctrl_c_in_a_hint_comes_out_of_the_main_thread(self) -> None:
        queue = Queue(max_backoff_ns=0)

        def slow(pod: object, old: object, new: object) -> bool:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.01)
            return True

        fit = queue.plugin("Fit", [schedq.Interest("Node", schedq.Action.ADD, slow)])
        queue.add("a")
        for pod in queue.pop_many(1):
            pod.fail(fit)
        with self.assertRaises(KeyboardInterrupt):
            queue.notify(schedq.Event.NODE_ADD)
            time.sleep(1)
        for pod in queue.pop_many(1):
            pod.done()

    def test_ctrl_c_in_a_hint_of_a_fail_is_not_hidden_by_the_with_statement(self) -> None:
        queue = Queue(max_backoff_ns=0)

        def interrupts(pod: object, old: object, new: object) -> bool:
            raise KeyboardInterrupt

        fit = queue.plugin("Fit", [schedq.Interest("Node", schedq.Action.ADD, interrupts)])
        queue.add("a")
        with self.assertRaises(KeyboardInterrupt):
            with queue.pop() or self.fail() as pod:
                queue.notify(schedq.Event.NODE_ADD)
                pod.fail(fit)
        self.assertEqual([pod.place for pod in queue.snapshot()], [schedq.Place.ACTIVE])

    def test_more_threads_than_workers_are_refused_until_some_end(self) -> None:
        queue = Queue(max_workers=2)
        queue.add("a")
        inside, out = threading.Event(), threading.Event()

        def stay() -> None:
            queue.stats()
            queue.find("a")
            inside.set()
            out.wait()

        stayer = thread(stay)
        inside.wait()
        refused: list[str] = []

        def another() -> None:
            try:
                queue.find("a")
            except schedq.Full as full:
                refused.append(str(full))

        join(self, thread(another))
        self.assertRegex(refused[0], "max_workers")
        queue.leave()
        join(self, thread(another))
        self.assertEqual(len(refused), 1)
        out.set()
        join(self, stayer)


class Processes(Case):
    def test_a_child_after_fork_is_refused_in_words(self) -> None:
        queue = Queue()
        queue.add("a", object())
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            status = 1
            try:
                for call in (queue.try_pop, lambda: queue.add("b"), queue.close):
                    try:
                        call()
                    except schedq.Invalid as error:
                        os.write(writing, f"{error}\n".encode())
                del queue
                with Queue() as own:  # a child may have queues of its own
                    own.add("c")
                    for pod in own.pop_many(1):
                        pod.done()
                status = 0
            finally:
                os._exit(status)
        os.close(writing)
        with open(reading) as pipe:
            words = pipe.read().splitlines()
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertEqual(len(words), 3)
        self.assertRegex(words[0], "fork")
        for pod in queue.pop_many(1):
            self.assertTrue(pod.done())

    def test_a_program_ends_with_threads_that_wait_and_a_timer_thread(self) -> None:
        for engine in Engine:
            done = script(
                f"""
import schedq, threading, time
queue = schedq.Queue(engine=schedq.Engine.{engine.name}, max_parked_ns=40_000_000, max_backoff_ns=0)
gate = queue.plugin("Gate", gate=lambda pod: time.sleep(0.02))
queue.add("gated")
queue.run()                             # it asks the gate again and again
for _ in range(4):
    threading.Thread(target=queue.pop, daemon=True).start()
time.sleep(0.2)
print("at the end")
"""
            )
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "at the end\n", ""))

    def test_ctrl_c_ends_a_program_that_iterates(self) -> None:
        done = script(
            """
import os, schedq, signal, threading
queue = schedq.Queue()
threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    with queue:
        worker = threading.Thread(target=lambda: list(queue))
        worker.start()
        for pod in queue:
            pass
except KeyboardInterrupt:
    worker.join()
    print("interrupted, and the worker has ended")
"""
        )
        self.assertEqual((done.returncode, done.stdout), (0, "interrupted, and the worker has ended\n"), done.stderr)


if __name__ == "__main__":
    unittest.main()
