"""Pods that are of use only together: two training jobs, and GPUs for one of them at a time."""

import schedq
from schedq import Action, Interest, Popped

GPUS = 4
free = GPUS
running: list[list[str]] = []


queue = schedq.Queue(max_backoff_ns=0)
gpu_back = queue.define_event("GPU", Action.ADD)
no_gpu = queue.plugin("GPU", [Interest("GPU", Action.ADD)])

for job, size in ((1, 3), (2, 4)):
    queue.group_add(job, quorum=size)
    for n in range(size):
        queue.add(f"job-{job}/{n}", group=job)


def place(members: list[Popped]) -> bool:
    """All members, or none."""
    global free
    if len(members) > free:
        return False
    free -= len(members)
    running.append([member.name for member in members])
    return True


def schedule() -> None:
    while taken := queue.try_pop_group():
        with taken:  # ends what its body does not: the members, then the group
            fits = place(taken.members)
            print(f"job {taken.group}, {len(taken.members)} pods:", "placed" if fits else "rejected")
            if not fits:
                for member in taken.members:
                    member.fail(no_gpu)  # each: so the group is parked until a GPU comes back


schedule()
why = queue.explain("job-2/0")  # print(why) says it in a sentence
if why:
    print("job", why.group, why.group_place.name, "members", why.group_waiting, "quorum", why.group_quorum)
free += len(running.pop())  # first where the program looks, then the queue
queue.notify(gpu_back)
schedule()
queue.group_delete(1)
queue.group_delete(2)
queue.destroy()  # refused if a pod were left
