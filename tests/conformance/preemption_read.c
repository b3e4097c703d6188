/*
 * Lines of a case: config, node, pod, pdb, nominated, extender in any order, preemptor, then the
 * answers, end. A table per kind of line says which keys it has and where their values go.
 */
#include "preemption_read.h"

#include "report.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define obstack_chunk_alloc malloc
#define obstack_chunk_free free

#define CPU_MAX SCHEDQ_QUANTITY_MAX
#define MIB_MAX (SCHEDQ_QUANTITY_MAX >> 20)
#define START_MAX INT64_C(9000000000)
#define LINES_MAX 4096 /* of an answer */

/* ---- keys ------------------------------------------------------------------------------------ */

enum kind { KEY_NUMBER, KEY_TEXT, KEY_LIST };

struct key {
    const char *name;
    enum kind kind;
    size_t offset; /* of a struct number, a const char * or a struct list */
    int64_t min, max;
};

#define NUMBER(name, type, member, min, max)               \
    {                                                      \
        name, KEY_NUMBER, offsetof(type, member), min, max \
    }
#define FLAG(name, type, member) NUMBER(name, type, member, 0, 1)
#define TEXT(name, type, member)                     \
    {                                                \
        name, KEY_TEXT, offsetof(type, member), 0, 0 \
    }
#define LIST(name, type, member)                     \
    {                                                \
        name, KEY_LIST, offsetof(type, member), 0, 0 \
    }
#define AMOUNTS(type, member)                                                                 \
    NUMBER("cpu", type, member.cpu, 0, CPU_MAX), NUMBER("mem", type, member.mem, 0, MIB_MAX), \
        NUMBER("gpu", type, member.gpu, 0, CPU_MAX)
#define PRIORITY(type) NUMBER("prio", type, prio, INT32_MIN, INT32_MAX)

/* Texts that stand for something else are converted by the reader of their line. */
struct texts_given {
    const char *status, *policy, *preset;
};

static const struct key config_keys[] = {
    NUMBER("percentage", struct preemption_case, percentage, 0, 100),
    NUMBER("absolute", struct preemption_case, absolute, 0, UINT32_MAX),
    NUMBER("offset", struct preemption_case, offset, 0, UINT32_MAX),
    {0},
};
static const struct key node_keys[] = {
    AMOUNTS(struct case_node, allocatable),
    NUMBER("pods", struct case_node, pods, 0, CPU_MAX),
    FLAG("tainted", struct case_node, tainted),
    {0},
};
static const struct key pod_keys[] = {
    AMOUNTS(struct case_pod, requests),
    PRIORITY(struct case_pod),
    NUMBER("start", struct case_pod, start, -START_MAX, START_MAX),
    FLAG("deleting", struct case_pod, deleting),
    FLAG("protected", struct case_pod, is_protected),
    TEXT("node", struct case_pod, node),
    TEXT("ns", struct case_pod, space),
    TEXT("app", struct case_pod, app),
    TEXT("tier", struct case_pod, tier),
    TEXT("disruption", struct case_pod, disruption),
    {0},
};
static const struct key budget_keys[] = {
    TEXT("selector", struct case_budget, selector),
    NUMBER("allowed", struct case_budget, allowed, INT32_MIN, INT32_MAX),
    LIST("disrupted", struct case_budget, disrupted),
    TEXT("ns", struct case_budget, space),
    {0},
};
static const struct key nominated_keys[] = {
    AMOUNTS(struct case_nominated, requests),
    PRIORITY(struct case_nominated),
    TEXT("node", struct case_nominated, node),
    {0},
};
static const struct key extender_keys[] = {
    LIST("drop", struct case_extender, drop),
    LIST("empty", struct case_extender, empty),
    FLAG("fails", struct case_extender, fails),
    FLAG("ignorable", struct case_extender, ignorable),
    FLAG("uninterested", struct case_extender, uninterested),
    {0},
};
static const struct key preemptor_keys[] = {
    AMOUNTS(struct preemption_case, requests),
    PRIORITY(struct preemption_case),
    TEXT("nominated", struct preemption_case, nominated_node),
    {0},
};
static const struct key status_key[] = {TEXT("status", struct texts_given, status), {0}};
static const struct key policy_key[] = {TEXT("policy", struct texts_given, policy), {0}};
static const struct key preset_key[] = {TEXT("preset", struct texts_given, preset), {0}};

static const struct key *
find_key(const struct key *keys, const char *name)
{
    for (; keys->name != NULL; keys++) {
        if (strcmp(keys->name, name) == 0) {
            return keys;
        }
    }
    return NULL;
}

static bool
malformed(const struct preemption_reader *reader, const char *expected)
{
    report(reader->file, reader->line, "expected %s", expected);
    return false;
}

static bool
store(const struct fields *fields, const struct key *key, void *target, char *value)
{
    void *place = (char *)target + key->offset;

    if (key->kind == KEY_NUMBER) {
        return parse_number(fields, key->name, value, key->min, key->max, place);
    }
    if (value[0] == '\0') {
        report(fields->file, fields->line, "%s is \"\", expected something after '='", key->name);
        return false;
    }
    if (key->kind == KEY_LIST) {
        return parse_list(fields, key->name, value, place);
    }
    *(const char **)place = value;
    return true;
}

/* Stores the fields from `first` on: in `target`, or, for the one key of `extra`, in `texts`. */
static bool
read_keys(const struct fields *fields, size_t first, const struct key *keys, void *target,
          const struct key *extra, struct texts_given *texts)
{
    for (size_t i = first; i < fields->count; i++) {
        char *name = fields->item[i];
        char *value = field_value(name);
        const struct key *key = find_key(keys, name);
        const struct key *other = key == NULL && extra != NULL ? find_key(extra, name) : NULL;

        if (value == NULL || (key == NULL && other == NULL)) {
            report(fields->file, fields->line,
                   "\"%s\"%s in a line \"%s\", expected one of its keys and '='", name,
                   value == NULL ? " has no '='" : " is no key", fields->item[0]);
            return false;
        }
        for (size_t k = first; k < i; k++) {
            if (strcmp(fields->item[k], name) == 0) {
                report(fields->file, fields->line,
                       "\"%s\" stands there twice, expected each key once", name);
                return false;
            }
        }
        if (!(key != NULL ? store(fields, key, target, value)
                          : store(fields, other, texts, value))) {
            return false;
        }
    }
    return true;
}

/* ---- lines ----------------------------------------------------------------------------------- */

static bool
has_name(const struct fields *fields)
{
    const char *name = fields->count < 2 ? "" : fields->item[1];

    if (name[0] == '\0' || strpbrk(name, "=/,") != NULL) {
        report(fields->file, fields->line,
               "\"%s\" is no name, expected one after \"%s\", without '=', '/', ','", name,
               fields->item[0]);
        return false;
    }
    return true;
}

static bool
read_preset(const struct fields *fields, const char *name, schedq_preset_t *preset)
{
    if (strcmp(name, "kube-1.34") == 0) {
        *preset = SCHEDQ_PRESET_KUBE_1_34;
    } else if (strcmp(name, "kube-1.12") == 0) {
        *preset = SCHEDQ_PRESET_KUBE_1_12;
    } else {
        report(fields->file, fields->line, "preset is \"%s\", expected kube-1.34 or kube-1.12",
               name);
        return false;
    }
    return true;
}

static bool
read_config(struct fields *fields, struct preemption_case *of)
{
    struct texts_given texts = {0};

    return read_keys(fields, 1, config_keys, of, preset_key, &texts) &&
           (texts.preset == NULL || read_preset(fields, texts.preset, &of->preset));
}

static bool
read_node(struct fields *fields, struct preemption_case *of)
{
    struct case_node *node = keep(&of->memory, 1, sizeof *node);
    struct texts_given texts = {0};

    node->status = -1;
    if (!has_name(fields) || !read_keys(fields, 2, node_keys, node, status_key, &texts)) {
        return false;
    }
    if (texts.status != NULL && strcmp(texts.status, "unschedulable") == 0) {
        node->status = SCHEDQ_NODE_UNSCHEDULABLE;
    } else if (texts.status != NULL && strcmp(texts.status, "unresolvable") == 0) {
        node->status = SCHEDQ_NODE_UNRESOLVABLE;
    } else if (texts.status != NULL) {
        report(fields->file, fields->line,
               "status is \"%s\", expected unschedulable or unresolvable", texts.status);
        return false;
    }
    node->name = fields->item[1];
    if (case_node_named(of, node->name) != NULL) {
        report(fields->file, fields->line, "node \"%s\" is there already, expected a new name",
               node->name);
        return false;
    }
    struct case_node **last = &of->nodes;

    while (*last != NULL) {
        last = &(*last)->next;
    }
    *last = node;
    return true;
}

static bool
check_running_on(const struct fields *fields, const struct preemption_case *of, const char *node)
{
    if (node == NULL || case_node_named(of, node) == NULL) {
        report(fields->file, fields->line, "node is \"%s\", expected a node of a line above",
               node == NULL ? "" : node);
        return false;
    }
    return true;
}

static bool
read_pod(struct fields *fields, struct preemption_case *of)
{
    struct case_pod *pod = keep(&of->memory, 1, sizeof *pod);
    struct case_pod **last = &of->pods;

    pod->space = "ns";
    if (!has_name(fields) || !read_keys(fields, 2, pod_keys, pod, NULL, NULL) ||
        !check_running_on(fields, of, pod->node)) {
        return false;
    }
    pod->name = fields->item[1];
    for (; *last != NULL; last = &(*last)->next) {
        if (strcmp((*last)->name, pod->name) == 0) {
            report(fields->file, fields->line, "pod \"%s\" is there already, expected a new name",
                   pod->name);
            return false;
        }
    }
    *last = pod;
    return true;
}

static bool
read_budget(struct fields *fields, struct preemption_case *of)
{
    struct case_budget *budget = keep(&of->memory, 1, sizeof *budget);
    struct case_budget **last = &of->budgets;

    budget->space = "ns";
    budget->selector = "nil";
    if (!has_name(fields) || !read_keys(fields, 2, budget_keys, budget, NULL, NULL)) {
        return false;
    }
    const char *equals = strchr(budget->selector, '=');
    bool known = strcmp(budget->selector, "empty") == 0 || strcmp(budget->selector, "nil") == 0 ||
                 strcmp(budget->selector, "invalid") == 0;

    if (!known && (equals == NULL || equals == budget->selector || equals[1] == '\0')) {
        report(fields->file, fields->line,
               "selector is \"%s\", expected KEY=VALUE, KEY=*, empty, nil or invalid",
               budget->selector);
        return false;
    }
    budget->name = fields->item[1];
    for (; *last != NULL; last = &(*last)->next) {
        if (strcmp((*last)->name, budget->name) == 0 &&
            strcmp((*last)->space, budget->space) == 0) {
            report(fields->file, fields->line, "pdb \"%s\" is there already, expected a new name",
                   budget->name);
            return false;
        }
    }
    *last = budget;
    return true;
}

static bool
read_nominated(struct fields *fields, struct preemption_case *of)
{
    struct case_nominated *nominated = keep(&of->memory, 1, sizeof *nominated);
    struct case_nominated **last = &of->nominated;

    if (!has_name(fields) || !read_keys(fields, 2, nominated_keys, nominated, NULL, NULL)) {
        return false;
    }
    if (nominated->node == NULL) {
        report(fields->file, fields->line, "node is missing, expected node=NODE");
        return false;
    }
    nominated->name = fields->item[1];
    for (; *last != NULL; last = &(*last)->next) {
        if (strcmp((*last)->name, nominated->name) == 0) {
            report(fields->file, fields->line,
                   "nominated \"%s\" is there already, expected a new name", nominated->name);
            return false;
        }
    }
    *last = nominated;
    return true;
}

static bool
read_extender(struct fields *fields, struct preemption_case *of)
{
    struct case_extender *extender = keep(&of->memory, 1, sizeof *extender);
    struct case_extender **last = &of->extenders;

    if (!has_name(fields) || !read_keys(fields, 2, extender_keys, extender, NULL, NULL)) {
        return false;
    }
    extender->name = fields->item[1];
    while (*last != NULL) {
        last = &(*last)->next;
    }
    *last = extender;
    return true;
}

static bool
read_preemptor(struct fields *fields, struct preemption_case *of)
{
    struct texts_given texts = {0};

    if (of->preemptor != NULL) {
        report(fields->file, fields->line, "a second preemptor, expected one");
        return false;
    }
    if (!has_name(fields) || !read_keys(fields, 2, preemptor_keys, of, policy_key, &texts)) {
        return false;
    }
    if (texts.policy != NULL && strcmp(texts.policy, "Never") != 0 &&
        strcmp(texts.policy, "PreemptLowerPriority") != 0) {
        report(fields->file, fields->line,
               "policy is \"%s\", expected Never or PreemptLowerPriority", texts.policy);
        return false;
    }
    of->never = texts.policy != NULL && strcmp(texts.policy, "Never") == 0;
    of->preemptor = fields->item[1];
    return true;
}

static const struct {
    const char *word;
    bool (*read)(struct fields *fields, struct preemption_case *of);
} records[] = {
    {"config", read_config},       {"node", read_node},           {"pod", read_pod},
    {"pdb", read_budget},          {"nominated", read_nominated}, {"extender", read_extender},
    {"preemptor", read_preemptor},
};

/* ---- cases ----------------------------------------------------------------------------------- */

static char *
next_line(struct preemption_reader *reader)
{
    char *line = reader->rest;
    size_t length = strcspn(line, "\n");

    reader->line++;
    if (*line == '\0') {
        return NULL;
    }
    reader->rest = line + length + (line[length] == '\n');
    line[length] = '\0';
    return line;
}

static bool
add_answer_line(const struct preemption_reader *reader, struct preemption_case *of,
                struct case_answer *answer, char *text)
{
    static const char *const words[] = {"eligible",   "ineligible ",   "dry-run ",
                                        "candidate ", "rejected ",     "choose ",
                                        "actions ",   "actions-sync ", "result "};
    bool known = false;

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        known = known || strncmp(text, words[i], strlen(words[i])) == 0;
    }
    if (!known || answer->lines.count == LINES_MAX) {
        report(reader->file, reader->line,
               "\"> %.60s\" is no answer, expected eligible, ineligible, dry-run, candidate, "
               "rejected, choose, actions, "
               "actions-sync or result",
               text);
        return false;
    }
    if (answer->lines.item == NULL) {
        answer->lines.item = keep(&of->memory, LINES_MAX, sizeof *answer->lines.item);
        answer->line = reader->line;
    }
    answer->lines.item[answer->lines.count++] = text;
    return true;
}

static bool
answer_is_whole(const struct preemption_reader *reader, const struct case_answer *answer)
{
    if (answer->lines.count == 0 ||
        strncmp(answer->lines.item[answer->lines.count - 1], "result ", strlen("result ")) != 0) {
        return malformed(reader, "an answer above, \"> ...\", which ends with \"> result ...\"");
    }
    return true;
}

static bool
read_record(struct preemption_reader *reader, struct preemption_case *of, char *line)
{
    struct fields fields = {.file = reader->file, .line = reader->line, .memory = &of->memory};

    if (!fields_split(&fields, line)) {
        return false;
    }
    for (size_t i = 0; i < sizeof records / sizeof records[0]; i++) {
        if (strcmp(records[i].word, fields.item[0]) == 0) {
            return records[i].read(&fields, of);
        }
    }
    report(reader->file, reader->line,
           "\"%.60s\", expected config, node, pod, pdb, nominated, extender, preemptor, >, or, end",
           fields.item[0]);
    return false;
}

/* True: go on; false: *state says whether it ended well. */
static bool
read_line(struct preemption_reader *reader, struct preemption_case *of, struct case_answer **answer,
          enum preemption_next *state)
{
    char *line = next_line(reader);

    *state = NEXT_MALFORMED;
    if (line == NULL) {
        return malformed(reader, "\"end\": the case is cut off");
    }
    if (strcmp(line, "end") == 0) {
        if (answer_is_whole(reader, *answer)) {
            *state = NEXT_CASE;
        }
        return false;
    }
    if (strcmp(line, "or") == 0) {
        if (!answer_is_whole(reader, *answer)) {
            return false;
        }
        (*answer)->next = keep(&of->memory, 1, sizeof **answer);
        *answer = (*answer)->next;
        return true;
    }
    if (strncmp(line, "> ", 2) == 0) {
        return of->preemptor == NULL ? malformed(reader, "a preemptor above the answer")
                                     : add_answer_line(reader, of, *answer, line + 2);
    }
    if ((*answer)->lines.count > 0 || *answer != of->answers) {
        return malformed(reader, "\"> ...\", \"or\" or \"end\" after the answer has begun");
    }
    return read_record(reader, of, line);
}

enum preemption_next
preemption_next_case(struct preemption_reader *reader, struct preemption_case *of)
{
    char *line = next_line(reader);
    enum preemption_next state;

    *of = (struct preemption_case){
        .file = reader->file, .line = reader->line, .preset = reader->preset};
    obstack_init(&of->memory);
    if (line == NULL) {
        return NEXT_END;
    }
    struct fields fields = {.file = reader->file, .line = reader->line, .memory = &of->memory};

    if (!fields_split(&fields, line)) {
        return NEXT_MALFORMED;
    }
    if (fields.count != 3 || strcmp(fields.item[0], "case") != 0) {
        (void)malformed(reader, "\"case ID CLASS\"");
        return NEXT_MALFORMED;
    }
    of->id = fields.item[1];
    of->class_name = fields.item[2];
    of->answers = keep(&of->memory, 1, sizeof *of->answers);

    struct case_answer *answer = of->answers;

    while (read_line(reader, of, &answer, &state)) {
    }
    return state;
}

void
preemption_case_free(struct preemption_case *of)
{
    obstack_free(&of->memory, NULL);
}

bool
preemption_begin(struct preemption_reader *reader, const char *file, char *text)
{
    *reader =
        (struct preemption_reader){.file = file, .rest = text, .preset = SCHEDQ_PRESET_KUBE_1_34};

    const char *line = next_line(reader);

    if (line == NULL || strcmp(line, "schedq-preemption 1") != 0) {
        return malformed(reader, "\"schedq-preemption 1\"");
    }
    line = next_line(reader);
    if (line != NULL && strncmp(line, "source hand-made ", strlen("source hand-made ")) == 0) {
        return true;
    }
    if (line == NULL || strncmp(line, "source kube-scheduler v1.34.",
                                strlen("source kube-scheduler v1.34.")) != 0) {
        return malformed(reader, "\"source kube-scheduler VERSION ...\" with a version v1.34.*, or "
                                 "\"source hand-made ...\"");
    }
    return true;
}
