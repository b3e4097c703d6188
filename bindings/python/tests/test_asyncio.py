"""Waiting in event loops."""

import asyncio
import gc
import os
import threading
import unittest
import weakref

import schedq
from schedq import Engine, Queue
from support import PATIENCE, Case, join, thread

#: SCHEDQ_PYTHON_PODS=1000000 makes the tests of lost wake-ups long.
PODS = int(os.environ.get("SCHEDQ_PYTHON_PODS", "20000"))


class InALoop(Case):
    def test_get_waits_for_a_pod(self) -> None:
        async def main(engine: Engine) -> None:
            queue = Queue(engine=engine)
            asyncio.get_running_loop().call_later(0.02, queue.add, "a", 1)
            pod = await queue.get()
            self.assertEqual((pod.name, pod.object), ("a", 1))
            pod.done()

        self.each_engine(lambda engine: asyncio.run(main(engine)))

    def test_iteration_ends_at_close(self) -> None:
        async def main() -> None:
            with Queue() as queue:
                queue.add_many([f"{i}" for i in range(300)])
                names = []

                async def take() -> None:
                    async for pod in queue:
                        names.append(pod.name)
                        pod.done()

                takers = [asyncio.create_task(take()) for _ in range(5)]
                while len(names) < 300:
                    await asyncio.sleep(0.001)
                queue.close()
                await asyncio.wait_for(asyncio.gather(*takers), PATIENCE)
                self.assertEqual(len(set(names)), 300)
                with self.assertRaises(schedq.Closed):
                    await queue.get()

        asyncio.run(main())

    def test_a_loop_that_always_finds_pods_hears_its_timers(self) -> None:
        async def main() -> None:
            queue = Queue()
            heard = asyncio.Event()
            asyncio.get_running_loop().call_later(0.01, heard.set)
            for i in range(10_000_000):
                queue.add("a")
                (await queue.get()).done()
                if heard.is_set():
                    return
            self.fail("the timer was not heard")

        asyncio.run(main())

    def test_a_cancelled_get_takes_nothing_and_passes_the_wake_up_on(self) -> None:
        async def main(engine: Engine) -> None:
            queue = Queue(engine=engine)
            for i in range(200):
                cancelled = asyncio.create_task(queue.get())
                other = asyncio.create_task(queue.get())
                await asyncio.sleep(0)
                queue.add(f"{i}")
                if i % 2:
                    queue._waiters()._readable()  # the loop finds the descriptor readable, and wakes the first
                cancelled.cancel()
                both = asyncio.gather(cancelled, other, return_exceptions=True)
                got = await asyncio.wait_for(both, PATIENCE)
                pods = [one for one in got if isinstance(one, schedq.Popped)]
                self.assertEqual(len(pods), 1)
                pods[0].done()

        self.each_engine(lambda engine: asyncio.run(main(engine)))

    def test_a_timeout_leaves_nothing_in_the_loop(self) -> None:
        async def main() -> None:
            queue = Queue()
            for _ in range(3):
                with self.assertRaises(asyncio.TimeoutError):
                    await asyncio.wait_for(queue.get(), 0.01)
            self.assertFalse(asyncio.get_running_loop().remove_reader(queue.fileno()))

        asyncio.run(main())

    def test_a_queue_that_was_waited_for_ends_when_nothing_refers_to_it(self) -> None:
        async def main() -> "weakref.ref[Queue]":
            queue = Queue()
            queue.add("a")
            (await queue.get()).done()
            with self.assertRaises(asyncio.TimeoutError):
                await asyncio.wait_for(queue.get(), 0.01)
            return weakref.ref(queue)

        alive = asyncio.run(main())
        gc.collect()
        self.assertIsNone(alive())

    def test_a_loop_that_waits_serves_time(self) -> None:
        async def main(engine: Engine) -> None:
            queue = Queue(engine=engine, initial_backoff_ns=20_000_000, pop_from_backoff=False)
            queue.add("a")
            for attempt in range(3):
                pod = await asyncio.wait_for(queue.get(), PATIENCE)
                self.assertEqual(pod.history.errors, attempt)
                if attempt < 2:
                    pod.fail()
            pod.done()
            handle = queue.add("b", not_before_ns=queue.now_ns() + 50_000_000)
            self.assertEqual(queue.look(handle).place, schedq.Place.HELD)  # type: ignore[union-attr]
            waiter = asyncio.create_task(queue.get())
            await asyncio.sleep(0.01)
            queue.not_before(handle, queue.now_ns() + 1_000_000)  # sooner, while the loop sleeps
            (await asyncio.wait_for(waiter, PATIENCE)).done()

        self.each_engine(lambda engine: asyncio.run(main(engine)))

    def test_no_wake_up_is_lost_between_threads_that_add_and_loops_that_get(self) -> None:
        def test(engine: Engine) -> None:
            queue = Queue(engine=engine)
            producers, loops, tasks = 3, 2, 8
            taken = [0] * loops
            left = PODS
            lock = threading.Lock()

            def add(number: int) -> None:
                for i in range(number, PODS, producers):
                    queue.add(f"{i}", i)
                    if i % 97 == 0:
                        threading.Event().wait(0.0001)  # the loops run dry, and sleep

            async def take(number: int) -> None:
                nonlocal left
                async for pod in queue:
                    taken[number] += 1
                    pod.done()
                    with lock:
                        left -= 1
                        if left == 0:
                            queue.close()

            async def loop(number: int) -> None:
                await asyncio.gather(*[take(number) for _ in range(tasks)])

            threads = [thread(asyncio.run, loop(number)) for number in range(loops)]
            threads += [thread(add, number) for number in range(producers)]
            patience = PATIENCE + PODS / 1000
            for one in threads:
                one.join(patience)
            self.assertFalse(any(one.is_alive() for one in threads), f"{left} pods are left: {queue.stats()}")
            self.assertEqual((sum(taken), queue.stats()["dones"]), (PODS, PODS))

        self.each_engine(test)


if __name__ == "__main__":
    unittest.main()
