/*
 * Groups from C++: threads that take jobs, and teams of jobs that run together or not at all. Some
 * need a GPU, and there is none at first: they are rejected, and wait for one. The thread that
 * places the last job closes the queue, and so ends the threads that wait.
 */
#include <schedq/schedq.hpp>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <string>
#include <thread>
#include <vector>

namespace
{

constexpr int singles = 40; /* every fourth needs a GPU */
constexpr int teams = 3;    /* groups of jobs that need GPUs */
constexpr int members = 4;  /* of each */
constexpr int all = singles + teams * members;

enum : std::uint64_t { anywhere, with_gpu }; /* objects: what a job needs */

std::atomic<bool> gpus{false};
std::atomic<int> placed{0}, rejected{0}, tries{0};
std::promise<void> all_tried; /* each job once */

void
need(bool ok, const char *call, const char *words)
{
    if (!ok) {
        std::fprintf(stderr, "%s: %s\n", call, words);
        std::exit(EXIT_FAILURE);
    }
}

/* Jobs that were popped together: all are placed, or none. */
bool
try_jobs(schedq::worker_ref worker, const schedq_popped_t *jobs, std::size_t count,
         std::uint64_t gpu)
{
    const bool fits = jobs[0].object == anywhere || gpus;

    for (std::size_t i = 0; i < count; i++) {
        schedq::cycle job(worker, jobs[i]);

        if (fits) {
            need(job.done() == SCHEDQ_OK, "done", worker.error());
        } else {
            need(bool(job.reject(gpu)), "reject", worker.error()); /* parked, until there is one */
        }
    }
    return fits;
}

/* A pop answers CLOSED if no job is active: so close the queue when the last job has ended. */
void
count(const schedq::queue &queue, bool fits, int jobs)
{
    (fits ? placed : rejected) += jobs;
    if ((tries += jobs) == all) {
        all_tried.set_value();
    }
    if (placed == all) {
        queue.close(); /* every wait ends; it may be closed twice */
    }
}

void
run(const schedq::queue &queue, std::uint64_t gpu)
{
    auto worker = queue.this_thread();
    schedq_popped_t jobs[members];

    for (;;) {
        auto team = worker->pop_group(jobs, members); /* waits */
        if (team.status == SCHEDQ_CLOSED) {
            return;
        }
        need(bool(team), "pop_group", worker->error());
        const bool fits = try_jobs(*worker, jobs, team->count(), gpu);
        if (*team) { /* it is empty if the pop took a job that is in no team */
            need(bool(team->end(fits ? SCHEDQ_GROUP_PLACED : SCHEDQ_GROUP_REJECTED)), "end",
                 worker->error());
        }
        count(queue, fits, static_cast<int>(team->count()));
    }
}

void
add(schedq::worker_ref worker, const std::string &name, std::uint64_t needs, std::uint64_t team)
{
    schedq_pod_spec_t spec = SCHEDQ_POD_SPEC_INIT;

    spec.object = needs;
    spec.group = team; /* 0: none */
    need(bool(worker.add(name, spec)), "add", worker.error());
}

void
add_jobs(schedq::worker_ref worker)
{
    for (int i = 0; i < singles; i++) {
        add(worker, "job/" + std::to_string(i), i % 4 == 0 ? with_gpu : anywhere, 0);
    }
    for (std::uint64_t team = 1; team <= teams; team++) {
        schedq_group_spec_t spec = SCHEDQ_GROUP_SPEC_INIT;

        spec.quorum = members;
        need(bool(worker.add_group(team, spec)), "add_group", worker.error());
        for (int i = 0; i < members; i++) {
            add(worker, "team-" + std::to_string(team) + "/" + std::to_string(i), with_gpu, team);
        }
    }
}

} // namespace

int
main()
{
    schedq_config_t config = SCHEDQ_CONFIG_INIT;
    const schedq_interest_t interest = {"GPU", SCHEDQ_ACTION_ADD, 0, nullptr};
    schedq_plugin_t plugin = SCHEDQ_PLUGIN_INIT;
    schedq::words why;

    /* A job that the GPUs help is tried at once; else it backs off, 1 s after its first failure. */
    config.max_backoff_ns = 0;
    auto queue = schedq::queue::create(config, &why);
    need(bool(queue), "create", why.c_str());
    auto gpu_added = queue->define_event("GPU", SCHEDQ_ACTION_ADD, nullptr, &why);
    need(bool(gpu_added), "define_event", why.c_str());
    plugin.name = "GPU";
    plugin.interests = &interest;
    plugin.interest_count = 1;
    auto gpu = queue->register_plugin(plugin, &why);
    need(bool(gpu), "register_plugin", why.c_str());

    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++) {
        threads.emplace_back([&] { run(*queue, *gpu); });
    }
    auto worker = queue->this_thread(&why);
    need(bool(worker), "this_thread", why.c_str());
    add_jobs(*worker);
    all_tried.get_future().wait();
    std::printf("%d placed, %d rejected\n", placed.load(), rejected.load());

    schedq_change_t change = SCHEDQ_CHANGE_INIT;
    change.event = *gpu_added;
    gpus = true; /* first where the program looks, then the queue */
    need(bool(worker->notify(change)), "notify", worker->error());
    for (std::thread &thread : threads) {
        thread.join();
    }
    std::printf("%d placed, %d rejected\n", placed.load(), rejected.load());
    return 0;
}
