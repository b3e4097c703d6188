"""Which events an update is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ._schedq import ffi, lib


#: More than any update is.
MOST_EVENTS = 16


@dataclass(frozen=True)
class PodFacts:
    """What is compared. Equal `labels` must mean equal contents (a hash or a version), equal `claims` too."""

    labels: int = 0
    claims: int = 0
    gates: int = 0
    tolerations: int = 0
    assigned: bool = False
    target: bool = False  #: events of the waiting pod itself (kube-scheduler 1.37)
    scale_up: bool = False  #: a request that grew is an event of its own


@dataclass(frozen=True)
class NodeFacts:
    """As PodFacts: each number stands for contents."""

    allocatable: int = 0
    labels: int = 0
    taints: int = 0
    conditions: int = 0
    annotations: int = 0
    unschedulable: bool = False
    preemption_policy: int = 0
    declared_features: int = 0


def classify_pod_update(
    old: PodFacts, new: PodFacts, old_requests: Mapping[int, int] = {}, new_requests: Mapping[int, int] = {}
) -> list[int]:
    """The events of an update of a pod. Requests: amounts in thousandths, by the caller's numbers of resources."""
    events = ffi.new("schedq_event_t[]", MOST_EVENTS)
    count = lib.schedq_classify_pod_update(
        _pod(old), _amounts(old_requests), len(old_requests), _pod(new), _amounts(new_requests), len(new_requests), events
    )
    return [events[i] for i in range(count)]


def classify_node_update(old: NodeFacts, new: NodeFacts) -> list[int]:
    """The events of an update of a node; none: nothing that matters."""
    events = ffi.new("schedq_event_t[]", MOST_EVENTS)
    count = lib.schedq_classify_node_update(_node(old), _node(new), events)
    return [events[i] for i in range(count)]


def _pod(facts: PodFacts) -> Any:
    return ffi.new("schedq_pod_facts_t *", vars(facts))


def _node(facts: NodeFacts) -> Any:
    return ffi.new("schedq_node_facts_t *", vars(facts))


def _amounts(requests: Mapping[int, int]) -> Any:
    return ffi.new("schedq_quantity_t[]", list(requests.items()))
