/* Cutting and converting, see fields.h. */
#include "fields.h"

#include "report.h"

#include <schedq/schedq.h>

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const struct action {
    const char *name;
    uint32_t bits;
} actions[] = {
    {"Add", SCHEDQ_ACTION_ADD},
    {"Delete", SCHEDQ_ACTION_DELETE},
    {"Update", SCHEDQ_ACTION_UPDATE},
    {"All", SCHEDQ_ACTION_ALL},
    {"UpdateNodeAllocatable", SCHEDQ_ACTION_UPDATE_NODE_ALLOCATABLE},
    {"UpdateNodeLabel", SCHEDQ_ACTION_UPDATE_NODE_LABEL},
    {"UpdateNodeTaint", SCHEDQ_ACTION_UPDATE_NODE_TAINT},
    {"UpdateNodeCondition", SCHEDQ_ACTION_UPDATE_NODE_CONDITION},
    {"UpdateNodeAnnotation", SCHEDQ_ACTION_UPDATE_NODE_ANNOTATION},
    {"UpdateNodeDeclaredFeature", SCHEDQ_ACTION_UPDATE_NODE_DECLARED_FEATURE},
    {"UpdateNodePreemptionPolicy", SCHEDQ_ACTION_UPDATE_NODE_PREEMPTION_POLICY},
    {"UpdatePodLabel", SCHEDQ_ACTION_UPDATE_POD_LABEL},
    {"UpdatePodScaleDown", SCHEDQ_ACTION_UPDATE_POD_SCALE_DOWN},
    {"UpdatePodScaleUp", SCHEDQ_ACTION_UPDATE_POD_SCALE_UP},
    {"UpdatePodToleration", SCHEDQ_ACTION_UPDATE_POD_TOLERATION},
    {"UpdatePodSchedulingGatesEliminated", SCHEDQ_ACTION_UPDATE_POD_GATES_ELIMINATED},
    {"UpdatePodGeneratedResourceClaim", SCHEDQ_ACTION_UPDATE_POD_GENERATED_CLAIM},
};

void *
keep(struct obstack *memory, size_t count, size_t size)
{
    size_t bytes = count * size;

    return memset(obstack_alloc(memory, (int)bytes), 0, bytes);
}

char *
keep_text(struct obstack *memory, const char *text)
{
    return strcpy(keep(memory, strlen(text) + 1, 1), text);
}

/* Cuts `text` at every `separator` into an array that is large enough. */
static struct list
cut(struct obstack *memory, char *text, char separator)
{
    struct list list = {.count = 1};

    for (const char *scan = text; *scan != '\0'; scan++) {
        list.count += *scan == separator;
    }
    list.item = keep(memory, list.count, sizeof *list.item);
    for (size_t i = 0; i < list.count; i++) {
        list.item[i] = text;
        text = strchr(text, separator);
        if (text != NULL) {
            *text++ = '\0';
        }
    }
    return list;
}

static bool
has_empty_item(const struct list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        if (list->item[i][0] == '\0') {
            return true;
        }
    }
    return false;
}

bool
fields_split(struct fields *fields, char *text)
{
    struct list list = cut(fields->memory, text, ' ');

    if (has_empty_item(&list)) {
        report(fields->file, fields->line, "expected fields separated by one space");
        return false;
    }
    fields->item = list.item;
    fields->count = list.count;
    return true;
}

char *
field_value(char *field)
{
    char *equals = strchr(field, '=');

    if (equals == NULL) {
        return NULL;
    }
    *equals = '\0';
    return equals + 1;
}

static int
compare_items(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

bool
list_equal(struct list *left, struct list *right)
{
    if (left->count != right->count) {
        return false;
    }
    qsort(left->item, left->count, sizeof *left->item, compare_items);
    qsort(right->item, right->count, sizeof *right->item, compare_items);
    for (size_t i = 0; i < left->count; i++) {
        if (strcmp(left->item[i], right->item[i]) != 0) {
            return false;
        }
    }
    return true;
}

bool
fields_equal(struct obstack *memory, const char *left, const char *right)
{
    struct list left_fields = cut(memory, keep_text(memory, left), ' ');
    struct list right_fields = cut(memory, keep_text(memory, right), ' ');

    return list_equal(&left_fields, &right_fields);
}

bool
parse_list(const struct fields *fields, const char *key, char *text, struct list *list)
{
    if (text[0] == '\0') {
        *list = (struct list){0};
        return true;
    }
    *list = cut(fields->memory, text, ',');
    if (has_empty_item(list)) {
        report(fields->file, fields->line, "%s: expected names separated by one comma", key);
        return false;
    }
    return true;
}

bool
parse_number(const struct fields *fields, const char *key, const char *text, int64_t min,
             int64_t max, struct number *number)
{
    char *end;
    long long value;

    errno = 0;
    value = strtoll(text, &end, 10);
    if ((text[0] != '-' && (text[0] < '0' || text[0] > '9')) || *end != '\0' || errno != 0 ||
        value < min || value > max) {
        report(fields->file, fields->line,
               "%s is \"%s\", expected a number from %" PRId64 " to %" PRId64, key, text, min, max);
        return false;
    }
    *number = (struct number){.value = value, .given = true};
    return true;
}

void
write_time(FILE *out, int64_t since_ns)
{
    const int64_t ms = 1000000;

    fprintf(out, "%" PRId64, since_ns / ms);
    if (since_ns % ms != 0) {
        fprintf(out, "%+" PRId64 "ns", since_ns % ms);
    }
}

static uint32_t
action_bits(const char *name)
{
    for (size_t i = 0; i < sizeof actions / sizeof actions[0]; i++) {
        if (strcmp(actions[i].name, name) == 0) {
            return actions[i].bits;
        }
    }
    return 0;
}

bool
parse_event(const struct fields *fields, char *text, struct event_text *event)
{
    char *colon = strrchr(text, ':');
    struct list names;

    if (colon == NULL || colon == text) {
        report(fields->file, fields->line, "\"%s\" is no event, expected RESOURCE:ACTION|ACTION",
               text);
        return false;
    }
    *colon = '\0';
    *event = (struct event_text){.resource = text};
    names = cut(fields->memory, colon + 1, '|');
    for (size_t i = 0; i < names.count; i++) {
        uint32_t bits = action_bits(names.item[i]);
        if (bits == 0) {
            report(fields->file, fields->line,
                   "\"%s\" is no action, expected Add, Delete, Update, All, "
                   "UpdateNode(Allocatable, Label, Taint, Condition, Annotation, DeclaredFeature, "
                   "PreemptionPolicy) or UpdatePod(Label, ScaleDown, ScaleUp, Toleration, "
                   "SchedulingGatesEliminated, GeneratedResourceClaim)",
                   names.item[i]);
            return false;
        }
        event->actions |= bits;
    }
    return true;
}
