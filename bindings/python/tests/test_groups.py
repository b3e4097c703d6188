"""Pods that are tried together."""

import asyncio
import gc
import threading
import unittest
import warnings

import schedq
from schedq import Action, Engine, GroupOutcome, Interest, Place, Queue, Spec
from support import PATIENCE, SECOND_NS, Case, join, thread

GANG = 7


def gather(queue: Queue, count: int) -> None:
    queue.group_add(GANG, quorum=count, object=700)
    for i in range(count):
        queue.add(f"{i}", i, group=GANG)


class Groups(Case):
    def test_a_group_is_popped_whole(self) -> None:
        def test(engine: Engine) -> None:
            queue = Queue(engine=engine)
            self.assertEqual(queue.group_add(GANG, quorum=40, object=700).place, Place.ASIDE)
            queue.add_many([f"{i}" for i in range(39)], group=GANG)
            self.assertIsNone(queue.try_pop_group())
            self.assertEqual((queue.words()["aside"], queue.stats()["members_at_aside"]), (39, 39))
            queue.add("39", "last", group=GANG)
            self.assertEqual((queue.stats()["groups_at_active"], queue.stats()["members_at_active"]), (1, 40))
            self.assertIsNone(queue.try_pop())
            popped = queue.try_pop_group()  # its first room is too small
            assert popped is not None
            self.assertEqual((popped.group, popped.object, popped.history.attempts), (GANG, 700, 1))
            self.assertEqual(sorted(int(pod.name) for pod in popped.members), list(range(40)))
            self.assertEqual(queue.done_many(popped.members[1:]), 39)
            self.assertEqual(popped.members[0].fail(), Place.ASIDE)
            self.assertEqual(popped.end(GroupOutcome.PLACED), Place.ACTIVE)
            with self.assertRaises(schedq.Stale):
                popped.end(GroupOutcome.PLACED)
            with queue.try_pop_group() or self.fail() as popped:
                self.assertEqual(len(popped.members), 1)
            self.assertEqual(queue.snapshot(), [])
            info = queue.group_look(GANG)
            self.assertEqual(info and (info.place, info.waiting, info.root), (Place.ASIDE, 0, GANG))

        self.each_engine(test)

    def test_what_is_raised_in_a_group_is_its_error(self) -> None:
        def test(engine: Engine) -> None:
            queue = Queue(engine=engine)
            gather(queue, 2)
            with self.assertRaises(KeyError):
                with queue.pop_group() or self.fail() as popped:
                    popped.members[0].fail()
                    raise KeyError
            info = queue.group_look(GANG)
            self.assertEqual(info and (info.place, info.waiting, info.history.errors), (Place.ERROR_BACKOFF, 2, 1))
            found = queue.find("1")
            self.assertEqual(found and (found.place, found.group), (Place.ASIDE, GANG))
            active = queue.group_activate(GANG)
            self.assertEqual(active and active.to_active, 1)

        self.each_engine(test)

    def test_a_group_whose_members_all_failed_is_rejected(self) -> None:
        def test(engine: Engine) -> None:
            queue = Queue(engine=engine)
            gpu = queue.plugin("GPU", [Interest("Node", Action.ADD)])
            gather(queue, 2)
            with queue.pop_group() or self.fail() as popped:
                for pod in popped.members:
                    pod.fail(gpu)
            info = queue.group_look(GANG)
            self.assertEqual(info and (info.place, info.unschedulable), (Place.PARKED, gpu))
            why = queue.explain("0")
            self.assertEqual(why and (why.place, why.group, why.group_root), (Place.ASIDE, GANG, GANG))
            self.assertEqual(why and (why.group_waiting, why.group_quorum), (2, 2))
            self.assertEqual(why and (why.group_place, why.group_declared), (Place.PARKED, True))
            self.assertRegex(str(why), "^waits on group 7, which is parked: members 2, quorum 2, rejected by GPU;")
            queue.group_activate(GANG)
            with queue.pop_group() or self.fail() as popped:
                popped.members[0].fail(gpu)  # the other one is done: one is enough from here on
            info = queue.group_look(GANG)
            self.assertEqual(info and info.place, Place.ACTIVE)

        self.each_engine(test)

    def test_a_pod_in_no_group_comes_alone(self) -> None:
        queue = Queue()
        queue.add("a", "thing")
        with queue.pop_group() or self.fail() as popped:
            self.assertEqual((popped.group, [pod.object for pod in popped.members]), (0, ["thing"]))
            self.assertIsNone(popped.end(GroupOutcome.PLACED))
        self.assertEqual(queue.snapshot(), [])

    def test_groups_are_updated_and_undeclared(self) -> None:
        def test(engine: Engine) -> None:
            queue = Queue(engine=engine)
            self.assertIsNone(queue.group_update(GANG))
            self.assertIsNone(queue.group_activate(GANG))
            self.assertIsNone(queue.group_look(GANG))
            self.assertFalse(queue.group_delete(GANG))
            gather(queue, 2)
            with self.assertRaises(schedq.Exists):
                queue.group_add(GANG)
            more = queue.group_update(GANG, quorum=3)
            self.assertEqual(more and more.place, Place.ASIDE)
            with self.assertRaises(schedq.Invalid):
                queue.group_update(GANG, parent=8)
            self.assertTrue(queue.group_delete(GANG))
            self.assertEqual({pod.place for pod in queue.snapshot()}, {Place.ASIDE})

        self.each_engine(test)

    def test_a_value_that_is_none_is_refused_by_name(self) -> None:
        queue = Queue()
        with self.assertRaisesRegex(TypeError, "^object 'seven': .*a group's object is a number of yours"):
            queue.group_add(GANG, object="seven")  # type: ignore[arg-type]
        with self.assertRaisesRegex(schedq.Invalid, "^quorum -1: 0..4294967295$"):
            queue.group_add(GANG, quorum=-1)
        with self.assertRaisesRegex(schedq.Invalid, "^profile 256: 0..255$"):
            queue.group_add(GANG, profile=256)
        self.assertIsNone(queue.group_look(GANG))

    def test_an_update_leaves_the_group(self) -> None:
        queue = Queue()
        queue.add("a", 1, group=GANG)
        queue.update("a", Spec(2))
        found = queue.find("a")
        self.assertEqual(found and (found.object, found.group, found.place), (2, GANG, Place.ASIDE))

    def test_a_thread_waits_for_the_last_member(self) -> None:
        def test(engine: Engine) -> None:
            queue = Queue(engine=engine)
            queue.group_add(GANG, quorum=2)
            queue.add("a", group=GANG)
            self.assertIsNone(queue.pop_group(timeout=0.01))
            got: list[int] = []

            def take() -> None:
                with queue.pop_group(PATIENCE) or self.fail() as popped:
                    got.append(len(popped.members))

            taker = thread(take)
            queue.add("b", group=GANG)
            join(self, taker)
            self.assertEqual(got, [2])

        self.each_engine(test)

    def test_a_loop_waits_for_pods_and_for_groups(self) -> None:
        async def main(engine: Engine) -> None:
            queue = Queue(engine=engine)
            queue.group_add(GANG, quorum=2)
            queue.add("a", group=GANG)
            pods = [asyncio.create_task(queue.get()) for _ in range(3)]
            groups = asyncio.create_task(queue.get_group())
            await asyncio.sleep(0.01)
            queue.add("b", group=GANG)
            with await asyncio.wait_for(groups, PATIENCE) as popped:
                self.assertEqual(len(popped.members), 2)
            queue.add_many(["c", "d", "e"])
            for pod in await asyncio.wait_for(asyncio.gather(*pods), PATIENCE):
                pod.done()

        self.each_engine(lambda engine: asyncio.run(main(engine)))

    def test_a_loop_gets_a_group_beside_pops_of_pods(self) -> None:
        """A pop of pods that finds nothing makes the descriptor unreadable, though a group is there."""

        async def take(queue: Queue, groups: int) -> None:
            for _ in range(groups):
                with await queue.get_group() as popped:
                    self.assertEqual(len(popped.members), 1)

        async def main(engine: Engine) -> None:
            queue = Queue(engine=engine)
            queue.group_add(GANG, quorum=1)
            taking = asyncio.create_task(take(queue, 200))
            await asyncio.sleep(0)
            for _ in range(100):
                queue.add("a", group=GANG)
                self.assertIsNone(queue.try_pop())
                while queue.find("a") is not None:
                    await asyncio.sleep(0)
            over = threading.Event()

            def look() -> None:
                while not over.is_set():
                    self.assertEqual(queue.try_pop_many(2), [])

            looking = thread(look)
            for _ in range(100):
                queue.add("a", group=GANG)
                while queue.find("a") is not None and not taking.done():
                    await asyncio.sleep(0)
            await taking
            over.set()
            join(self, looking)

        self.each_engine(lambda engine: asyncio.run(asyncio.wait_for(main(engine), PATIENCE)))

    def test_a_group_that_is_dropped_is_warned_of(self) -> None:
        queue = Queue()
        gather(queue, 1)
        popped = queue.pop_group()
        assert popped is not None
        popped.members[0].done()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            del popped
            gc.collect()
        self.assertIn("group 7 stays in flight", str(caught[0].message))

    def test_members_do_not_come_before_their_time(self) -> None:
        queue = Queue(external_clock=True, start_ns=SECOND_NS)
        queue.group_add(GANG, quorum=2)
        queue.add("a", group=GANG)
        queue.add("b", group=GANG, not_before_ns=2 * SECOND_NS)
        self.assertIsNone(queue.try_pop_group())
        queue.advance(2 * SECOND_NS)
        queue.tick()
        with queue.try_pop_group() or self.fail() as popped:
            self.assertEqual(len(popped.members), 2)

    def test_many_threads_take_each_member_once(self) -> None:
        def test(engine: Engine) -> None:
            with Queue(engine=engine) as queue:
                lock = threading.Lock()
                taken: list[str] = []

                def take() -> None:
                    while True:
                        try:
                            popped = queue.pop_group()
                        except schedq.Closed:
                            return
                        assert popped is not None
                        with popped, lock:
                            self.assertGreaterEqual(len(popped.members), 3)
                            taken.extend(pod.name for pod in popped.members)

                takers = [thread(take) for _ in range(3)]
                for group in range(1, 101):
                    queue.group_add(group, quorum=3)
                for i in range(300):
                    queue.add(f"{i}", group=1 + i % 100)
                while queue.snapshot():
                    pass
                queue.close()
                join(self, *takers)
                self.assertEqual(sorted(taken, key=int), [f"{i}" for i in range(300)])

        self.each_engine(test)


if __name__ == "__main__":
    unittest.main()
