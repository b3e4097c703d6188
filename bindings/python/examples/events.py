"""Pods that fit nowhere wait until something changes that could help them."""

from dataclasses import dataclass

import schedq
from schedq import Action, Event, Interest


@dataclass
class Task:
    cpu: int


@dataclass
class Node:
    free: int


def fits(task: Task, old: Node | None, new: Node) -> bool:
    return task.cpu <= new.free


queue = schedq.Queue(max_backoff_ns=0)
fit = queue.plugin("Fit", [Interest("Node", Action.ADD, fits)])
nodes = [Node(free=2)]


def schedule() -> None:
    while pod := queue.try_pop():
        node = next((node for node in nodes if pod.object.cpu <= node.free), None)
        if node is None:
            print(pod.name, "is", pod.fail(fit))
        else:
            node.free -= pod.object.cpu
            pod.done()
            print(pod.name, "runs")


queue.add("small", Task(cpu=1))
queue.add("large", Task(cpu=8))
queue.add("larger", Task(cpu=32))
schedule()

nodes.append(Node(free=16))
queue.notify(Event.NODE_ADD, None, nodes[-1])
schedule()
print(queue.count_reasons().parked_by)
