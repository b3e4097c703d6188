"""A queue, three pods, and what one holder does with them."""

import schedq

queue = schedq.Queue()
queue.add("web/1", {"cpu": 2})
queue.add("web/2", {"cpu": 4})
queue.add("db/1", {"cpu": 8}, priority=10)

while pod := queue.try_pop():
    with pod:
        print(pod.name, pod.object["cpu"])
