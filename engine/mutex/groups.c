/* The slots and links of groups.h. */
#include "mutex/groups.h"

#include "policy/group.h"

#define FIRST_SLOTS 16

void
mutex_groups_open(struct groups *groups, struct memory *memory, const struct entries *entries)
{
    *groups = (struct groups){.memory = memory, .entries = entries, .free_head = NO_GROUP};
    groups->active.order = HEAP_BY_RANK;
}

void
mutex_groups_shut(struct groups *groups)
{
    memory_free(groups->memory, MEMORY_QUEUES, groups->links,
                groups->numbers * sizeof *groups->links);
    memory_free(groups->memory, MEMORY_QUEUES, groups->slots,
                groups->capacity * sizeof *groups->slots);
    memory_free(groups->memory, MEMORY_QUEUES, groups->buckets,
                groups->capacity * sizeof *groups->buckets);
}

/* ---- room ------------------------------------------------------------------------------------ */

static bool
reserve_links(struct groups *groups)
{
    uint32_t wanted = entries_end(groups->entries), numbers = groups->numbers, old = numbers;

    if (wanted <= numbers) {
        return true;
    }
    numbers = numbers == 0 ? PAGE_ENTRIES : numbers;
    while (numbers < wanted) {
        numbers *= 2;
    }
    struct group_link *links =
        memory_grow(groups->memory, MEMORY_QUEUES, groups->links, old, numbers, sizeof *links);

    if (links == NULL) {
        return false;
    }
    groups->links = links;
    groups->numbers = numbers;
    for (uint32_t i = old; i < numbers; i++) {
        links[i].group = NO_GROUP;
    }
    return true;
}

static uint32_t *
chain_of(const struct groups *groups, uint64_t number)
{
    return &groups->buckets[(number * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (groups->capacity - 1)];
}

static void
chain_in(struct groups *groups, uint32_t slot)
{
    uint32_t *bucket = chain_of(groups, group_at(groups, slot)->number);

    group_at(groups, slot)->chain = *bucket;
    *bucket = slot;
}

static bool
is_used(const struct group *group)
{
    return group->number != 0;
}

static bool
reserve_slots(struct groups *groups, uint32_t more)
{
    uint32_t capacity = groups->capacity;

    if (groups->used + more <= capacity) {
        return true;
    }
    capacity = capacity == 0 ? FIRST_SLOTS : 2 * capacity;
    uint32_t *buckets =
        memory_alloc(groups->memory, MEMORY_QUEUES, capacity * sizeof *buckets, CACHE_LINE);
    struct group *slots = buckets == NULL
                              ? NULL
                              : memory_grow(groups->memory, MEMORY_QUEUES, groups->slots,
                                            groups->capacity, capacity, sizeof *slots);

    if (slots == NULL) {
        memory_free(groups->memory, MEMORY_QUEUES, buckets, capacity * sizeof *buckets);
        return false;
    }
    memory_free(groups->memory, MEMORY_QUEUES, groups->buckets,
                groups->capacity * sizeof *groups->buckets);
    groups->slots = slots;
    groups->buckets = buckets;
    groups->capacity = capacity;
    for (uint32_t i = 0; i < capacity; i++) {
        buckets[i] = NO_GROUP;
    }
    for (uint32_t i = 0; i < groups->made; i++) {
        if (is_used(&slots[i])) {
            chain_in(groups, i);
        }
    }
    return true;
}

bool
mutex_groups_reserve(struct groups *groups)
{
    return reserve_links(groups) && reserve_slots(groups, 2);
}

/* ---- slots ----------------------------------------------------------------------------------- */

uint32_t
mutex_groups_find(const struct groups *groups, uint64_t number)
{
    uint32_t slot = groups->capacity != 0 ? *chain_of(groups, number) : NO_GROUP;

    while (slot != NO_GROUP && group_at(groups, slot)->number != number) {
        slot = group_at(groups, slot)->chain;
    }
    return slot;
}

uint32_t
mutex_groups_make(struct groups *groups, uint64_t number)
{
    uint32_t slot = mutex_groups_find(groups, number);

    if (slot != NO_GROUP) {
        return slot;
    }
    slot = groups->free_head;
    if (slot != NO_GROUP) {
        groups->free_head = group_at(groups, slot)->chain;
    } else {
        slot = groups->made++;
    }
    groups->used++;
    *group_at(groups, slot) = (struct group){.number = number,
                                             .record = NO_ENTRY,
                                             .first = NO_ENTRY,
                                             .last = NO_ENTRY,
                                             .above = NO_GROUP,
                                             .below = NO_GROUP,
                                             .next = NO_GROUP,
                                             .prev = NO_GROUP};
    chain_in(groups, slot);
    return slot;
}

void
mutex_groups_drop(struct groups *groups, uint32_t slot)
{
    struct group *group = group_at(groups, slot);
    uint32_t *link = chain_of(groups, group->number);

    if (group->record != NO_ENTRY || group->pods != 0 || group->below != NO_GROUP) {
        return;
    }
    while (*link != slot) {
        link = &group_at(groups, *link)->chain;
    }
    *link = group->chain;
    group->number = 0;
    group->chain = groups->free_head;
    groups->free_head = slot;
    groups->used--;
}

/* ---- members --------------------------------------------------------------------------------- */

void
mutex_groups_name(struct groups *groups, uint32_t index, uint64_t number)
{
    uint32_t slot = mutex_groups_make(groups, number);

    groups->links[index] = (struct group_link){.group = slot, .next = NO_ENTRY, .prev = NO_ENTRY};
    group_at(groups, slot)->pods++;
}

void
mutex_groups_forget(struct groups *groups, uint32_t index)
{
    uint32_t slot = group_of(groups, index);

    groups->links[index].group = NO_GROUP;
    group_at(groups, slot)->pods--;
    mutex_groups_drop(groups, slot);
}

static void
link_behind(struct groups *groups, struct group *group, uint32_t index, uint32_t before)
{
    struct group_link *link = &groups->links[index];
    uint32_t *next = before == NO_ENTRY ? &group->first : &groups->links[before].next;

    link->prev = before;
    link->next = *next;
    if (*next == NO_ENTRY) {
        group->last = index;
    } else {
        groups->links[*next].prev = index;
    }
    *next = index;
}

static void
unlink_member(struct groups *groups, struct group *group, uint32_t index)
{
    const struct group_link *link = &groups->links[index];

    if (link->prev == NO_ENTRY) {
        group->first = link->next;
    } else {
        groups->links[link->prev].next = link->next;
    }
    if (link->next == NO_ENTRY) {
        group->last = link->prev;
    } else {
        groups->links[link->next].prev = link->prev;
    }
}

void
mutex_groups_enter(struct groups *groups, uint32_t index)
{
    uint32_t slot = group_of(groups, index);
    struct group *group = group_at(groups, slot);

    link_behind(groups, group, index, group->last);
    group->waiting++;
    group->joined += mutex_groups_root(groups, slot) != NO_GROUP ? 1 : 0;
}

void
mutex_groups_leave(struct groups *groups, uint32_t index)
{
    struct group *group = group_at(groups, group_of(groups, index));

    unlink_member(groups, group, index);
    group->waiting--;
    group->joined -= group->joined > 0 ? 1 : 0;
}

bool
mutex_groups_is_older(const struct groups *groups, uint32_t a, uint32_t b)
{
    const struct entry *left = entry_at(groups->entries, a);
    const struct entry *right = entry_at(groups->entries, b);

    return left->timestamp != right->timestamp ? left->timestamp < right->timestamp
                                               : left->order_key < right->order_key;
}

/* Merges two lists that are in order; without links back. */
static uint32_t
merge(const struct groups *groups, uint32_t a, uint32_t b)
{
    uint32_t first, *end = &first;

    while (a != NO_ENTRY && b != NO_ENTRY) {
        uint32_t *from = mutex_groups_is_older(groups, b, a) ? &b : &a;

        *end = *from;
        end = &groups->links[*from].next;
        *from = *end;
    }
    *end = a != NO_ENTRY ? a : b;
    return first;
}

/* Sorts the first `count` of a list; *rest: what follows. As deep as the logarithm of count. */
static uint32_t
sorted(const struct groups *groups, uint32_t first, uint32_t count, uint32_t *rest)
{
    if (count == 1) {
        *rest = groups->links[first].next;
        groups->links[first].next = NO_ENTRY;
        return first;
    }
    uint32_t second, a = sorted(groups, first, count / 2, &second);

    return merge(groups, a, sorted(groups, second, count - count / 2, rest));
}

void
mutex_groups_sort(struct groups *groups, uint32_t slot)
{
    struct group *group = group_at(groups, slot);
    uint32_t rest, before = NO_ENTRY;

    if (group->waiting == 0) {
        return;
    }
    group->first = sorted(groups, group->first, group->waiting, &rest);
    for (uint32_t i = group->first; i != NO_ENTRY; i = groups->links[i].next) {
        groups->links[i].prev = before;
        before = i;
    }
    group->last = before;
}

/* ---- the forest ------------------------------------------------------------------------------ */

void
mutex_groups_hang(struct groups *groups, uint32_t slot)
{
    struct group *group = group_at(groups, slot);

    if (group->parent == 0) {
        return;
    }
    uint32_t above = mutex_groups_make(groups, group->parent);

    group = group_at(groups, slot);
    group->above = above;
    group->prev = NO_GROUP;
    group->next = group_at(groups, above)->below;
    if (group->next != NO_GROUP) {
        group_at(groups, group->next)->prev = slot;
    }
    group_at(groups, above)->below = slot;
}

void
mutex_groups_unhang(struct groups *groups, uint32_t slot)
{
    struct group *group = group_at(groups, slot);
    uint32_t above = group->above;

    if (above == NO_GROUP) {
        return;
    }
    if (group->prev == NO_GROUP) {
        group_at(groups, above)->below = group->next;
    } else {
        group_at(groups, group->prev)->next = group->next;
    }
    if (group->next != NO_GROUP) {
        group_at(groups, group->next)->prev = group->prev;
    }
    group->above = group->next = group->prev = NO_GROUP;
    mutex_groups_drop(groups, above);
}

uint32_t
mutex_groups_root(const struct groups *groups, uint32_t slot)
{
    for (uint32_t depth = 0; depth < SCHEDQ_GROUP_DEPTH_MAX; depth++) {
        const struct group *group = group_at(groups, slot);

        if (!group->declared) {
            return NO_GROUP;
        }
        if (group->parent == 0) {
            return slot;
        }
        slot = group->above;
    }
    return NO_GROUP;
}

/* May groups below this one have the same root as `top`, as deep as they are? */
static bool
may_have_root_below(const struct groups *groups, uint32_t top, uint32_t slot)
{
    uint32_t depth = 1;

    while (slot != top) {
        slot = group_at(groups, slot)->above;
        depth++;
    }
    return depth < SCHEDQ_GROUP_DEPTH_MAX;
}

uint32_t
mutex_groups_next(const struct groups *groups, uint32_t top, uint32_t slot)
{
    if (group_at(groups, slot)->declared && group_at(groups, slot)->below != NO_GROUP &&
        may_have_root_below(groups, top, slot)) {
        return group_at(groups, slot)->below;
    }
    while (slot != top && group_at(groups, slot)->next == NO_GROUP) {
        slot = group_at(groups, slot)->above;
    }
    return slot == top ? NO_GROUP : group_at(groups, slot)->next;
}

uint64_t
mutex_groups_size(const struct groups *groups, uint32_t top)
{
    uint64_t size = 0;

    for (uint32_t slot = top; slot != NO_GROUP; slot = mutex_groups_next(groups, top, slot)) {
        size += group_at(groups, slot)->joined;
    }
    return size;
}

/* How many of the groups below one are complete. Those have no circle: they have a root. */
static uint32_t
complete_below(const struct groups *groups, const struct group *group)
{
    uint32_t complete = 0;

    for (uint32_t slot = group->below; slot != NO_GROUP; slot = group_at(groups, slot)->next) {
        complete += mutex_groups_is_complete(groups, slot) ? 1 : 0;
    }
    return complete;
}

bool
mutex_groups_is_complete(const struct groups *groups, uint32_t slot)
{
    const struct group *group = group_at(groups, slot);

    return group_is_complete(group_needs(group->quorum, group->placed), group->joined,
                             group->below != NO_GROUP ? complete_below(groups, group) : 0);
}
