/* The workspace: made and freed, and the lists in it, which only ever grow. */
#include "preemption/evaluation.h"

#include <string.h>

#define BLOCK_VICTIMS 1024
#define LISTS 3

schedq_status_t
schedq_preemption_create(const schedq_allocator_t *allocator, schedq_preemption_t **preemption,
                         char *why, size_t why_size)
{
    const schedq_allocator_t standard = {0};
    struct memory memory;

    if (preemption != NULL) {
        *preemption = NULL;
    }
    if (!check_allocator(why, why_size, allocator) ||
        !check_pointer(&(struct words){.text = why, .size = why_size}, "preemption", preemption)) {
        return SCHEDQ_INVALID;
    }
    memory_open(&memory, allocator == NULL ? &standard : allocator);
    schedq_preemption_t *made = memory_alloc(&memory, MEMORY_OTHER, sizeof *made, CACHE_LINE);

    if (made == NULL) {
        return SCHEDQ_NOMEM;
    }
    made->memory = memory;
    for (uint32_t i = 0; i < TASKS_MAX; i++) {
        made->lanes[i].memory = &made->memory;
    }
    *preemption = made;
    return SCHEDQ_OK;
}

static void
free_array(struct memory *memory, void *array, uint32_t capacity, size_t element_bytes)
{
    memory_free(memory, MEMORY_QUEUES, array, capacity * element_bytes);
}

static void
free_lane(struct lane *lane)
{
    struct memory *memory = lane->memory;

    for (uint32_t i = 0; i < lane->block_count; i++) {
        free_array(memory, lane->blocks[i].items, lane->blocks[i].capacity,
                   sizeof *lane->blocks[i].items);
    }
    free_array(memory, lane->blocks, lane->block_capacity, sizeof *lane->blocks);
    free_array(memory, lane->found.items, lane->found.capacity, sizeof *lane->found.items);
    free_array(memory, lane->potential, lane->list_capacity, LISTS * sizeof *lane->potential);
    free_array(memory, lane->away, lane->list_capacity, sizeof *lane->away);
    free_array(memory, lane->room, lane->room_capacity, sizeof *lane->room);
    free_array(memory, lane->nominated, lane->nominated_capacity, sizeof *lane->nominated);
    free_array(memory, lane->left, lane->budget_capacity, sizeof *lane->left);
    free_array(memory, lane->stamps, lane->stamp_capacity, sizeof *lane->stamps);
}

void
schedq_preemption_destroy(schedq_preemption_t *preemption)
{
    if (preemption == NULL) {
        return;
    }
    struct memory *of = &preemption->memory;

    for (uint32_t i = 0; i < TASKS_MAX; i++) {
        free_lane(&preemption->lanes[i]);
    }
    free_array(of, preemption->needs, preemption->need_capacity, sizeof *preemption->needs);
    free_array(of, preemption->potentials, preemption->potential_capacity,
               sizeof *preemption->potentials);
    free_array(of, preemption->evaluated, preemption->evaluated_capacity,
               sizeof *preemption->evaluated);
    free_array(of, preemption->pruned, preemption->pruned_capacity, sizeof *preemption->pruned);
    free_array(of, preemption->verdicts, preemption->verdict_capacity,
               sizeof *preemption->verdicts);
    free_array(of, preemption->peaceful.items, preemption->peaceful.capacity,
               sizeof *preemption->peaceful.items);
    free_array(of, preemption->violating.items, preemption->violating.capacity,
               sizeof *preemption->violating.items);
    free_array(of, preemption->left.items, preemption->left.capacity,
               sizeof *preemption->left.items);
    free_array(of, preemption->trial.items, preemption->trial.capacity,
               sizeof *preemption->trial.items);
    free_array(of, preemption->deletes, preemption->delete_capacity, sizeof *preemption->deletes);
    free_array(of, preemption->clears, preemption->clear_capacity, sizeof *preemption->clears);
    struct memory memory = *of; /* of a record that lies in what it describes */

    memory_free(&memory, MEMORY_OTHER, preemption, sizeof *preemption);
    memory_close(&memory);
}

const char *
schedq_preemption_error(const schedq_preemption_t *preemption)
{
    return preemption == NULL ? "" : preemption->words;
}

/* ---- lists of a lane ------------------------------------------------------------------------- */

void
lane_reset(struct lane *lane)
{
    for (uint32_t i = 0; i < lane->block_count; i++) {
        lane->blocks[i].used = 0;
    }
    lane->block = 0;
    lane->found.count = 0;
    lane->no_memory = false;
}

bool
lane_room(struct lane *lane, uint32_t needs)
{
    return array_reserve(lane->memory, &lane->room, &lane->room_capacity, needs,
                         sizeof *lane->room);
}

static bool
add_block(struct lane *lane, uint32_t count)
{
    uint32_t capacity = count < BLOCK_VICTIMS ? BLOCK_VICTIMS : count;

    if (!array_reserve(lane->memory, &lane->blocks, &lane->block_capacity, lane->block_count + 1,
                       sizeof *lane->blocks)) {
        return false;
    }
    schedq_running_t *items =
        memory_alloc(lane->memory, MEMORY_QUEUES, capacity * sizeof *items, CACHE_LINE);

    if (items == NULL) {
        return false;
    }
    lane->blocks[lane->block_count++] = (struct block){.items = items, .capacity = capacity};
    return true;
}

schedq_running_t *
lane_reserve_slowly(struct lane *lane, uint32_t count)
{
    for (;; lane->block++) {
        if (lane->block == lane->block_count && !add_block(lane, count)) {
            lane->no_memory = true;
            return NULL;
        }
        struct block *block = &lane->blocks[lane->block];

        if (block->capacity - block->used >= count) {
            return block->items + block->used;
        }
    }
}

bool
lane_lists(struct lane *lane, uint32_t pods)
{
    if (pods <= lane->list_capacity) {
        return true;
    }
    struct memory *memory = lane->memory;
    uint32_t capacity = pods + pods / 2 + 16;
    uint32_t *lists =
        memory_alloc(memory, MEMORY_QUEUES, capacity * LISTS * sizeof *lists, CACHE_LINE);
    schedq_running_t *away =
        memory_alloc(memory, MEMORY_QUEUES, capacity * sizeof *away, CACHE_LINE);

    if (lists == NULL || away == NULL) {
        free_array(memory, lists, capacity, LISTS * sizeof *lists);
        free_array(memory, away, capacity, sizeof *away);
        lane->no_memory = true;
        return false;
    }
    free_array(memory, lane->potential, lane->list_capacity, LISTS * sizeof *lists);
    free_array(memory, lane->away, lane->list_capacity, sizeof *away);
    lane->list_capacity = capacity;
    lane->potential = lists;
    lane->peaceful = lists + capacity;
    lane->violating = lists + 2 * (size_t)capacity;
    lane->away = away;
    return true;
}

bool
candidates_grow(struct candidates *candidates, struct memory *memory)
{
    return array_reserve(memory, &candidates->items, &candidates->capacity, candidates->count + 1,
                         sizeof *candidates->items);
}
