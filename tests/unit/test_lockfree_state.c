/*
 * lockfree/pod/state.h against the rule, as tables: who may leave a place and how, what each access
 * changes, what a ref means.
 *
 * unit/help.h is compiled into this test with a CAS that lets another operation go first: so a
 * second operation comes exactly between the first one's decision and its switch.
 */
#include "expect.h"
#include "platform/atomic.h"

static struct {
    void (*first)(void); /* goes first, once */
    const atomic_u64 *reorder;
    uint64_t reorder_then; /* when the CAS came */
    unsigned tries, wins;
} cas;

static uint64_t
cas_after_another(atomic_u64 *word, uint64_t expected, uint64_t desired)
{
    void (*first)(void) = cas.first;
    cas.first = NULL;
    if (first != NULL)
        first();
    cas.tries++;
    cas.reorder_then = cas.reorder != NULL ? u64_load(cas.reorder) : 0;
    uint64_t found = u64_cas_value(word, expected, desired);
    cas.wins += found == expected ? 1 : 0;
    return found;
}

#define u64_cas_value cas_after_another
#define u64_cas(word, expected, desired) \
    (cas_after_another((word), (expected), (desired)) == (expected))
#include "help.h"
#undef u64_cas_value
#undef u64_cas

#define LAST_VERSION ((UINT64_C(1) << 36) - 1)

static const char *const names[] = {"FREE",     "ACTIVE", "BACKOFF",       "PARKED", "GATED",
                                    "INFLIGHT", "DEAD",   "ERROR_BACKOFF", "HELD",   "ASIDE",
                                    "IDLE",     "READY",  "CYCLE"};

enum { PLACES = 13, CONTAINERS = 7 };

static const enum place containers[CONTAINERS] = {PLACE_ACTIVE, PLACE_BACKOFF,       PLACE_PARKED,
                                                  PLACE_GATED,  PLACE_ERROR_BACKOFF, PLACE_HELD,
                                                  PLACE_READY};

/* ---- the rule -------------------------------------------------------------------------------- */

/* s: a switch; o: its owner stores; -: nobody. */
static const char leaves[PLACES][PLACES + 1] = {
    /* FREE ACTIVE BACKOFF PARKED GATED INFLIGHT DEAD ERROR_BACKOFF HELD; ASIDE; IDLE READY CYCLE */
    [PLACE_FREE] = "-oooo--oooo--",          //
    [PLACE_ACTIVE] = "-s---ss-s----",        //
    [PLACE_BACKOFF] = "-ss-sss-s-ss-",       //
    [PLACE_PARKED] = "-ssss-s-s-ss-",        //
    [PLACE_GATED] = "-ss-s-s-s-ss-",         //
    [PLACE_INFLIGHT] = "-sssssssss---",      //
    [PLACE_DEAD] = "o------------",          //
    [PLACE_ERROR_BACKOFF] = "-s--s-sss-ss-", //
    [PLACE_HELD] = "-ss-s-ssss---",          //
    [PLACE_ASIDE] = "-----ss-ss---",         //
    [PLACE_IDLE] = "--s-s-ss--ss-",          //
    [PLACE_READY] = "----s-s---sss",         //
    [PLACE_CYCLE] = "--sss-ss--sss",         //
};

enum access { ACCESS_SWITCH, ACCESS_HELP, ACCESS_DESCRIBE, ACCESS_FLAG, ACCESSES };

/* What an access changes. */
static const struct effect {
    unsigned version, lag;
    bool moves, clears_lag, clears_flags;
} effects[ACCESSES] = {
    [ACCESS_SWITCH] = {.version = 1, .moves = true, .clears_lag = true, .clears_flags = true},
    [ACCESS_HELP] = {.version = 1, .moves = true, .clears_lag = true, .clears_flags = true},
    [ACCESS_DESCRIBE] = {.version = 1, .lag = 1},
    [ACCESS_FLAG] = {.version = 0},
};

/*
 * What a ref means, by its version: older than the base, the base where the word says, the base
 * elsewhere, between the base and the next, the next, beyond. V valid, F future, s stale.
 */
enum distance { OLDER, BASE_HERE, BASE_ELSEWHERE, BETWEEN, NEXT, BEYOND, DISTANCES };

static const struct meaning {
    enum place place;
    bool flagged;
    char verdicts[DISTANCES + 1];
} meanings[] = {
    {PLACE_FREE, false, "ssssss"},    {PLACE_ACTIVE, false, "sVssFs"},
    {PLACE_BACKOFF, false, "sVssFs"}, {PLACE_PARKED, false, "sVssFs"},
    {PLACE_GATED, false, "sVssFs"},   {PLACE_INFLIGHT, false, "ssssFs"},
    {PLACE_DEAD, false, "ssssss"},    {PLACE_ERROR_BACKOFF, false, "sVssFs"},
    {PLACE_HELD, false, "sVssFs"},    {PLACE_INFLIGHT, true, "ssssss"},
    {PLACE_ASIDE, false, "s-ssFs"},   {PLACE_ASIDE, true, "s-ssFs"},
    {PLACE_IDLE, false, "s-ssFs"},    {PLACE_READY, false, "sVssFs"},
    {PLACE_CYCLE, false, "s-ssFs"},
};

/* ---- the word, a second time ----------------------------------------------------------------- */

struct word {
    uint64_t version;
    uint32_t band;
    enum place place;
    uint32_t lag, flags;
};

static uint32_t
detail(const struct word *word)
{
    return word->place == PLACE_ACTIVE ? word->band * 16 + word->lag : word->lag + word->flags;
}

static uint64_t
pack(const struct word *word)
{
    return word->version * (UINT64_C(1) << 28) + (unsigned)word->place * (UINT64_C(1) << 24) +
           detail(word);
}

/* Versions go round from 2^36 - 1 to 1. */
static uint64_t
later(uint64_t version, uint64_t by)
{
    return (version - 1 + by) % LAST_VERSION + 1;
}

static uint64_t
earlier(uint64_t version, uint64_t by)
{
    return later(version, LAST_VERSION - by);
}

/* Descriptions keep the base. */
static bool
waits(enum place place)
{
    return place != PLACE_FREE && place != PLACE_DEAD && place != PLACE_INFLIGHT;
}

static bool
holds_refs(enum place place)
{
    return waits(place) && place != PLACE_ASIDE && place != PLACE_IDLE && place != PLACE_CYCLE;
}

/* A public word counts those that are there. */
static bool
is_counted(enum place place)
{
    return waits(place) && place != PLACE_ACTIVE && place < PLACE_IDLE;
}

typedef void visit_fn(const struct word *word);

static void
visit_extras(struct word word, visit_fn *visit)
{
    static const uint32_t lags[] = {
        0, 1, 2, 5, 14, 15, 16, 63, 4096, (UINT32_C(1) << 22) - 2, (UINT32_C(1) << 22) - 1};
    for (unsigned i = 0; waits(word.place) && i < sizeof lags / sizeof *lags; i++) {
        word.lag = lags[i];
        if (word.place != PLACE_ACTIVE || word.lag < 16)
            visit(&word);
    }
    if (word.place == PLACE_ASIDE) {
        word.lag = 5;
        for (unsigned flags = 1; flags < 4; flags++) {
            word.flags = flags << 22;
            visit(&word);
        }
    }
    for (unsigned flags = 0; word.place == PLACE_INFLIGHT && flags < 8; flags++) {
        word.flags = flags;
        visit(&word);
    }
    if (word.place == PLACE_FREE || word.place == PLACE_DEAD)
        visit(&word);
}

/* Every kind of word. */
static void
visit_words(visit_fn *visit)
{
    static const uint64_t versions[] = {1, 2, 6, 77, 128, LAST_VERSION - 1, LAST_VERSION};
    static const uint32_t bands[] = {0, 1, 4096, 65535, 1048575};
    for (unsigned place = 0; place < PLACES; place++) {
        for (unsigned i = 0; i < sizeof versions / sizeof *versions; i++) {
            for (unsigned j = 0; j < (place == PLACE_ACTIVE ? sizeof bands / sizeof *bands : 1);
                 j++)
                visit_extras((struct word){.version = versions[i],
                                           .band = bands[j],
                                           .place = (enum place)place},
                             visit);
        }
    }
}

/* ---- fields ---------------------------------------------------------------------------------- */

static void
check_fields(const struct word *word)
{
    uint64_t state = pack(word);
    assert_true(state_version(state) == word->version);
    if (word->place == PLACE_ACTIVE)
        assert_int_equal(state_band(state), word->band);
    assert_int_equal(state_place(state), word->place);
    assert_int_equal(state_lag(state), word->lag);
    assert_int_equal(state_flags(state), detail(word));
    bool waiting = waits(word->place) && word->place != PLACE_ACTIVE;
    assert_int_equal(state_waits(state), is_counted(word->place));
    assert_int_equal(state_lag_is_at_end(state),
                     word->lag == (waiting ? (UINT32_C(1) << 22) - 1 : 15));
    assert_true(state_base(state) == earlier(word->version, word->lag));
    bool active = word->place == PLACE_ACTIVE;
    uint32_t rest = active ? word->lag : detail(word);
    assert_true(state_make(word->version, active ? word->band : 0, word->place) == state - rest);
    bool pod =
        word->place != PLACE_FREE && word->place != PLACE_DEAD && (word->flags & FLAG_DELETED) == 0;
    assert_int_equal(state_is_pod(state), pod);
}

static void
every_word_gives_back_what_it_was_made_of(void **unused)
{
    (void)unused;
    visit_words(check_fields);
}

static void
a_ref_gives_back_what_it_was_made_of(void **unused)
{
    (void)unused;
    static const uint64_t versions[] = {1, 2, LAST_VERSION};
    static const uint32_t records[] = {1, 2, (1u << 28) - 1};
    for (unsigned i = 0; i < 3; i++) {
        for (unsigned j = 0; j < 3; j++) {
            uint64_t ref = ref_make(versions[i], records[j]);
            assert_true(ref_version(ref) == versions[i]);
            assert_int_equal(ref_record(ref), records[j]);
            /* The version is where the state word has it. */
            assert_true((ref ^ state_make(versions[i], 65535, PLACE_ERROR_BACKOFF)) >>
                            STATE_VERSION_SHIFT ==
                        0);
        }
    }
}

static void
versions_go_round_and_zero_is_none(void **unused)
{
    (void)unused;
    assert_true(version_next(1) == 2);
    assert_true(version_next(LAST_VERSION - 1) == LAST_VERSION);
    assert_true(version_next(LAST_VERSION) == 1);
    assert_true(version_next(0) == 1);
}

static void
places_have_their_public_names(void **unused)
{
    (void)unused;
    static const schedq_place_t expected[PLACES] = {
        SCHEDQ_NOWHERE,  SCHEDQ_ACTIVE,  SCHEDQ_BACKOFF,       SCHEDQ_PARKED, SCHEDQ_GATED,
        SCHEDQ_INFLIGHT, SCHEDQ_NOWHERE, SCHEDQ_ERROR_BACKOFF, SCHEDQ_HELD,   SCHEDQ_ASIDE,
        SCHEDQ_ASIDE,    SCHEDQ_ACTIVE,  SCHEDQ_INFLIGHT};
    for (unsigned i = 0; i < PLACES; i++)
        assert_place(place_public((enum place)i), expected[i]);
}

/* ---- judging --------------------------------------------------------------------------------- */

static const struct meaning *
meaning_of(const struct word *word)
{
    for (unsigned i = 0; i < sizeof meanings / sizeof *meanings; i++) {
        if (meanings[i].place == word->place && meanings[i].flagged == (word->flags != 0))
            return &meanings[i];
    }
    fail_msg("no meaning for %s", names[word->place]);
    return NULL;
}

static void
check_verdict(const struct word *word, enum distance distance, uint64_t version, enum place place,
              uint32_t band)
{
    static const char letters[] = {
        [VERDICT_STALE] = 's', [VERDICT_VALID] = 'V', [VERDICT_FUTURE] = 'F'};
    char expected = meaning_of(word)->verdicts[distance];
    char got = letters[state_judge(pack(word), ref_make(version, 9), place, band)];
    if (got != expected)
        fail_msg("word {%llu, band %u, %s, lag %u, flags %u}, ref of %llu in %s, band %u: %c, "
                 "expected %c",
                 (unsigned long long)word->version, word->band, names[word->place], word->lag,
                 word->flags, (unsigned long long)version, names[place], band, got, expected);
}

static void
check_container(const struct word *word, enum place place, uint32_t band)
{
    bool lot_of_gated = place == PLACE_PARKED && word->place == PLACE_GATED;
    bool here =
        (place == word->place || lot_of_gated) && (place != PLACE_ACTIVE || band == word->band);
    uint64_t base = earlier(word->version, word->lag);
    check_verdict(word, here ? BASE_HERE : BASE_ELSEWHERE, base, place, band);
    for (uint64_t i = 1; i <= word->lag; i = i < 70 || i + 70 >= word->lag ? i + 1 : word->lag - 70)
        check_verdict(word, BETWEEN, later(base, i), place, band);
    check_verdict(word, NEXT, later(word->version, 1), place, band);
    for (uint64_t i = 1; i < 4; i++) {
        check_verdict(word, OLDER, earlier(base, i), place, band);
        check_verdict(word, BEYOND, later(word->version, 1 + i), place, band);
    }
    check_verdict(word, OLDER, earlier(base, LAST_VERSION / 2), place, band);
}

static void
check_judge(const struct word *word)
{
    for (unsigned i = 0; i < CONTAINERS; i++) {
        check_container(word, containers[i], word->band);
        check_container(word, containers[i], word->band ^ 1);
        check_container(word, containers[i], word->band ^ 0x80000);
    }
}

static void
every_ref_means_what_the_table_says(void **unused)
{
    (void)unused;
    visit_words(check_judge);
}

/* ---- operations ------------------------------------------------------------------------------ */

struct operation {
    enum access access;
    enum place to;
    uint32_t band;
    uint32_t flag;
};

struct operations {
    struct operation list[80];
    unsigned count;
};

static void
offer(struct operations *operations, struct operation operation)
{
    assert_true(operations->count < sizeof operations->list / sizeof *operations->list);
    operations->list[operations->count++] = operation;
}

/*
 * Everything that the rule allows somebody to do to a word, and every helper who may meet a ref of
 * the next version.
 */
static struct operations
operations_on(const struct word *word)
{
    struct operations operations = {.count = 0};
    for (unsigned to = 0; to < PLACES; to++) {
        if (leaves[word->place][to] != 's')
            continue;
        for (uint32_t i = 0; i < 2; i++) {
            struct operation operation = {
                .access = ACCESS_SWITCH, .to = (enum place)to, .band = word->band ^ i};
            offer(&operations, operation);
            operation.access = ACCESS_HELP;
            if (holds_refs(operation.to) && word->flags == 0)
                offer(&operations, operation);
        }
    }
    if (waits(word->place) && !state_lag_is_at_end(pack(word)))
        offer(&operations, (struct operation){.access = ACCESS_DESCRIBE});
    for (uint32_t flag = 1; word->place == PLACE_INFLIGHT && flag <= 4; flag *= 2) {
        if ((word->flags & flag) == 0)
            offer(&operations, (struct operation){.access = ACCESS_FLAG, .flag = flag});
    }
    return operations;
}

static struct word
expected_after(const struct word *word, const struct operation *operation)
{
    const struct effect *effect = &effects[operation->access];
    struct word after = *word;
    after.version = later(word->version, effect->version);
    if (effect->moves) {
        after.place = operation->to;
        after.band = operation->to == PLACE_ACTIVE ? operation->band : 0;
    }
    after.lag = effect->clears_lag ? 0 : word->lag + effect->lag;
    after.flags = effect->clears_flags ? 0 : word->flags | operation->flag;
    return after;
}

static atomic_u64 the_word, the_reorder;

/* The operation, decided on `state`. True: it changed the word. */
static bool
perform(const struct operation *operation, uint64_t state)
{
    unsigned wins = cas.wins;
    uint64_t next = later(state_version(state), 1), seen;
    switch (operation->access) {
    case ACCESS_SWITCH:
        (void)cas_after_another(&the_word, state,
                                state_switched(state, operation->band, operation->to));
        break;
    case ACCESS_HELP:
        (void)help_word(&the_word, ref_make(next, 9), operation->to, operation->band, &the_reorder,
                        &seen);
        assert_true(seen == u64_load(&the_word));
        break;
    case ACCESS_DESCRIBE:
        (void)cas_after_another(&the_word, state, state_described(state));
        break;
    case ACCESS_FLAG:
        (void)cas_after_another(&the_word, state, state | operation->flag);
        break;
    case ACCESSES:
        fail();
    }
    return cas.wins > wins;
}

static void
start(const struct word *word)
{
    (void)u64_exchange(&the_word, pack(word));
    (void)u64_exchange(&the_reorder, 41);
    cas.first = NULL;
    cas.reorder = &the_reorder;
    cas.tries = cas.wins = 0;
}

static void
assert_word(const struct word *expected)
{
    uint64_t got = u64_load(&the_word);
    if (got != pack(expected))
        fail_msg(
            "word {%llu, band %u, %s, flags %x}, expected {%llu, band %u, %s, lag %u, flags %u}",
            (unsigned long long)state_version(got), state_band(got), names[state_place(got)],
            (unsigned)state_flags(got), (unsigned long long)expected->version, expected->band,
            names[expected->place], expected->lag, expected->flags);
}

static void
check_alone(const struct word *word)
{
    struct operations operations = operations_on(word);
    for (unsigned i = 0; i < operations.count; i++) {
        const struct operation *operation = &operations.list[i];
        struct word after = expected_after(word, operation);
        bool reorders = operation->access == ACCESS_HELP && word->place == PLACE_ACTIVE &&
                        operation->to == PLACE_ACTIVE;
        start(word);
        assert_true(perform(operation, pack(word)));
        assert_word(&after);
        assert_int_equal(cas.tries, 1);
        assert_int_equal(cas.reorder_then, reorders ? 42 : 41);
        assert_int_equal(u64_load(&the_reorder), reorders ? 42 : 41);
    }
}

static void
every_operation_alone_changes_what_the_table_says(void **unused)
{
    (void)unused;
    visit_words(check_alone);
}

static const struct operation *the_second;
static uint64_t second_state;

static void
perform_second(void)
{
    uint64_t tries = cas.tries;
    cas.wins = 0;
    assert_true(perform(the_second, second_state));
    cas.wins = 0;
    cas.tries = (unsigned)tries;
}

static void
check_pairs(const struct word *word)
{
    struct operations operations = operations_on(word);
    for (unsigned i = 0; i < operations.count; i++) {
        for (unsigned j = 0; j < operations.count; j++) {
            struct word after = expected_after(word, &operations.list[j]);
            start(word);
            the_second = &operations.list[j];
            second_state = pack(word);
            cas.first = perform_second;
            assert_false(perform(&operations.list[i], pack(word)));
            assert_int_equal(cas.tries, 1); /* it decided once, and found that it had lost */
            assert_word(&after);
        }
    }
}

static void
of_two_operations_on_one_word_only_the_one_that_comes_first_wins(void **unused)
{
    (void)unused;
    visit_words(check_pairs);
}

static void
check_stays(const struct word *word)
{
    bool nobody = !waits(word->place) && (word->place != PLACE_INFLIGHT || word->flags != 0);
    for (unsigned i = 0; nobody && i < CONTAINERS; i++) {
        for (uint64_t version = 0; version < 4; version++) {
            uint64_t seen = 0;
            start(word);
            enum verdict verdict =
                help_word(&the_word, ref_make(later(earlier(word->version, 1), version), 9),
                          containers[i], word->band, &the_reorder, &seen);
            assert_int_equal(verdict, VERDICT_STALE);
            assert_int_equal(cas.tries, 0);
            assert_word(word);
            assert_true(seen == pack(word));
            assert_int_equal(u64_load(&the_reorder), 41);
        }
    }
}

static void
no_helper_moves_what_is_free_or_dead_or_flagged_in_flight(void **unused)
{
    (void)unused;
    visit_words(check_stays);
}

/* ---- lag ------------------------------------------------------------------------------------- */

static void
check_described_often(uint64_t version)
{
    uint64_t state = state_make(version, 7, PLACE_ACTIVE);
    for (uint32_t lag = 0; lag <= STATE_LAG_ACTIVE; lag++) {
        assert_int_equal(state_lag(state), lag);
        assert_true(state_version(state) == later(version, lag));
        assert_int_equal(state_judge(state, ref_make(version, 9), PLACE_ACTIVE, 7), VERDICT_VALID);
        assert_int_equal(state_judge(state, ref_make(later(version, lag + 1), 9), PLACE_ACTIVE, 8),
                         VERDICT_FUTURE);
        if (lag < STATE_LAG_ACTIVE)
            state = state_described(state);
    }
    state = state_switched(state, 8, PLACE_ACTIVE);
    assert_int_equal(state_lag(state), 0);
    assert_int_equal(state_judge(state, ref_make(version, 9), PLACE_ACTIVE, 7), VERDICT_STALE);
    assert_int_equal(
        state_judge(state, ref_make(later(version, STATE_LAG_ACTIVE + 1), 9), PLACE_ACTIVE, 8),
        VERDICT_VALID);
}

static void
a_pod_is_found_by_its_old_ref_until_it_is_switched_however_often_it_is_described(void **unused)
{
    (void)unused;
    check_described_often(1);
    for (uint64_t i = 0; i <= STATE_LAG_ACTIVE + 1; i++)
        check_described_often(earlier(1, i));
}

/* Two refs of one version with different keys would break the order. */
static void
a_ref_published_for_an_older_description_never_gets_valid(void **unused)
{
    (void)unused;
    uint64_t state = state_make(LAST_VERSION, 3, PLACE_ACTIVE);
    for (unsigned i = 0; i < 50; i++) {
        uint64_t early = ref_make(later(state_version(state), 1), 9);
        state = state_described(state);
        for (uint64_t later_state = state, j = 0; j < 60; j++) {
            assert_int_equal(state_judge(later_state, early, PLACE_ACTIVE, 3), VERDICT_STALE);
            later_state = j < 30 ? state_described(later_state)
                                 : state_switched(later_state, 3, PLACE_ACTIVE);
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_word_gives_back_what_it_was_made_of),
        cmocka_unit_test(a_ref_gives_back_what_it_was_made_of),
        cmocka_unit_test(versions_go_round_and_zero_is_none),
        cmocka_unit_test(places_have_their_public_names),
        cmocka_unit_test(every_ref_means_what_the_table_says),
        cmocka_unit_test(every_operation_alone_changes_what_the_table_says),
        cmocka_unit_test(of_two_operations_on_one_word_only_the_one_that_comes_first_wins),
        cmocka_unit_test(no_helper_moves_what_is_free_or_dead_or_flagged_in_flight),
        cmocka_unit_test(
            a_pod_is_found_by_its_old_ref_until_it_is_switched_however_often_it_is_described),
        cmocka_unit_test(a_ref_published_for_an_older_description_never_gets_valid),
    };
    return cmocka_run_group_tests_name("lockfree_state", tests, NULL, NULL);
}
