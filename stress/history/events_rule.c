/*
 * Missed events, and gates that stay shut.
 *
 * Events: a pod whose rejectors an event concerns, and whose hint says so, is not parked once that
 * event's call has returned, if the call began after the pod was popped. So whoever finds a parked
 * pod (its own failure included) asks for the event of each kind that ended before that and began
 * last: it must have begun before the pop.
 *
 * Gates: no pod is gated that its gate lets pass, once an event of the gate has come: if the gate
 * is open from before the begin of that event until the look is over. A call that puts a pod into
 * the queue asks the gate itself.
 *
 * Nothing is said of a pod that was held before: its release tries it again, whatever it missed.
 *
 * The object decides which events help and which gate refuses. While an update runs either object
 * may be the pod's: both must agree before anything is said.
 */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "cluster.h"

/*
 * Events of one kind and class, by end; newest[i] is the one that began last among the first i + 1.
 */
typedef struct train {
    record_t **events, **newest;
    size_t count;
} train_t;

struct events_rule {
    train_t trains[KINDS][CLASSES];
    record_t **gates; /* by begin */
    size_t gate_count;
    sortable_t *sortable, *scratch;
    record_t **memory;
};

events_rule_t *
events_rule_make(const book_t *book)
{
    size_t records = (size_t)book->capacity * (book->threads + 1);
    events_rule_t *rule = calloc(1, sizeof *rule);
    if (rule != NULL) {
        rule->sortable = malloc(records * sizeof *rule->sortable);
        rule->scratch = malloc(records * sizeof *rule->scratch);
        rule->memory = malloc(2 * records * sizeof *rule->memory);
    }
    if (rule == NULL || rule->sortable == NULL || rule->scratch == NULL || rule->memory == NULL) {
        fprintf(stderr, "schedq-history: no memory for the events\n");
        exit(1);
    }
    return rule;
}

void
events_rule_free(events_rule_t *rule)
{
    free(rule->sortable);
    free(rule->scratch);
    free(rule->memory);
    free(rule);
}

/* ---- trains ---------------------------------------------------------------------------------- */

static unsigned
class_of(const record_t *event)
{
    return event->kind == KIND_FIT ? event->class : 0;
}

static bool
is_event(const record_t *record)
{
    return record->call == OP_NOTIFY && record->status == SCHEDQ_OK;
}

static void
place_trains(events_rule_t *rule, const book_t *book)
{
    record_t **room = rule->memory;
    memset(rule->trains, 0, sizeof rule->trains);
    rule->gate_count = 0;
    for (size_t i = 0; i < book->count; i++) {
        if (is_event(book->all[i]))
            rule->trains[book->all[i]->kind][class_of(book->all[i])].count++;
    }
    for (unsigned i = 0; i < KINDS * CLASSES; i++) {
        train_t *train = &rule->trains[i / CLASSES][i % CLASSES];
        train->events = room;
        train->newest = room + train->count;
        room += 2 * train->count;
        train->count = 0;
    }
    rule->gates = room;
}

static void
fill_trains(events_rule_t *rule, const book_t *book)
{
    size_t count = 0;
    for (size_t i = 0; i < book->count; i++) {
        if (is_event(book->all[i]))
            rule->sortable[count++] = (sortable_t){book->all[i]->end, book->all[i]};
        if (book->sorted[i]->call == CALL_GATE)
            rule->gates[rule->gate_count++] = book->sorted[i];
    }
    sort_by_key(rule->sortable, rule->scratch, count);
    for (size_t i = 0; i < count; i++) {
        record_t *event = rule->sortable[i].item;
        train_t *train = &rule->trains[event->kind][class_of(event)];
        record_t *newest = train->count > 0 ? train->newest[train->count - 1] : event;
        train->events[train->count] = event;
        train->newest[train->count++] = newest->begin > event->begin ? newest : event;
    }
}

/* Of the events that ended before `time` the one that began last; NULL: there is none. */
static const record_t *
newest_before(const train_t *train, uint64_t time)
{
    size_t low = 0, high = train->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (train->events[middle]->end < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 ? train->newest[low - 1] : NULL;
}

/* ---- parked pods ----------------------------------------------------------------------------- */

static bool
has_class(uint64_t object, unsigned class)
{
    return object_class(object) == class;
}

/* An event of this kind helps whoever has one of these rejectors, whatever its object. */
static bool
helps_any_object(uint8_t kind, uint8_t rejectors)
{
    unsigned asks = kind == KIND_FIT ? 1u << PLUGIN_FIT : 0;
    return (rejectors & kind_hearers(kind) & ~asks) != 0;
}

static const record_t *
missed_event(const events_rule_t *rule, const stay_t *stay, const record_t *look, uint64_t since)
{
    uint8_t rejectors = (uint8_t)(stay->began->unschedulable | stay->began->pending);
    for (unsigned kind = 0; kind < KINDS; kind++) {
        if ((rejectors & kind_hearers((uint8_t)kind)) == 0)
            continue;
        for (unsigned class = 0; class < CLASSES; class ++) {
            const record_t *event = newest_before(&rule->trains[kind][class], look->begin);
            if (event != NULL && event->begin > since &&
                (helps_any_object((uint8_t)kind, rejectors) ||
                 life_objects_are(stay->life, event->begin, look->end, has_class, class)))
                return event;
        }
    }
    return NULL;
}

static bool
is_within(const record_t *record, uint64_t since, uint64_t before)
{
    return record->begin > since && record->end < before;
}

/* Did any event, whomever it helps, begin and end between these? */
static bool
any_event_within(const events_rule_t *rule, uint64_t since, uint64_t before)
{
    for (unsigned kind = 0; kind < KINDS; kind++) {
        for (unsigned class = 0; class < CLASSES; class ++) {
            const record_t *event = newest_before(&rule->trains[kind][class], before);
            if (event != NULL && event->begin > since)
                return true;
        }
    }
    return false;
}

/* An activation, a target, or an update of the pod with an event. */
static const record_t *
missed_call(const stay_t *stay, const record_t *look, uint64_t since)
{
    uint8_t rejectors = (uint8_t)(stay->began->unschedulable | stay->began->pending);
    const life_t *life = stay->life;
    for (const record_t *nudge = life->nudges; nudge != NULL; nudge = nudge->next_nudge) {
        if (is_within(nudge, since, look->begin))
            return nudge;
    }
    for (const record_t *update = life->first_update; update != NULL;
         update = update->next_update) {
        if (update->with_event && helps_any_object(update->kind, rejectors) &&
            is_within(update, since, look->begin))
            return update;
    }
    return NULL;
}

static void
complain(const stay_t *stay, const record_t *cause, const record_t *look, report_t *report)
{
    bool printing = report_is_printing(report, RULE_EVENTS);
    report_violation(
        report, RULE_EVENTS, cause, look,
        "the first of these calls concerns a pod, began after its pop, and did not bring it back");
    if (!printing)
        return;
    printf("  the pod:\n");
    if (stay->flight != NULL)
        record_print(report->book, stay->flight, stdout);
    record_print(report->book, stay->began, stdout);
}

static void
check_parked(const events_rule_t *rule, const stay_t *stay, const record_t *look, report_t *report)
{
    uint64_t since = stay->flight != NULL ? stay->flight->end : stay->began->end;
    if (any_event_within(rule, since, look->begin))
        report_obligation(report, RULE_EVENTS);
    const record_t *cause = missed_event(rule, stay, look, since);
    if (cause == NULL)
        cause = missed_call(stay, look, since);
    if (cause != NULL)
        complain(stay, cause, look, report);
}

/* ---- gated pods ------------------------------------------------------------------------------ */

/* Is the gate open during all of [from, until]? */
static bool
is_open(const events_rule_t *rule, unsigned gate, uint64_t from, uint64_t until)
{
    uint64_t shut_until = 0;
    bool open = false;
    for (size_t i = 0; i < rule->gate_count && rule->gates[i]->begin <= until; i++) {
        const record_t *record = rule->gates[i];
        if (record->gate == gate && record->shut && record->end > shut_until)
            shut_until = record->end;
    }
    for (size_t i = 0; i < rule->gate_count && rule->gates[i]->begin <= from && !open; i++) {
        const record_t *record = rule->gates[i];
        open = record->gate == gate && !record->shut && record->begin > shut_until &&
               record->end < from;
    }
    return open;
}

typedef struct passing {
    const events_rule_t *rule;
    uint64_t from, until;
} passing_t;

static _Thread_local passing_t passing;

static bool
passes(uint64_t object, unsigned unused)
{
    unsigned gate = object_gate(object);
    (void)unused;
    return gate == NO_GATE || is_open(passing.rule, gate, passing.from, passing.until);
}

static bool
all_pass(const events_rule_t *rule, const life_t *life, uint64_t from, uint64_t until)
{
    passing = (passing_t){rule, from, until};
    return life_objects_are(life, from, until, passes, 0);
}

static void
check_gated(const events_rule_t *rule, const life_t *life, const record_t *look, report_t *report)
{
    static const kind_t heard[] = {KIND_GATES, KIND_WILDCARD};
    unsigned kinds_heard = report->book->settings.kube ? 1 : 2; /* 1.34: no wildcards */
    report_obligation(report, RULE_GATES);
    for (unsigned i = 0; i < kinds_heard; i++) {
        const record_t *event = newest_before(&rule->trains[heard[i]][0], look->begin);
        if (event != NULL && all_pass(rule, life, event->begin, look->end)) {
            report_violation(report, RULE_GATES, event, look,
                             "a pod is gated, though its gate is open since before this event");
            return;
        }
    }
}

static void
check_entered(const events_rule_t *rule, const life_t *life, const record_t *record,
              report_t *report)
{
    report_obligation(report, RULE_GATES);
    if (all_pass(rule, life, record->begin, record->end))
        report_violation(report, RULE_GATES, record, NULL,
                         "a pod was gated while its gate was open");
}

/* ---- the rule -------------------------------------------------------------------------------- */

static void
check_record(const events_rule_t *rule, const record_t *record, report_t *report)
{
    bool enters = record_fails(record) || (record_creates(record) && record->call != CALL_CARRY);
    const stay_t *stay =
        record_fails(record) && record->stay != NULL ? record->stay->next : record->stay;
    if (record->life == NULL || (!enters && !record_sees(record)) ||
        record->life->kept_from <= record->end)
        return;
    if (record->place == SCHEDQ_PARKED && stay != NULL)
        check_parked(rule, stay, record, report);
    else if (record->place == SCHEDQ_GATED && enters)
        check_entered(rule, record->life, record, report);
    else if (record->place == SCHEDQ_GATED)
        check_gated(rule, record->life, record, report);
}

void
events_rule_check(events_rule_t *rule, const book_t *book, report_t *report)
{
    place_trains(rule, book);
    fill_trains(rule, book);
    for (size_t i = 0; i < book->count; i++)
        check_record(rule, book->all[i], report);
}
