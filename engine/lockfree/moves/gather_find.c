/* Groups, found, begun and ended: gather_find.h has the essay. */
#include "lockfree/moves/gather_find.h"

#include "lockfree/moves/backoff.h"
#include "lockfree/moves/stray.h"

#include <string.h>

/* ---- finding --------------------------------------------------------------------------------- */

struct hashed_name
gather_name(const struct queue *queue, uint64_t number, char text[GROUP_NAME_BYTES])
{
    text[0] = '\0';
    memcpy(text + 1, &number, sizeof number);
    return (struct hashed_name){.text = text,
                                .length = GROUP_NAME_BYTES,
                                .hash = hash_text(queue->base.seed, text, GROUP_NAME_BYTES)};
}

/*
 * The block of a record in a life that had begun; NULL: that life is over. The word is loaded
 * before the life: a later owner's word would come with its life. The word is loaded again after
 * the address: if it is the same, the address is that life's, and the block is freed only after
 * this section. Ends: each further round is another's change of the word.
 */
static struct group_block *
block_of(const struct entry *entry, uint64_t life)
{
    uint64_t state = entry_state(entry); /* block_of:A */

    while (state_is_pod(state) && u64_load_acquire(&entry->life) == life) {
        uint64_t address = u64_load_acquire(&entry->popped), again = entry_state(entry);

        if (again == state) { /* block_of:B */
            return (struct group_block *)(uintptr_t)address;
        }
        state = again;
    }
    return NULL;
}

struct group_block *
gather_block_of(const struct view *view)
{
    return block_of(view->entry, view->life);
}

/* As entry_description; nothing else of the description is read. */
bool
gather_quorum(struct worker *worker, const struct group_block *block, uint32_t *quorum)
{
    const struct entries *entries = &queue_of(worker)->entries;
    const struct entry *entry = entry_at(entries, block->record);

    if (entry == NULL) {
        return false;
    }
    uint64_t desc = u64_load_acquire(&entry->word.high), read;

    /* Ends: each further round is another's description. */
    do {
        read = desc;
        const struct description_record *record = description_at(entries, read);

        *quorum = record != NULL ? (uint32_t)u64_load_acquire(&record->label) : 0;
        desc = u64_load_acquire(&entry->word.high);
    } while (desc != read);
    /*
     * If the group is over, its description was given back, and what was read may be another's. The
     * word is loaded before the life, as in block_of.
     */
    return state_is_pod(entry_state(entry)) && u64_load_acquire(&entry->life) == block->life;
}

bool
gather_view(struct worker *worker, uint32_t record, uint64_t life, struct group_found *found)
{
    found->record = record;
    found->block = NULL;
    if (report_view(queue_of(worker), record, life, &found->view) && view_is_group(&found->view)) {
        found->block = gather_block_of(&found->view);
    }
    return found->block != NULL;
}

/* A hint comes before its record is committed. */
bool
gather_view_declared(struct worker *worker, uint32_t record, uint64_t life,
                     struct group_found *found)
{
    return gather_view(worker, record, life, found) && group_is_declared(found) &&
           report_exists(worker, record, &found->view);
}

/* Where a worker keeps what it knows of the group. */
static struct known_group *
known_group(struct worker *worker, uint64_t number)
{
    return &worker->known_groups[number % KNOWN_GROUPS];
}

static bool
find_in_index(struct worker *worker, uint64_t number, struct group_found *found)
{
    struct queue *queue = queue_of(worker);
    const struct index_caller caller = index_caller(worker);
    char text[GROUP_NAME_BYTES];
    const struct hashed_name name = gather_name(queue, number, text);
    uint32_t record;
    uint64_t life;

    if (!queue_has_groups(queue)) {
        return false;
    }
    /* Ends: each further round means that the record ended. */
    do {
        record = index_find(&queue->index, &caller, &name, &life);
    } while (record != 0 && !gather_view(worker, record, life, found));
    if (record != 0) {
        *known_group(worker, number) =
            (struct known_group){.number = number, .life = life, .record = record};
    }
    return record != 0;
}

bool
gather_find(struct worker *worker, uint64_t number, struct group_found *found)
{
    const struct known_group *known = known_group(worker, number);

    return (known->number == number && gather_view(worker, known->record, known->life, found)) ||
           find_in_index(worker, number, found);
}

bool
gather_look(struct worker *worker, uint64_t number, struct group_look *look)
{
    const struct known_group *known = known_group(worker, number);
    const struct entry *entry =
        known->number == number ? entry_at(&queue_of(worker)->entries, known->record) : NULL;
    struct group_found found;

    look->block = entry != NULL ? block_of(entry, known->life) : NULL;
    look->entry = entry;
    look->named = ref_make(known->life, known->record);
    if (look->block != NULL) {
        return true;
    }
    if (!find_in_index(worker, number, &found)) {
        return false;
    }
    *look = (struct group_look){
        .block = found.block, .entry = found.view.entry, .named = gather_named(&found)};
    return true;
}

bool
gather_look_up(struct worker *worker, struct group_look *look)
{
    for (uint32_t depth = 1; look->block->parent != 0; depth++) {
        if (depth == SCHEDQ_GROUP_DEPTH_MAX || !gather_look(worker, look->block->parent, look)) {
            return false;
        }
    }
    return true;
}

bool
gather_root(struct worker *worker, uint64_t number, struct group_found *root)
{
    for (uint32_t depth = 0; depth < SCHEDQ_GROUP_DEPTH_MAX; depth++) {
        if (!gather_find(worker, number, root) || !group_is_declared(root)) {
            return false;
        }
        if (root->block->parent == 0) {
            return true;
        }
        number = root->block->parent;
    }
    return false;
}

void
gather_report(struct worker *worker, uint64_t number, schedq_result_t *result)
{
    struct group_found root;

    if (gather_root(worker, number, &root)) {
        result->place = (uint8_t)place_public(state_place(root.view.state));
        result->gate = root.view.gate;
        result->timestamp_ns = root.view.history.timestamp_ns;
        result->object = group_object(&root.view.description);
    }
}

/* ---- backoff --------------------------------------------------------------------------------- */

struct backoff_rules
gather_backoff_rules(struct worker *worker, const struct view *view)
{
    const struct backoff_rules *rules = &queue_of(worker)->base.rules.backoff;
    bool outside = worker->outside;
    struct group_found found;
    uint32_t size = 1;

    if (outside) {
        section_resume(worker);
    }
    if (gather_find(worker, view->seen, &found)) {
        size = u32_load_acquire(&found.block->size);
    }
    if (outside) {
        section_pause(worker);
    }
    return group_backoff_rules(rules, size, view->history.attempts);
}

bool
gather_is_backing_off(struct worker *worker, const struct view *view, int64_t now)
{
    const struct queue *queue = queue_of(worker);
    const struct backoff_counters counters = backoff_counters_of(&view->history);

    if (view->gate != 0 && queue->base.rules.gated_never_backs_off) {
        return false;
    }
    const struct backoff_rules rules = gather_backoff_rules(worker, view);

    return backoff_is_waiting(&rules, backoff_expiry(&rules, &counters, view->history.timestamp_ns),
                              now);
}

/* ---- ends ------------------------------------------------------------------------------------ */

void
gather_end(struct worker *worker, uint32_t record, struct entry *entry, struct group_block *block)
{
    struct queue *queue = queue_of(worker);
    uint64_t name = u64_load(&entry->name);

    tally_add(&worker->tally.given, 1);
    index_remove(&queue->index, (uint32_t)(name >> 32), record, u64_load(&entry->life));
    if (block->parent != 0 && nominator_counts(ref_make(block->life, record))) {
        nominator_count_end(&queue->families, worker->epoch, block->parent);
    }
    description_give(&queue->entries, &worker->descriptions, u64_load(&entry->word.high));
    slab_give(&queue->entries.records, &worker->records, record);
    epoch_retire(worker->epoch, &block->block, &queue->base.memory, MEMORY_QUEUES, sizeof *block);
}

static bool
make_groups(struct queue *queue)
{
    struct memory *memory = &queue->base.memory;

    if (!nominator_make(&queue->families) || !nominator_make(&queue->members)) {
        return false;
    }
    struct groups *made = memory_alloc(memory, MEMORY_OTHER, sizeof *made, CACHE_LINE);

    if (made == NULL) {
        return false;
    }
    bin_open(&made->ready,
             &(struct residence){.entries = &queue->entries,
                                 .place = PLACE_READY,
                                 .ties = queue->base.rules.fifo ? TIES_BY_KEY : TIES_BY_RANK});
    incoming_open_groups(&made->incoming, memory);
    if (!ptr_cas(&queue->groups, NULL, made)) { /* make_groups:A, read by queue_groups */
        bin_close(&made->ready, memory);
        incoming_close(&made->incoming);
        memory_free(memory, MEMORY_OTHER, made, sizeof *made);
    }
    return true;
}

bool
gather_open(struct queue *queue)
{
    if (!queue_has_groups(queue) && !make_groups(queue)) {
        return false;
    }
    if (!stray_is_noted(queue, STRAY_GROUPS)) {
        u64_or(&queue->strays, STRAY_GROUPS); /* also if the maker stopped here */
    }
    return true;
}

void
gather_close(struct queue *queue)
{
    struct groups *groups = ptr_load(&queue->groups);

    for (uint32_t i = 0; groups != NULL && i < slab_end(&queue->entries.records); i++) {
        struct entry *entry = entry_at(&queue->entries, i);
        bool lives = entry != NULL && state_is_pod(entry_state(entry));

        if (lives && (attributes_flags(u64_load(&entry->attributes)) & DESCRIBED_GROUP) != 0) {
            memory_free(&queue->base.memory, MEMORY_QUEUES,
                        (void *)(uintptr_t)u64_load(&entry->popped), sizeof(struct group_block));
        }
    }
    if (groups != NULL) {
        bin_close(&groups->ready, &queue->base.memory);
        incoming_close(&groups->incoming);
        memory_free(&queue->base.memory, MEMORY_OTHER, groups, sizeof *groups);
    }
}
