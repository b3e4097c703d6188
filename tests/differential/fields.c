/*
 * Fields that have to agree, as the header documents them.
 *
 * Left out on purpose: bytes in schedq_stats_t (each engine's own), and handles, tokens and refs,
 * which world.c maps.
 */
#include "fields.h"

#include <schedq/schedq.h>
#include <string.h>

#define FIELD(prefix, type, member, kind)                                             \
    {                                                                                 \
        prefix "." #member, offsetof(type, member), sizeof(((type *)0)->member), kind \
    }
#define RESULT(member, kind) FIELD("result", schedq_result_t, member, kind)
#define POPPED(member, kind) FIELD("popped", schedq_popped_t, member, kind)
#define CANDIDATE(member, kind) FIELD("candidate", schedq_candidate_t, member, kind)
#define INFO(member, kind) FIELD("info", schedq_pod_info_t, member, kind)
#define STATS(member) FIELD("stats", schedq_stats_t, member, FIELD_EQUAL)
#define WORDS(member, kind) FIELD("words", schedq_words_t, member, kind)
#define GROUP(member, kind) FIELD("popped_group", schedq_popped_group_t, member, kind)
#define GANG(member) FIELD("group_info", schedq_group_info_t, member, FIELD_EQUAL)
#define EXPLANATION(member, kind) FIELD("explanation", schedq_explanation_t, member, kind)
#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* Those of a sum come first. */
#define SUM_FIELDS 5

static const field_t result_fields[] = {
    RESULT(to_active, FIELD_EQUAL),     RESULT(to_backoff, FIELD_EQUAL),
    RESULT(to_parked, FIELD_EQUAL),     RESULT(to_gated, FIELD_EQUAL),
    RESULT(poppable, FIELD_EQUAL),      RESULT(object, FIELD_EQUAL),
    RESULT(unschedulable, FIELD_EQUAL), RESULT(pending, FIELD_EQUAL),
    RESULT(sequence, FIELD_EQUAL),      RESULT(timestamp_ns, FIELD_EQUAL),
    RESULT(place, FIELD_EQUAL),         RESULT(gate, FIELD_EQUAL),
    RESULT(added, FIELD_EQUAL),         RESULT(left, FIELD_EQUAL),
    RESULT(backing_off, FIELD_EQUAL),   RESULT(ref, FIELD_SET),
};

static const field_t popped_fields[] = {
    POPPED(object, FIELD_EQUAL),
    POPPED(name_length, FIELD_EQUAL),
    POPPED(priority, FIELD_EQUAL),
    POPPED(history.timestamp_ns, FIELD_EQUAL),
    POPPED(history.initial_attempt_ns, FIELD_EQUAL),
    POPPED(history.attempts, FIELD_EQUAL),
    POPPED(history.rejections, FIELD_EQUAL),
    POPPED(history.errors, FIELD_EQUAL),
    POPPED(history.reserved, FIELD_EQUAL),
    POPPED(unschedulable, FIELD_EQUAL),
    POPPED(pending, FIELD_EQUAL),
    POPPED(seen, FIELD_EQUAL),
    POPPED(cycle, FIELD_EQUAL),
    POPPED(nominated_node, FIELD_EQUAL),
    POPPED(backoff_expiry_ns, FIELD_EQUAL),
    POPPED(from_backoff, FIELD_EQUAL),
    POPPED(flushed, FIELD_EQUAL),
    POPPED(profile, FIELD_EQUAL),
    POPPED(flags, FIELD_EQUAL),
    POPPED(more, FIELD_HINT),
};

static const field_t candidate_fields[] = {
    CANDIDATE(object, FIELD_EQUAL),    CANDIDATE(unschedulable, FIELD_EQUAL),
    CANDIDATE(pending, FIELD_EQUAL),   CANDIDATE(timestamp_ns, FIELD_EQUAL),
    CANDIDATE(expiry_ns, FIELD_EQUAL), CANDIDATE(place, FIELD_EQUAL),
    CANDIDATE(gate, FIELD_EQUAL),      CANDIDATE(backing_off, FIELD_EQUAL),
    CANDIDATE(profile, FIELD_EQUAL),   CANDIDATE(ref, FIELD_SET),
};

static const field_t info_fields[] = {
    INFO(struct_size, FIELD_EQUAL),
    INFO(place, FIELD_EQUAL),
    INFO(profile, FIELD_EQUAL),
    INFO(flags, FIELD_EQUAL),
    INFO(deleted, FIELD_EQUAL),
    INFO(object, FIELD_EQUAL),
    INFO(name_length, FIELD_EQUAL),
    INFO(priority, FIELD_EQUAL),
    INFO(history.timestamp_ns, FIELD_EQUAL),
    INFO(history.initial_attempt_ns, FIELD_EQUAL),
    INFO(history.attempts, FIELD_EQUAL),
    INFO(history.rejections, FIELD_EQUAL),
    INFO(history.errors, FIELD_EQUAL),
    INFO(history.reserved, FIELD_EQUAL),
    INFO(freed_by, FIELD_EQUAL),
    INFO(backoff_expiry_ns, FIELD_EQUAL),
    INFO(unschedulable, FIELD_EQUAL),
    INFO(pending, FIELD_EQUAL),
    INFO(gate, FIELD_EQUAL),
    INFO(pop_order, FIELD_SET),
    INFO(cycle, FIELD_EQUAL),
    INFO(nominated_node, FIELD_EQUAL),
    INFO(nomination, FIELD_SET),
    INFO(not_before_ns, FIELD_EQUAL),
    INFO(label, FIELD_EQUAL),
    INFO(group, FIELD_EQUAL),
    INFO(held, FIELD_EQUAL),
    INFO(kept_by_class, FIELD_EQUAL),
    INFO(class_id, FIELD_EQUAL),
    INFO(scout.bits, FIELD_SET),
};

static const field_t stats_fields[] = {
    STATS(workers),
    STATS(active),
    STATS(backoff),
    STATS(error_backoff),
    STATS(parked),
    STATS(gated),
    STATS(inflight),
    STATS(nominated),
    STATS(adds),
    STATS(pops),
    STATS(dones),
    STATS(failures),
    STATS(deletes),
    STATS(updates),
    STATS(moves),
    STATS(events),
    STATS(hint_calls),
    STATS(pre_enqueue_calls),
    STATS(held),
    STATS(class_hides),
    STATS(class_turns),
    STATS(aside),
    STATS(groups_known),
    STATS(groups),
    STATS(groups_at[SCHEDQ_NOWHERE]),
    STATS(groups_at[SCHEDQ_ACTIVE]),
    STATS(groups_at[SCHEDQ_BACKOFF]),
    STATS(groups_at[SCHEDQ_ERROR_BACKOFF]),
    STATS(groups_at[SCHEDQ_PARKED]),
    STATS(groups_at[SCHEDQ_GATED]),
    STATS(groups_at[SCHEDQ_INFLIGHT]),
    STATS(groups_at[SCHEDQ_HELD]),
    STATS(groups_at[SCHEDQ_ASIDE]),
    STATS(members_at[SCHEDQ_NOWHERE]),
    STATS(members_at[SCHEDQ_ACTIVE]),
    STATS(members_at[SCHEDQ_BACKOFF]),
    STATS(members_at[SCHEDQ_ERROR_BACKOFF]),
    STATS(members_at[SCHEDQ_PARKED]),
    STATS(members_at[SCHEDQ_GATED]),
    STATS(members_at[SCHEDQ_INFLIGHT]),
    STATS(members_at[SCHEDQ_HELD]),
    STATS(members_at[SCHEDQ_ASIDE]),
};

static const field_t group_fields[] = {
    GROUP(group, FIELD_EQUAL),
    GROUP(object, FIELD_EQUAL),
    GROUP(history.timestamp_ns, FIELD_EQUAL),
    GROUP(history.initial_attempt_ns, FIELD_EQUAL),
    GROUP(history.attempts, FIELD_EQUAL),
    GROUP(history.rejections, FIELD_EQUAL),
    GROUP(history.errors, FIELD_EQUAL),
    GROUP(seen, FIELD_EQUAL),
    GROUP(cycle, FIELD_EQUAL),
    GROUP(backoff_expiry_ns, FIELD_EQUAL),
    GROUP(priority, FIELD_EQUAL),
    GROUP(more, FIELD_HINT),
    GROUP(profile, FIELD_EQUAL),
    GROUP(flushed, FIELD_EQUAL),
};

static const field_t gang_fields[] = {
    GANG(priority),
    GANG(quorum),
    GANG(place),
    GANG(gate),
    GANG(profile),
    GANG(declared),
    GANG(object),
    GANG(parent),
    GANG(root),
    GANG(history.timestamp_ns),
    GANG(history.initial_attempt_ns),
    GANG(history.attempts),
    GANG(history.rejections),
    GANG(history.errors),
    GANG(backoff_expiry_ns),
    GANG(unschedulable),
    GANG(pending),
    GANG(waiting),
};

static const field_t words_fields[] = {
    WORDS(parked, FIELD_EQUAL),
    WORDS(gated, FIELD_EQUAL),
    WORDS(backoff, FIELD_EQUAL),
    WORDS(error_backoff, FIELD_EQUAL),
    WORDS(nominations, FIELD_EQUAL),
    WORDS(event_sequence, FIELD_EQUAL),
    WORDS(next_deadline_ns, FIELD_BOUND),
    WORDS(now_ns, FIELD_EQUAL),
    WORDS(closed, FIELD_EQUAL),
    WORDS(poppable, FIELD_HINT),
    WORDS(held, FIELD_EQUAL),
    WORDS(aside, FIELD_EQUAL),
};

static const field_t explanation_fields[] = {
    EXPLANATION(place, FIELD_EQUAL),
    EXPLANATION(profile, FIELD_EQUAL),
    EXPLANATION(gate, FIELD_EQUAL),
    EXPLANATION(unschedulable, FIELD_EQUAL),
    EXPLANATION(pending, FIELD_EQUAL),
    EXPLANATION(history.timestamp_ns, FIELD_EQUAL),
    EXPLANATION(history.initial_attempt_ns, FIELD_EQUAL),
    EXPLANATION(history.attempts, FIELD_EQUAL),
    EXPLANATION(history.rejections, FIELD_EQUAL),
    EXPLANATION(history.errors, FIELD_EQUAL),
    EXPLANATION(now_ns, FIELD_EQUAL),
    EXPLANATION(backoff_expiry_ns, FIELD_EQUAL),
    EXPLANATION(wake_ns, FIELD_EQUAL),
    EXPLANATION(nominated_node, FIELD_EQUAL),
    EXPLANATION(nomination, FIELD_SET),
    EXPLANATION(group, FIELD_EQUAL),
    EXPLANATION(group_root, FIELD_EQUAL),
    EXPLANATION(group_waiting, FIELD_EQUAL),
    EXPLANATION(group_quorum, FIELD_EQUAL),
    EXPLANATION(group_place, FIELD_EQUAL),
    EXPLANATION(group_declared, FIELD_EQUAL),
    EXPLANATION(kept_by_class, FIELD_EQUAL),
    EXPLANATION(class_id, FIELD_EQUAL),
    EXPLANATION(scout.bits, FIELD_SET),
};

const table_t result_table = {result_fields, LENGTH(result_fields)};
const table_t sum_table = {result_fields, SUM_FIELDS};
const table_t popped_table = {popped_fields, LENGTH(popped_fields)};
const table_t candidate_table = {candidate_fields, LENGTH(candidate_fields)};
const table_t info_table = {info_fields, LENGTH(info_fields)};
const table_t stats_table = {stats_fields, LENGTH(stats_fields)};
const table_t words_table = {words_fields, LENGTH(words_fields)};
const table_t explanation_table = {explanation_fields, LENGTH(explanation_fields)};
const table_t group_table = {group_fields, LENGTH(group_fields)};
const table_t gang_table = {gang_fields, LENGTH(gang_fields)};

const field_t plant_others[OTHERS] = {
    [OTHER_STATUS] = {.name = "status"},
    [OTHER_STATUSES] = {.name = "statuses"},
    [OTHER_COUNT] = {.name = "count"},
    [OTHER_POD] = {.name = "pod"},
    [OTHER_HANDLE_REUSED] = {.name = "handle-reused"},
    [OTHER_TOKEN_REUSED] = {.name = "token-reused"},
    [OTHER_NAME] = {.name = "name"},
    [OTHER_NAME_KEPT] = {.name = "name-kept"},
    [OTHER_ERROR] = {.name = "error"},
    [OTHER_TEXT] = {.name = "pending-text"},
    [OTHER_NEXT] = {.name = "tick-next"},
    [OTHER_OBJECTS] = {.name = "objects"},
    [OTHER_OBJECTS_LEFT] = {.name = "objects-left"},
    [OTHER_RESERVED] = {.name = "reserved"},
    [OTHER_VISITS] = {.name = "visits"},
    [OTHER_POSITION] = {.name = "position"},
    [OTHER_REASONS] = {.name = "reasons"},
    [OTHER_READABLE] = {.name = "readable"},
    [OTHER_ORDER] = {.name = "order"},
    [OTHER_HEARD] = {.name = "heard"},
    [OTHER_METRICS] = {.name = "metrics"},
    [OTHER_BIT] = {.name = "bits"},
    [OTHER_CANDIDATES] = {.name = "candidates"},
    [OTHER_HINT] = {.name = "hint"},
    [OTHER_GATE] = {.name = "gate"},
    [OTHER_NESTED] = {.name = "nested"},
    [OTHER_WOKEN] = {.name = "woken"},
    [OTHER_SENTENCE] = {.name = "explanation-text"},
    [OTHER_OVERDUE] = {.name = "overdue"},
    [OTHER_BLOCKS] = {.name = "blocks"},
};

static const table_t others_table = {plant_others, OTHERS};
static const table_t *const tables[] = {
    &result_table, &popped_table,      &candidate_table, &info_table, &stats_table,
    &words_table,  &explanation_table, &group_table,     &gang_table, &others_table};

const field_t *
plant_at(size_t number)
{
    for (size_t i = 0; i < LENGTH(tables); i++) {
        if (number < tables[i]->count) {
            return &tables[i]->fields[number];
        }
        number -= tables[i]->count;
    }
    return NULL;
}

const field_t *
plant_find(const char *name)
{
    const field_t *field;

    for (size_t i = 0; (field = plant_at(i)) != NULL; i++) {
        if (strcmp(field->name, name) == 0) {
            return field;
        }
    }
    return NULL;
}
