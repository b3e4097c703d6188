/* Publishing of publish.h. */
#include "lockfree/publish.h"

/* A ref more than is put: a caller who is adding a pod has made room for it. */
#define ROOM 2
#define INDEX_LIFE_MASK ((UINT64_C(1) << 28) - 1) /* what the index knows of a life */

struct band *
publish_band(struct worker *worker, int32_t priority, bool exceed, schedq_status_t *status)
{
    struct queue *queue = queue_of(worker);
    int32_t rank = queue_rank(queue, priority);
    bool remembers = exceed || !bands_crowded(&queue->bands);

    for (uint32_t i = 0; remembers && i < BAND_CACHE; i++) {
        struct band *known = worker->bands[i].band;

        if (known != NULL && worker->bands[i].priority == rank) {
            if (bin_phase(u64_load_acquire(known->bin.word)) != BIN_RETIRED) {
                return known;
            }
            worker->bands[i].band = NULL;
        }
    }
    struct band *band = bands_get(&queue->bands, worker->epoch, rank, exceed, status);

    if (band != NULL) {
        uint32_t turn = worker->band_turn++ % BAND_CACHE;

        worker->bands[turn].priority = rank;
        worker->bands[turn].band = band;
    }
    return band;
}

static void
forget_band(struct worker *worker, const struct band *band)
{
    for (uint32_t i = 0; i < BAND_CACHE; i++) {
        if (worker->bands[i].band == band) {
            worker->bands[i].band = NULL;
        }
    }
}

/* A lane takes what is not older than its last ref, and not younger than what this worker will draw next. */
static bool
fits_lane(const struct worker *worker, const struct band *band, int64_t key)
{
    return worker->base.number != HOUSEKEEPER && key >= bin_lane(&band->bin, worker->base.number)->last_key &&
           key <= worker->last_drawn;
}

/* Room in the lane, for ROOM refs, and what a run of one needs. */
bool
publish_prepare_move(struct worker *worker, struct band *band)
{
    const struct bin_caller caller = bin_caller(worker);

    if (worker->spare_run == NULL) {
        worker->spare_run = run_take(caller.pool, 1);
    }
    bool room = worker->base.number == HOUSEKEEPER || bin_prepare(&band->bin, &caller, ROOM);

    return room && worker->spare_run != NULL && bin_prepare_run(&band->bin, &caller);
}

bool
publish_prepare(struct worker *worker, struct band *band, int64_t key)
{
    const struct bin_caller caller = bin_caller(worker);

    if (!bin_prepare(&band->bin, &caller, 1)) {
        return false;
    }
    return fits_lane(worker, band, key) || publish_prepare_move(worker, band);
}

static bool
publish_as_run(struct worker *worker, struct band *band, uint64_t ref, int64_t key)
{
    const struct bin_caller caller = bin_caller(worker);
    struct run *run = worker->spare_run != NULL ? worker->spare_run : run_take(caller.pool, 1);

    if (run == NULL) {
        return false;
    }
    worker->spare_run = NULL;
    run_put(run, ref, key);
    if (!bin_publish_run(&band->bin, &caller, run)) {
        run_give(caller.pool, run);
        return false;
    }
    return true;
}

/*
 * What does not fit the lane goes as a run. That was prepared, and can fail only if others filled the bin's slots meanwhile and
 * there is no memory to merge them: then the ref goes into the lane, out of its order, but not lost.
 */
void
publish_ref(struct worker *worker, struct band *band, uint64_t ref, int64_t key)
{
    if (!fits_lane(worker, band, key) && publish_as_run(worker, band, ref, key)) {
        return;
    }
    if (worker->base.number == HOUSEKEEPER) {
        queue_note_stray(queue_of(worker), STRAY_UNPUBLISHED);
        return;
    }
    struct lane *lane = bin_lane(&band->bin, worker->base.number);

    lane_put(lane, ref, key < lane->last_key ? lane->last_key : key);
    lane_publish(lane);
}

bool
publish_mark(struct worker *worker, struct band *band)
{
    if (bin_mark(&band->bin)) {
        return true;
    }
    forget_band(worker, band);
    return false;
}

bool
publish_follow(struct worker *worker, uint32_t record, uint64_t life)
{
    struct queue *queue = queue_of(worker);
    struct entry *entry = entry_at(&queue->entries, record);

    /* Ends: each further round means that the word changed, that a band was retired, or that the pod was switched. */
    while (entry != NULL) {
        struct description description;
        schedq_status_t status;
        uint64_t state = entry_state(entry);

        if (state_place(state) != PLACE_ACTIVE || u64_load_acquire(&entry->life) != life) {
            return true;
        }
        (void)entry_description(&queue->entries, entry, &description);
        if (entry_state(entry) != state) {
            continue;
        }
        struct band *band = publish_band(worker, description.priority, true, &status);

        if (band == NULL) {
            break;
        }
        if (bin_phase(u64_load_acquire(band->bin.word)) == BIN_RETIRED) {
            forget_band(worker, band);
            continue;
        }
        if (state_lag(state) == 0 && state_band(state) == band->id) {
            if (publish_mark(worker, band)) {
                return true;
            }
            continue;
        }
        if (!publish_prepare_move(worker, band)) {
            break;
        }
        uint64_t next = state_switched(state, band->id, PLACE_ACTIVE);

        publish_ref(worker, band, ref_make(state_version(next), record), description.order_key);
        atomic_fence();
        if (!publish_mark(worker, band)) {
            continue;
        }
        /* A walk that began before must not end without having seen the pod in either place. */
        (void)u64_add(&queue->reorder, 1);            /* publish_follow:A */
        (void)u64_cas(&entry->word.low, state, next); /* publish_follow:B */
    }
    if (entry == NULL) {
        return true; /* its page was given back: the pod is over */
    }
    queue_note_stray(queue, STRAY_UNMOVED);
    return false;
}

/*
 * Its ref is published: who publishes it says so to the index afterwards. But the one who did may have stopped before he marked
 * the band. No fence: the ref was visible before the caller saw the pod.
 */
void
publish_told(struct worker *worker, uint32_t record, uint64_t life, uint64_t state)
{
    struct queue *queue = queue_of(worker);

    if (state_place(state) != PLACE_ACTIVE) {
        return;
    }
    /* An update that was described and has not moved the pod is told of as well, so it is finished. */
    if (state_lag(state) != 0 || !bin_mark(&bands_at(&queue->bands, state_band(state))->bin)) {
        (void)publish_follow(worker, record, life);
    }
}

/* ---- settling ------------------------------------------------------------------------------------------------------------- */

/* The key of a pod that was never moved is that of its description. What changed meanwhile was found by who changed it. */
bool
publish_again(struct worker *worker, struct entry *entry, uint32_t record, uint64_t state)
{
    struct queue *queue = queue_of(worker);
    struct band *band = bands_at(&queue->bands, state_band(state));
    struct description description;

    (void)entry_description(&queue->entries, entry, &description);
    if (entry_state(entry) != state || state_lag(state) != 0) {
        return true;
    }
    if (!publish_prepare_move(worker, band)) {
        queue_note_stray(queue, STRAY_UNPUBLISHED);
        return false;
    }
    publish_ref(worker, band, ref_make(state_version(state), record), description.order_key);
    atomic_fence();
    if (!publish_mark(worker, band)) {
        (void)publish_follow(worker, record, u64_load_acquire(&entry->life));
    }
    publish_wake(worker);
    return true;
}

bool
publish_settle(void *ctx, uint32_t record, uint64_t life)
{
    struct worker *worker = ctx;
    struct entry *entry = entry_at(&queue_of(worker)->entries, record);

    if (entry == NULL) {
        return true;
    }
    uint64_t state = entry_state(entry);
    bool untouched = state_place(state) == PLACE_ACTIVE && state_lag(state) == 0 &&
                     ((state_version(state) ^ life) & INDEX_LIFE_MASK) == 0;

    if (!untouched) {
        return true; /* somebody found it before */
    }
    /* What was prepared for a pod of the worker's own stays prepared. */
    struct run *prepared = worker->spare_run;

    worker->spare_run = NULL;
    bool settled = publish_again(worker, entry, record, state);

    if (prepared != NULL && worker->spare_run != NULL) {
        run_give(&queue_of(worker)->runs, worker->spare_run);
    }
    worker->spare_run = prepared != NULL ? prepared : worker->spare_run;
    return settled;
}

void
publish_wake(struct worker *worker)
{
    struct queue *queue = queue_of(worker);
    atomic_u32 *poppable = u32_of(&queue->base.words.poppable);

    if (u32_load(poppable) == 0) {
        u32_store(poppable, 1);
    }
    if (sleepers_waiting(&queue->sleepers) > 0) {
        (void)sleepers_wake_one(&queue->sleepers);
    }
}
