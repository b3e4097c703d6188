"""The package binds the headers whole, and says nothing else than they do."""

import dataclasses
import inspect
import pathlib
import re
import unittest

import schedq
from schedq import _classify
from schedq._schedq import ffi, lib

HERE = pathlib.Path(__file__).resolve().parent.parent
HEADERS = HERE.parent.parent / "include" / "schedq"

#: Functions that are left out on purpose.
NOT_BOUND = {
    "schedq_worker_register": "each thread has its own worker (schedq_worker_get)",
    "schedq_worker_adopt": "no thread dies inside a call of this package",
    "schedq_pop_until": "a timeout is a duration in Python",
    "schedq_pop_many_until": "the same",
    "schedq_pop_group_for": "pop_group may pop again with more room, until the same time",
    "schedq_wait_callback": "asyncio and poll have the descriptor",
    "schedq_wait_cancel": "close, a timeout or ctrl-C ends a wait; a worker of its own thread cannot be named safely",
    "schedq_status_name": "Status.name is the same",
    "schedq_place_name": "Place.name is the same",
    "schedq_plugin_name": "Queue.plugin without interests is the same",
    "schedq_pod_list_add": "pre-queueing hints are left out: a preCheck narrows a change in one call",
    "schedq_metrics_write_named": "a page that shows several queues has the text of each under an address of its own",
    # [host]: a Python program can be called back
    "schedq_event_begin": "host",
    "schedq_event_stamp": "host",
    "schedq_candidates": "host",
    "schedq_apply": "host",
    "schedq_apply_many": "host",
}

ENUMS = {
    schedq.Status: "SCHEDQ_",
    schedq.Preset: "SCHEDQ_PRESET_",
    schedq.Engine: "SCHEDQ_ENGINE_",
    schedq.Order: "SCHEDQ_ORDER_",
    schedq.OverdueKind: "SCHEDQ_OVERDUE_",
    schedq.Fences: "SCHEDQ_FENCES_",
    schedq.Requeue: "SCHEDQ_REQUEUE_",
    schedq.Count: "SCHEDQ_COUNT_",
    schedq.Place: "SCHEDQ_",
    schedq.GroupOutcome: "SCHEDQ_GROUP_",
    schedq.Action: "SCHEDQ_ACTION_",
    schedq.Event: "SCHEDQ_EVENT_",
}


def headers() -> str:
    """Of the queue, those that schedq.h includes."""
    umbrella = (HEADERS / "schedq.h").read_text()
    return "".join((HEADERS / name).read_text() for name in re.findall(r"#include <schedq/(\w+\.h)>", umbrella))


def fields(struct: str) -> set[str]:
    return {name for name, _ in ffi.typeof(struct).fields if name != "struct_size" and not name.startswith("reserved")}


@unittest.skipUnless(HEADERS.exists(), "the headers are not beside this package")
class TheHeaders(unittest.TestCase):
    def test_every_function_is_called_or_left_out_on_purpose(self) -> None:
        declared = re.findall(r"^SCHEDQ_API [^(]*?\b(schedq_\w+)\(", headers(), re.MULTILINE)
        self.assertGreater(len(declared), 70)
        shim = (HERE / "shim.c").read_text()
        called = set(re.findall(r"\b(schedq_\w+)\(", shim))
        for macro in re.findall(r"^(?:CALL|CALL_QUEUE|VISIT)\((\w+),", shim + (HERE / "calls.h").read_text(), re.MULTILINE):
            called.add("schedq_" + macro)
        used = "".join(path.read_text() for path in (HERE / "src" / "schedq").glob("*.py"))
        called.update(re.findall(r"\b_?lib\.(schedq_\w+)", used))
        for name in declared:
            self.assertNotEqual(name in called, name in NOT_BOUND, f"{name}: called {name in called}")
        self.assertEqual(set(NOT_BOUND) - set(declared), set())

    def test_what_the_shim_offers_is_used(self) -> None:
        offered = [name for name in dir(lib) if name.startswith("sqp_")]
        used = "".join(path.read_text() for path in (HERE / "src" / "schedq").glob("*.py"))
        self.assertEqual([name for name in offered if name not in used], [])

    def test_enums_have_the_values_of_the_headers(self) -> None:
        for enum, prefix in ENUMS.items():
            for member in enum.__members__.values():
                self.assertEqual(member, getattr(lib, prefix + str(member.name)), member)

    def test_enums_are_complete(self) -> None:
        for enum, prefix in ENUMS.items():
            if prefix != "SCHEDQ_":
                names = {name[len(prefix) :] for name in dir(lib) if name.startswith(prefix)} - {"FIRST_FREE", "DEPTH_MAX"}
                self.assertEqual(names, set(enum.__members__), enum)
        for enum, kind in ((schedq.Status, "schedq_status_t"), (schedq.Place, "schedq_place_t")):
            self.assertEqual({"SCHEDQ_" + name for name in enum.__members__}, set(ffi.typeof(kind).relements))

    def test_the_configuration_is_complete(self) -> None:
        arguments = set(inspect.signature(schedq.Queue).parameters) - {"preset"}
        own = {"pre_queueing_hints", "objects", "decide", "clock", "allocator", "object_ctx", "retain", "release"}
        self.assertEqual(arguments, fields("schedq_config_t") - own)

    def test_a_spec_is_complete(self) -> None:
        spec = {field.name for field in dataclasses.fields(schedq.Spec)}
        host_or_flags = {"gate", "judged_up_to", "flags", "only"}
        self.assertEqual(spec - {"affinity"}, fields("schedq_pod_spec_t") - host_or_flags)
        self.assertEqual(spec, set(inspect.signature(schedq.Queue.add).parameters) - {"self", "name"})

    def test_what_is_looked_at_is_complete(self) -> None:
        info = {field.name for field in dataclasses.fields(schedq.PodInfo)}
        self.assertEqual(
            info - {"handle"}, fields("schedq_pod_info_t") - {"pod", "name_length", "flags", "freed_by"}
        )
        history = {field.name for field in dataclasses.fields(schedq.History)}
        self.assertEqual(history, fields("schedq_history_t"))

    def test_what_is_popped_is_complete(self) -> None:
        properties = {name for name in dir(schedq.Popped) if not name.startswith("_")}
        calls = {"done", "fail", "alive", "name", "object", "handle"}
        own = {"token", "pod", "object", "name", "name_length", "seen", "flags"}
        self.assertEqual(properties - calls, fields("schedq_popped_t") - own)

    def test_groups_are_complete(self) -> None:
        described = set(inspect.signature(schedq.Queue.group_add).parameters) - {"self", "group"}
        self.assertEqual(described, fields("schedq_group_spec_t"))
        info = {field.name for field in dataclasses.fields(schedq.GroupInfo)}
        self.assertEqual(info, fields("schedq_group_info_t"))
        properties = {name for name in dir(schedq.PoppedGroup) if not name.startswith("_")}
        self.assertEqual(properties - {"end", "members"}, fields("schedq_popped_group_t") - {"token", "seen"})

    def test_facts_are_complete(self) -> None:
        for facts, struct in ((schedq.PodFacts, "schedq_pod_facts_t"), (schedq.NodeFacts, "schedq_node_facts_t")):
            self.assertEqual({field.name for field in dataclasses.fields(facts)}, fields(struct))
        rooms = re.findall(r"schedq_event_t events\[(\d+)\]", headers())
        self.assertEqual(len(rooms), 2)
        self.assertTrue(all(int(room) <= _classify.MOST_EVENTS for room in rooms))

    def test_places_are_named_as_the_library_names_them(self) -> None:
        for place in schedq.Place:
            self.assertEqual(str(place), ffi.string(lib.schedq_place_name(place)).decode())

    def test_constants(self) -> None:
        text = (HEADERS / "base.h").read_text() + headers()
        self.assertRegex(text, r"SCHEDQ_NO_DEADLINE INT64_MAX")
        self.assertRegex(text, r"SCHEDQ_REJECTOR_OTHERS \(UINT64_C\(1\) << 63\)")
        self.assertEqual((schedq.NO_DEADLINE, schedq.REJECTOR_OTHERS), (2**63 - 1, 1 << 63))


if __name__ == "__main__":
    unittest.main()
