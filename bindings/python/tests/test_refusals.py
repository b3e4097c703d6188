"""Values that no call takes: each refusal names the argument, the value and what is legal, and changes nothing."""

import unittest
from collections.abc import Callable
from typing import Any

import schedq
from schedq import Action, Event, Interest, Queue, Spec
from support import Case

U64 = "0\\.\\.18446744073709551615$"


class Numbers(Case):
    def refused(self, words: str, call: Callable[[], object]) -> None:
        with self.subTest(words), self.assertRaisesRegex(schedq.Invalid, words) as refused:
            call()
        self.assertEqual(refused.exception.status, schedq.Status.INVALID)

    def test_of_a_configuration(self) -> None:
        self.refused("^max_pods -1: 0\\.\\.4294967295$", lambda: Queue(max_pods=-1))
        self.refused("^max_pods 4294967296: 0\\.\\.4294967295$", lambda: Queue(max_pods=2**32))
        self.refused("^sample_calls 65536: 0\\.\\.65535$", lambda: Queue(sample_calls=65536))
        self.refused("^tick_ns 9223372036854775808: at most 9223372036854775807$", lambda: Queue(tick_ns=2**63))
        for wrong in (1.5, "5", [1]):
            with self.assertRaisesRegex(TypeError, "^max_pods .*: an integer is required$"):
                Queue(max_pods=wrong)  # type: ignore[arg-type]

    def test_of_a_pod(self) -> None:
        queue = Queue()
        self.refused("^priority 2147483648: -2147483648\\.\\.2147483647$", lambda: queue.add("a", priority=2**31))
        self.refused("^priority -2147483649: ", lambda: queue.add("a", priority=-(2**31) - 1, label=1))
        self.refused("^profile 256: 0\\.\\.255$", lambda: queue.add("a", profile=256))
        self.refused("^label -1: " + U64, lambda: queue.add("a", label=-1))
        self.refused("^group -1: " + U64, lambda: queue.add("a", group=-1))
        self.refused("^nominated_node -1: " + U64, lambda: queue.add("a", nominated_node=-1))
        self.refused("^not_before_ns 9223372036854775808: ", lambda: queue.add("a", not_before_ns=2**63))
        self.refused("^label -1: " + U64, lambda: queue.add_many(["a"], label=-1))
        self.refused("^priority 2147483648: ", lambda: queue.add_many(["a"], None, 2**31))
        self.refused("^priority 2147483648: ", lambda: queue.add_many(["a", "b"], None, [1, 2**31]))
        self.refused("^label -1: " + U64, lambda: queue.update("a", Spec(label=-1), add=True))
        with self.assertRaisesRegex(TypeError, "^priority 1.5: an integer is required$"):
            queue.add("a", priority=1.5)  # type: ignore[arg-type]
        with self.assertRaisesRegex(TypeError, "^label 'x': an integer is required$"):
            queue.add("a", label="x")  # type: ignore[arg-type]
        with self.assertRaisesRegex(TypeError, "^priority 'x': an integer is required$"):
            queue.add_many(["a"], None, ["x"])  # type: ignore[list-item]
        self.assertEqual(queue.snapshot(), [])

    def test_of_a_failure(self) -> None:
        queue = Queue()
        queue.add("a")
        pod = queue.try_pop() or self.fail()
        self.refused("^rejectors -1: " + U64, lambda: pod.fail(-1))
        self.refused("^pending 18446744073709551616: " + U64, lambda: pod.fail(0, 2**64))
        with self.assertRaisesRegex(TypeError, "^rejectors \\[1\\]: an integer is required$"):
            pod.fail([1])  # type: ignore[arg-type]
        self.assertTrue(pod.done())

    def test_of_the_other_calls(self) -> None:
        queue = Queue()
        minus: Any = -1
        calls: dict[str, Callable[[], object]] = {
            "handle -1: ": lambda: queue.delete(-1),
            "handle -2: ": lambda: queue.hold(-2),
            "handle -3: ": lambda: queue.look(-3),
            "handle -4: ": lambda: queue.activate([-4]),
            "node -1: ": lambda: queue.nominated_pods(-1),
            "label -1: ": lambda: queue.label_count(-1),
            "group -1: ": lambda: queue.group_look(-1),
            "group -2: ": lambda: queue.group_add(-2),
            "quorum -1: 0..4294967295": lambda: queue.group_add(1, quorum=-1),
            "event -1: 0..65535": lambda: queue.notify(-1),
            "event 65536: 0..65535": lambda: queue.event_plugins(65536),
            "target -1: ": lambda: queue.notify(Event.WILDCARD, target=-1),
            "actions -1: 0..4294967295": lambda: queue.define_event("Word", minus),
            "count -1: ": lambda: queue.peek_many(-1),
            "pods -1: 0..4294967295": lambda: queue.reserve(-1),
            "limit -1: ": lambda: queue.watch(schedq.Watchdog(), -1),
            "profile -1: 0..255": lambda: queue.count_reasons(-1),
            "bits -1: ": lambda: queue.rejector_names(-1),
            "capacity -1: 1..": lambda: queue.try_pop_many(-1),
            "capacity 0: 1..": lambda: queue.pop_many(0),
            "time_ns 9223372036854775808: ": lambda: queue.not_before(1, 2**63),
            "inflight_ns 9223372036854775808: ": lambda: schedq.Watchdog(inflight_ns=2**63),
        }
        for words, call in calls.items():
            self.refused("^" + words.replace(".", "\\."), call)
        with self.assertRaisesRegex(TypeError, "^pod None is neither a name nor a handle$"):
            queue.delete(None)  # type: ignore[arg-type]

    def test_a_capacity_beyond_memory(self) -> None:
        queue = Queue()
        queue.add("a")
        with self.assertRaisesRegex(schedq.NoMemory, f"^capacity {2**50}: "):
            queue.try_pop_many(2**50)
        self.assertEqual(queue.stats()["active"], 1)

    def test_a_plugin_that_is_not_there(self) -> None:
        queue = Queue()
        bit = queue.plugin("A")
        self.assertEqual(queue.rejector_names(bit), ["A"])
        self.refused("^bits 0x20: no rejector of profile 0 has bit 0x20$", lambda: queue.rejector_names(0x20))


class Kinds(Case):
    def test_a_name_is_a_str(self) -> None:
        queue = Queue()
        calls: list[Callable[[Any], object]] = [
            queue.add,
            lambda name: queue.add(name, label=1),
            lambda name: queue.add_many(["a", name]),
            queue.find,
            lambda name: queue.update(name, Spec(), add=True),
        ]
        for call in calls:
            for name in (None, b"x", 3):
                with self.assertRaisesRegex(TypeError, f"^name {name!r} is no str$"):
                    call(name)
        with self.assertRaisesRegex(TypeError, "^name 3 is no str$"):
            queue.plugin(3)  # type: ignore[arg-type]
        with self.assertRaisesRegex(TypeError, "^resource 3 is no str$"):
            queue.plugin("A", [Interest(3, Action.ADD)])  # type: ignore[arg-type]
        with self.assertRaisesRegex(TypeError, "^names 'abc' is one str: a sequence of them$"):
            queue.add_many("abc")
        self.assertEqual(queue.snapshot(), [])

    def test_what_is_to_be_called_can_be_called(self) -> None:
        with self.assertRaisesRegex(TypeError, "^affinity_matches 3 cannot be called$"):
            Queue(affinity_matches=3)  # type: ignore[arg-type]
        queue = Queue()
        with self.assertRaisesRegex(TypeError, "^gate 3 cannot be called$"):
            queue.plugin("A", gate=3)  # type: ignore[arg-type]
        with self.assertRaisesRegex(TypeError, "^hint 5 cannot be called$"):
            queue.plugin("A", [Interest("Node", Action.ADD, 5)])  # type: ignore[arg-type]
        with self.assertRaisesRegex(TypeError, "^precheck 3 cannot be called$"):
            queue.notify(Event.NODE_ADD, precheck=3)  # type: ignore[arg-type]
        self.assertEqual(queue.plugin("A"), 1)  # none was registered before

    def test_of_the_packages_own(self) -> None:
        queue = Queue()
        with self.assertRaisesRegex(TypeError, "^'Node' is no Interest$"):
            queue.plugin("A", ["Node"])  # type: ignore[list-item]
        with self.assertRaisesRegex(TypeError, "^actions 'ADD': an integer is required$"):
            queue.plugin("A", [Interest("Node", "ADD")])  # type: ignore[arg-type]
        with self.assertRaisesRegex(TypeError, "^'a' is no Popped$"):
            queue.done_many(["a"])  # type: ignore[list-item]
        with self.assertRaisesRegex(TypeError, "^'new' is no Spec$"):
            queue.update("a", "new")  # type: ignore[arg-type]
        with self.assertRaisesRegex(TypeError, "^3 is no Watchdog$"):
            queue.watch(3)  # type: ignore[arg-type]

    def test_a_timeout_is_a_number(self) -> None:
        queue = Queue()
        queue.add("a")
        calls: list[Callable[[Any], object]] = [queue.pop, queue.pop_group, lambda timeout: queue.pop_many(1, timeout)]
        for call in calls:
            for timeout in ("1", float("nan"), [1]):
                with self.assertRaisesRegex((TypeError, ValueError), "^timeout .* is no number of seconds$"):
                    call(timeout)
        self.assertEqual(queue.stats()["pops"], 0)


class Words(Case):
    def test_the_timer_thread_and_the_clock(self) -> None:
        queue = Queue()
        queue.run()
        with self.assertRaisesRegex(schedq.Exists, "^the timer thread runs already$"):
            queue.run()
        queue.stop()
        with self.assertRaisesRegex(schedq.Invalid, "^the queue has no external clock"):
            queue.advance(5)

    def test_a_queue_that_has_ended(self) -> None:
        queue = Queue()
        queue.destroy()
        calls: list[Callable[[], object]] = [
            queue.now_ns,
            queue.next_deadline_ns,
            lambda: queue.event_plugins(Event.NODE_ADD),
            lambda: queue.rejector_bit("A"),
            lambda: queue.advance(5),
        ]
        for call in calls:
            with self.assertRaisesRegex(schedq.Invalid, "^the queue has ended$"):
                call()


if __name__ == "__main__":
    unittest.main()
