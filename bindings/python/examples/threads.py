"""Threads that take pods, and one that adds them."""

import threading

import schedq

done = []


def work(queue: schedq.Queue) -> None:
    for pod in queue:  # waits; ends when the queue is closed
        with pod:  # done, or fail if this raises
            done.append(pod.object ** 2)


def main() -> None:
    finished = threading.Event()
    with schedq.Queue() as queue:
        threads = [threading.Thread(target=work, args=(queue,)) for _ in range(4)]
        for thread in threads:
            thread.start()
        queue.add_many([f"job/{n}" for n in range(1000)], range(1000))
        while queue.stats()["dones"] < 1000:
            finished.wait(0.01)
    for thread in threads:  # the with statement has closed the queue
        thread.join()
    print(len(done), sum(done))


main()
