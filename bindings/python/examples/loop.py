"""Tasks of an asyncio loop that take pods, which another thread adds."""

import asyncio
import threading

import schedq

queue = schedq.Queue(initial_backoff_ns=10_000_000)
left = 100


async def work(failed: list[str]) -> None:
    global left
    async for pod in queue:
        await asyncio.sleep(0)  # whatever the work waits for
        if pod.object % 10 == 0 and pod.history.errors == 0:
            failed.append(pod.name)
            pod.fail()  # comes back after its backoff
            continue
        pod.done()
        left -= 1
        if left == 0:
            queue.close()


def add() -> None:
    for number in range(100):
        queue.add(f"job/{number}", number)


async def main() -> None:
    failed: list[str] = []
    threading.Thread(target=add).start()
    await asyncio.gather(*[work(failed) for _ in range(8)])
    print(len(failed), "failed once,", queue.stats()["dones"], "are done")


asyncio.run(main())
