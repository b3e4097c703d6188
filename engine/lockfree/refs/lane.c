/*
 * Lanes of lane.h, which has the essay: ordering, reclamation, progress. Here are the owner's side,
 * and what changes the chain: deleting, copying, unlinking, retiring.
 *
 * What the owner reads of its own is relaxed, the tail is a release (lane_publish:A), a new segment
 * is published by its link (go_on_in:A). Loads of pointers to segments are acquire: they
 * read from these.
 */
#include "lockfree/refs/lane.h"

#include <assert.h>
#include <string.h>

#define SEGMENT_PUSHES_MAX (UINT32_C(1) << 30)
#define JUDGE_AHEAD 16 /* refs */
#define SAMPLES 16     /* refs */
#define GONE ((uintptr_t)1)

/* ---- segments -------------------------------------------------------------------------------- */

static size_t
segment_bytes(uint32_t slots)
{
    return sizeof(struct segment) + slots * sizeof(struct slot);
}

/*
 * No slot is touched before a ref is put there: touching them all here would be most of what a
 * segment costs its owner.
 */
static struct segment *
segment_make(struct memory *memory, uint32_t slots)
{
    struct segment *segment =
        memory_alloc_raw(memory, MEMORY_QUEUES, segment_bytes(slots), CACHE_LINE);

    if (segment != NULL) {
        memset(segment, 0, sizeof *segment);
        ck_ring_init(&segment->ring, slots);
    }
    return segment;
}

static void
segment_free(struct memory *memory, struct segment *segment)
{
    memory_free(memory, MEMORY_QUEUES, segment, segment_bytes(segment->ring.size));
}

/*
 * Gives back a chain of them, from `first` to `last`. Ends: each failed exchange is another
 * thread's.
 */
static void
pool_give(struct segment_pool *pool, struct segment *first, struct segment *last)
{
    void *spare = ptr_load(&pool->spare);

    do {
        ptr_store(&last->next, spare);
    } while (!ptr_swing(&pool->spare, &spare, first)); /* pool_give:A */
}

static struct segment *
pool_take(struct segment_pool *pool)
{
    struct segment *taken =
        ptr_load(&pool->spare) != NULL ? ptr_exchange(&pool->spare, NULL) : NULL;
    struct segment *rest = taken != NULL ? ptr_load(&taken->next) : NULL;

    if (rest != NULL && !ptr_cas(&pool->spare, NULL, rest)) { /* pool_take:A */
        struct segment *last = rest;

        for (struct segment *next = rest; next != NULL; next = ptr_load(&next->next)) {
            last = next;
        }
        pool_give(pool, rest, last);
    }
    return taken;
}

void
segment_pool_trim(struct segment_pool *pool, struct memory *memory)
{
    struct segment *next;

    for (struct segment *segment = ptr_exchange(&pool->spare, NULL); segment != NULL;
         segment = next) {
        next = ptr_load(&segment->next);
        segment_free(memory, segment);
    }
}

static bool
end_segment(struct epoch_block *block)
{
    struct segment *segment = (struct segment *)(void *)block;

    if (segment->pool == NULL || segment->ring.size != SEGMENT_SLOTS_MAX) {
        return false;
    }
    pool_give(segment->pool, segment, segment);
    return true;
}

/* NULL: no memory. */
static struct segment *
segment_take(const struct lane_care *care, uint32_t slots)
{
    struct segment *segment = NULL;

    if (care->pool != NULL && slots == SEGMENT_SLOTS_MAX) {
        segment = pool_take(care->pool);
    }
    if (segment != NULL) {
        memset(segment, 0, sizeof *segment);
        ck_ring_init(&segment->ring, slots);
    } else {
        segment = segment_make(care->memory, slots);
    }
    if (segment != NULL) {
        segment->pool = care->pool;
    }
    return segment;
}

/* One slot stays free, as in every ck_ring. */
static uint32_t
slots_for(uint32_t refs)
{
    uint32_t slots = SEGMENT_SLOTS_MIN;

    while (slots - 1 < refs) {
        slots *= 2;
    }
    return slots;
}

static bool
is_gone(const void *next)
{
    return ((uintptr_t)next & GONE) != 0;
}

static void *
gone(struct segment *next)
{
    return (char *)next + GONE;
}

static struct segment *
segment_of(void *next)
{
    return (struct segment *)(void *)((char *)next - ((uintptr_t)next & GONE));
}

static void *
next_of(const struct segment *segment)
{
    return ptr_load_acquire(&segment->next); /* of go_on_in:A, and of those that changed it since */
}

static struct segment *
successor(const struct segment *segment)
{
    return segment_of(next_of(segment));
}

struct lane *
lane_make(struct memory *memory, uint32_t slots)
{
    struct lane *lane = memory_alloc(memory, MEMORY_QUEUES, sizeof *lane, CACHE_LINE);
    struct segment *segment = segment_make(memory, slots_for(slots));

    if (lane == NULL || segment == NULL) {
        memory_free(memory, MEMORY_QUEUES, lane, sizeof *lane);
        if (segment != NULL) {
            segment_free(memory, segment);
        }
        return NULL;
    }
    segment->number = 1;
    segment->least = lane->last_key = INT64_MIN;
    lane->limit = segment->ring.mask;
    ptr_store(&lane->first, segment); /* the lane itself is published by the bin */
    ptr_store(&lane->oldest, segment);
    ptr_store(&lane->last, segment);
    return lane;
}

void
lane_free(struct memory *memory, struct lane *lane)
{
    struct segment *segment = ptr_load(&lane->oldest);

    while (segment != NULL) {
        struct segment *next = successor(segment);

        segment_free(memory, segment);
        segment = next;
    }
    memory_free(memory, MEMORY_QUEUES, lane, sizeof *lane);
}

/* ---- judging and copying --------------------------------------------------------------------- */

/* The refs of a segment, judged once. */
struct survey {
    uint32_t head, end, live;
    uint64_t lives[SEGMENT_SLOTS_MAX / 64 + 1]; /* by distance from the head */
};

static bool
is_live(const struct residence *residence, uint64_t ref)
{
    const struct entry *entry = entry_at(residence->entries, ref_record(ref));

    return entry != NULL &&
           state_judge(entry_state(entry), ref, residence->place, residence->band) != VERDICT_STALE;
}

/* Each judgement would miss the cache: the refs' records are prefetched JUDGE_AHEAD refs ahead. */
static void
fetch_ahead(const struct segment *segment, const struct residence *residence, uint32_t at,
            uint32_t end)
{
    if (end - at > JUDGE_AHEAD) {
        uint64_t ref = u64_load(&segment->slots[(at + JUDGE_AHEAD) & segment->ring.mask].ref);

        __builtin_prefetch(entry_at(residence->entries, ref_record(ref)));
    }
}

/* For a segment whose slots before `end` stay as they are: it is closed, or the caller's own. */
static void
survey(const struct segment *segment, const struct residence *residence, uint32_t end,
       struct survey *out)
{
    uint32_t head =
        u32_load_acquire(u32_of((unsigned int *)&segment->ring.c_head)); /* of lane_advance:A */

    *out = (struct survey){.head = head, .end = end};
    for (uint32_t i = head; i != end; i++) {
        fetch_ahead(segment, residence, i, end);
        if (is_live(residence, u64_load(&segment->slots[i & segment->ring.mask].ref))) {
            out->lives[(i - head) / 64] |= UINT64_C(1) << (i - head) % 64;
            out->live++;
        }
    }
}

/*
 * A segment of so many slots with the refs that live, in their order. A ref that becomes stale
 * meanwhile is copied too, which costs its room and nothing else. NULL: no memory.
 */
static struct segment *
copy_live(const struct segment *segment, const struct survey *survey, const struct lane_care *care,
          uint32_t slots)
{
    struct segment *copy = segment_take(care, slots);
    uint32_t tail = 0;

    if (copy == NULL) {
        return NULL;
    }
    for (uint32_t i = survey->head; i != survey->end; i++) {
        const struct slot *from = &segment->slots[i & segment->ring.mask];

        if ((survey->lives[(i - survey->head) / 64] >> (i - survey->head) % 64 & 1) != 0) {
            u64_store(&copy->slots[tail].key, u64_load(&from->key));
            u64_store(&copy->slots[tail].ref, u64_load(&from->ref));
            tail++;
        }
    }
    u32_store(u32_of(&copy->ring.p_tail),
              tail); /* relaxed, like the slots: the copy's link publishes all of it */
    copy->number = segment->number;
    copy->least = segment->least;
    return copy;
}

/* ---- the chain ------------------------------------------------------------------------------- */

/* Deletes a closed segment as it is: nothing in it lives. */
static void
delete_empty(struct segment *segment)
{
    void *next = next_of(segment);

    /* Ends: each failed exchange means that its successor was unlinked, or that it was deleted. */
    while (!is_gone(next) && !ptr_swing(&segment->next, &next, gone(next))) { /* delete_empty:A */
    }
}

/* Only threads that have it already still read it. The owner must not go on from it either. */
static void
retire_segment(struct lane *lane, const struct lane_care *care, struct segment *segment)
{
    if (ptr_load(&lane->sweep) ==
        (void *)segment) { /* retire_segment:A, behind the CAS that unlinked it */
        (void)ptr_cas(&lane->sweep, segment, NULL); /* retire_segment:B */
    }
    epoch_unmark(care->epoch->epoch, segment);
    epoch_retire_with(care->epoch, &segment->block, care->memory, MEMORY_QUEUES,
                      segment_bytes(segment->ring.size), end_segment);
}

/*
 * Retires what `first` went past. Ends: `oldest` only moves towards `first`, and a failed CAS is
 * another thread's move.
 */
static void
retire_passed(struct lane *lane, const struct lane_care *care)
{
    struct segment *oldest = ptr_load_acquire(&lane->oldest);

    while (oldest !=
           ptr_load_acquire(
               &lane->first)) { /* the second: what it is not, `first` has left for good */
        struct segment *next = successor(oldest);
        struct segment *found = ptr_cas_value(&lane->oldest, oldest, next); /* retire_passed:A */

        if (found == oldest) {
            retire_segment(lane, care, oldest);
            found = next;
        }
        oldest = found;
    }
}

/*
 * Takes a deleted segment out of the chain. False: it is not behind `before`, or `before` is
 * deleted too.
 */
static bool
unlink_segment(struct lane *lane, const struct lane_care *care, struct segment *before,
               struct segment *segment)
{
    struct segment *next = successor(segment);

    if (before == NULL) {
        return ptr_cas(&lane->first, segment, next); /* unlink_segment:A */
    }
    if (!ptr_cas(&before->next, segment, next)) { /* unlink_segment:B */
        return false;
    }
    retire_segment(lane, care, segment);
    return true;
}

/* Do so few refs live that a copy is worth it? */
static bool
is_thin(uint32_t refs, uint32_t live)
{
    return refs - live >= SEGMENT_STALE_MIN && live <= refs / 2;
}

/* True: a closed segment was deleted: nothing lives in it, or a copy is behind it. */
static bool
delete_thin(const struct lane_care *care, struct segment *segment, void *next)
{
    struct survey found;

    survey(segment, care->residence, u32_load(u32_of(&segment->ring.p_tail)), &found);
    if (found.live == 0) {
        delete_empty(segment);
        return true;
    }
    if (!is_thin(found.end - found.head, found.live)) {
        return false;
    }
    struct segment *copy = copy_live(segment, &found, care, slots_for(found.live));

    if (copy == NULL) {
        return false;
    }
    ptr_store(&copy->next, next);
    if (!ptr_cas(&segment->next, next, gone(copy))) { /* delete_thin:A */
        segment_free(care->memory, copy);
        return false;
    }
    return true;
}

/*
 * Takes a segment out of the chain, or puts a smaller one in its place, if it is closed and little
 * lives. True: it is out.
 */
static bool
thin_out(struct lane *lane, const struct lane_care *care, struct segment *before,
         struct segment *segment)
{
    void *next = next_of(segment);

    return next != NULL && (is_gone(next) || delete_thin(care, segment, next)) &&
           unlink_segment(lane, care, before, segment);
}

struct segment *
lane_beyond(struct lane *lane, struct segment *segment)
{
    uint32_t head = u32_load_acquire(u32_of(&segment->ring.c_head));

    if (head != u32_load_acquire(
                    u32_of(&segment->ring.p_tail))) { /* lane_beyond:A: the last, as it is closed */
        return segment;
    }
    delete_empty(segment);
    struct segment *next = successor(segment);

    (void)ptr_cas(&lane->first, segment,
                  next); /* lane_beyond:B; failed: it was not the first any more */
    return next;
}

/* ---- the owner ------------------------------------------------------------------------------- */

/*
 * Passes the stale refs at the front of one segment by one exchange, which fails if another thread
 * moved the head. Judges `*most` refs at most, and subtracts those that it judged. True: it came to
 * the end.
 */
static bool
pass_head(struct segment *segment, const struct residence *residence, uint32_t *most)
{
    uint32_t head = u32_load_acquire(u32_of(&segment->ring.c_head));
    uint32_t end = u32_load_acquire(u32_of(&segment->ring.p_tail));
    uint32_t stop = end - head > *most ? head + *most : end;
    uint32_t at = head;

    while (at != stop) {
        uint64_t ref = u64_load_acquire(
            &segment->slots[at & segment->ring.mask].ref); /* pass_head:A, of lane_put:B */

        if (is_live(residence, ref)) {
            break;
        }
        at++;
    }
    *most -= at - head + (at != stop ? 1 : 0);
    /* A slot that was used again meanwhile: then the head is not `head`. */
    return (at == head || u32_cas(u32_of(&segment->ring.c_head), head, at)) &&
           at == end; /* pass_head:B */
}

/* Would a survey be worth its cost? Judges SAMPLES refs, different ones for each `from`. */
static bool
looks_thin(const struct segment *segment, const struct residence *residence, uint32_t end,
           uint32_t from)
{
    uint32_t head = u32_load_acquire(u32_of((unsigned int *)&segment->ring.c_head));
    uint32_t refs = end - head, step = refs / SAMPLES + 1, judged = 0, live = 0;

    if (refs > segment->ring.mask) {
        return false; /* others passed all of it since `end` was read */
    }
    for (uint32_t at = from % step; at < refs; at += step) {
        judged++;
        live += is_live(residence, u64_load(&segment->slots[(head + at) & segment->ring.mask].ref))
                    ? 1
                    : 0;
    }
    return live <= judged / 2;
}

/*
 * Looks at one closed segment. The lane's word `sweep` keeps the segment looked at last, so that
 * the thread which retires it makes the owner begin anew: if the segment is not deleted after the
 * store, its retirer comes later, and finds it in the word. True: SAMPLES refs were judged, twice
 * at most.
 */
static bool
sweep(struct lane *lane, const struct lane_care *care)
{
    struct segment *before = ptr_load_acquire(&lane->sweep);
    struct segment *segment = before != NULL ? successor(before) : ptr_load_acquire(&lane->first);

    if (segment == lane_own_segment(lane)) {
        ptr_store(&lane->sweep, NULL);
        return true;
    }
    uint32_t end = u32_load_acquire(u32_of(&segment->ring.p_tail));
    bool was_gone = is_gone(next_of(segment));
    bool worth = was_gone || looks_thin(segment, care->residence, end, lane->tail);
    bool small = segment->ring.size <= SAMPLES;

    if (!worth || !thin_out(lane, care, before, segment)) {
        (void)ptr_exchange(&lane->sweep, segment); /* sweep:A */
        if (is_gone(next_of(segment))) {           /* sweep:B */
            ptr_store(&lane->sweep, NULL);
        }
    }
    return was_gone || !worth || small;
}

/* The owner goes on in a new segment. `deletes`: what lived in the last one was copied to it. */
static void
go_on_in(struct lane *lane, struct segment *segment, bool deletes)
{
    struct segment *old = lane_own_segment(lane);

    segment->number = old->number + 1;
    if (!deletes) {
        segment->least = lane->last_key;
    }
    lane->tail = u32_load(u32_of(&segment->ring.p_tail));
    ptr_store_release(&old->next,
                      deletes ? gone(segment)
                              : segment);    /* go_on_in:A; from NULL only the owner changes it */
    ptr_store_release(&lane->last, segment); /* go_on_in:B */
}

/*
 * The last segment is full. The owner takes another: with copies of what lives in it if that is
 * little, else of twice its size. If its size is the largest, those few get a segment of their own:
 * in front of the refs that come and go they would be copied again and again, and no head would
 * pass them. False: no memory.
 */
static bool
renew(struct lane *lane, const struct lane_care *care, uint32_t count)
{
    struct segment *old = lane_own_segment(lane);
    uint32_t slots = old->ring.size;
    struct survey found = {0};
    bool thin = looks_thin(old, care->residence, lane->tail, lane->tail);
    bool apart = thin && slots == SEGMENT_SLOTS_MAX, copies = thin && !apart;

    if (copies) {
        survey(old, care->residence, lane->tail, &found);
        copies = found.live <= (found.end - found.head) / 2;
    }
    if (!copies && slots < SEGMENT_SLOTS_MAX) {
        slots *= 2;
    }
    uint32_t least = slots_for(count + (copies ? found.live : 0));

    slots = slots > least ? slots : least;
    struct segment *segment =
        copies ? copy_live(old, &found, care, slots) : segment_take(care, slots);

    if (segment == NULL) {
        return false;
    }
    go_on_in(lane, segment, copies);
    if (copies ? unlink_segment(lane, care, NULL, old) : apart && thin_out(lane, care, NULL, old)) {
        retire_passed(lane, care);
    }
    return true;
}

/* It grants a part of the free room at a time: at each grant the owner looks after its chain. */
bool
lane_make_room(struct lane *lane, const struct lane_care *care, uint32_t count)
{
    struct segment *segment = lane_own_segment(lane);
    uint32_t head = u32_load_acquire(u32_of(&segment->ring.c_head)); /* lane_make_room:A */
    uint32_t room = segment->ring.mask - (lane->tail - head);

    if (lane_has_room(lane, count)) {
        return true;
    }
    assert(lane->tail == u32_load(u32_of(&segment->ring.p_tail)));
    if (lane->tail >= SEGMENT_PUSHES_MAX) {
        room = 0;
    }
    bool full = room < count + segment->ring.mask / 8;

    if (full && lane->tail < SEGMENT_PUSHES_MAX) {
        uint32_t most = UINT32_MAX;

        (void)pass_head(segment, care->residence, &most);
        room = segment->ring.mask - (lane->tail - u32_load_acquire(u32_of(&segment->ring.c_head)));
    }
    if (room < count + segment->ring.mask / 8) {
        if (renew(lane, care, count)) {
            segment = lane_own_segment(lane);
            room = segment->ring.mask - lane->tail;
        }
    } else {
        retire_passed(lane, care);
        /*
         * Each segment that the owner makes, and puts apart, takes up to three looks on the way:
         * with only one look at a time the owner would not come back to those in front.
         */
        if (!full && ptr_load(&lane->first) != (void *)segment && sweep(lane, care)) {
            (void)sweep(lane, care);
        }
    }
    if (room < count) {
        return false;
    }
    uint32_t quarter = segment->ring.size / 4;
    uint32_t granted = quarter > count ? quarter : count;

    lane->limit = lane->tail + (granted < room ? granted : room);
    return true;
}

void
lane_shrink(struct lane *lane, const struct lane_care *care)
{
    struct segment *old = lane_own_segment(lane);
    struct survey found;

    survey(old, care->residence, lane->tail, &found);
    uint32_t wanted = slots_for(found.live);

    if (wanted < old->ring.size) {
        struct segment *segment = copy_live(old, &found, care, wanted);

        if (segment != NULL) {
            go_on_in(lane, segment, true);
            lane->limit = lane->tail;
        }
    }
    lane_tidy(lane, care);
}

/*
 * The lane's thread is dead. If it linked a segment and did not store it in `last`, that is the
 * last one: the thread put nothing there.
 */
void
lane_resume(struct lane *lane)
{
    struct segment *last = lane_own_segment(lane);

    for (struct segment *next = successor(last); next != NULL; next = successor(last)) {
        last = next;
    }
    ptr_store_release(&lane->last, last); /* as go_on_in:B */
    ptr_store(&lane->sweep, NULL);
    lane->tail = u32_load(u32_of(&last->ring.p_tail));
    lane->limit = lane->tail;
}

/* ---- reading, passing, tidying --------------------------------------------------------------- */

static void
enter(struct lane_reader *reader)
{
    struct segment *segment = reader->segment;

    /* The head is loaded first: the tail has reached whatever it is. */
    reader->position = u32_load_acquire(u32_of(&segment->ring.c_head));
    reader->end =
        u32_load_acquire(u32_of(&segment->ring.p_tail)); /* enter:A reads from lane_publish:A */
    reader->number = segment->number;
    reader->read = reader->stale = 0;
}

/* Goes to the next segment, if this one was closed. `thin`: most of it was found stale. */
static void
leave_segment(struct lane_reader *reader, const struct lane_care *care, bool thin)
{
    struct segment *segment = reader->segment;
    bool wanted = care != NULL && (thin || is_gone(next_of(segment)));

    if (!wanted || !thin_out(reader->lane, care, reader->before, segment)) {
        reader->before = segment;
    }
    reader->segment = successor(segment);
}

/*
 * Goes to the next segment that is to be read. What lives in a deleted one is behind it, and a copy
 * of one that was read has nothing new. Ends: the last segment is neither deleted nor such a copy.
 */
static void
find_next(struct lane_reader *reader, const struct lane_care *care)
{
    while (reader->segment != NULL &&
           (reader->segment->number <= reader->done || is_gone(next_of(reader->segment)))) {
        leave_segment(reader, care, false);
    }
}

void
lane_read_begin(struct lane_reader *reader, struct lane *lane)
{
    const struct segment *last =
        ptr_load_acquire(&lane->last); /* lane_read_begin:A reads from go_on_in:B */

    /*
     * `last` before `first`: what was published is there, or in segments with smaller numbers, or
     * in a copy behind.
     */
    *reader = (struct lane_reader){.lane = lane, .last = last->number};
    reader->segment = ptr_load_acquire(&lane->first);
    find_next(reader, NULL);
    enter(reader);
}

bool
lane_read_on(struct lane_reader *reader, const struct lane_care *care)
{
    if (reader->segment == NULL || reader->position != reader->end) {
        return false;
    }
    reader->done = reader->segment->number;
    leave_segment(reader, care, is_thin(reader->read, reader->read - reader->stale));
    find_next(reader, care);
    if (care != NULL) {
        retire_passed(reader->lane, care);
    }
    if (reader->segment == NULL || reader->done >= reader->last) {
        return false;
    }
    enter(reader);
    return true;
}

/*
 * Goes past segments whose keys are all below `from`, which their successors tell: that reads one
 * line of each. The pods of a deleted one are in its successor, or are not in the lane.
 */
static void
pass_below(struct lane_reader *reader, int64_t from)
{
    const struct segment *begin = reader->segment;
    struct segment *next;

    while (reader->segment->number < reader->last && (next = successor(reader->segment)) != NULL &&
           next->least < from) {
        reader->before = reader->segment;
        reader->segment = next;
    }
    if (reader->segment != begin) {
        find_next(reader, NULL);
        enter(reader);
    }
}

/* If the last slot was used again meanwhile, it has a greater key. */
void
lane_read_from(struct lane_reader *reader, int64_t from, int64_t before,
               const struct lane_care *care)
{
    bool tidies = false;

    pass_below(reader, before < from ? before : from);
    do {
        const struct segment *segment = reader->segment;
        uint32_t last = reader->end - 1;

        if (reader->position != reader->end) {
            int64_t key = (int64_t)u64_load_acquire(&segment->slots[last & segment->ring.mask].key);

            if (key >= from) {
                return;
            }
            tidies = care != NULL && key >= before;
            if (tidies &&
                looks_thin(segment, care->residence, reader->end, (uint32_t)reader->number)) {
                reader->read = reader->stale = reader->end - reader->position;
            }
        }
        reader->position = reader->end;
    } while (lane_read_on(reader, tidies ? care : NULL));
}

static int64_t
key_at(const struct segment *segment, uint32_t at)
{
    return (int64_t)u64_load_acquire(
        &segment->slots[at & segment->ring.mask].key); /* key_at:A, of lane_put:A */
}

int64_t
lane_newest(const struct lane *lane)
{
    const struct segment *last = ptr_load_acquire(&lane->last); /* as lane_read_begin:A */
    uint32_t tail = u32_load_acquire(u32_of((unsigned int *)&last->ring.p_tail)); /* as enter:A */

    return tail != 0 ? key_at(last, tail - 1) : last->least;
}

/* The first of the positions from `low` up to `high` whose key is at least `key`; `high`: none. */
static uint32_t
find_key(const struct segment *segment, uint32_t low, uint32_t high, int64_t key)
{
    if (low == high || key_at(segment, low) >= key) {
        return low;
    }
    if (key_at(segment, high - 1) < key) {
        return high;
    }
    while (low != high) {
        uint32_t middle = low + (high - low) / 2;

        if (key_at(segment, middle) < key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/*
 * At the end of the lane the bookmark would be at the last segment, where more will be put. A
 * segment that is deleted may lead to segments that were freed.
 */
bool
lane_bookmark(const struct lane_reader *reader, struct epoch_record *record, enum lane_mark mark)
{
    if (reader->before == NULL || reader->position == reader->end) {
        return false;
    }
    if (epoch_bookmarked(record, mark) != (void *)reader->before) {
        epoch_bookmark(record, mark, reader->before);
        if (is_gone(next_of(reader->before))) { /* lane_bookmark:A */
            epoch_bookmark(record, mark, NULL);
            return false;
        }
    }
    return true;
}

static void
go_to_bookmark(struct lane_reader *reader, const struct epoch_record *record, enum lane_mark mark)
{
    struct segment *before = epoch_bookmarked(record, mark);
    void *next = before != NULL ? next_of(before) : NULL;

    if (before != NULL && !is_gone(next)) {
        reader->before = before;
        reader->segment = next;
    }
}

void
lane_read_at(struct lane_reader *reader, const struct epoch_record *record, enum lane_mark mark)
{
    go_to_bookmark(reader, record, mark);
    find_next(reader, NULL);
    enter(reader);
}

/*
 * A slot that was used again meanwhile has a greater key, and so have all in front of it: lane_next
 * sees to it.
 */
void
lane_read_again(struct lane_reader *reader, int64_t read, const struct epoch_record *record,
                enum lane_mark mark)
{
    const struct lane_reader before = *reader;

    lane_read_begin(reader, reader->lane);
    reader->done = before.done;
    if (record != NULL) {
        go_to_bookmark(reader, record, mark);
    }
    find_next(reader, NULL);
    enter(reader);
    do {
        reader->position = find_key(reader->segment, reader->position, reader->end, read + 1);
    } while (lane_read_on(reader, NULL));
    reader->last = before.last;
    if (reader->number == before.number) {
        reader->read = before.read;
        reader->stale = before.stale;
    }
}

/* ---- counting -------------------------------------------------------------------------------- */

/* The first position from `at` up to `end` whose ref is not stale; `end`: there is none. */
static uint32_t
find_live(const struct segment *segment, const struct residence *residence, uint32_t at,
          uint32_t end)
{
    while (at != end &&
           !is_live(residence, u64_load_acquire(&segment->slots[at & segment->ring.mask].ref))) {
        at++;
    }
    return at;
}

/*
 * A slot that was used again meanwhile lies before a head that is read afterwards (lane_put:A, B).
 * Then the search begins again from that head. Ends: each further round means that a head was
 * advanced.
 */
static void
count_segment(struct lane_reader *reader, const struct residence *residence, int64_t key,
              bool *live, struct ref_counts *counts)
{
    const struct segment *segment = reader->segment;
    const uint32_t end = reader->end;
    uint32_t head = reader->position, now = head;
    uint32_t first, before, upto;

    do {
        head = (int32_t)(end - now) < 0 ? end : now;
        before = find_key(segment, head, end, key);
        upto = key == INT64_MAX ? end : find_key(segment, before, end, key + 1);
        first = *live ? head : find_live(segment, residence, head, end);
        now = u32_load_acquire(u32_of((unsigned int *)&segment->ring.c_head)); /* count_segment:A */
    } while (now != head && (int32_t)(end - head) > 0);
    *live |= first != end;
    counts->all += end - first;
    counts->before += (int32_t)(before - first) > 0 ? before - first : 0;
    counts->upto += (int32_t)(upto - first) > 0 ? upto - first : 0;
    reader->position = end;
}

void
lane_count(struct lane *lane, const struct residence *residence, int64_t key,
           struct ref_counts *counts)
{
    struct lane_reader reader;
    bool live = false;

    lane_read_begin(&reader, lane);
    do {
        count_segment(&reader, residence, key, &live, counts);
    } while (lane_read_on(&reader, NULL));
}

/*
 * Walks along the chain. `all`: surveys each segment. Else it takes out only segments that the head
 * has passed, until `*most` refs were judged.
 */
static void
walk(struct lane *lane, const struct lane_care *care, bool all, uint32_t *most)
{
    uint64_t last =
        ((const struct segment *)ptr_load_acquire(&lane->last))->number; /* as lane_read_begin:A */
    struct segment *before = NULL;

    /* Ends: what is linked meanwhile is not looked at. */
    for (struct segment *segment = ptr_load_acquire(&lane->first);
         segment != NULL && segment->number <= last && *most != 0; segment = successor(segment)) {
        bool wanted = pass_head(segment, care->residence, most) || all || is_gone(next_of(segment));

        if (!wanted || !thin_out(lane, care, before, segment)) {
            before = segment;
        }
    }
    retire_passed(lane, care);
}

void
lane_tidy(struct lane *lane, const struct lane_care *care)
{
    uint32_t most = UINT32_MAX;

    walk(lane, care, true, &most);
}

void
lane_pass(struct lane *lane, const struct lane_care *care, uint32_t *most)
{
    walk(lane, care, false, most);
}

void
lane_skip_stale(struct lane_head *head, const struct residence *residence)
{
    struct segment *segment = head->segment;
    struct lane_head last = *head;

    for (uint32_t next = last.position + 1; next != last.end; next++) {
        const struct slot *slot = &segment->slots[next & segment->ring.mask];
        int64_t key = (int64_t)u64_load_acquire(&slot->key); /* lane_skip_stale:A */
        uint64_t ref = u64_load_acquire(&slot->ref);

        if (is_live(residence, ref)) {
            break;
        }
        last.position = next;
        last.key = key;
        last.ref = ref;
    }
    /* Else a slot may have been used again. */
    if (u32_load_acquire(u32_of(&segment->ring.c_head)) == head->head) { /* lane_skip_stale:B */
        *head = last;
    }
}

bool
lane_is_spent(struct lane *lane, const struct residence *residence, uint32_t max)
{
    struct lane_head head;

    for (; lane_peek(lane, &head); max--) {
        if (max == 0 || is_live(residence, head.ref)) {
            return false;
        }
        lane_advance(&head);
    }
    return true;
}
