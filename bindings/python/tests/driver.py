#!/usr/bin/python3
"""Performs the operations of conformance vectors through the Python package: the child process of schedq-conform --driver.

It speaks the lines of docs/CONFORMANCE.md ("Drivers") and checks nothing. Hints, gates, preChecks and affinity are Python
callables that the library asks.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Optional

import schedq
from schedq import Action, Place, Spec

NAMESPACE = "default"
#: The vector's time 0 on the queue's clock: a whole second, far from 0.
START_NS = 1_000_000_000_000_000
MS = 1_000_000
RELEASES = {
    "v1.12": schedq.Preset.KUBE_1_12,
    "v1.26": schedq.Preset.KUBE_1_26,
    "v1.34": schedq.Preset.KUBE_1_34,
    "v1.37": schedq.Preset.KUBE_1_37,
}

ACTIONS = {
    "Add": Action.ADD,
    "Delete": Action.DELETE,
    "Update": Action.UPDATE,
    "All": Action.ALL,
    "UpdateNodeAllocatable": Action.UPDATE_NODE_ALLOCATABLE,
    "UpdateNodeLabel": Action.UPDATE_NODE_LABEL,
    "UpdateNodeTaint": Action.UPDATE_NODE_TAINT,
    "UpdateNodeCondition": Action.UPDATE_NODE_CONDITION,
    "UpdateNodeAnnotation": Action.UPDATE_NODE_ANNOTATION,
    "UpdateNodeDeclaredFeature": Action.UPDATE_NODE_DECLARED_FEATURE,
    "UpdateNodePreemptionPolicy": Action.UPDATE_NODE_PREEMPTION_POLICY,
    "UpdatePodLabel": Action.UPDATE_POD_LABEL,
    "UpdatePodScaleDown": Action.UPDATE_POD_SCALE_DOWN,
    "UpdatePodScaleUp": Action.UPDATE_POD_SCALE_UP,
    "UpdatePodToleration": Action.UPDATE_POD_TOLERATION,
    "UpdatePodSchedulingGatesEliminated": Action.UPDATE_POD_GATES_ELIMINATED,
    "UpdatePodGeneratedResourceClaim": Action.UPDATE_POD_GENERATED_CLAIM,
}


@dataclass
class Object:
    """A pod, a node or whatever else a vector has numbers of."""

    uid: str = ""
    namespace: str = NAMESPACE
    app: str = ""
    affinity: str = ""
    number: int = 0
    name_number: int = 0
    gate: int = 0
    group: str = ""  # that a pod names, or that it is
    min: int = 0  # a group's


def number(thing: Optional[Object]) -> int:
    return 0 if thing is None else thing.number


HINTS: dict[str, Callable[[Object, Optional[Object], Optional[Object]], bool]] = {
    "always": lambda pod, old, new: True,
    "never": lambda pod, old, new: False,
    # The library's third answer, an error, comes from a hint that raises. To raise here would fill stderr; it counts as yes.
    "error": lambda pod, old, new: True,
    "parity": lambda pod, old, new: (pod.name_number + number(old) + number(new)) % 2 == 0,
    "fits": lambda pod, old, new: new is not None and new.number >= pod.number,
    "grew": lambda pod, old, new: new is not None and (old is None or new.number > old.number),
    "mine": lambda pod, old, new: new is not None and new.uid != "" and new.uid == pod.uid,
}


@dataclass
class Gang:
    """A group as upstream's plugins know it."""

    parent: str = ""
    min: int = 0
    exists: bool = False
    pods: int = 0  # that exist and name it
    flight: Optional[schedq.PoppedGroup] = None


class Gangs:
    """What the queue does not know of groups: which objects there are."""

    def __init__(self) -> None:
        self.all: dict[str, Gang] = {}

    def named(self, name: str) -> Gang:
        return self.all.setdefault(name, Gang())

    @staticmethod
    def number(name: str) -> int:
        """The bytes of its name, so that numbers are in the order of names; 0 for ""."""
        return int.from_bytes(name.encode().ljust(8, b"\0"), "big")

    @staticmethod
    def name(number: int) -> str:
        return number.to_bytes(8, "big").rstrip(b"\0").decode()

    def root(self, name: str) -> str:
        """By the objects that exist; "": one above does not."""
        for _ in range(64):
            gang = self.all.get(name)
            if gang is None or not gang.exists:
                return ""
            if not gang.parent:
                return name
            name = gang.parent
        return ""

    def passes(self, pod: Object) -> bool:
        if not pod.group or pod.gate:
            return True
        return self.root(pod.group) != "" and self.all[pod.group].min <= self.all[pod.group].pods

    def same_root(self, pod: Object, changed: Optional[Object]) -> bool:
        if changed is None or not changed.group or not pod.group:
            return False
        return self.root(pod.group) != "" and self.root(pod.group) == self.root(changed.group)

    def hint(self, name: str) -> Optional[Callable[[Object, Optional[Object], Optional[Object]], bool]]:
        if name == "mygroup":
            return lambda pod, old, new: self.same_root(pod, new)
        if name == "mindown":
            return lambda pod, old, new: (
                old is not None and new is not None and new.min < old.min and self.same_root(pod, new)
            )
        return HINTS[name] if name else None


def affinity_matches(pod: Object, assigned: Object) -> bool:
    return pod.affinity != "" and pod.affinity == assigned.app and pod.namespace == assigned.namespace


class Line:
    """Words, then key=value fields. An event's hint stands behind a '=' too, so a field with a ':' before it is a word."""

    def __init__(self, text: str) -> None:
        self.words: list[str] = []
        self.values: dict[str, str] = {}
        for item in text.split():
            key, equals, value = item.partition("=")
            if equals and ":" not in key:
                self.values[key] = value
            else:
                self.words.append(item)

    def text(self, key: str, absent: str = "") -> str:
        return self.values.get(key, absent)

    def number(self, key: str) -> int:
        return int(self.values.get(key, "0"))

    def list(self, key: str) -> list[str]:
        return [item for item in self.values.get(key, "").split(",") if item]

    def object(self, key: str) -> Optional[Object]:
        return Object(number=self.number(key)) if key in self.values else None


def parse_kind(text: str) -> tuple[str, Action]:
    resource, _, actions = text.rpartition(":")
    union = Action(0)
    for action in actions.split("|"):
        union |= ACTIONS[action]
    return resource, union


@dataclass(frozen=True)
class Identity:
    name: str
    uid: str

    def __str__(self) -> str:
        return self.name if self.name == self.uid else f"{self.name} uid={self.uid}"

    @property
    def full(self) -> str:
        return f"{NAMESPACE}/{self.name}"

    @staticmethod
    def parse(text: str) -> Identity:
        name, slash, uid = text.partition("/")
        return Identity(name, uid if slash else name)


def short(name: str) -> str:
    return name[len(NAMESPACE) + 1 :]


@dataclass
class Pod:
    """The driver's record of a pod, alive or not."""

    profile: str
    handle: int
    flight: Optional[schedq.Popped] = None
    newest: Optional[Object] = None
    position: int = 0  # among those of its pop


@dataclass
class Profile:
    number: int
    bits: dict[str, int] = field(default_factory=dict)  # by the names of plugins

    def set(self, names: list[str]) -> int:
        return sum(self.bits[name] for name in names)

    def names(self, bits: int) -> str:
        return ",".join(sorted(name for name, bit in self.bits.items() if bits & bit))


class World:
    """One vector's queue, with what its operations are said in."""

    def __init__(self, head: list[str]) -> None:
        lines = [Line(text) for text in head]
        self.has_groups = self.is_composite = False
        self.gangs = Gangs()
        self.exist: dict[Identity, str] = {}  # pods that were added, and not deleted since; their groups
        self.last_popped = ""  # the group that the last pop took; "": it took a pod
        self.phantoms: dict[str, int] = {}  # by queue: what upstream counts as incoming, see do_delete
        self.queue = self.make_queue(lines)
        self.profiles: dict[str, Profile] = {}
        self.pods: dict[Identity, Pod] = {}
        self.nodes: list[str] = [""]
        for line in lines:
            if line.words[0] == "plugin":
                self.register(line)
            elif line.words[0] == "profile":
                self.profile(line.words[1])

    def make_queue(self, lines: list[Line]) -> schedq.Queue:
        engine = schedq.Engine.LOCKFREE
        preset = schedq.Preset.DEFAULT
        options: dict[str, int] = {}
        for line in lines:
            if line.words[0] == "vector":
                engine = schedq.Engine[line.text("engine").upper()]
            elif line.words[0] == "source":
                preset = RELEASES[line.words[2][: len("v1.00")]]
            elif line.words[0] == "config":
                self.has_groups = line.number("groups") == 1
                self.is_composite = line.number("composite") == 1
                if "requeue" in line.values:
                    options["requeue"] = {"hints": schedq.Requeue.HINTS, "move-cycle": schedq.Requeue.MOVE_CYCLE}[
                        line.text("requeue")
                    ]
                if "pop-from-backoff" in line.values:
                    options["pop_from_backoff"] = options["backoff_window"] = line.number("pop-from-backoff")
                for key, option in (
                    ("initial-backoff-ms", "initial_backoff_ns"),
                    ("max-backoff-ms", "max_backoff_ns"),
                    ("max-unschedulable-ms", "max_parked_ns"),
                ):
                    if key in line.values:
                        options[option] = line.number(key) * MS
        queue = schedq.Queue(
            preset,
            engine=engine,
            count_cycles=True,
            external_clock=True,
            start_ns=START_NS,
            flush_ns=MS,
            affinity_matches=affinity_matches,
            **options,  # type: ignore[arg-type]
        )
        self.hints = queue.kube_minor >= 34
        return queue

    def profile(self, name: str) -> Profile:
        if name not in self.profiles:
            self.profiles[name] = Profile(self.queue.define_profile(name))
        return self.profiles[name]

    def register(self, line: Line) -> None:
        name = line.words[1]
        profile = self.profile(line.text("profile", "default-scheduler"))
        is_gang = line.text("preenqueue") == "gang"
        gate = 0 if is_gang else line.number("preenqueue")
        interests = []
        for word in line.words[2:]:
            if word == "preenqueue":
                gate = 1
                continue
            kind, _, hint = word.partition("=")
            interests.append(schedq.Interest(*parse_kind(kind), self.gangs.hint(hint)))
        profile.bits[name] = self.queue.plugin(
            name,
            interests,
            gate=self.gangs.passes if is_gang else (lambda pod: pod.gate != gate) if gate else None,
            profile=profile.number,
            spread=self.hints and name == "PodTopologySpread",
        )

    def node(self, name: str) -> int:
        if name not in self.nodes:
            self.nodes.append(name)
        return self.nodes.index(name)

    def event(self, kind: tuple[str, Action], label: str = "") -> int:
        return self.queue.define_event(*kind, label)

    def spec(self, identity: Identity, line: Line) -> Spec:
        thing = Object(
            uid=identity.uid,
            affinity=line.text("affinity"),
            number=line.number("need"),
            name_number=int(identity.name.lstrip("abcdefghijklmnopqrstuvwxyz")),
            gate=line.number("gate"),
            group=line.text("group"),
        )
        return Spec(
            thing,
            priority=line.number("prio"),
            profile=self.profile(line.text("profile", "default-scheduler")).number,
            nominated_node=self.node(line.text("nominated")),
            group=Gangs.number(thing.group),
            affinity=thing.affinity != "",
        )

    def come(self, identity: Identity, line: Line) -> None:
        """Gates ask for it while the pod is added."""
        group = line.text("group")
        if group and identity not in self.exist:
            self.gangs.named(group).pods += 1
        self.exist[identity] = group

    def note(self, identity: Identity, line: Line, handle: int, newest: Object) -> None:
        profile = line.text("profile", "default-scheduler")
        if identity in self.pods:
            self.pods[identity].profile, self.pods[identity].handle = profile, handle
        else:
            self.pods[identity] = Pod(profile, handle)
        self.pods[identity].newest = newest

    # ---- operations ------------------------------------------------------------------------------------------

    def perform(self, text: str) -> str:
        line = Line(text)
        self.queue.advance(START_NS + int(line.words[0]) * MS)
        verb = line.words[1].replace("-", "_")
        del line.words[:2]
        try:
            operation: Callable[[Line], Optional[str]] = getattr(self, "do_" + verb)
            return operation(line) or "ok"
        except (schedq.Error, LookupError) as error:
            return f"error {type(error).__name__}: {error}"

    def identity(self, line: Line) -> Identity:
        return Identity(line.words[0], line.text("uid", line.words[0]))

    def do_add(self, line: Line) -> None:
        identity = self.identity(line)
        spec = self.spec(identity, line)
        self.come(identity, line)
        handle = self.queue.add(
            identity.full,
            spec.object,
            priority=spec.priority,
            profile=spec.profile,
            nominated_node=spec.nominated_node,
            group=spec.group,
            affinity=spec.affinity,
        )
        self.note(identity, line, handle, spec.object)

    def take(self, popped: schedq.Popped, position: int = 0) -> Identity:
        identity = Identity(short(popped.name), popped.object.uid)
        pod = self.pods[identity]
        pod.handle, pod.flight, pod.position = popped.handle, popped, position
        return identity

    def group_text(self, group: schedq.PoppedGroup) -> str:
        pods = ",".join(
            f"{self.take(pod, i).name}/{pod.history.attempts}" for i, pod in enumerate(group.members)
        )
        flushed = " flushed=1" if group.flushed else ""
        name = Gangs.name(group.group)
        return f"group {name} {self.counters(group.history)} cycle={group.cycle}{flushed} pods={pods}"

    def do_pop(self, line: Line) -> str:
        popped: Optional[schedq.Popped]
        try:
            if self.has_groups:
                group = self.queue.try_pop_group()
                if group is not None:
                    self.last_popped = Gangs.name(group.group)
                if group is not None and group.group != 0:
                    self.gangs.named(self.last_popped).flight = group
                    return self.group_text(group)
                popped = group.members[0] if group is not None else None
            else:
                popped = self.queue.try_pop()
        except schedq.Closed:
            return "closed"
        if popped is None:
            return "empty"
        identity = self.take(popped)
        counters = self.counters(popped.history) if self.hints else f"attempts={popped.history.attempts}"
        text = f"{identity} {counters} cycle={popped.cycle}"
        if popped.from_backoff:
            text += " from=backoff"
        if popped.flushed and self.queue.kube_minor >= 37:
            text += " flushed=1"
        return text

    def do_fail(self, line: Line) -> Optional[str]:
        identity = self.identity(line)
        if line.number("after-done"):
            return self.fail_after_done(identity, line)
        pod = self.pods[identity]
        if pod.flight is None:
            return "error not in flight"
        profile = self.profiles[pod.profile]
        newest = None
        if self.hints:
            newest = self.spec(identity, line)
            pod.newest = newest.object
        sets = profile.set(line.list("plugins")), profile.set(line.list("pending"))
        place = pod.flight.fail(*sets, newest=newest)
        pod.flight = None
        return "error present" if place is None else None

    def fail_after_done(self, identity: Identity, line: Line) -> Optional[str]:
        initial = START_NS + line.number("initial-attempt") * MS if "initial-attempt" in line.values else 0
        before = schedq.History(
            initial, initial, line.number("attempts"), line.number("unschedulable"), line.number("errors")
        )
        profile = self.profile(line.text("profile", "default-scheduler"))
        sets = profile.set(line.list("plugins")), profile.set(line.list("pending"))
        spec = self.spec(identity, line)
        try:
            result = self.queue.readd(identity.full, spec, before, *sets)
        except schedq.Exists:
            return "error present"
        self.note(identity, line, result.handle, spec.object)
        return None

    def do_done(self, line: Line) -> None:
        pod = self.pods.get(self.identity(line))
        if pod is None or pod.flight is None:
            return self.do_denominate(line)
        pod.flight.done()
        pod.flight = None

    def do_update(self, line: Line) -> None:
        identity = self.identity(line)
        spec = self.spec(identity, line)
        found = self.queue.find(identity.full)
        if found is not None and found.place != Place.INFLIGHT and found.object.uid == identity.uid:
            # kube parses a queued pod's terms once
            spec.object.affinity = found.object.affinity
            spec = Spec(**{**vars(spec), "affinity": spec.object.affinity != ""})
        if self.hints:
            events = [self.event(parse_kind(text)) for text in line.list("events")]
        else:
            events = [schedq.Event.UNSCHEDULED_POD_UPDATE] if line.number("changed") else []
        if found is None and spec.group and self.root(spec.group) == "-":
            return  # upstream drops the update of an unknown member without a root, where the library adds the pod
        self.come(identity, line)
        result = self.queue.update(identity.full, spec, events, old_object=line.object("old"), add=True)
        assert result is not None
        self.note(identity, line, result.handle, spec.object)

    def do_delete(self, line: Line) -> None:
        """Upstream takes a queued record out also for a pod that it does not have, and puts it back: its members count as
        incoming once more. The library has no pod to delete then.
        """
        identity = self.identity(line)
        found = self.queue.delete(identity.full)
        group = self.exist.pop(identity, "")
        if group:
            self.gangs.named(group).pods -= 1
        info = self.queue.group_look(Gangs.number(line.text("group"))) if not found and "group" in line.values else None
        root = self.queue.group_look(info.root) if info is not None and info.root else None
        queues = {Place.ACTIVE: "active", Place.ERROR_BACKOFF: "backoff", Place.GATED: "unschedulable"}
        if root is not None and root.place in queues:
            queue = queues[root.place]
            self.phantoms[queue] = self.phantoms.get(queue, 0) + root.waiting

    def root(self, number: int) -> str:
        """As the queue has it; "-": none."""
        info = self.queue.group_look(number)
        return Gangs.name(info.root) if info is not None and info.root else "-"

    def declare(self, line: Line, call: Callable[..., object]) -> None:
        gang = self.gangs.named(line.words[0])
        gang.exists, gang.min = True, line.number("min")
        gang.parent = line.text("parent") if self.is_composite else ""
        number = Gangs.number(line.words[0])
        profile = self.profile("default-scheduler").number
        parent = Gangs.number(gang.parent)
        call(number, priority=line.number("prio"), profile=profile, object=number, parent=parent)

    def do_group_add(self, line: Line) -> None:
        self.declare(line, self.queue.group_add)

    def do_group_update(self, line: Line) -> None:
        self.declare(line, self.queue.group_update)

    def do_group_delete(self, line: Line) -> None:
        """Upstream's plugins see it go before the queue does."""
        self.gangs.named(line.words[0]).exists = False
        self.queue.group_delete(Gangs.number(line.words[0]))

    do_composite_add, do_composite_update, do_composite_delete = do_group_add, do_group_update, do_group_delete

    def do_group_done(self, line: Line) -> None:
        flight = self.gangs.named(line.words[0]).flight
        assert flight is not None
        outcomes = {
            "success": schedq.GroupOutcome.PLACED,
            "unschedulable": schedq.GroupOutcome.REJECTED,
            "error": schedq.GroupOutcome.ERROR,
        }
        flight.end(outcomes[line.text("status")])

    def do_group_get(self, line: Line) -> str:
        info = self.queue.group_look(Gangs.number(line.words[0]))
        if info is None or info.place in (Place.ASIDE, Place.INFLIGHT):
            return "absent"
        gating = self.profile("default-scheduler").names(info.gate)
        return f"{line.words[0]} {self.counters(info.history)} gating={gating} size={info.waiting}"

    def do_activate(self, line: Line) -> None:
        known = (self.pods.get(Identity.parse(text)) for text in line.words[0].split(","))
        self.queue.activate(pod.handle for pod in known if pod is not None)

    def do_move(self, line: Line) -> None:
        event = self.event(parse_kind(line.words[0]), line.words[1])
        old, new, target = line.object("old"), line.object("new"), 0
        if "target" in line.values:
            identity = Identity.parse(line.text("target"))
            pod = self.pods.get(Identity(identity.name, line.text("uid", identity.uid)))
            if pod is None:
                new = Object()  # a wildcard with an object and without a target reaches nobody
            else:
                target = pod.handle
        if "pod" in line.values:
            moved = self.pods.get(Identity.parse(line.text("pod")))
            new = moved.newest if moved is not None else None
        if "group" in line.values:
            new = Object(group=line.text("group"), min=line.number("min"))
        if "oldgroup" in line.values or "oldmin" in line.values:
            old = Object(group=line.text("oldgroup", line.text("group")), min=line.number("oldmin"))
        precheck = (lambda pod: pod.name_number % 2 == 0) if "precheck" in line.values else None
        self.queue.notify(event, old, new, target=target, precheck=precheck)

    def do_assigned_add(self, line: Line) -> None:
        self.assigned(line, self.queue.assigned_pod_added, Action.ADD, "AssignedPodAdd")

    def do_assigned_update(self, line: Line) -> None:
        self.assigned(line, self.queue.assigned_pod_updated, Action.UPDATE, "AssignedPodUpdate")

    def assigned(self, line: Line, tell: Callable[..., object], action: Action, early: str) -> None:
        """Before queueing hints there was one resource for all pods."""
        if "event" in line.values:
            event = self.event(parse_kind(line.text("event")))
        elif self.hints:
            event = self.event(("AssignedPod", action))
        else:
            event = self.event(("Pod", action), early)
        namespace = line.text("ns", NAMESPACE)
        placed = Object(namespace=namespace, app=line.text("app"), number=line.number("new"))
        tell(event, namespace, line.object("old"), placed)

    def do_nominate(self, line: Line) -> None:
        node = {"-": "", "status": line.text("nominated")}.get(line.words[1], line.words[1])
        self.nominate(line, self.node(node))

    def do_denominate(self, line: Line) -> None:
        self.nominate(line, 0)

    def nominate(self, line: Line, node: int) -> None:
        pod = self.pods.get(self.identity(line))
        found = pod is not None and self.queue.nominate(pod.handle, node)
        if not found and node:
            raise LookupError("no such pod")

    def do_tick(self, line: Line) -> None:
        self.queue.tick()

    def do_get(self, line: Line) -> str:
        info = self.queue.find(self.identity(line).full)
        if info is None or info.place == Place.INFLIGHT:
            return "absent"
        identity = Identity(short(info.name), info.object.uid)
        profile = self.profiles[self.pods[identity].profile]
        sets = [profile.names(bits) for bits in (info.unschedulable, info.pending, info.gate)]
        return f"{identity} {self.counters(info.history)} plugins={sets[0]} pending={sets[1]} gating={sets[2]}"

    def do_pending(self, line: Line) -> str:
        return self.queue.pending_text()

    def do_close(self, line: Line) -> None:
        self.queue.close()

    # ---- answers ---------------------------------------------------------------------------------------------

    def counters(self, history: schedq.History) -> str:
        initial = milliseconds(history.initial_attempt_ns) if history.initial_attempt_ns else "-"
        return (
            f"attempts={history.attempts} unschedulable={history.rejections} errors={history.errors}"
            f" timestamp={milliseconds(history.timestamp_ns)} initial-attempt={initial}"
        )

    def state(self) -> None:
        roots = {Gangs.number(name): self.root(Gangs.number(name)) for name in self.gangs.all}
        for pod in self.queue.snapshot():
            place = "unschedulable" if pod.place == Place.PARKED else str(pod.place)
            times = pod.history.timestamp_ns - START_NS, pod.backoff_expiry_ns - START_NS
            member: tuple[object, ...] = ()
            if self.has_groups:
                position = self.pods[Identity(short(pod.name), pod.object.uid)].position
                names = (Gangs.name(pod.group), roots[pod.group]) if pod.group else ("-", "-")
                member = (*names, pod.history.attempts, position)
            print("pod", short(pod.name), pod.object.uid, place, pod.priority, *times, pod.pop_order, *member)
        self.records()
        for node in range(1, len(self.nodes)):
            for pod in self.queue.nominated_pods(node):
                print("nominated", self.nodes[node], short(pod.name))


    def records(self) -> None:
        """Of roots that are in a place, or in their cycle if nothing was popped since."""
        for name in self.gangs.all:
            info = self.queue.group_look(Gangs.number(name))
            if info is None or info.place == Place.ASIDE or (info.place == Place.INFLIGHT and name != self.last_popped):
                continue
            place = "unschedulable" if info.place == Place.PARKED else str(info.place)
            times = info.history.timestamp_ns - START_NS, info.backoff_expiry_ns - START_NS
            print("record", name, place, info.priority, *times)

    def metrics(self) -> None:
        print(self.queue.metrics(), end="")
        for queue, count in self.phantoms.items():
            print(f'scheduler_queue_incoming_pods_total{{queue="{queue}",event="UnscheduledPodAdd"}} {count}')


def milliseconds(time_ns: int) -> str:
    """Since the vector's time 0, with a fraction if there is one."""
    whole, rest = divmod(time_ns - START_NS, MS)
    return f"{whole}+{rest}ns" if rest else str(whole)


def main() -> None:
    head: list[str] = []
    world: Optional[World] = None
    for text in sys.stdin:
        request = text.rstrip("\n")
        verb = request.split(" ", 1)[0]
        if verb == "vector":
            head = [request]
            continue
        if verb in ("source", "config", "plugin", "profile"):
            head.append(request)
            continue
        if verb == "open":
            try:
                world = World(head)
            except (schedq.Error, LookupError) as error:
                print(f"{type(error).__name__}: {error}")
        elif verb == "end":
            world = None
        elif world is None:
            sys.exit(f"driver.py: {request!r} without a vector that is open")
        elif request == "state":
            world.state()
        elif request == "metrics":
            world.metrics()
        else:
            print(">", world.perform(request))
        print(".", flush=True)


if __name__ == "__main__":
    main()
