/*
 * Reads operation lines, by two tables: what each operation is called and which words it takes, and
 * which key=value pairs exist, what their values may be and which operations carry them.
 */
#include "operation.h"

#include "report.h"

#include <schedq/schedq.h>

#include <string.h>

#define TIME_MAX_MS INT64_C(1000000000000)

static const struct verb {
    const char *name;
    size_t words; /* after the name */
    const char *usage;
} verbs[OP_COUNT] = {
    [OP_ADD] = {"add", 1, "add P ..."},
    [OP_POP] = {"pop", 0, "pop"},
    [OP_FAIL] = {"fail", 1, "fail P ..."},
    [OP_DONE] = {"done", 1, "done P"},
    [OP_MOVE] = {"move", 2, "move RESOURCE:ACTION|ACTION LABEL ..."},
    [OP_UPDATE] = {"update", 1, "update P ..."},
    [OP_DELETE] = {"delete", 1, "delete P"},
    [OP_ACTIVATE] = {"activate", 1, "activate P,Q/UID"},
    [OP_ASSIGNED_ADD] = {"assigned-add", 0, "assigned-add app=X ..."},
    [OP_ASSIGNED_UPDATE] = {"assigned-update", 0, "assigned-update app=X ..."},
    [OP_NOMINATE] = {"nominate", 2,
                     "nominate P NODE, nominate P - or nominate P status nominated=NODE"},
    [OP_DENOMINATE] = {"denominate", 1, "denominate P"},
    [OP_TICK] = {"tick", 0, "tick"},
    [OP_GET] = {"get", 1, "get P"},
    [OP_PENDING] = {"pending", 0, "pending"},
    [OP_CLOSE] = {"close", 0, "close"},
    [OP_GROUP_ADD] = {"group-add", 1, "group-add G prio=N ..."},
    [OP_GROUP_UPDATE] = {"group-update", 1, "group-update G prio=N ..."},
    [OP_GROUP_DELETE] = {"group-delete", 1, "group-delete G ..."},
    [OP_GROUP_DONE] = {"group-done", 1, "group-done G status=success|unschedulable|error"},
    [OP_GROUP_GET] = {"group-get", 1, "group-get G"},
    [OP_COMPOSITE_ADD] = {"composite-add", 1, "composite-add C prio=N ..."},
    [OP_COMPOSITE_UPDATE] = {"composite-update", 1, "composite-update C prio=N ..."},
    [OP_COMPOSITE_DELETE] = {"composite-delete", 1, "composite-delete C ..."},
};

#define BIT(kind) (1U << (kind))
#define SPECS (BIT(OP_ADD) | BIT(OP_FAIL) | BIT(OP_UPDATE))
#define NAMING \
    (SPECS | BIT(OP_DONE) | BIT(OP_DELETE) | BIT(OP_NOMINATE) | BIT(OP_DENOMINATE) | BIT(OP_GET))
#define ASSIGNED (BIT(OP_ASSIGNED_ADD) | BIT(OP_ASSIGNED_UPDATE))
#define DECLARING                                                                              \
    (BIT(OP_GROUP_ADD) | BIT(OP_GROUP_UPDATE) | BIT(OP_GROUP_DELETE) | BIT(OP_COMPOSITE_ADD) | \
     BIT(OP_COMPOSITE_UPDATE) | BIT(OP_COMPOSITE_DELETE))
#define GROUPS (DECLARING | BIT(OP_GROUP_DONE) | BIT(OP_GROUP_GET))
#define AT(member) offsetof(struct operation, member)

enum value_type { TEXT, NUMBER, NAMES, EVENTS, POD };

static const struct key {
    const char *name;
    unsigned carriers;
    enum value_type type;
    size_t offset;
    int64_t min, max; /* numbers; texts: shortest length */
} keys[] = {
    {"group", SPECS | BIT(OP_DELETE), TEXT, AT(pod.group), 1, 0},
    {"group", BIT(OP_MOVE), TEXT, AT(group), 1, 0},
    {"oldgroup", BIT(OP_MOVE), TEXT, AT(old_group), 1, 0},
    {"pod", BIT(OP_MOVE), POD, AT(moved_pod), 0, 0},
    {"min", BIT(OP_MOVE) | DECLARING, NUMBER, AT(min), 0, INT32_MAX},
    {"oldmin", BIT(OP_MOVE), NUMBER, AT(old_min), 0, INT32_MAX},
    {"parent", DECLARING, TEXT, AT(parent), 1, 0},
    {"status", BIT(OP_GROUP_DONE), TEXT, AT(status), 1, 0},
    {"prio", SPECS | DECLARING, NUMBER, AT(pod.prio), INT32_MIN, INT32_MAX},
    {"uid", NAMING, TEXT, AT(pod.id.uid), 1, 0},
    {"profile", SPECS, TEXT, AT(pod.profile), 1, 0},
    {"gate", SPECS, NUMBER, AT(pod.gate), 0, INT32_MAX},
    {"affinity", SPECS, TEXT, AT(pod.affinity), 1, 0},
    {"nominated", SPECS | BIT(OP_NOMINATE), TEXT, AT(pod.nominated), 0, 0},
    {"need", SPECS, NUMBER, AT(pod.need), INT32_MIN, INT32_MAX},
    {"label", SPECS, NUMBER, AT(pod.label), 0, INT32_MAX},
    {"cpu", SPECS, NUMBER, AT(pod.cpu), 0, INT32_MAX},
    {"tol", SPECS, NUMBER, AT(pod.tol), 0, INT32_MAX},
    {"claim", SPECS, NUMBER, AT(pod.claim), 0, INT32_MAX},
    {"plugins", BIT(OP_FAIL), NAMES, AT(plugins), 0, 0},
    {"pending", BIT(OP_FAIL), NAMES, AT(pending), 0, 0},
    {"cycle", BIT(OP_FAIL), NUMBER, AT(cycle), 1, INT64_MAX},
    {"after-done", BIT(OP_FAIL), NUMBER, AT(after_done), 0, 1},
    {"attempts", BIT(OP_FAIL), NUMBER, AT(attempts), 0, UINT32_MAX},
    {"unschedulable", BIT(OP_FAIL), NUMBER, AT(unschedulable), 0, UINT32_MAX},
    {"errors", BIT(OP_FAIL), NUMBER, AT(errors), 0, UINT32_MAX},
    {"initial-attempt", BIT(OP_FAIL), NUMBER, AT(initial_attempt), 0, TIME_MAX_MS},
    {"changed", BIT(OP_UPDATE), NUMBER, AT(changed), 0, 1},
    {"events", BIT(OP_UPDATE), EVENTS, AT(events), 0, 0},
    {"event", BIT(OP_ASSIGNED_UPDATE), EVENTS, AT(event), 0, 0},
    {"old", BIT(OP_MOVE) | BIT(OP_UPDATE) | ASSIGNED, NUMBER, AT(old_number), INT32_MIN, INT32_MAX},
    {"new", BIT(OP_MOVE) | BIT(OP_UPDATE) | ASSIGNED, NUMBER, AT(new_number), INT32_MIN, INT32_MAX},
    {"target", BIT(OP_MOVE), POD, AT(target), 0, 0},
    {"uid", BIT(OP_MOVE), TEXT, AT(target_uid), 1, 0},
    {"precheck", BIT(OP_MOVE), TEXT, AT(precheck), 1, 0},
    {"app", ASSIGNED, TEXT, AT(app), 1, 0},
    {"ns", ASSIGNED, TEXT, AT(ns), 1, 0},
};

#define KEY_COUNT (sizeof keys / sizeof keys[0])
_Static_assert(KEY_COUNT <= 64, "the keys that a line has are noted in one word");

static bool
find_verb(const struct fields *fields, const char *name, enum operation_kind *kind)
{
    for (size_t i = 0; i < OP_COUNT; i++) {
        if (strcmp(verbs[i].name, name) == 0) {
            *kind = (enum operation_kind)i;
            return true;
        }
    }
    report(fields->file, fields->line,
           "\"%s\" is no operation, expected add, pop, fail, done, move, update, delete, "
           "activate, assigned-add, assigned-update, nominate, denominate, tick, get, pending, "
           "close, group-add, group-update, group-delete, group-done, group-get, composite-add, "
           "composite-update or composite-delete",
           name);
    return false;
}

static bool
report_usage(const struct fields *fields, enum operation_kind kind)
{
    report(fields->file, fields->line, "expected \"%s\"", verbs[kind].usage);
    return false;
}

static bool
report_key(const struct fields *fields, enum operation_kind kind, const char *name)
{
    char legal[KEY_COUNT * 24] = "";

    for (size_t i = 0; i < KEY_COUNT; i++) {
        if ((keys[i].carriers & BIT(kind)) != 0) {
            (void)strcat(strcat(legal, legal[0] == '\0' ? "" : ", "), keys[i].name);
        }
    }
    report(fields->file, fields->line, "%s has no key \"%s\", expected %s", verbs[kind].name, name,
           legal[0] == '\0' ? "none" : legal);
    return false;
}

static bool
check_pod_name(const struct fields *fields, struct pod_name pod)
{
    if (pod.name[0] == '\0' || pod.uid[0] == '\0' || strchr(pod.name, '/') != NULL ||
        strlen(pod.name) > 63) {
        report(fields->file, fields->line,
               "expected a pod as NAME (at most 63 bytes, no '/') or NAME/UID");
        return false;
    }
    return true;
}

/* "NAME" or "NAME/UID". */
static bool
parse_pod_name(const struct fields *fields, char *text, struct pod_name *pod)
{
    char *slash = strchr(text, '/');

    *pod = (struct pod_name){text, text};
    if (slash != NULL) {
        *slash = '\0';
        pod->uid = slash + 1;
    }
    return check_pod_name(fields, *pod);
}

/* Events of an update are a list; the one of an assigned pod is not. */
static bool
parse_events(const struct fields *fields, const struct key *key, char *text,
             struct operation *operation)
{
    struct list names;

    if (key->offset == AT(event)) {
        return parse_event(fields, text, &operation->event);
    }
    if (!parse_list(fields, key->name, text, &names)) {
        return false;
    }
    operation->events = keep(fields->memory, names.count, sizeof *operation->events);
    operation->event_count = names.count;
    for (size_t i = 0; i < names.count; i++) {
        if (!parse_event(fields, names.item[i], &operation->events[i])) {
            return false;
        }
    }
    return true;
}

static bool
parse_text(const struct fields *fields, const struct key *key, const char *text, const char **value)
{
    if ((int64_t)strlen(text) < key->min) {
        report(fields->file, fields->line, "%s is empty, expected a text", key->name);
        return false;
    }
    *value = text[0] == '\0' ? NULL : text;
    return true;
}

static bool
parse_value(const struct fields *fields, const struct key *key, char *text,
            struct operation *operation)
{
    void *member = (char *)operation + key->offset;

    switch (key->type) {
    case TEXT:
        return parse_text(fields, key, text, member);
    case NUMBER:
        return parse_number(fields, key->name, text, key->min, key->max, member);
    case NAMES:
        return parse_list(fields, key->name, text, member);
    case EVENTS:
        return parse_events(fields, key, text, operation);
    case POD:
        return parse_pod_name(fields, text, member);
    }
    return false;
}

static bool
parse_pair(const struct fields *fields, const char *name, char *text, struct operation *operation,
           uint64_t *seen)
{
    for (size_t i = 0; i < KEY_COUNT; i++) {
        if (strcmp(keys[i].name, name) != 0 || (keys[i].carriers & BIT(operation->kind)) == 0) {
            continue;
        }
        if ((*seen >> i & 1) != 0) {
            report(fields->file, fields->line, "%s is there twice", name);
            return false;
        }
        *seen |= UINT64_C(1) << i;
        return parse_value(fields, &keys[i], text, operation);
    }
    return report_key(fields, operation->kind, name);
}

static bool
parse_activated(const struct fields *fields, char *word, struct operation *operation)
{
    struct list names;

    if (!parse_list(fields, "activate", word, &names)) {
        return false;
    }
    operation->activated = keep(fields->memory, names.count, sizeof *operation->activated);
    operation->activated_count = names.count;
    for (size_t i = 0; i < names.count; i++) {
        if (!parse_pod_name(fields, names.item[i], &operation->activated[i])) {
            return false;
        }
    }
    return true;
}

static bool
parse_word(const struct fields *fields, size_t index, char *word, struct operation *operation)
{
    if (operation->kind == OP_ACTIVATE) {
        return parse_activated(fields, word, operation);
    }
    if (operation->kind == OP_MOVE) {
        if (index == 0) {
            return parse_event(fields, word, &operation->event);
        }
        operation->event.label = word;
    } else if ((GROUPS & BIT(operation->kind)) != 0) {
        operation->group = word;
    } else if (index == 0) {
        operation->pod.id.name = word;
    } else {
        operation->node = word;
    }
    return true;
}

static bool
parse_fields(const struct fields *fields, struct operation *operation)
{
    const struct verb *verb = &verbs[operation->kind];
    uint64_t seen = 0;
    size_t words = 0;

    for (size_t i = 2; i < fields->count; i++) {
        char *field = fields->item[i];
        char *value = field_value(field);

        if (value != NULL) {
            if (!parse_pair(fields, field, value, operation, &seen)) {
                return false;
            }
        } else if (words == verb->words) {
            return report_usage(fields, operation->kind);
        } else if (!parse_word(fields, words++, field, operation)) {
            return false;
        }
    }
    return words == verb->words || report_usage(fields, operation->kind);
}

/* Hints and preCheck ask for the number in a pod's name. */
static bool
parse_name_number(const struct fields *fields, struct pod_text *pod)
{
    size_t letters = strcspn(pod->id.name, "0123456789");
    struct number number;

    if (pod->id.name[letters] == '\0') {
        report(fields->file, fields->line,
               "pod \"%s\": expected a name that ends in a number, as p12", pod->id.name);
        return false;
    }
    if (!parse_number(fields, "the number in the pod's name", pod->id.name + letters, 0, INT32_MAX,
                      &number)) {
        return false;
    }
    pod->name_number = number.value;
    return true;
}

static bool
complete_pod(const struct fields *fields, struct operation *operation)
{
    struct pod_text *pod = &operation->pod;

    if (pod->id.uid == NULL) {
        pod->id.uid = pod->id.name;
    }
    if (pod->profile == NULL) {
        pod->profile = "default-scheduler";
    }
    return check_pod_name(fields, pod->id) &&
           ((SPECS & BIT(operation->kind)) == 0 || parse_name_number(fields, pod));
}

/* Of a move, uid is the target's: "target=P uid=U" and "target=P/U" name the same pod. */
static bool
complete_target(const struct fields *fields, struct operation *operation)
{
    struct pod_name *target = &operation->target;

    if (operation->target_uid == NULL) {
        return true;
    }
    if (target->name == NULL) {
        report(fields->file, fields->line, "expected uid with target: it is the target's");
        return false;
    }
    if (target->uid != target->name) {
        report(fields->file, fields->line, "the target's uid is there twice");
        return false;
    }
    target->uid = operation->target_uid;
    return true;
}

static bool
complete_move(const struct fields *fields, struct operation *operation)
{
    const struct event_text *event = &operation->event;
    bool wildcard = strcmp(event->resource, "*") == 0 && event->actions == SCHEDQ_ACTION_ALL;

    if (operation->precheck != NULL && strcmp(operation->precheck, "even") != 0) {
        report(fields->file, fields->line, "precheck is \"%s\", expected even",
               operation->precheck);
        return false;
    }
    if (operation->target.name != NULL && (!wildcard || operation->new_number.given)) {
        report(fields->file, fields->line,
               "expected target with *:All and without new: the target is the new object");
        return false;
    }
    return complete_target(fields, operation);
}

static bool
complete_status(const struct fields *fields, const struct operation *operation)
{
    return (operation->status != NULL && (strcmp(operation->status, "success") == 0 ||
                                          strcmp(operation->status, "unschedulable") == 0 ||
                                          strcmp(operation->status, "error") == 0)) ||
           report_usage(fields, OP_GROUP_DONE);
}

/* A group's number has room for so many. */
static bool
check_group_name(const struct fields *fields, const char *name)
{
    if (name != NULL && strlen(name) > 8) {
        report(fields->file, fields->line, "group \"%s\": expected a name of at most 8 bytes",
               name);
        return false;
    }
    return true;
}

/* What the tables cannot state. */
static bool
complete(const struct fields *fields, struct operation *operation)
{
    if (!check_group_name(fields, operation->group) ||
        !check_group_name(fields, operation->parent) ||
        !check_group_name(fields, operation->old_group) ||
        !check_group_name(fields, operation->pod.group)) {
        return false;
    }
    if (operation->pod.id.name != NULL && !complete_pod(fields, operation)) {
        return false;
    }
    switch (operation->kind) {
    case OP_MOVE:
        return complete_move(fields, operation);
    case OP_UPDATE:
        if (operation->new_number.given &&
            operation->new_number.value != operation->pod.need.value) {
            report(fields->file, fields->line,
                   "expected new to be the pod's need: the new object is the pod itself");
            return false;
        }
        return true;
    case OP_ASSIGNED_ADD:
    case OP_ASSIGNED_UPDATE:
        return operation->app != NULL || report_usage(fields, operation->kind);
    case OP_GROUP_DONE:
        return complete_status(fields, operation);
    case OP_NOMINATE:
        return operation->pod.nominated == NULL || strcmp(operation->node, "status") == 0 ||
               report_usage(fields, OP_NOMINATE);
    default:
        return true;
    }
}

bool
operation_parse(struct operation *operation, const char *file, unsigned line, char *text,
                struct obstack *memory)
{
    struct fields fields = {.file = file, .line = line, .memory = memory};
    struct number time;

    *operation = (struct operation){.line = line};
    operation->text = keep_text(memory, text);
    if (!fields_split(&fields, text) ||
        !parse_number(&fields, "the time", fields.item[0], 0, TIME_MAX_MS, &time)) {
        return false;
    }
    operation->time_ms = time.value;
    if (fields.count < 2) {
        report(file, line, "expected an operation after the time");
        return false;
    }
    return find_verb(&fields, fields.item[1], &operation->kind) &&
           parse_fields(&fields, operation) && complete(&fields, operation);
}
