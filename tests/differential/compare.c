/* Comparisons of compare.h. */
#include "compare.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "fields.h"

bool
differ(world_t *world, const char *format, ...)
{
    va_list arguments;

    if (world->different) {
        return false;
    }
    world->different = true;
    va_start(arguments, format);
    (void)vsnprintf(world->difference, sizeof world->difference, format, arguments);
    va_end(arguments);
    SHOW(world, "    DIFFERENT: %s\n", world->difference);
    return false;
}

/*
 * A plant distorts some operations only, always the same ones: leaving others out does not move it.
 */
static bool
is_distorted(const world_t *world)
{
    return chance_mix(world->operation + 5) % 4 == 0;
}

bool
plant_due(const world_t *world, enum other what)
{
    return world->plant == &plant_others[what] && is_distorted(world);
}

/* Copies of a known size: this is most of what the program does. */
static inline uint64_t
field_value(const void *of, const field_t *field)
{
    const char *at = (const char *)of + field->offset;
    uint64_t wide;
    uint32_t narrow;

    switch (field->size) {
    case sizeof wide:
        memcpy(&wide, at, sizeof wide);
        return wide;
    case sizeof narrow:
        memcpy(&narrow, at, sizeof narrow);
        return narrow;
    default:
        return *(const uint8_t *)at;
    }
}

/*
 * In the kube presets the mutex engine keeps a lower bound of the Timestamps of gated pods: it may
 * plan too early.
 */
bool
plans_in_vain(const world_t *world)
{
    return world->settings.config.kube_minor != 0 && world->sides[0].words->gated > 0;
}

static inline bool
field_agrees(const world_t *world, const field_t *field, uint64_t mutex, uint64_t other)
{
    switch (field->kind) {
    case FIELD_HINT:
        return mutex == other || (mutex == 0 && other == 1);
    case FIELD_SET:
        return (mutex == 0) == (other == 0);
    case FIELD_BOUND:
        return (int64_t)other <= (int64_t)mutex || plans_in_vain(world);
    default:
        return mutex == other;
    }
}

static uint64_t
wrong_value(const field_t *field, uint64_t value)
{
    switch (field->kind) {
    case FIELD_EQUAL:
        return value ^ 1;
    case FIELD_SET:
        return value == 0;
    case FIELD_BOUND:
        return (int64_t)value == INT64_MAX ? value : value + 1;
    default:
        return 0;
    }
}

static void
distort(const field_t *field, const void *mutex, void *other)
{
    uint64_t value = field_value(mutex, field);
    uint64_t wrong = wrong_value(field, value);

    memcpy((char *)other + field->offset, &wrong, field->size);
}

bool
compare_table(world_t *world, const table_t *table, const void *mutex, void *other)
{
    for (size_t i = 0; i < table->count; i++) {
        const field_t *field = &table->fields[i];

        if (field == world->plant && is_distorted(world)) {
            distort(field, mutex, other);
        }
        uint64_t values[SIDES] = {field_value(mutex, field), field_value(other, field)};

        if (!field_agrees(world, field, values[0], values[1])) {
            return differ(
                world, "%s: mutex %" PRIu64 " (0x%" PRIx64 "), %s %" PRIu64 " (0x%" PRIx64 ")",
                field->name, values[0], values[0], world->sides[1].engine, values[1], values[1]);
        }
    }
    return true;
}

bool
compare_status(world_t *world, const schedq_status_t statuses[SIDES])
{
    schedq_status_t other = plant_due(world, OTHER_STATUS) ? statuses[0] ^ 1 : statuses[1];

    SHOW(world, "    -> %s, %s\n", schedq_status_name(statuses[0]), schedq_status_name(other));
    world->worker_said = true;
    if (statuses[0] < STATUSES) {
        world->met[statuses[0]]++;
    }
    if (!world->seen.answered) {
        world->seen.answered = true;
        world->seen.status = (uint8_t)statuses[0];
    }
    if (statuses[0] != other) {
        return differ(world, "status: mutex %s, %s %s", schedq_status_name(statuses[0]),
                      world->sides[1].engine, schedq_status_name(other));
    }
    return true;
}

bool
compare_statuses(world_t *world, op_t ops[SIDES])
{
    size_t count = op_has_statuses(&ops[0]) ? ops[0].count : 0;

    if (count > 0 && plant_due(world, OTHER_STATUSES)) {
        ops[1].statuses[count - 1] ^= 1;
    }
    for (size_t i = 0; i < count; i++) {
        const char *mutex = schedq_status_name(op_element(&ops[0], i));
        const char *other = schedq_status_name(op_element(&ops[1], i));

        SHOW(world, "    element %zu: %s, %s\n", i, mutex, other);
        if (ops[0].statuses[i] != ops[1].statuses[i]) {
            return differ(world, "statuses[%zu]: mutex %s, %s %s", i, mutex, world->sides[1].engine,
                          other);
        }
    }
    return true;
}

bool
compare_got(world_t *world, op_t ops[SIDES])
{
    if (plant_due(world, OTHER_COUNT)) {
        ops[1].got = ops[0].got + 1;
    }
    if (ops[0].got != ops[1].got) {
        return differ(world, "count: mutex %zu, %s %zu", ops[0].got, world->sides[1].engine,
                      ops[1].got);
    }
    return true;
}

bool
compare_untouched(world_t *world, const char *what, const void *out, size_t size)
{
    for (size_t i = 0; i < SIDES * size; i++) {
        if (((const uint8_t *)out)[i] != UNTOUCHED) {
            return differ(world, "%s: %s wrote there without SCHEDQ_OK", what,
                          world->sides[i / size].engine);
        }
    }
    return true;
}

bool
compare_pods(world_t *world, const life_t *life, schedq_pod_t pods[SIDES])
{
    if (plant_due(world, OTHER_POD)) {
        pods[1].bits ^= UINT64_C(1) << 28;
    }
    for (unsigned side = 0; side < SIDES; side++) {
        uint64_t expected = life != NULL ? life->handles[side].bits : 0;

        if (pods[side].bits != expected) {
            return differ(world, "pod: %s 0x%" PRIx64 ", it has to be 0x%" PRIx64,
                          world->sides[side].engine, pods[side].bits, expected);
        }
    }
    return true;
}

static bool
compare_reserved(world_t *world, const char *what, uint8_t *reserved, size_t size)
{
    if (plant_due(world, OTHER_RESERVED)) {
        reserved[size - 1] = 1;
    }
    for (size_t i = 0; i < size; i++) {
        if (reserved[i] != 0) {
            return differ(world, "%s.reserved[%zu]: %s %u", what, i, world->sides[1].engine,
                          reserved[i]);
        }
    }
    return true;
}

/* The header leaves open whether an active pod has a ref. */
static void
level_refs(schedq_result_t results[SIDES])
{
    if (results[0].place == SCHEDQ_ACTIVE && results[1].place == SCHEDQ_ACTIVE) {
        results[0].ref = results[1].ref = 0;
    }
}

bool
compare_born(world_t *world, schedq_result_t results[SIDES])
{
    level_refs(results);
    return compare_table(world, &result_table, &results[0], &results[1]) &&
           compare_reserved(world, "result", results[1].reserved, sizeof results[1].reserved);
}

bool
compare_results(world_t *world, const life_t *life, schedq_result_t results[SIDES])
{
    schedq_pod_t pods[SIDES] = {results[0].pod, results[1].pod};

    return compare_born(world, results) && compare_pods(world, life, pods);
}

bool
compare_referred(world_t *world, life_t *life, schedq_result_t results[SIDES])
{
    if (!compare_results(world, life, results)) {
        return false;
    }
    if (life != NULL) {
        world_referred(life, (const uint64_t[SIDES]){results[0].ref, results[1].ref});
    }
    return true;
}

bool
compare_sums(world_t *world, schedq_result_t results[SIDES])
{
    const schedq_result_t *sum = &results[0];

    world->seen.effects |=
        (uint8_t)((sum->to_active > 0 ? EFFECT_ACTIVE : 0) |
                  (sum->to_backoff > 0 ? EFFECT_BACKOFF : 0) |
                  (sum->to_parked > 0 ? EFFECT_PARKED : 0) |
                  (sum->to_gated > 0 ? EFFECT_GATED : 0) | (sum->left ? EFFECT_LEFT : 0));
    return compare_table(world, &sum_table, &results[0], &results[1]);
}

bool
compare_bits(world_t *world, const char *what, uint64_t bits[SIDES])
{
    if (plant_due(world, OTHER_BIT)) {
        bits[1] ^= 1;
    }
    if (bits[0] != bits[1]) {
        return differ(world, "%s: mutex 0x%" PRIx64 ", %s 0x%" PRIx64, what, bits[0],
                      world->sides[1].engine, bits[1]);
    }
    return true;
}

bool
compare_candidates(world_t *world, schedq_candidate_t candidates[SIDES])
{
    const life_t *life = world_named(world, object_name(candidates[0].object));
    schedq_pod_t pods[SIDES] = {candidates[0].pod, candidates[1].pod};

    if (life == NULL) {
        return differ(world, "candidate: pod %" PRIu32 " is not in the queue",
                      object_name(candidates[0].object));
    }
    return compare_table(world, &candidate_table, &candidates[0], &candidates[1]) &&
           compare_reserved(world, "candidate", candidates[1].reserved,
                            sizeof candidates[1].reserved) &&
           compare_pods(world, life, pods);
}

bool
compare_name(world_t *world, uint32_t number, unsigned side, const char *text, uint32_t length)
{
    char expected[NAME_ROOM];
    uint32_t expected_length = name_write(world_is_kube(world), number, expected);

    if (side == 1 && plant_due(world, OTHER_NAME)) {
        expected[0] = '!';
    }
    if (length != expected_length || memcmp(text, expected, length + 1) != 0) {
        return differ(world, "name: %s \"%.*s\" (%" PRIu32 "), it has to be \"%s\" (%" PRIu32 ")",
                      world->sides[side].engine, (int)(length < 400 ? length : 400), text, length,
                      expected, expected_length);
    }
    return true;
}

bool
compare_popped(world_t *world, schedq_popped_t popped[SIDES])
{
    if (!compare_table(world, &popped_table, &popped[0], &popped[1]) ||
        !compare_reserved(world, "popped", popped[1].reserved, sizeof popped[1].reserved)) {
        return false;
    }
    if (object_slot(popped[0].object) == NAMES_MAX * OBJECT_VARIANTS) {
        return differ(world, "popped.object: 0x%" PRIx64 " was never given to the queue",
                      popped[0].object);
    }
    for (unsigned side = 0; side < SIDES; side++) {
        if (!compare_name(world, object_name(popped[0].object), side, popped[side].name,
                          popped[side].name_length)) {
            return false;
        }
    }
    return true;
}

bool
compare_infos(world_t *world, uint32_t name, schedq_pod_info_t infos[SIDES])
{
    return compare_table(world, &info_table, &infos[0], &infos[1]) &&
           compare_name(world, name, 0, infos[0].name, infos[0].name_length) &&
           compare_name(world, name, 1, infos[1].name, infos[1].name_length);
}

/* ---- after an operation ---------------------------------------------------------------------- */

static bool
compare_words(world_t *world)
{
    schedq_words_t copies[SIDES] = {*world->sides[0].words, *world->sides[1].words};

    return compare_table(world, &words_table, &copies[0], &copies[1]);
}

static bool
compare_errors(world_t *world)
{
    if (!world->worker_said) {
        return true;
    }
    bool mutex = schedq_worker_error(world_worker(world, 0))[0] != '\0';
    bool other = schedq_worker_error(world_worker(world, 1))[0] != '\0';

    if (plant_due(world, OTHER_ERROR)) {
        other = !mutex;
    }
    if (mutex != other) {
        return differ(world, "schedq_worker_error: mutex \"%s\", %s \"%s\"",
                      schedq_worker_error(world_worker(world, 0)), world->sides[1].engine,
                      schedq_worker_error(world_worker(world, 1)));
    }
    return true;
}

/*
 * The mutex engine lets go when a pod's life or flight ends. Another engine may do so later (nobody
 * is promised when), but never hold less than it owes. Events that are kept hold objects too.
 */
static bool
holds_enough(const world_t *world, const side_t *side, uint64_t held,
             const references_t *references)
{
    if (side->number == SCHEDQ_ENGINE_MUTEX && !settings_have(&world->settings, FEATURE_EVENTS)) {
        return held == references->owed + references->optional;
    }
    return held >= references->owed;
}

static bool
compare_sums_of_accounts(world_t *world)
{
    if (world->settings.config.objects != SCHEDQ_OBJECTS_COUNTED) {
        return true;
    }
    if (world->reference_sum.owed > 0 && plant_due(world, OTHER_OBJECTS)) {
        world->sides[1].account.sum = world->reference_sum.owed - 1;
    }
    for (unsigned i = 0; i < SIDES; i++) {
        const side_t *side = &world->sides[i];

        if (side->account.wrong ||
            !holds_enough(world, side, side->account.sum, &world->reference_sum)) {
            return differ(world,
                          "objects: %s holds %" PRIu64 " references, it owes %" PRIu64
                          " (and may hold %" PRIu64 " more)%s",
                          side->engine, side->account.sum, world->reference_sum.owed,
                          world->reference_sum.optional,
                          side->account.wrong ? "; it gave back one that it did not hold" : "");
        }
    }
    return true;
}

/* Each side's callbacks were asked the same, in any order. */
static bool
compare_heard(world_t *world)
{
    uint64_t heard[SIDES] = {world->sides[0].heard, world->sides[1].heard};

    if (heard[0] != 0 && plant_due(world, OTHER_HEARD)) {
        heard[1]++;
    }
    if (heard[0] != heard[1]) {
        return differ(world, "callbacks: %s was asked other questions than mutex",
                      world->sides[1].engine);
    }
    return true;
}

bool
compare_cheap(world_t *world)
{
    return compare_words(world) && compare_heard(world) && compare_errors(world) &&
           compare_sums_of_accounts(world);
}

static bool
compare_text(world_t *world)
{
    char texts[SIDES][128];
    size_t sizes[SIDES];

    for (unsigned side = 0; side < SIDES; side++) {
        sizes[side] =
            schedq_pending_text(world->sides[side].queue, texts[side], sizeof texts[side]);
    }
    if (plant_due(world, OTHER_TEXT)) {
        texts[1][0] = '!';
    }
    if (sizes[0] != sizes[1] || strcmp(texts[0], texts[1]) != 0) {
        return differ(world, "schedq_pending_text: mutex \"%s\" (%zu), %s \"%s\" (%zu)", texts[0],
                      sizes[0], world->sides[1].engine, texts[1], sizes[1]);
    }
    return true;
}

bool
compare_counters(world_t *world)
{
    schedq_stats_t stats[SIDES];

    for (unsigned side = 0; side < SIDES; side++) {
        stats[side] = (schedq_stats_t)SCHEDQ_STATS_INIT;
        schedq_status_t status = schedq_stats(world->sides[side].queue, &stats[side]);

        if (status != SCHEDQ_OK) {
            return differ(world, "schedq_stats: %s %s", world->sides[side].engine,
                          schedq_status_name(status));
        }
    }
    return compare_table(world, &stats_table, &stats[0], &stats[1]) && compare_text(world);
}

bool
compare_accounts(world_t *world)
{
    if (world->settings.config.objects != SCHEDQ_OBJECTS_COUNTED) {
        return true;
    }
    for (uint32_t slot = 0; slot < world->settings.names * OBJECT_VARIANTS; slot++) {
        for (unsigned i = 0; i < SIDES; i++) {
            const side_t *side = &world->sides[i];

            if (!holds_enough(world, side, side->account.held[slot], &world->references[slot])) {
                return differ(world,
                              "objects: %s holds %" PRIu32 " references to 0x%" PRIx64
                              ", it owes %" PRIu64,
                              side->engine, side->account.held[slot],
                              object_of(slot / OBJECT_VARIANTS, slot % OBJECT_VARIANTS),
                              world->references[slot].owed);
            }
        }
    }
    return true;
}
