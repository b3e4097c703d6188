/* Banks of bank.h, which has the essay. */
#include "lockfree/refs/bank.h"

const struct bank *
bank_of(const struct bank *first, uint64_t worker)
{
    const struct bank *bank = first;

    if (worker >= BANK_LANES) {
        do {
            bank = bank_next(bank);
        } while (bank != NULL && bank->number != worker / BANK_LANES);
    }
    return bank;
}

struct lane *
bank_lane_behind(const struct bank *first, uint32_t worker)
{
    const struct bank *bank = bank_of(first, worker);

    return bank != NULL ? ptr_load(&bank->lanes[worker % BANK_LANES]) : NULL;
}

/* ---- making and ending ----------------------------------------------------------------------- */

static void
bank_free(struct bank *bank, const struct bank_kind *kind, struct memory *memory)
{
    if (bank != NULL) {
        memory_free(memory, MEMORY_QUEUES, (char *)bank - kind->offset, kind->bytes);
    }
}

static struct bank *
bank_make(const struct bank *first, const struct bank_kind *kind, struct memory *memory,
          uint32_t number)
{
    char *made = memory_alloc(memory, MEMORY_QUEUES, kind->bytes, CACHE_LINE);

    if (made == NULL) {
        return NULL;
    }
    struct bank *bank = (struct bank *)(void *)(made + kind->offset);

    bank->number = number;
    if (kind->begin != NULL) {
        kind->begin(bank, first);
    }
    return bank;
}

/*
 * bank_of; links a bank if there is none. NULL: no memory. Ends: each failed exchange is a bank
 * that another thread linked, and there are not many.
 */
static struct bank *
bank_find(struct bank *first, const struct bank_kind *kind, struct memory *memory, uint32_t worker)
{
    struct bank *own = NULL, *at = first;

    while (worker >= BANK_LANES && at->number != worker / BANK_LANES) {
        struct bank *next = bank_next(at);

        if (next == NULL) {
            own = own != NULL ? own : bank_make(first, kind, memory, worker / BANK_LANES);
            if (own == NULL) {
                return NULL;
            }
            next = ptr_cas_value(&at->more, NULL, own); /* bank_find:A */
            if (next == NULL) {
                return own;
            }
        }
        at = next;
    }
    bank_free(own, kind, memory);
    return at;
}

bool
bank_prepare(struct bank *first, const struct bank_kind *kind, const struct lane_care *care,
             uint32_t worker, uint32_t count)
{
    struct lane *lane = bank_lane(first, worker);

    if (lane != NULL) {
        return lane_has_room(lane, count) || lane_make_room(lane, care, count);
    }
    struct bank *bank = bank_find(first, kind, care->memory, worker);
    uint32_t at = worker % BANK_LANES;

    lane = bank != NULL ? lane_make(care->memory, count) : NULL;
    if (lane == NULL) {
        return false;
    }
    if (bank != first && kind->announce != NULL) {
        kind->announce(first);
    }
    u64_or(&bank->used, UINT64_C(1) << at);    /* bank_prepare:A */
    ptr_store_release(&bank->lanes[at], lane); /* bank_prepare:B */
    return true;
}

static void
pass_all(const struct bank *first, const struct lane_care *care)
{
    struct bank_reader reader;
    struct lane *lane;
    uint32_t worker;

    bank_read_begin(&reader, first, true);
    while ((lane = bank_read_lane(&reader, &worker)) != NULL) {
        uint32_t most = UINT32_MAX;

        lane_pass(lane, care, &most);
    }
}

void
bank_tend(struct bank *first, const struct lane_care *care, uint32_t worker)
{
    if (worker == EVERY_WORKER) {
        pass_all(first, care);
        return;
    }
    struct lane *lane = bank_lane(first, worker);

    if (lane != NULL && care->epoch == NULL) {
        lane_resume(lane);
    } else if (lane != NULL) {
        lane_shrink(lane, care);
    }
}

void
bank_close(struct bank *first, const struct bank_kind *kind, struct memory *memory)
{
    for (struct bank *next, *bank = first; bank != NULL; bank = next) {
        next = ptr_load(&bank->more);
        for (uint32_t i = 0; i < BANK_LANES; i++) {
            struct lane *lane = ptr_load(&bank->lanes[i]);

            if (lane != NULL) {
                lane_free(memory, lane);
            }
        }
        bank_free(bank != first ? bank : NULL, kind, memory);
    }
}

/* ---- reading --------------------------------------------------------------------------------- */

bool
bank_read_on(struct bank_reader *reader)
{
    while (reader->more && reader->left == 0) {
        const struct bank *bank = bank_next(reader->bank);

        reader->more = bank != NULL;
        if (bank != NULL) {
            bank_read_begin(reader, bank, true);
        }
    }
    return reader->left != 0;
}
