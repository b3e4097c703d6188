/*
 * The C interface of gbench.h over google-benchmark's C++ one.
 *
 * google-benchmark runs what a regular expression selects and hands its results to a reporter
 * object. Ours stores them; it prints nothing.
 */
#include "gbench.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace
{

benchmark::State &
state_of(gbench_thread_t *thread)
{
    return *reinterpret_cast<benchmark::State *>(thread);
}

std::map<std::string, benchmark::internal::Benchmark *> registered;

class Collector : public benchmark::BenchmarkReporter
{
  public:
    std::vector<double> seconds;

    bool ReportContext(const Context &) override
    {
        return true;
    }

    void ReportRuns(const std::vector<Run> &runs) override
    {
        for (const Run &run : runs) {
            if (run.run_type == Run::RT_Iteration && !run.error_occurred) {
                seconds.push_back(run.real_accumulated_time);
            }
        }
    }
};

} // namespace

bool
gbench_next(gbench_thread_t *thread)
{
    return state_of(thread).KeepRunning();
}

void
gbench_pause(gbench_thread_t *thread)
{
    state_of(thread).PauseTiming();
}

void
gbench_resume(gbench_thread_t *thread)
{
    state_of(thread).ResumeTiming();
}

unsigned
gbench_thread_index(const gbench_thread_t *thread)
{
    return static_cast<unsigned>(
        reinterpret_cast<const benchmark::State *>(thread)->thread_index());
}

void
gbench_register(const char *name, gbench_fn fn, void *ctx, unsigned threads, uint64_t rounds)
{
    auto body = [fn, ctx](benchmark::State &state) {
        fn(reinterpret_cast<gbench_thread_t *>(&state), ctx);
    };
    registered[name] = benchmark::RegisterBenchmark(name, body)
                           ->Threads(static_cast<int>(threads))
                           ->Iterations(static_cast<benchmark::IterationCount>(rounds))
                           ->UseRealTime();
}

bool
gbench_run(const char *name, unsigned repetitions, double *seconds)
{
    auto found = registered.find(name);
    if (found == registered.end()) {
        return false;
    }
    found->second->Repetitions(static_cast<int>(repetitions));

    Collector collector;
    benchmark::RunSpecifiedBenchmarks(&collector, "^" + found->first + "/");
    if (collector.seconds.size() != repetitions) {
        return false;
    }
    std::copy(collector.seconds.begin(), collector.seconds.end(), seconds);
    return true;
}

void
gbench_clear()
{
    benchmark::ClearRegisteredBenchmarks();
    registered.clear();
}
