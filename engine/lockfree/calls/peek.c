/*
 * The pods that pops would take next, in their order, and none of them taken.
 *
 * CONTRACT. peek shows what a pop that begins now may return: some pod that was poppable during the
 * call, and none while one that ranks before it was active during the whole call. peek_many shows
 * pods that were poppable during the call, in the order of pops; when nothing moves, these are the
 * next ones.
 *
 * A LOOK goes through the bands from the top, as a pop's walk does (pop.c). Of each it collects the
 * least refs for which there is room in a heap, whose greatest ref leaves when a smaller one comes.
 * What a lane or run holds beyond that greatest is not read. Refs are judged: only VALID ones are
 * collected, so a pod is there at the version that its ref names. FUTURE ones are helped, as by a
 * pop: `reorder` may have been raised before the look began, and the pod leave its old place before
 * that is looked at. A ref that was published, or read, twice is left out when the heap is sorted.
 * Once the room was full, no further band is looked at, because refs that were left out of this
 * band come before those. If the line is too short then, the look begins again with more room. Pods
 * in backoff come behind, if pops take them.
 *
 * A pod that is described anew and not moved so far is moved first, as a pop does, and the look
 * begins again; so it does if `reorder` changed, LOOKS_MANY times for more than one pod.
 *
 * Then each pod is copied and visited as by get, if it still is what its ref names.
 *
 * ORDERING. That of walks: pop.c, `reorder` first and last (look_first:A, look_first:B); bin.h.
 *
 * PROGRESS. Lock-free: a further look means that an update moved a pod, or, before any pod was
 * visited, that each that was collected was popped, moved or deleted. Nothing is written, but what
 * a pop too would finish of a move that is half done, and slots of runs that are spent.
 *
 * EVIDENCE. tests/unit/test_peek.c, test_peek_threads.c; tests/differential: peek, peek-many;
 * stress/explore: peek_*; stress/history: line.
 */
#include "lockfree/calls/get.h"
#include "lockfree/calls/ops.h"
#include "lockfree/moves/backoff.h"
#include "lockfree/moves/settle.h"
#include "lockfree/moves/stray.h"
#include "lockfree/refs/tie.h"

#define LINE_FEW 64  /* pods that need no memory */
#define LINE_READ 64 /* refs that are read at once */
#define LOOKS_MANY 8

/* A pod in line. */
struct next_pod {
    uint64_t ref;
    int64_t key;
    struct tie tie;
    enum place place;
};

struct line {
    struct worker *worker;
    struct next_pod *pods; /* those of the bands before, in order; then a heap, the last on top */
    size_t room, count;
    bool full;  /* a pod was left out for want of room */
    bool again; /* a pod was moved */
};

/* ---- the heap of a band ---------------------------------------------------------------------- */

static bool
is_ahead_of(const struct next_pod *a, const struct next_pod *b)
{
    if (a->key != b->key) {
        return a->key < b->key;
    }
    if (a->tie.rank != b->tie.rank || a->tie.key != b->tie.key) {
        return tie_before(&a->tie, &b->tie);
    }
    return a->ref < b->ref;
}

/* `pod` goes where there is a hole, or below. */
static void
sift_in(struct next_pod *heap, size_t count, size_t hole, const struct next_pod *pod)
{
    size_t child;

    while ((child = 2 * hole + 1) < count) {
        child += child + 1 < count && is_ahead_of(&heap[child], &heap[child + 1]) ? 1 : 0;
        if (!is_ahead_of(pod, &heap[child])) {
            break;
        }
        heap[hole] = heap[child];
        hole = child;
    }
    heap[hole] = *pod;
}

/* `begin`: where the heap is in line->pods. */
static void
put_in(struct line *line, size_t begin, const struct next_pod *pod)
{
    struct next_pod *heap = line->pods + begin;
    size_t at = line->count - begin;

    if (line->count == line->room) {
        line->full = true;
        if (is_ahead_of(pod, &heap[0])) {
            sift_in(heap, at, 0, pod);
        }
        return;
    }
    line->count++;
    for (; at > 0 && is_ahead_of(&heap[(at - 1) / 2], pod); at = (at - 1) / 2) {
        heap[at] = heap[(at - 1) / 2];
    }
    heap[at] = *pod;
}

/* The heap becomes the next part of the line; each ref once. */
static void
sort_part(struct line *line, size_t begin)
{
    struct next_pod *heap = line->pods + begin;
    size_t end = begin;

    for (size_t count = line->count - begin; count > 1; count--) {
        const struct next_pod last = heap[count - 1];

        heap[count - 1] = heap[0];
        sift_in(heap, count - 1, 0, &last);
    }
    for (size_t i = begin; i < line->count; i++) {
        if (i == begin || line->pods[i].ref != line->pods[i - 1].ref) {
            line->pods[end++] = line->pods[i];
        }
    }
    line->count = end;
}

/* ---- collecting ------------------------------------------------------------------------------ */

/* False: the pod was moved, and the look begins again. */
static bool
collect_ref(struct line *line, size_t begin, struct bin *bin, const struct bin_ref *ref)
{
    struct worker *worker = line->worker;
    const struct residence *residence = &bin->residence;
    struct entry *entry = entry_at(residence->entries, ref_record(ref->ref));
    uint64_t state;
    enum verdict verdict =
        entry != NULL ? bin_verdict_of(bin, entry, ref->ref, &state) : VERDICT_STALE;

    if (verdict == VERDICT_FUTURE) {
        const struct bin_caller caller = bin_caller(worker);

        /* Else its switch might come before the pod's old place is looked at. */
        verdict = bin_help(bin, &caller, entry, ref->ref, ref->cause, &state) ? VERDICT_VALID
                                                                              : VERDICT_STALE;
    }
    if (verdict != VERDICT_VALID) {
        return true;
    }
    /* As a pop: it has to be looked for in its new place. */
    if (residence->place == PLACE_ACTIVE && state_lag(state) != 0 &&
        transfer_follow(worker, ref_record(ref->ref), u64_load_acquire(&entry->life))) {
        line->again = true;
        return false;
    }
    struct next_pod pod = {.ref = ref->ref, .key = ref->key, .place = residence->place};

    if (residence->ties != TIES_OPEN) {
        pod.tie = tie_of(residence, ref->ref);
    }
    put_in(line, begin, &pod);
    return true;
}

/* False: the look begins again. */
static bool
collect_bin(struct line *line, size_t begin, struct bin *bin)
{
    struct queue *queue = queue_of(line->worker);
    struct bin_reader reader;
    struct bin_ref refs[LINE_READ];
    const size_t most = line->room < LINE_READ ? line->room : LINE_READ;
    size_t count;

    bin_read_begin(&reader, bin, &queue->runs, INT64_MAX);
    while ((count = bin_read(&reader, refs, most)) > 0) {
        for (size_t i = 0; i < count; i++) {
            if (line->count == line->room && refs[i].key > line->pods[begin].key) {
                line->full = true;
            } else if (!collect_ref(line, begin, bin, &refs[i])) {
                return false;
            }
        }
        if (line->count == line->room) {
            line->full = true; /* a pod that is not read may be left out */
            reader.limit = line->pods[begin].key;
        }
    }
    return true;
}

static bool
collect_leaf(struct line *line, const struct band_leaf *leaf)
{
    uint64_t rows = summary_bits(&leaf->summary); /* as walk_on:B */

    for (; rows != 0 && !line->full; rows &= rows - 1) {
        size_t begin = line->count; /* < room */

        if (!collect_bin(line, begin, &leaf->rows[__builtin_ctzll(rows)].band->bin)) {
            return false;
        }
        sort_part(line, begin);
    }
    return true;
}

static bool
collect_active(struct line *line)
{
    const struct band_table *table = bands_table(&queue_of(line->worker)->bands);

    for (uint32_t top = 0; top < table->top_count; top++) {
        uint64_t leaves = summary_bits(&table->tops[top]); /* as walk_on:A */

        for (; leaves != 0 && !line->full; leaves &= leaves - 1) {
            uint32_t i = top * SUMMARY_ROWS + (uint32_t)__builtin_ctzll(leaves);

            if (!collect_leaf(line, table->leaves[i].leaf)) {
                return false;
            }
        }
    }
    return true;
}

static void
collect_backoff(struct line *line)
{
    struct queue *queue = queue_of(line->worker);
    size_t begin = line->count;

    if (line->full) {
        return;
    }
    for (uint32_t used = backoff_used(queue, PLACE_BACKOFF); used != 0;) {
        (void)collect_bin(line, begin, backoff_next_used(queue, PLACE_BACKOFF, &used));
    }
    sort_part(line, begin);
}

/* One look, inside a section. True: an update moved a pod meanwhile. */
static bool
look_first(struct line *line)
{
    struct queue *queue = queue_of(line->worker);
    uint64_t reorder = u64_load_acquire(&queue->reorder); /* look_first:A */

    line->count = 0;
    line->full = line->again = false;
    if (collect_active(line) && queue->base.rules.pop_from_backoff) {
        collect_backoff(line);
    }
    return line->again || u64_load_acquire(&queue->reorder) != reorder; /* look_first:B */
}

/* ---- visiting -------------------------------------------------------------------------------- */

static bool
is_next(const struct view *view, const struct next_pod *pod)
{
    return state_place(view->state) == pod->place &&
           state_base(view->state) == ref_version(pod->ref);
}

/* A copy of the pod, if it is what its ref names. */
static bool
take_next(struct worker *worker, const struct next_pod *pod, struct view *view)
{
    struct queue *queue = queue_of(worker);
    uint32_t record = ref_record(pod->ref);
    bool taken = false;

    section_begin(worker);
    /* Ends: each further round means that the pod changed. */
    while (!taken && report_any(queue, record, view) && is_next(view, pod)) {
        taken = settle_told(worker, record, view) && is_next(view, pod) && get_take(worker, view);
    }
    section_end(worker);
    return taken;
}

static size_t
visit_next(const struct line *line, size_t count, schedq_visit_fn visit, void *ctx)
{
    size_t visited = 0;
    bool more = true;

    for (size_t i = 0; more && i < line->count && i < count; i++) {
        struct view view;

        if (take_next(line->worker, &line->pods[i], &view)) {
            more = get_show(line->worker, ref_record(line->pods[i].ref), &view, visit, ctx);
            visited++;
        }
    }
    return visited;
}

/* ---- the calls ------------------------------------------------------------------------------- */

static void
line_free(struct line *line, const struct next_pod *few)
{
    if (line->pods != few) {
        memory_free(&queue_of(line->worker)->base.memory, MEMORY_OTHER, line->pods,
                    line->room * sizeof *line->pods);
    }
}

/* False: no memory; the line has none then. */
static bool
line_grow(struct line *line, const struct next_pod *few)
{
    size_t room = line->room * 4;

    line_free(line, few);
    line->pods = memory_alloc_raw(&queue_of(line->worker)->base.memory, MEMORY_OTHER,
                                  room * sizeof *line->pods, CACHE_LINE);
    line->room = room;
    return line->pods != NULL;
}

/* Collects `count` pods, or all. `few`: the line's first memory. False: no memory. */
static bool
collect(struct line *line, size_t count, const struct next_pod *few)
{
    uint32_t looks = 0;
    bool moved;

    for (;;) {
        section_begin(line->worker);
        do {
            moved = look_first(line);
        } while (moved && (line->again || count == 1 || ++looks < LOOKS_MANY));
        section_end(line->worker);
        if (line->count >= count || !line->full) {
            return true;
        }
        if (!line_grow(line, few)) {
            return false;
        }
    }
}

/* Nothing is in line: gathers strays (stray.h). True: one may be in line. */
static bool
gather(struct worker *worker)
{
    bool gathered = false;

    if (stray_is_noted(queue_of(worker), STRAY_NOTES & ~STRAY_CLASSES)) {
        section_begin(worker);
        gathered = stray_gather_in_time(worker);
        section_end(worker);
    }
    return gathered;
}

schedq_status_t
lockfree_peek_many(schedq_worker_t *base, size_t count, schedq_visit_fn visit, void *ctx)
{
    struct worker *worker = worker_of(base);
    struct next_pod few[LINE_FEW];
    struct line line = {
        .worker = worker, .pods = few, .room = count < LINE_FEW / 2 ? 2 * count : LINE_FEW};
    schedq_status_t status = SCHEDQ_OK;
    bool gathered = false;

    /* Ends: each further round means that pods left, or that strays were gathered. */
    do {
        if (!collect(&line, count, few)) {
            return SCHEDQ_NOMEM;
        }
        if (line.count == 0 && (gathered || !gather(worker))) {
            status = SCHEDQ_EMPTY;
        }
        gathered |= line.count == 0;
    } while (status == SCHEDQ_OK && visit_next(&line, count, visit, ctx) == 0);
    line_free(&line, few);
    return status;
}

schedq_status_t
lockfree_peek(schedq_worker_t *base, schedq_visit_fn visit, void *ctx)
{
    return lockfree_peek_many(base, 1, visit, ctx);
}
