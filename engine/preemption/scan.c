/*
 * Which nodes are worth a visit: 64 at a time, from the columns of the level under the preemptor,
 * without touching a pod.
 *
 * Bits say what became of each node: potential, evaluated, and of those pruned, that is refused
 * here. A potential node without enough room cannot be a candidate, whichever pods leave it.
 */
#include "preemption/evaluation.h"

#include <string.h>

/* Eight bytes of 0 and 1 as bits, the first one lowest. */
static inline uint64_t
pack_eight(const uint8_t *bytes)
{
    uint64_t eight;

    memcpy(&eight, bytes, sizeof eight);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    eight = __builtin_bswap64(eight);
#endif
    return (eight * UINT64_C(0x0102040810204080)) >> 56;
}

/* The same of as many as a word has bits. */
static uint64_t
pack(const uint8_t *bytes)
{
    return pack_eight(bytes) | pack_eight(bytes + 8) << 8 | pack_eight(bytes + 16) << 16 |
           pack_eight(bytes + 24) << 24 | pack_eight(bytes + 32) << 32 |
           pack_eight(bytes + 40) << 40 | pack_eight(bytes + 48) << 48 |
           pack_eight(bytes + 56) << 56;
}

/* Bits lowest..63, for lowest < 64. */
static uint64_t
bits_from(uint32_t lowest)
{
    return ~UINT64_C(0) << lowest;
}

static uint32_t
words_of_nodes(const schedq_cluster_t *cluster)
{
    return (cluster->nodes_end + WORD_NODES - 1) / WORD_NODES;
}

/* ---- potential nodes ------------------------------------------------------------------------- */

static uint64_t
potential_word(const schedq_preemption_t *of, uint32_t word)
{
    const schedq_cluster_t *cluster = of->cluster;
    uint32_t base = word * WORD_NODES;
    uint32_t count =
        cluster->nodes_end - base < WORD_NODES ? cluster->nodes_end - base : WORD_NODES;
    const uint8_t *statuses = of->preemptor.statuses;
    uint8_t tail[WORD_NODES] = {0};

    if (statuses == NULL) {
        return cluster->present[word];
    }
    if (count == WORD_NODES) {
        return cluster->present[word] & pack(statuses + base);
    }
    memcpy(tail, statuses + base, count);
    return cluster->present[word] & pack(tail);
}

bool
scan_prepare(schedq_preemption_t *of)
{
    struct memory *memory = &of->memory;
    uint32_t words = words_of_nodes(of->cluster);

    if (!array_reserve(memory, &of->potentials, &of->potential_capacity, words,
                       sizeof *of->potentials) ||
        !array_reserve(memory, &of->evaluated, &of->evaluated_capacity, words,
                       sizeof *of->evaluated) ||
        !array_reserve(memory, &of->pruned, &of->pruned_capacity, words, sizeof *of->pruned) ||
        !array_reserve(memory, &of->verdicts, &of->verdict_capacity, of->cluster->nodes_end,
                       sizeof *of->verdicts)) {
        return false;
    }
    uint32_t potential = 0;

    for (uint32_t i = 0; i < words; i++) {
        of->potentials[i] = potential_word(of, i);
        of->evaluated[i] = 0;
        of->pruned[i] = 0;
        potential += count_ones(of->potentials[i]);
    }
    of->potential = potential;
    return true;
}

uint32_t
scan_find(const schedq_preemption_t *of, uint32_t number)
{
    uint32_t word = 0;
    uint64_t bits;

    for (;; word++) {
        uint32_t here = count_ones(of->potentials[word]);

        if (number < here) {
            break;
        }
        number -= here;
    }
    for (bits = of->potentials[word]; number > 0; number--) {
        bits &= bits - 1;
    }
    return word * WORD_NODES + (uint32_t)__builtin_ctzll(bits);
}

/* ---- the walk -------------------------------------------------------------------------------- */

/* Two cells of a column. */
typedef int64_t cells __attribute__((vector_size(16)));
typedef uint64_t signs __attribute__((vector_size(16)));

/* What each of two nodes or groups has more than is needed. */
static cells
spare(const struct need *need, size_t at)
{
    cells two;

    memcpy(&two, need->column + at, sizeof two);
    return two - need->least;
}

/* The signs of two cells, as bits 0 of two numbers. */
static signs
sign_bits(cells two)
{
    return (signs)two >> 63;
}

static cells
lack(const struct need *needs, size_t at)
{
    return spare(&needs[NEED_PODS], at) | spare(&needs[NEED_CPU], at) |
           spare(&needs[NEED_MEMORY], at);
}

/* Of eight nodes or groups, those where no need is short; `at` is a position in the columns. */
static uint64_t
roomy_eight(const schedq_preemption_t *of, size_t at)
{
    const struct need *needs = of->needs;
    signs short_bits = sign_bits(lack(needs, at)) | sign_bits(lack(needs, at + 2)) << 2 |
                       sign_bits(lack(needs, at + 4)) << 4 | sign_bits(lack(needs, at + 6)) << 6;

    for (uint32_t n = NEED_EXTENDED; n < of->need_count; n++) {
        for (uint32_t i = 0; i < GROUP_NODES; i += 2) {
            short_bits |= sign_bits(spare(&needs[n], at + i)) << i;
        }
    }
    return ~(short_bits[0] | short_bits[1] << 1) & UINT8_MAX;
}

/*
 * Nodes that have the room; without columns to look at, all of them. A group is looked into if its
 * greatest cells would do.
 */
static uint64_t
roomy_word(const schedq_preemption_t *of, uint32_t word)
{
    uint64_t bits = 0;

    if (of->below.none && of->config.no_victims == SCHEDQ_NO_VICTIMS_ERROR) {
        return 0;
    }
    if (!of->prunes) {
        return ~UINT64_C(0);
    }
    for (uint64_t groups =
             roomy_eight(of, (size_t)of->cluster->node_capacity + (size_t)word * GROUP_NODES);
         groups != 0; groups &= groups - 1) {
        uint32_t group = (uint32_t)__builtin_ctzll(groups);

        bits |= roomy_eight(of, (size_t)word * WORD_NODES + (size_t)group * GROUP_NODES)
                << (group * GROUP_NODES);
    }
    return bits;
}

void
scan_open(struct scan *scan, uint32_t from, uint32_t to)
{
    *scan = (struct scan){.word = from / WORD_NODES, .end = (to + WORD_NODES - 1) / WORD_NODES};
    scan->first = bits_from(from % WORD_NODES);
    scan->last = to % WORD_NODES == 0 ? ~UINT64_C(0) : ~bits_from(to % WORD_NODES);
    if (from >= to) {
        scan->end = scan->word;
    }
}

/* Decides about the nodes of a word; what is left open is to be visited. */
static void
begin_word(struct scan *scan, schedq_preemption_t *of)
{
    uint64_t bits = of->potentials[scan->word] & scan->first;

    scan->first = ~UINT64_C(0);
    if (scan->word + 1 == scan->end) {
        bits &= scan->last;
    }
    scan->is_open = true;
    scan->open = bits;
    if (bits == 0) {
        return;
    }
    scan->open &= roomy_word(of, scan->word);
    of->evaluated[scan->word] |= bits;
    of->pruned[scan->word] |= bits & ~scan->open;
    /* They are visited soon, and were not touched yet. */
    for (uint64_t open = scan->open; open != 0; open &= open - 1) {
        __builtin_prefetch(
            &of->cluster->nodes[scan->word * WORD_NODES + (uint32_t)__builtin_ctzll(open)]);
    }
}

uint32_t
scan_next(struct scan *scan, schedq_preemption_t *of)
{
    for (; scan->word < scan->end; scan->word++, scan->is_open = false) {
        if (!scan->is_open) {
            begin_word(scan, of);
        }
        if (scan->open != 0) {
            uint32_t bit = (uint32_t)__builtin_ctzll(scan->open);

            scan->open &= scan->open - 1;
            return scan->word * WORD_NODES + bit;
        }
    }
    return SCHEDQ_NO_NODE;
}

void
scan_forget(schedq_preemption_t *of, uint32_t from, uint32_t to)
{
    struct scan range;

    scan_open(&range, from, to);
    for (uint32_t word = range.word; word < range.end; word++) {
        uint64_t bits = word == range.word ? range.first : ~UINT64_C(0);

        if (word + 1 == range.end) {
            bits &= range.last;
        }
        of->evaluated[word] &= ~bits;
        of->pruned[word] &= ~bits;
    }
}
