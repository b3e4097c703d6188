"""The end of a queue that its caller asks for; and what keeps it."""

import asyncio
import threading
import unittest
import weakref
from collections.abc import Callable

import schedq
from schedq import Engine, Queue
from support import PATIENCE, Case, join, thread


class Destroy(Case):
    def test_a_queue_with_pods_is_not_destroyed(self) -> None:
        def test(engine: Engine) -> None:
            queue = Queue(engine=engine)
            queue.add("a", "thing")
            queue.add("b", "other")
            popped = queue.try_pop() or self.fail()
            with self.assertRaisesRegex(schedq.NotEmpty, r"^1 active, 1 in flight: .*destroy\(with_pods=True\)$"):
                queue.destroy()
            popped.done()
            self.assertTrue(queue.delete("b"))
            queue.destroy()
            queue.destroy()  # again: nothing
            calls: list[Callable[[], object]] = [queue.try_pop, queue.stats, lambda: queue.add("c", "thing"), queue.fileno, queue.pop]
            for call in calls:
                with self.assertRaisesRegex(schedq.Invalid, "the queue has ended"):
                    call()

        self.each_engine(test)

    def test_it_may_drop_pods(self) -> None:
        def test(engine: Engine) -> None:
            queue = Queue(engine=engine)
            queue.add("a", ["thing"])
            kept = weakref.ref(kind := Thing())
            queue.add("b", kind)
            del kind
            queue.destroy(with_pods=True)
            self.assertIsNone(kept())

        self.each_engine(test)

    def test_what_is_in_use_is_not_destroyed(self) -> None:
        def test(engine: Engine) -> None:
            queue = Queue(engine=engine)
            inside, out = threading.Event(), threading.Event()

            def stay(pod: object) -> bool:
                inside.set()
                return out.wait(PATIENCE)

            queue.plugin("Gate", gate=stay)
            queue.run()
            with self.assertRaisesRegex(schedq.Busy, "^the timer thread runs: stop"):
                queue.destroy()
            queue.stop()
            adds = thread(queue.add, "a", 1)
            self.assertTrue(inside.wait(PATIENCE))
            with self.assertRaisesRegex(schedq.Busy, "^calls that have not returned: 1$"):
                queue.destroy(with_pods=True)
            out.set()
            join(self, adds)
            queue.destroy(with_pods=True)

        self.each_engine(test)

    def test_a_task_that_waits_keeps_it(self) -> None:
        async def wait() -> None:
            queue = Queue()
            task = asyncio.ensure_future(queue.get())
            await asyncio.sleep(0)
            with self.assertRaisesRegex(schedq.Busy, "^threads and tasks that wait in a pop: 1$"):
                queue.destroy()
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task
            queue.destroy()
            with self.assertRaisesRegex(schedq.Invalid, "the queue has ended"):
                await queue.get()

        asyncio.run(wait())

    def test_a_callable_does_not_destroy_its_queue(self) -> None:
        refused: list[schedq.Busy] = []
        queue = Queue()

        def gate(pod: object) -> bool:
            try:
                queue.destroy()
            except schedq.Busy as busy:
                refused.append(busy)
            return True

        queue.plugin("Gate", gate=gate)
        queue.add("a", 1)
        self.assertRegex(str(refused[0]), "^calls that have not returned: 1$")

    def test_words_name_calls_of_this_package(self) -> None:
        queue = Queue()
        queue.add("a")
        with self.assertRaisesRegex(schedq.Busy, "^setup is over: plugin and .* come before any thread adds"):
            queue.plugin("Late")


class Thing:
    pass


if __name__ == "__main__":
    unittest.main()
