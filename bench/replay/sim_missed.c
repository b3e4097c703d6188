/*
 * Does the queue miss an event? Looked for wherever the answer is certain: when nobody is at work,
 * or where nodes have only become fuller since the queue had to judge.
 *
 * After events: no pod stays parked that fits on the node of one of them. Some waiting pods, chosen
 * at random, are looked at after each step. After a failure: a pod that was parked must not fit on
 * the node of an event of its flight. Hints said so when they were asked: nodes become emptier only
 * when nobody is at work.
 */
#include "hash.h"
#include "sim.h"

/* Looks at pods after one step. */
enum { LOOKS = 8 };

void
sim_note_event(sim_t *sim, uint32_t node)
{
    sim->recent[sim->result->events++ % SIM_RECENT_EVENTS] = node;
}

/* Does it fit where one of the events since `first` was? */
static bool
fits_after_event(const sim_t *sim, size_t pod, uint64_t first)
{
    uint64_t end = sim->result->events;

    for (uint64_t i = end - first > SIM_RECENT_EVENTS ? end - SIM_RECENT_EVENTS : first; i < end;
         i++) {
        if (cluster_fits(sim->cluster, sim->recent[i % SIM_RECENT_EVENTS],
                         sim_recorded(sim, pod))) {
            return true;
        }
    }
    return false;
}

static int
copy_place(void *ctx, const schedq_pod_info_t *info)
{
    *(uint8_t *)ctx = info->place;
    return 1;
}

static void
look_at(sim_t *sim, sim_worker_t *worker, size_t pod)
{
    uint8_t place = SCHEDQ_NOWHERE;
    schedq_status_t status = schedq_get(worker->queue, sim->pods[pod].handle, copy_place, &place);

    if (status != SCHEDQ_OK) {
        sim_fail(sim, "schedq_get(%s), which waits: %s", sim_recorded(sim, pod)->name,
                 schedq_status_name(status));
    } else if (place == SCHEDQ_PARKED) {
        sim_fail(sim, "%s stays parked after an event that helps it: it fits on that node",
                 sim_recorded(sim, pod)->name);
    }
}

void
sim_check_parked(sim_t *sim, sim_worker_t *worker, uint64_t first_event)
{
    for (unsigned i = 0; i < LOOKS && sim->next_pod > 0 && first_event < sim->result->events; i++) {
        size_t pod = (size_t)(hash_mix(sim->result->events * LOOKS + i) % sim->next_pod);
        if (sim->pods[pod].place == SIM_WAITING && fits_after_event(sim, pod, first_event)) {
            look_at(sim, worker, pod);
        }
    }
}

void
sim_check_failed(sim_t *sim, size_t pod, uint64_t first_event)
{
    pthread_mutex_lock(&sim->lock);
    if (fits_after_event(sim, pod, first_event)) {
        sim_fail(sim, "%s was parked in spite of an event of its flight: it fits on that node",
                 sim_recorded(sim, pod)->name);
    }
    pthread_mutex_unlock(&sim->lock);
}
