"""Pods, events and looks, on both engines."""

import unittest
import warnings
from collections.abc import Callable

import schedq
from schedq import Action, Engine, Event, Interest, OverdueKind, Place, Queue, Spec, Status, Watchdog
from support import SECOND_NS, Case, take


class Pods(Case):
    def test_pops_come_by_priority_and_age_with_their_objects(self) -> None:
        def test(engine: Engine) -> None:
            queue = Queue(engine=engine)
            thing = object()
            queue.add("old")
            queue.add("young", [1])
            queue.add("first", thing, priority=7)
            popped = [queue.try_pop() for _ in range(3)]
            self.assertEqual([pod.name for pod in popped if pod], ["first", "old", "young"])
            self.assertIs(popped[0] and popped[0].object, thing)
            self.assertEqual(popped[2] and popped[2].object, [1])
            self.assertIsNone(queue.try_pop())
            self.assertEqual(queue.done_many(pod for pod in popped if pod), 3)

        self.each_engine(test)

    def test_names_are_any_text(self) -> None:
        queue = Queue()
        for name in ("ä/ß", "日本", "x" * 317, "\udcff"):
            queue.add(name)
            with queue.pop() or self.fail() as pod:
                self.assertEqual(pod.name, name)

    def test_refusals_are_exceptions_with_the_librarys_words(self) -> None:
        queue = Queue(max_pods=1)
        queue.add("a")
        with self.assertRaises(schedq.Exists) as exists:
            queue.add("a")
        self.assertEqual(exists.exception.status, Status.EXISTS)
        with self.assertRaisesRegex(schedq.Full, "max_pods"):
            queue.add("b")
        with self.assertRaisesRegex(schedq.Invalid, "317"):
            queue.add("x" * 318)
        with self.assertRaisesRegex(ValueError, "317"):
            queue.add("")
        with self.assertRaisesRegex(schedq.Invalid, "initial_backoff_ns.*1"):
            Queue(initial_backoff_ns=5)
        with self.assertRaisesRegex(schedq.Invalid, "preset 3: legal are 0, 12"):
            Queue(3)  # type: ignore[arg-type]
        with self.assertRaises(TypeError):
            Queue(max_pots=5)  # type: ignore[call-arg]
        with self.assertRaises(TypeError):
            queue.add("c", priority="high")  # type: ignore[arg-type]
        with self.assertRaisesRegex(TypeError, "event 'NodeAdd' is no number"):
            queue.notify("NodeAdd")  # type: ignore[arg-type]
        with self.assertRaisesRegex(schedq.Busy, "^setup is over: plugin and"):
            queue.plugin("Late")
        queue.close()
        with self.assertRaises(schedq.Closed):
            queue.add("d")

    def test_a_with_statement_ends_the_cycle_by_its_outcome(self) -> None:
        queue = Queue(max_backoff_ns=0)
        queue.add("a")
        with self.assertRaises(ZeroDivisionError):
            with queue.pop() or self.fail():
                1 / 0
        with queue.pop() or self.fail() as pod:
            self.assertEqual(pod.history.errors, 1)
        self.assertEqual(queue.snapshot(), [])

    def test_a_dropped_pop_is_warned_of(self) -> None:
        queue = Queue()
        queue.add("forgotten")
        with self.assertWarnsRegex(ResourceWarning, "forgotten.*in flight"):
            queue.pop()
        self.assertEqual(queue.stats()["inflight"], 1)

    def test_a_cycle_ends_once(self) -> None:
        queue = Queue()
        queue.add("a")
        pod = queue.pop()
        assert pod is not None
        self.assertTrue(pod.alive())
        self.assertTrue(pod.done())
        with self.assertRaises(schedq.Stale):
            pod.done()
        with self.assertRaises(schedq.Stale):
            pod.fail()
        with self.assertRaises(schedq.Stale):
            queue.done_many([pod])

    def test_a_pod_that_is_deleted_in_flight_is_told_to_its_holder(self) -> None:
        def test(engine: Engine) -> None:
            queue = Queue(engine=engine)
            ends: list[Callable[[schedq.Popped], bool]] = [lambda pod: pod.done(), lambda pod: pod.fail() is not None]
            for end in ends:
                queue.add("a")
                pod = queue.pop()
                assert pod is not None
                self.assertTrue(queue.delete("a"))
                self.assertFalse(pod.alive())
                self.assertFalse(end(pod))
            self.assertFalse(queue.delete("a"))
            handle = queue.add("b")
            self.assertTrue(queue.delete(handle))
            self.assertFalse(queue.delete(handle))

        self.each_engine(test)

    def test_many_pods_are_added_in_one_call(self) -> None:
        def test(engine: Engine) -> None:
            queue = Queue(engine=engine, max_pods=4)
            handles = queue.add_many(["a", "b"], ["A", "B"], [1, 2])
            self.assertTrue(all(handles))
            with self.assertRaises(schedq.NotAllAdded) as refused:
                queue.add_many(["a", "c"], ["again", "C"])
            self.assertEqual(refused.exception.statuses, [Status.EXISTS, Status.OK])
            self.assertEqual(refused.exception.handles[0], 0)
            with self.assertRaisesRegex(schedq.Error, "max_pods|cap"):
                queue.add_many([f"d{i}" for i in range(9)])
            with self.assertRaises(ValueError):
                queue.add_many(["x"], [])
            self.assertEqual(queue.add_many([]), [])
            pods = queue.pop_many(3)
            self.assertEqual([(pod.name, pod.object) for pod in pods], [("b", "B"), ("a", "A"), ("c", "C")])
            self.assertEqual(queue.done_many(pods), 3)

        self.each_engine(test)

    def test_an_update_replaces_the_object(self) -> None:
        queue = Queue()
        handle = queue.add("a", "old")
        self.assertIsNone(queue.update("b", Spec("new")))
        self.assertIsNone(queue.update("a", Spec("new"), only=handle + 2**32))
        result = queue.update("a", Spec("new", priority=3), only=handle)
        assert result is not None
        self.assertEqual((result.handle, result.place, result.added), (handle, Place.ACTIVE, False))
        added = queue.update("b", Spec("B"), add=True)
        self.assertTrue(added is not None and added.added)
        self.assertEqual([pod.object for pod in queue.peek_many(5)], ["new", "B"])

    def test_a_failed_pod_comes_back_with_its_newest_object(self) -> None:
        queue = Queue(max_backoff_ns=0)
        queue.add("a", 1)
        with queue.pop() or self.fail() as pod:
            self.assertEqual(pod.fail(newest=Spec(2, priority=5)), Place.ACTIVE)
        with queue.pop() or self.fail() as pod:
            self.assertEqual((pod.object, pod.priority, pod.history.errors), (2, 5, 1))

    def test_a_pod_that_fails_after_done_comes_back_with_its_history(self) -> None:
        queue = Queue()
        queue.add("a", 1)
        pod = queue.pop()
        assert pod is not None
        before = pod.history
        pod.done()
        result = queue.readd("a", Spec(2), before)
        self.assertEqual(result.place, Place.ERROR_BACKOFF)
        info = queue.find("a")
        self.assertEqual(info and (info.object, info.history.attempts, info.history.errors), (2, 1, 1))

    def test_pods_are_held_and_released_alone_and_by_label(self) -> None:
        queue = Queue()
        first = queue.add("a", label=7)
        queue.add("b", label=7)
        self.assertEqual(queue.hold(first), Place.HELD)
        self.assertEqual(queue.release(first), Place.ACTIVE)
        self.assertEqual(queue.label_hold(7), 2)
        self.assertIsNone(queue.try_pop())
        self.assertEqual((queue.label_count(7), queue.label_release(7)), (2, 2))
        self.assertEqual(queue.not_before(first, queue.now_ns() + 3600 * SECOND_NS), Place.HELD)
        self.assertEqual(queue.not_before(first, 0), Place.ACTIVE)
        self.assertEqual(queue.label_cancel(7), 2)
        self.assertIsNone(queue.hold(first))

    def test_a_class_is_tried_by_one_of_its_pods(self) -> None:
        def test(engine: Engine) -> None:
            queue = Queue(engine=engine, class_patience_ns=60 * SECOND_NS)
            fit = queue.plugin("Fit", [Interest("Node", Action.ADD)])
            scout = queue.add("a", class_id=7)
            queue.add_many(["b", "c"], class_id=7)
            first, other = queue.pop(), queue.pop()
            assert first is not None and other is not None
            self.assertEqual((first.fail(fit), other.fail(fit)), (Place.PARKED, Place.HELD))
            self.assertIsNone(queue.try_pop())
            why = queue.explain("b")
            assert why is not None
            self.assertEqual((why.kept_by_class, why.class_id, why.scout), (True, 7, scout))
            info = queue.find("a")
            assert info is not None
            self.assertEqual((info.kept_by_class, info.class_id, info.scout), (False, 7, scout))
            self.assertEqual((queue.stats()["class_hides"], queue.stats()["class_turns"]), (2, 0))
            queue.delete(scout)
            with queue.pop() or self.fail() as pod:
                self.assertEqual((pod.name, pod.fail(fit, own_reasons=True)), ("b", Place.PARKED))
            self.assertEqual(take(queue), ["c"])

        self.each_engine(test)

    def test_a_pod_is_named_or_its_handle_given(self) -> None:
        queue = Queue()
        both: list[str | int] = ["a", queue.add("a")]
        for pod in both:
            self.assertEqual((queue.position(pod), queue.hold(pod), queue.release(pod)), ((0, 0), Place.HELD, Place.ACTIVE))
            self.assertEqual(queue.not_before(pod, queue.now_ns() + 3600 * SECOND_NS), Place.HELD)
            self.assertRegex(str(queue.explain(pod)), "held")
            self.assertEqual(queue.not_before(pod, 0), Place.ACTIVE)
            self.assertTrue(queue.nominate(pod, 4))
        self.assertEqual((queue.hold("b"), queue.release("b"), queue.not_before("b", 0)), (None, None, None))
        self.assertEqual((queue.position("b"), queue.explain("b"), queue.nominate("b", 4)), (None, None, False))

    def test_nominations(self) -> None:
        queue = Queue()
        handle = queue.add("a", nominated_node=3)
        self.assertEqual([pod.name for pod in queue.nominated_pods(3)], ["a"])
        self.assertTrue(queue.nominate(handle, 4))
        self.assertEqual([pod.nominated_node for pod in queue.nominated_pods(4)], [4])
        self.assertEqual(queue.nominated_pods(3), [])


class Events(Case):
    def test_a_hint_decides_which_pods_a_change_helps(self) -> None:
        def test(engine: Engine) -> None:
            queue = Queue(engine=engine, max_backoff_ns=0)
            asked = []

            def fits(pod: int, old: object, new: int) -> bool:
                asked.append((pod, old, new))
                return new >= pod

            fit = queue.plugin("Fit", [Interest("Node", Action.ADD, fits), Interest("Pod", Action.DELETE)])
            queue.add("small", 2)
            queue.add("large", 9)
            for pod in queue.pop_many(2):
                self.assertEqual(pod.fail(fit), Place.PARKED)
            result = queue.notify(Event.NODE_ADD, None, 5)
            self.assertEqual((result.to_active, result.poppable), (1, True))
            self.assertEqual(sorted(asked), [(2, None, 5), (9, None, 5)])
            with queue.pop() or self.fail() as pod:
                self.assertEqual(pod.name, "small")
                self.assertEqual(queue.rejector_names(pod.unschedulable), ["Fit"])
            self.assertEqual(queue.notify(Event.ASSIGNED_POD_DELETE).to_active, 1)

        self.each_engine(test)

    def test_each_interest_has_its_own_hint(self) -> None:
        queue = Queue(max_backoff_ns=0)
        asked: list[int] = []

        def hint(n: int) -> schedq.Hint:
            return lambda pod, old, new: asked.append(n)

        events = [queue.define_event(f"R{n}", Action.ADD) for n in range(200)]
        plugin = queue.plugin("P", [Interest(f"R{n}", Action.ADD, hint(n)) for n in range(200)])
        queue.add("a", "A")
        with queue.pop() or self.fail() as pod:
            pod.fail(plugin)
        for event in events:
            queue.notify(event)
        self.assertEqual(asked, list(range(200)))

    def test_a_change_during_a_flight_counts_when_the_pod_fails(self) -> None:
        def test(engine: Engine) -> None:
            queue = Queue(engine=engine, max_backoff_ns=0)
            fit = queue.plugin("Fit", [Interest("Node", Action.ADD, lambda pod, old, new: new == "big")])
            queue.add("a", "A")
            for node, place in (("small", Place.PARKED), ("big", Place.ACTIVE)):
                queue.activate([pod.handle for pod in queue.snapshot()])
                with queue.pop() or self.fail() as pod:
                    queue.notify(Event.NODE_ADD, None, node)
                    self.assertEqual(pod.fail(fit), place)

        self.each_engine(test)

    def test_a_gate_keeps_a_pod_out(self) -> None:
        queue = Queue()
        open_gates = {"B"}
        gate = queue.plugin(
            "Gate", [Interest("Pod", Action.UPDATE_POD_GATES_ELIMINATED)], gate=lambda pod: pod in open_gates
        )
        queue.add_many(["a", "b"], ["A", "B"])
        info = queue.find("a")
        self.assertEqual(info and (info.place, info.gate), (Place.GATED, gate))
        self.assertEqual(take(queue), ["b"])
        open_gates.add("A")
        queue.update("a", Spec("A"), [Event.UNSCHEDULED_POD_UPDATE_GATES_ELIMINATED])
        self.assertEqual(take(queue), ["a"])

    def test_a_precheck_filters_pods(self) -> None:
        queue = Queue(max_backoff_ns=0)
        fit = queue.plugin("Fit", [Interest("Node", Action.ADD)])
        queue.add_many(["a", "b"], [1, 2])
        for pod in queue.pop_many(2):
            pod.fail(fit)
        self.assertEqual(queue.notify(Event.NODE_ADD, precheck=lambda pod: pod == 2).to_active, 1)
        with queue.pop() or self.fail() as pod:
            self.assertEqual(pod.name, "b")

    def test_a_hint_that_raises_counts_as_yes_and_is_reported(self) -> None:
        import sys

        def wrong(pod: object, old: object, new: object) -> bool:
            raise LookupError("what a hint may say")

        def test(engine: Engine) -> None:
            queue = Queue(engine=engine, max_backoff_ns=0)
            fit = queue.plugin("Fit", [Interest("Node", Action.ADD, wrong)])
            queue.add("a", 1)
            with queue.pop() or self.fail() as pod:
                pod.fail(fit)
            seen = []
            before, sys.excepthook = sys.excepthook, lambda kind, error, traceback: seen.append(str(error))
            try:
                self.assertEqual(queue.notify(Event.NODE_ADD).to_active, 1)
            finally:
                sys.excepthook = before
            self.assertEqual(seen, ["what a hint may say"])

        self.each_engine(test)

    def test_a_callable_that_calls_the_queue_is_refused_but_may_end_cycles(self) -> None:
        def test(engine: Engine) -> None:
            queue = Queue(engine=engine, max_backoff_ns=0)
            seen: list[object] = []

            def meddles(pod: object, old: object, new: object) -> bool:
                try:
                    queue.add("other")
                except schedq.Busy as error:
                    seen.append(str(error))
                seen.append(other.done())
                return True

            fit = queue.plugin("Fit", [Interest("Node", Action.ADD, meddles)])
            queue.add_many(["a", "b"], [1, 2])
            pod, other = queue.pop_many(2)
            pod.fail(fit)
            queue.notify(Event.NODE_ADD)
            self.assertRegex(str(seen[0]), "hint")
            self.assertIs(seen[1], True)
            self.assertIsNone(queue.find("b"))

        self.each_engine(test)

    def test_affinity(self) -> None:
        queue = Queue(schedq.Preset.KUBE_1_26, max_backoff_ns=0, affinity_matches=lambda pod, placed: pod == placed)
        fit = queue.plugin("Fit", [Interest("Pod", Action.ADD)])
        queue.add("default/a", "web", affinity=True)
        queue.add("default/b", "db", affinity=True)
        for pod in queue.pop_many(2):
            pod.fail(fit)
        event = queue.define_event("Pod", Action.ADD, "AssignedPodAdd")
        queue.assigned_pod_added(event, "default", None, "web")
        self.assertEqual(take(queue), ["default/a"])

    def test_profiles_late_names_and_reasons(self) -> None:
        queue = Queue()
        batch = queue.define_profile("batch")
        queue.plugin("Fit", [Interest("Node", Action.ADD)])
        fit = queue.plugin("Fit", [Interest("Node", Action.ADD)], profile=batch)
        queue.add("a", profile=batch)
        late = queue.rejector_bit("Extender", batch)
        with queue.pop() or self.fail() as pod:
            pod.fail(fit | late)
        reasons = queue.count_reasons(batch)
        self.assertEqual((reasons.parked, reasons.parked_by), (1, {"Fit": 1, "Extender": 1}))
        self.assertTrue(queue.event_plugins(Event.NODE_ADD, batch) & fit)
        with self.assertRaises(ValueError):
            queue.rejector_bit("", batch)

    def test_updates_are_classified(self) -> None:
        self.assertEqual(
            schedq.classify_pod_update(schedq.PodFacts(), schedq.PodFacts(labels=1), {1: 500}, {1: 200}),
            [Event.UNSCHEDULED_POD_UPDATE_LABEL, Event.UNSCHEDULED_POD_UPDATE_SCALE_DOWN],
        )
        self.assertEqual(
            schedq.classify_node_update(schedq.NodeFacts(), schedq.NodeFacts(taints=1)), [Event.NODE_UPDATE_TAINT]
        )
        self.assertEqual(schedq.classify_node_update(schedq.NodeFacts(), schedq.NodeFacts()), [])


class Looks(Case):
    def test_looks_change_nothing(self) -> None:
        def test(engine: Engine) -> None:
            queue = Queue(engine=engine)
            self.assertIsNone(queue.peek())
            handles = queue.add_many([f"p{i}" for i in range(5)], range(5), [0, 1, 2, 3, 4])
            first = queue.peek()
            self.assertEqual(first and (first.name, first.object, first.place), ("p4", 4, Place.ACTIVE))
            self.assertEqual([pod.name for pod in queue.peek_many(2)], ["p4", "p3"])
            self.assertEqual(queue.position(handles[2]), (2, 2))
            self.assertEqual(sorted(pod.object for pod in queue.snapshot()), list(range(5)))
            self.assertEqual(queue.stats()["active"], 5)
            self.assertIn('pending_pods{queue="active"} 5', queue.metrics())
            self.assertEqual(queue.pending_text(), "activeQ:5; backoffQ:0; unschedulablePods:0")
            self.assertIsNone(queue.find("nobody"))
            self.assertIsNone(queue.look(handles[0] + 2**32))
            self.assertEqual(queue.words()["closed"], 0)

        self.each_engine(test)

    def test_a_watchdog_names_what_is_overdue(self) -> None:
        def test(engine: Engine) -> None:
            queue = Queue(engine=engine, external_clock=True, start_ns=SECOND_NS)
            dog = Watchdog(inflight_ns=10 * SECOND_NS)
            handle = queue.add("a")
            with queue.pop() or self.fail() as pod:
                self.assertEqual(queue.watch(dog), [])
                queue.advance(20 * SECOND_NS)
                (overdue,) = queue.watch(dog)
                self.assertEqual((overdue.kind, overdue.handle), (OverdueKind.INFLIGHT, handle))
                self.assertRegex(str(overdue), "pod a: popped 1")
                self.assertEqual(queue.watch(dog, 0), [])
                pod.done()
            self.assertEqual((queue.watch(dog), dog.complete), ([], True))
            self.assertRaisesRegex(schedq.Invalid, "watch.gated_ns -1", queue.watch, Watchdog(gated_ns=-1))

        self.each_engine(test)

    def test_an_explanation_is_a_sentence(self) -> None:
        queue = Queue()
        fit = queue.plugin("Fit", [Interest("Node", Action.ADD)])
        handle = queue.add("a")
        with queue.pop() or self.fail() as pod:
            pod.fail(fit)
        why = queue.explain("a")
        assert why is not None
        self.assertEqual((why.place, why.unschedulable, why.freed_by), (Place.PARKED, fit, None))
        self.assertRegex(str(why), "parked, rejected by Fit")
        queue.notify(Event.NODE_ADD)
        why = queue.explain(handle)
        self.assertEqual(why and why.freed_by, "NodeAdd")
        self.assertIsNone(queue.explain("b"))
        self.assertIsNone(queue.position(handle))


class Life(Case):
    def test_time_is_the_callers_with_an_external_clock(self) -> None:
        queue = Queue(external_clock=True, start_ns=SECOND_NS, pop_from_backoff=False)
        fit = queue.plugin("Fit", [Interest("Node", Action.ADD)])
        queue.add("a")
        with queue.pop() or self.fail() as pod:
            pod.fail(fit)
        queue.notify(Event.NODE_ADD)
        self.assertIsNone(queue.try_pop())
        self.assertEqual(queue.next_deadline_ns(), 2 * SECOND_NS)
        queue.advance(3 * SECOND_NS)
        self.assertEqual(queue.tick(), schedq.NO_DEADLINE)
        self.assertEqual(take(queue), ["a"])

    def test_the_timer_thread_serves_time(self) -> None:
        queue = Queue(initial_backoff_ns=1_000_000)
        queue.run()
        with self.assertRaises(schedq.Exists):
            queue.run()
        queue.stop()
        queue.stop()

    def test_a_queue_can_be_made_and_dropped_at_any_time(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for _ in range(50):
                queue = Queue()
                queue.add("a", queue)  # a circle
                queue.reserve(100, 1, 1)
                queue.trim()
                queue.leave()

    def test_version(self) -> None:
        self.assertRegex(schedq.__version__, r"^\d+\.\d+\.\d+$")


if __name__ == "__main__":
    unittest.main()
