"""Events of the program's own, a pod that is held, and pods that belong together."""

import schedq
from schedq import Action, Interest

FILM, ADVERT = 1, 2

queue = schedq.Queue(max_backoff_ns=0)
returned = queue.define_event("Licence", Action.ADD)
licence = queue.plugin("Licence", [Interest("Licence", Action.ADD)])

queue.add("film/1", label=FILM)
while pod := queue.try_pop():
    print(pod.name, "is", pod.fail(licence))
queue.notify(returned)

print("film/1 is", queue.hold("film/1"))
queue.add_many([f"advert/{n}" for n in range(10)], label=ADVERT)
print(queue.label_cancel(ADVERT), "adverts are gone")
print("film/1 is", queue.release("film/1"))
