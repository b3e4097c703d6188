/*
 * The queue from C++: threads that try jobs on nodes, a plugin that rejects jobs and is asked which
 * change helps them, and an end without a line of clearing up.
 */
#include <schedq/schedq.hpp>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int jobs = 1000;

/* A plugin: room for so many jobs at a time. */
struct room {
    std::atomic<int> free{8};
    std::uint64_t bit = 0;

    bool
    take()
    {
        int seen = free;
        while (seen > 0 && !free.compare_exchange_weak(seen, seen - 1)) {
        }
        return seen > 0;
    }
    /* Could this change help this job? */
    schedq_hint_t
    helps(std::uint64_t, std::uint64_t, std::uint64_t)
    {
        return free > 0 ? SCHEDQ_HINT_QUEUE : SCHEDQ_HINT_SKIP;
    }
};

void
need(bool ok, const char *call, const char *words)
{
    if (!ok) {
        std::fprintf(stderr, "%s: %s\n", call, words);
        std::exit(EXIT_FAILURE);
    }
}

/* Takes jobs until the queue is closed and nothing is left. */
void
run(const schedq::queue &queue, room &room, std::atomic<int> &left)
{
    auto worker = queue.this_thread(); /* the thread's own; it goes back when the thread ends */

    while (auto job = worker->pop()) { /* waits for one */
        if (!room.take()) {
            job->reject(room.bit); /* parked, until a change helps */
            continue;
        }
        job->done(); /* it ran */
        room.free++;

        schedq_change_t change = SCHEDQ_CHANGE_INIT;
        change.event = SCHEDQ_EVENT_ASSIGNED_POD_DELETE;
        worker->notify(change); /* asks about the jobs that were rejected */
        if (--left == 0) {
            queue.close();
        }
    } /* a job that goes out of scope without an end has failed, and is tried again */
}

} // namespace

int
main()
{
    static const schedq_interest_t interest = {"AssignedPod", SCHEDQ_ACTION_DELETE, 0,
                                               schedq::hint_of<&room::helps>()};
    schedq_config_t config = SCHEDQ_CONFIG_INIT;
    schedq_plugin_t plugin = SCHEDQ_PLUGIN_INIT;
    schedq::words why;
    room room;

    config.initial_backoff_ns = 1000000; /* 1 ms */
    config.max_backoff_ns = 1000000;
    auto queue = schedq::queue::create(config, &why);
    need(bool(queue), "create", why.c_str());

    plugin.name = "Room";
    plugin.interests = &interest;
    plugin.interest_count = 1;
    plugin.ctx = &room;
    auto bit = queue->register_plugin(plugin, &why);
    need(bool(bit), "register_plugin", why.c_str());
    room.bit = *bit;

    auto worker = queue->this_thread(&why);
    need(bool(worker), "this_thread", why.c_str());
    for (int i = 0; i < jobs; i++) {
        schedq_pod_spec_t spec = SCHEDQ_POD_SPEC_INIT;
        spec.priority = i % 10;
        need(bool(worker->add("job-" + std::to_string(i), spec)), "add", worker->error());
    }

    std::atomic<int> left{jobs};
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++) {
        threads.emplace_back([&] { run(*queue, room, left); });
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    std::printf("jobs left: %d\n", left.load());
    return 0;
}
