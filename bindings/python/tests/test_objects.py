"""Objects are kept as long as the library has them, and no longer."""

import gc
import os
import threading
import time
import unittest
import weakref
from collections.abc import Callable

import schedq
from schedq import Action, Engine, Event, Interest, Queue, Spec
from support import Case, join, take, thread


class Thing:
    pass


class Objects(Case):
    def test_an_object_lives_as_long_as_its_pod(self) -> None:
        def test(engine: Engine) -> None:
            queue = Queue(engine=engine)
            thing = Thing()
            alive = weakref.ref(thing)
            queue.add("a", thing)
            del thing
            queue.trim()
            self.assertIsNotNone(alive())
            looks = [*queue.snapshot(), *queue.peek_many(1), queue.find("a"), queue.peek()]
            self.assertEqual([pod and pod.object for pod in looks], [alive()] * 4)
            del looks
            take(queue)
            queue.leave()  # the lock-free engine drops the last references of a worker with it
            queue.trim()
            self.assertIsNone(alive())

        self.each_engine(test)

    def test_a_replaced_object_goes(self) -> None:
        def test(engine: Engine) -> None:
            queue = Queue(engine=engine)
            thing = Thing()
            alive = weakref.ref(thing)
            queue.add("a", thing)
            queue.update("a", Spec(1))
            del thing
            queue.leave()
            queue.trim()
            self.assertIsNone(alive())

        self.each_engine(test)

    def test_refused_objects_go(self) -> None:
        queue = Queue()
        queue.add("a")
        thing = Thing()
        alive = weakref.ref(thing)
        with self.assertRaises(schedq.Exists):
            queue.add("a", thing)
        with self.assertRaises(schedq.NotAllAdded):
            queue.add_many(["a"], [thing])
        with self.assertRaises(schedq.Exists):
            queue.readd("a", Spec(thing), schedq.History())
        self.assertIsNone(queue.update("b", Spec(thing), old_object=thing))
        with self.assertRaises(schedq.Invalid):
            queue.notify(0, thing, thing)
        del thing
        queue.trim()
        self.assertIsNone(alive())

    def test_the_table_does_not_grow(self) -> None:
        def test(engine: Engine) -> None:
            queue = Queue(engine=engine, max_backoff_ns=0)
            fit = queue.plugin("Fit", [Interest("Node", Action.ADD, lambda pod, old, new: True)])
            for i in range(3000):
                queue.add("a", Thing())
                for pod in queue.pop_many(1):
                    pod.fail(fit, newest=Spec(Thing()))
                queue.notify(Event.NODE_ADD, Thing(), Thing())
                queue.update("a", Spec(Thing()), old_object=Thing())
                take(queue)
                queue.add_many(["a", "b"], [Thing(), Thing()])
                take(queue)
            self.assertLess(len(queue._objects.table), 1000)
            self.assertLess(len(queue._objects._spare), 1000)

        self.each_engine(test)

    def test_a_queue_ends_with_its_objects(self) -> None:
        def test(engine: Engine) -> None:
            queue = Queue(engine=engine)
            thing = Thing()
            alive = weakref.ref(thing)
            queue.add_many([f"p{i}" for i in range(1000)], [thing] * 1000)
            queue.run()
            del thing, queue
            gc.collect()
            self.assertIsNone(alive())

        self.each_engine(test)

    def test_a_finalizer_may_call_the_queue(self) -> None:
        queue = Queue()
        finalized = 0

        class Careful:
            def __del__(self) -> None:
                nonlocal finalized
                finalized += 1
                queue.stats()
                queue.add(f"of {finalized}")

        for i in range(100):
            queue.add("a", Careful())
            queue.delete("a")
        queue.leave()
        queue.trim()
        self.assertEqual(finalized, 100)
        take(queue, 200)

    def test_a_finalizer_that_calls_a_queue_that_has_ended_is_refused(self) -> None:
        refused: list[str] = []

        class Late:
            def __init__(self, queue: Queue) -> None:
                queue.add("a", self)  # a circle
                self.queue = queue
                self.pod = queue.pop()

            def __del__(self) -> None:
                assert self.pod is not None
                calls: list[Callable[[], object]] = [
                    self.queue.try_pop,
                    lambda: self.queue.add("b", 1),
                    self.pod.done,
                    self.queue.now_ns,
                ]
                for call in calls:
                    try:
                        call()
                    except schedq.Invalid as error:
                        refused.append(str(error))

        for _ in range(20):
            queue = Queue()
            Late(queue)
            del queue
            gc.collect()
        self.assertTrue(refused)
        self.assertEqual(set(refused), {"the queue has ended"})

    def test_a_queue_that_is_dropped_in_its_own_callable_ends_all_the_same(self) -> None:
        """The last reference goes in a gate that the timer thread asks: another thread ends the queue, and that thread."""

        def test(engine: Engine) -> None:
            threads = len(os.listdir("/proc/self/task"))
            holder = [Queue(engine=engine, max_backoff_ns=0, max_parked_ns=1_000_000)]
            armed = threading.Event()

            def gate(pod: object) -> bool:
                if armed.is_set():
                    holder.clear()
                return armed.is_set()

            holder[0].plugin("Gate", gate=gate)
            holder[0].add("a", Thing())
            armed.set()
            holder[0].run()  # it asks when the pod was gated for a millisecond
            end = time.monotonic() + 60
            while (holder or len(os.listdir("/proc/self/task")) > threads) and time.monotonic() < end:
                time.sleep(0.01)
            self.assertEqual((holder, len(os.listdir("/proc/self/task"))), ([], threads))

        self.each_engine(test)

    def test_who_looks_sees_the_objects_of_the_pods_that_he_sees(self) -> None:
        """Objects come and go in two threads; refs are used again at once. Each pod's object is its name."""

        def test(engine: Engine) -> None:
            queue = Queue(engine=engine, max_backoff_ns=0)
            wrong: list[object] = []
            asked: list[object] = []

            def hint(pod: str, old: str, new: str) -> bool:
                asked.append(pod)
                if (type(pod), old, new) != (str, "old", "new"):
                    wrong.append((pod, old, new))
                return True

            fit = queue.plugin("Fit", [Interest("Node", Action.ADD, hint)])

            def churn(number: int) -> None:
                for i in range(1500):
                    name = f"{number}/{i}"
                    queue.add(name, name)
                    for pod in queue.try_pop_many(1):
                        if pod.object != pod.name:
                            wrong.append((pod.name, pod.object))
                        pod.fail(fit)
                    if i % 7 == 0:
                        queue.notify(Event.NODE_ADD, "old", "new")
                    queue.delete(name)

            churners = [thread(churn, number) for number in range(2)]
            while any(one.is_alive() for one in churners):
                looks = queue.snapshot() + queue.peek_many(10)
                wrong += [(pod.name, pod.object) for pod in looks if pod.object != pod.name]
            join(self, *churners)
            self.assertEqual(wrong, [])
            self.assertTrue(asked)
            queue.notify(Event.NODE_ADD, "old", "new")
            take(queue, 5000)

        self.each_engine(test)

    def test_threads_that_share_a_queue_never_wait_for_each_other_for_ever(self) -> None:
        """Hints take the GIL while the mutex engine's lock is held; calls wait for that lock."""

        def test(engine: Engine) -> None:
            queue = Queue(engine=engine, max_backoff_ns=0)
            fit = queue.plugin(
                "Fit", [Interest("Node", Action.ADD, lambda pod, old, new: sum(range(50)) > 0)], gate=lambda pod: True
            )
            queue.run()

            def work(number: int) -> None:
                for i in range(300):
                    queue.add(f"{number}/{i}", Thing())
                    for pod in queue.try_pop_many(2):
                        pod.fail(fit)
                    queue.notify(Event.NODE_ADD, Thing(), None)
                    for pod in queue.try_pop_many(4):
                        pod.done()

            join(self, *[thread(work, number) for number in range(6)])
            queue.stop()

        self.each_engine(test)


if __name__ == "__main__":
    unittest.main()
