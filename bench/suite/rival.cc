/*
 * The queues of rival.h.
 *
 * A pod is one block of oneTBB's scalable allocator: its name, and what pop returns. The map's key
 * is the name in that block, with its hash.
 */
#include "rival.h"

#include "name_hash.h"

#include <concurrentqueue/concurrentqueue.h>
#include <tbb/concurrent_hash_map.h>
#include <tbb/concurrent_priority_queue.h>
#include <tbb/scalable_allocator.h>

#include <atomic>
#include <cstring>
#include <ctime>
#include <memory>
#include <new>
#include <vector>

namespace
{

/*
 * A pod that is deleted stays in the queue. While it is `deleting` its name is still in the map.
 * Two threads come to it: the one that deletes it, and the one whose pop meets it. The later one
 * frees it.
 */
enum class State : uint32_t { pending, in_flight, deleting, deleted, dropped };

struct Pod {
    uint64_t object;
    std::atomic<State> state;
    int32_t priority;
    uint32_t hash;
    uint32_t length;
    char name[NAME_CELL];
};

struct Key {
    const char *name;
    uint32_t length;
    uint32_t hash;
};

struct Compare {
    static size_t hash(const Key &key)
    {
        return key.hash;
    }

    static bool equal(const Key &a, const Key &b)
    {
        return a.hash == b.hash && a.length == b.length &&
               std::memcmp(a.name, b.name, a.length) == 0;
    }
};

using Map = tbb::concurrent_hash_map<Key, Pod *, Compare,
                                     tbb::scalable_allocator<std::pair<const Key, Pod *>>>;

Key
key_of(const Pod *pod)
{
    return {pod->name, pod->length, pod->hash};
}

Key
key_for(const char *name, uint32_t length)
{
    return {name, length, name_hash(name, length)};
}

Pod *
pod_make(const char *name, uint32_t length, int32_t priority, uint64_t object)
{
    void *memory = scalable_malloc(sizeof(Pod));

    if (memory == nullptr) {
        return nullptr;
    }
    Pod *pod = new (memory) Pod;
    pod->object = object;
    pod->state.store(State::pending, std::memory_order_relaxed);
    pod->priority = priority;
    pod->hash = name_hash(name, length);
    pod->length = length;
    std::memcpy(pod->name, name, length);
    pod->name[length] = '\0';
    return pod;
}

void
pod_free(Pod *pod)
{
    scalable_free(pod);
}

} // namespace

struct rival_worker {
    virtual ~rival_worker() = default;
    virtual bool push(Pod *pod) = 0;
    virtual Pod *take() = 0;

    rival_t *rival = nullptr;
};

struct rival {
    virtual ~rival() = default;
    virtual rival_worker *join() = 0;

    bool named = false;
    bool deletes = false;
    Map map;
};

namespace
{

/* ---- oneTBB ---------------------------------------------------------------------------------- */

struct Item {
    int64_t arrival_ns;
    Pod *pod;
    int32_t priority;
};

struct Later {
    bool operator()(const Item &a, const Item &b) const
    {
        return a.priority != b.priority ? a.priority < b.priority : a.arrival_ns > b.arrival_ns;
    }
};

using Heap = tbb::concurrent_priority_queue<Item, Later>;

int64_t
clock_ns()
{
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

struct TbbWorker : rival_worker {
    explicit TbbWorker(Heap &shared) : heap(shared)
    {
    }

    bool push(Pod *pod) override
    {
        heap.push(Item{clock_ns(), pod, pod->priority});
        return true;
    }

    Pod *take() override
    {
        Item item;
        return heap.try_pop(item) ? item.pod : nullptr;
    }

    Heap &heap;
};

struct Tbb : rival {
    Tbb()
    {
        deletes = true;
    }

    rival_worker *join() override
    {
        return new (std::nothrow) TbbWorker(heap);
    }

    Heap heap;
};

/* ---- moodycamel ------------------------------------------------------------------------------ */

constexpr unsigned bands = 8;
constexpr int32_t apart = 100;

using Band = moodycamel::ConcurrentQueue<Pod *>;

struct MoodycamelWorker : rival_worker {
    explicit MoodycamelWorker(Band *shared) : queues(shared)
    {
        for (unsigned i = 0; i < bands; i++) {
            producers.emplace_back(queues[i]);
            consumers.emplace_back(queues[i]);
        }
    }

    bool push(Pod *pod) override
    {
        auto band = static_cast<unsigned>(pod->priority / apart);

        return pod->priority >= 0 && band < bands && queues[band].enqueue(producers[band], pod);
    }

    Pod *take() override
    {
        Pod *pod = nullptr;

        for (unsigned band = bands; band-- > 0;) {
            if (queues[band].try_dequeue(consumers[band], pod)) {
                return pod;
            }
        }
        return nullptr;
    }

    Band *queues;
    std::vector<moodycamel::ProducerToken> producers;
    std::vector<moodycamel::ConsumerToken> consumers;
};

struct Moodycamel : rival {
    rival_worker *join() override
    {
        return new (std::nothrow) MoodycamelWorker(queues);
    }

    Band queues[bands];
};

} // namespace

/* ---- for C ----------------------------------------------------------------------------------- */

rival_t *
rival_new(rival_kind_t kind, bool named)
{
    rival *made = kind == RIVAL_TBB ? static_cast<rival *>(new (std::nothrow) Tbb)
                                    : static_cast<rival *>(new (std::nothrow) Moodycamel);

    if (made != nullptr) {
        made->named = named;
    }
    return made;
}

void
rival_free(rival_t *rival)
{
    delete rival;
}

rival_worker_t *
rival_join(rival_t *rival)
{
    rival_worker *worker = rival->join();

    if (worker != nullptr) {
        worker->rival = rival;
    }
    return worker;
}

void
rival_leave(rival_worker_t *worker)
{
    delete worker;
}

bool
rival_add(rival_worker_t *worker, const char *name, uint32_t length, int32_t priority,
          uint64_t object)
{
    Pod *pod = pod_make(name, length, priority, object);

    if (pod == nullptr ||
        (worker->rival->named && !worker->rival->map.insert({key_of(pod), pod}))) {
        return false;
    }
    return worker->push(pod);
}

bool
rival_pop(rival_worker_t *worker, rival_popped_t *out)
{
    Pod *pod;

    while ((pod = worker->take()) != nullptr) {
        State state = State::pending;

        if (!worker->rival->deletes ||
            pod->state.compare_exchange_strong(state, State::in_flight)) {
            *out = rival_popped_t{pod, pod->object, pod->name};
            return true;
        }
        if (state == State::deleted || !pod->state.compare_exchange_strong(state, State::dropped)) {
            pod_free(pod);
        }
    }
    return false;
}

void
rival_done(rival_worker_t *worker, void *popped)
{
    Pod *pod = static_cast<Pod *>(popped);

    if (worker->rival->named) {
        worker->rival->map.erase(key_of(pod));
    }
    pod_free(pod);
}

bool
rival_find(rival_worker_t *worker, const char *name, uint32_t length, uint64_t *object)
{
    Map::const_accessor found;

    if (!worker->rival->map.find(found, key_for(name, length))) {
        return false;
    }
    *object = found->second->object;
    return true;
}

bool
rival_delete(rival_worker_t *worker, const char *name, uint32_t length)
{
    Map::accessor found;
    State state = State::pending;

    if (!worker->rival->deletes || !worker->rival->map.find(found, key_for(name, length))) {
        return false;
    }
    Pod *pod = found->second;

    if (!pod->state.compare_exchange_strong(state, State::deleting)) {
        return false;
    }
    worker->rival->map.erase(found);
    if (pod->state.exchange(State::deleted) == State::dropped) {
        pod_free(pod);
    }
    return true;
}
