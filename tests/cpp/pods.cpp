/*
 * Pods a second through schedq.hpp beside C, one at a time and in batches of 64: added, popped,
 * done, behind 1,000 that stay. Each loop runs in turns with the one in C, which is the one that
 * the Go package measures itself beside.
 *
 *     schedq-cpp-pods [SECONDS]
 */
extern "C" {
#include "cloop.h"
}
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <schedq/schedq.hpp>
#include <string_view>

namespace
{

constexpr int turns = 5;
constexpr std::size_t pending = 1000, pods_a_run = 64 * 100;

/* The loops of cloop.c, through the header. */
int
lives(struct loop *loop, std::size_t count)
{
    schedq::worker_ref worker{loop->worker};

    for (std::size_t i = 0; i < count; i++) {
        const schedq_add_item_t &item = loop->items[i % LOOP_BATCH];
        auto added = worker.add({loop->names + item.name_offset, item.name_length}, item.spec);
        auto cycle = worker.try_pop();

        if (!added || !cycle || cycle->done() != SCHEDQ_OK) {
            return 0;
        }
    }
    return 1;
}

int
batches(struct loop *loop, std::size_t count)
{
    schedq::worker_ref worker{loop->worker};
    const std::string_view names{loop->names, sizeof loop->names};

    for (std::size_t done = 0; done < count; done += LOOP_BATCH) {
        schedq_pod_t pods[LOOP_BATCH];
        std::uint8_t statuses[LOOP_BATCH];
        schedq_popped_t popped[LOOP_BATCH];
        schedq_token_t tokens[LOOP_BATCH];
        auto added = worker.add_many(names, loop->items, LOOP_BATCH, pods, statuses);
        auto taken = worker.try_pop_many(popped, LOOP_BATCH);

        if (!added || !taken || *taken != LOOP_BATCH) {
            return 0;
        }
        std::transform(popped, popped + LOOP_BATCH, tokens,
                       [](const schedq_popped_t &pod) { return pod.token; });
        if (worker.done_many(tokens, LOOP_BATCH, statuses) != SCHEDQ_OK) {
            return 0;
        }
    }
    return 1;
}

/* Pods a second of one turn. */
double
measure(int (*run)(struct loop *, std::size_t), struct loop *loop, double seconds)
{
    using clock = std::chrono::steady_clock;
    const auto begin = clock::now();
    std::chrono::duration<double> passed{};
    std::size_t pods = 0;

    do {
        if (run(loop, pods_a_run) == 0) {
            std::fprintf(stderr, "schedq-cpp-pods: %s\n", schedq_worker_error(loop->worker));
            std::exit(EXIT_FAILURE);
        }
        pods += pods_a_run;
        passed = clock::now() - begin;
    } while (passed.count() < seconds);
    return static_cast<double>(pods) / passed.count();
}

void
show(const char *engine, const char *what, double (&of)[turns])
{
    std::sort(of, of + turns);
    std::printf("%-9s %-18s %10.0f   (%.0f .. %.0f)\n", engine, what, of[turns / 2], of[0],
                of[turns - 1]);
}

struct pair {
    const char *c_name, *cpp_name;
    int (*in_c)(struct loop *, std::size_t);
    int (*in_cpp)(struct loop *, std::size_t);
};

void
compare(const char *engine, std::uint8_t number, const pair &loops, double seconds)
{
    double c[turns], cpp[turns];
    struct loop loop;

    if (loop_open(&loop, number, pending) != SCHEDQ_OK) {
        std::fprintf(stderr, "schedq-cpp-pods: no queue of engine %s\n", engine);
        std::exit(EXIT_FAILURE);
    }
    for (int i = 0; i < turns; i++) {
        c[i] = measure(loops.in_c, &loop, seconds);
        cpp[i] = measure(loops.in_cpp, &loop, seconds);
    }
    loop_close(&loop);
    show(engine, loops.c_name, c);
    show(engine, loops.cpp_name, cpp);
}

} // namespace

int
main(int argc, char **argv)
{
    const pair all[] = {{"C, one by one", "C++, one by one", loop_lives, lives},
                        {"C, batches", "C++, batches", loop_batches, batches}};
    char *end = nullptr;
    const double seconds = argc == 2 ? std::strtod(argv[1], &end) : 2;

    if (argc > 2 || (argc == 2 && (end == argv[1] || *end != '\0')) || !(seconds > 0) ||
        seconds > 600) {
        std::fprintf(stderr,
                     "schedq-cpp-pods: SECONDS is \"%s\": legal are numbers above 0, up to 600\n",
                     argc > 1 ? argv[1] : "");
        return 2;
    }
    std::printf("pods a second, %d turns of %.3g s\n", turns, seconds / turns);
    for (const pair &loops : all) {
        compare("lockfree", SCHEDQ_ENGINE_LOCKFREE, loops, seconds / turns);
        compare("mutex", SCHEDQ_ENGINE_MUTEX, loops, seconds / turns);
    }
    return 0;
}
