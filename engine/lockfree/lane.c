/*
 * Lanes of lane.h, which has the essay: ordering, progress. Here is the owner's side: what the owner reads of its own is relaxed, the tail
 * is a release (lane_publish:A), a new segment one exchange (replace:A). Wait-free but for the allocator, and for lane_pass, where
 * a further round means that the head moved.
 */
#include "lockfree/lane.h"

#include <assert.h>
#include <string.h>

#define SEGMENT_PUSHES_MAX (UINT32_C(1) << 30)
#define SEGMENT_SLOTS_MAX (UINT32_C(1) << 29)
#define JUDGE_AHEAD 16 /* refs */

static size_t
segment_bytes(uint32_t slots)
{
    return sizeof(struct segment) + slots * sizeof(struct slot);
}

/* Nobody looks at a slot that was not put: touching them all here would be most of what a large segment costs its owner. */
static struct segment *
segment_make(struct memory *memory, uint32_t slots)
{
    struct segment *segment = memory_alloc_raw(memory, MEMORY_QUEUES, segment_bytes(slots), CACHE_LINE);

    if (segment != NULL) {
        memset(segment, 0, sizeof *segment);
        ck_ring_init(&segment->ring, slots);
    }
    return segment;
}

/* One slot stays free, as in every ck_ring. */
static uint32_t
slots_for(uint32_t refs)
{
    uint32_t slots = SEGMENT_SLOTS_MIN;

    while (slots - 1 < refs && slots < SEGMENT_SLOTS_MAX) {
        slots *= 2;
    }
    return slots;
}

struct lane *
lane_make(struct memory *memory, uint32_t slots)
{
    struct lane *lane = memory_alloc(memory, MEMORY_QUEUES, sizeof *lane, CACHE_LINE);
    struct segment *segment = segment_make(memory, slots_for(slots));

    if (lane == NULL || segment == NULL) {
        memory_free(memory, MEMORY_QUEUES, lane, sizeof *lane);
        if (segment != NULL) {
            memory_free(memory, MEMORY_QUEUES, segment, segment_bytes(segment->ring.size));
        }
        return NULL;
    }
    lane->last_key = INT64_MIN;
    ptr_store(&lane->segment, segment); /* the lane itself is published by the bin */
    return lane;
}

void
lane_free(struct memory *memory, struct lane *lane)
{
    struct segment *segment = ptr_load(&lane->segment);

    memory_free(memory, MEMORY_QUEUES, segment, segment_bytes(segment->ring.size));
    memory_free(memory, MEMORY_QUEUES, lane, sizeof *lane);
}

static struct segment *
own_segment(const struct lane *lane)
{
    return ptr_load(&lane->segment);
}

static bool
is_live(const struct residence *residence, uint64_t ref)
{
    const struct entry *entry = entry_at(residence->entries, ref_record(ref));

    return entry != NULL && state_judge(entry_state(entry), ref, residence->place, residence->band) != VERDICT_STALE;
}

/* The records of a lane's refs lie anywhere: while one is judged the ones behind it are on their way. */
static void
fetch_ahead(const struct segment *segment, const struct residence *residence, uint32_t at, uint32_t tail)
{
    if (tail - at > JUDGE_AHEAD) {
        uint64_t ref = u64_load(&segment->slots[(at + JUDGE_AHEAD) & segment->ring.mask].ref);

        __builtin_prefetch(entry_at(residence->entries, ref_record(ref)));
    }
}

static uint32_t
count_live(const struct segment *segment, const struct residence *residence, uint32_t head, uint32_t tail)
{
    uint32_t live = 0;

    for (uint32_t i = head; i != tail; i++) {
        fetch_ahead(segment, residence, i, tail);
        live += is_live(residence, u64_load(&segment->slots[i & segment->ring.mask].ref)) ? 1 : 0;
    }
    return live;
}

/*
 * The order of the refs stays. What becomes stale while this runs is copied too, which costs its room and nothing else.
 * One exchange replaces the segment: a consumer finds every live ref in the old one or in the new one.
 */
static bool
replace(struct lane *lane, const struct residence *residence, struct memory *memory, struct epoch_record *epoch,
        uint32_t slots)
{
    struct segment *old = own_segment(lane);
    uint32_t head = u32_load_acquire(u32_of(&old->ring.c_head)); /* of lane_advance:A */
    struct segment *segment = segment_make(memory, slots);
    uint32_t tail = 0;

    if (segment == NULL) {
        return false;
    }
    for (uint32_t i = head; i != lane->tail; i++) {
        const struct slot *from = &old->slots[i & old->ring.mask];
        uint64_t ref = u64_load(&from->ref);

        fetch_ahead(old, residence, i, lane->tail);
        if (tail < slots - 1 && is_live(residence, ref)) {
            u64_store(&segment->slots[tail].key, u64_load(&from->key));
            u64_store(&segment->slots[tail].ref, ref);
            tail++;
        }
    }
    u32_store(u32_of(&segment->ring.p_tail), tail); /* relaxed, like the slots: replace:A publishes all of it */
    lane->tail = tail;
    (void)ptr_exchange(&lane->segment, segment); /* replace:A */
    epoch_retire(epoch, &old->block, memory, MEMORY_QUEUES, segment_bytes(old->ring.size));
    return true;
}

bool
lane_make_room(struct lane *lane, const struct residence *residence, struct memory *memory, struct epoch_record *epoch,
               uint32_t count)
{
    struct segment *segment = own_segment(lane);
    uint32_t head = u32_load_acquire(u32_of(&segment->ring.c_head)); /* lane_make_room:A */
    uint32_t refs = lane->tail - head;
    bool has_room = refs + count <= segment->ring.mask && lane->tail < SEGMENT_PUSHES_MAX;

    if (has_room && !(refs > LANE_CROWD && u32_load(&lane->crowded) != 0)) {
        return true;
    }
    uint32_t live = count_live(segment, residence, head, lane->tail);
    uint32_t wanted = slots_for(live + count);

    u32_store(&lane->crowded, 0);
    if (live + count > SEGMENT_SLOTS_MAX - 1) {
        return has_room;
    }
    if (has_room && 2 * live >= refs) {
        return true;
    }
    /* Less than half live: the same size has room for as many pushes again. */
    if (wanted - 1 < 2 * live && wanted < SEGMENT_SLOTS_MAX) {
        wanted *= 2;
    }
    /* A full lane needed its size a short time ago. In a crowded one with room, what stands still took it. */
    if (!has_room && wanted < segment->ring.size) {
        wanted = segment->ring.size;
    }
    return replace(lane, residence, memory, epoch, wanted) || has_room;
}

void
lane_shrink(struct lane *lane, const struct residence *residence, struct memory *memory, struct epoch_record *epoch)
{
    struct segment *segment = own_segment(lane);
    uint32_t head = u32_load_acquire(u32_of(&segment->ring.c_head)); /* as in replace */
    uint32_t wanted = slots_for(count_live(segment, residence, head, lane->tail));

    if (wanted < segment->ring.size) {
        (void)replace(lane, residence, memory, epoch, wanted);
    }
}

void
lane_resume(struct lane *lane)
{
    lane->tail = u32_load(u32_of(&own_segment(lane)->ring.p_tail)); /* relaxed: the last owner is dead */
}

void
lane_put(struct lane *lane, uint64_t ref, int64_t key)
{
    struct segment *segment = own_segment(lane);
    struct slot *slot = &segment->slots[lane->tail & segment->ring.mask];

    assert(lane->tail - u32_load(u32_of(&segment->ring.c_head)) < segment->ring.mask && key >= lane->last_key);

    time_store(&slot->key, key);
    u64_store(&slot->ref, ref);
    lane->last_key = key;
    lane->tail++;
}

void
lane_publish(struct lane *lane)
{
    u32_store_release(u32_of(&own_segment(lane)->ring.p_tail), lane->tail); /* lane_publish:A */
}

size_t
lane_read(struct lane_reader *reader, int64_t limit, struct lane_ref *out, size_t capacity)
{
    size_t count = 0;

    while (count < capacity && lane_next(reader, limit, &out[count])) {
        count++;
    }
    return count;
}

void
lane_read_end(const struct lane_reader *reader)
{
    struct lane *lane = reader->lane;

    /* The owner may have replaced the segment, or another reader have said so. */
    if (reader->read > LANE_CROWD && reader->stale > reader->read / 2 &&
        ptr_load(&lane->segment) == (const void *)reader->segment && u32_load(&lane->crowded) == 0) {
        u32_store(&lane->crowded, 1);
    }
}

void
lane_pass(struct lane *lane, const struct residence *residence)
{
    struct lane_head head;

    /* Ends: each round advances the head, or somebody else did. */
    while (lane_peek(lane, &head) && !is_live(residence, head.ref)) {
        lane_advance(&head);
    }
}
