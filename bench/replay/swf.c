/* Jobs and header comments of SWF files. */
#include "swf.h"

#include "alloc.h"
#include "fields.h"
#include "names.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    SWF_JOB,
    SWF_SUBMIT,
    SWF_WAIT,
    SWF_RUN,
    SWF_ALLOCATED,
    SWF_CPU_TIME,
    SWF_MEMORY,
    SWF_REQUESTED,
    SWF_REQUESTED_TIME,
    SWF_REQUESTED_MEMORY,
    SWF_STATUS,
    SWF_USER,
    SWF_GROUP,
    SWF_EXECUTABLE,
    SWF_QUEUE,
    SWF_PARTITION,
    SWF_PRECEDING,
    SWF_THINK_TIME,
    SWF_FIELDS
};

static const char *const swf_names[SWF_FIELDS] = {
    "job number",
    "submit time",
    "wait time",
    "run time",
    "allocated processors",
    "average CPU time",
    "used memory",
    "requested processors",
    "requested time",
    "requested memory",
    "status",
    "user",
    "group",
    "executable",
    "queue",
    "partition",
    "preceding job",
    "think time",
};

#define SWF_PROCESSORS_MAX (WORKLOAD_CPU_MILLI_MAX / 1000)
#define NODE_PROCESSORS_DEFAULT 64

static bool
unknown(const input_row_t *row, size_t column)
{
    return strcmp(row->fields[column], "-1") == 0;
}

/* Fields that are not used still have to be numbers. */
static void
check_number(input_row_t *row, size_t column)
{
    double value = 0;

    if (!number_real(row->fields[column], -1.0, 1e18, &value)) {
        input_fault(row, column, row->fields[column], "a number from 0 to 1e18, or -1 for unknown");
    }
}

static int64_t
processors(input_row_t *row)
{
    int64_t allocated = field_whole(row, SWF_ALLOCATED, -1, SWF_PROCESSORS_MAX);
    int64_t requested = field_whole(row, SWF_REQUESTED, -1, SWF_PROCESSORS_MAX);

    return allocated > 0 ? allocated : requested > 0 ? requested : 1;
}

static uint16_t
queue_class(input_row_t *row, workload_t *workload)
{
    char label[WORKLOAD_LABEL_MAX + 1];
    int64_t queue = field_whole(row, SWF_QUEUE, -1, INT32_MAX);

    if (queue < 0) {
        return 0;
    }
    snprintf(label, sizeof label, "queue-%" PRId64, queue);
    size_t number = workload_label(&workload->classes, label, WORKLOAD_CLASSES_MAX);
    if (number == WORKLOAD_CLASSES_MAX) {
        input_fault(row, SWF_QUEUE, row->fields[SWF_QUEUE], "at most %d different queues",
                    WORKLOAD_CLASSES_MAX - 1);
    }
    return (uint16_t)number;
}

static void
read_job(input_row_t *row, workload_t *workload, names_seen_t *names)
{
    char name[32];
    int64_t status = 0;

    for (size_t i = 0; i < SWF_FIELDS; i++) {
        check_number(row, i);
    }
    if (row->fault.found || (number_whole(row->fields[SWF_STATUS], 2, 4, &status))) {
        return;
    }
    snprintf(name, sizeof name, "job-%" PRId64,
             field_whole(row, SWF_JOB, 0, INT64_C(1000000000000)));
    workload_pod_t pod = {
        .arrival_ns = field_seconds(row, SWF_SUBMIT),
        .run_ns = unknown(row, SWF_RUN) ? 0 : field_seconds(row, SWF_RUN),
        .cpu_milli = processors(row) * 1000,
        .qos = queue_class(row, workload),
    };
    if (row->fault.found) {
        return;
    }
    pod.name = alloc_text(name, strlen(name));
    if (names_note(names, row, SWF_JOB, pod.name)) {
        workload_add_pod(workload, &pod);
    } else {
        free(pod.name);
    }
}

bool
swf_read_pods(const input_file_t *file, workload_t *workload, input_problems_t *problems)
{
    input_row_t row = {.names = swf_names, .name_count = SWF_FIELDS};
    names_seen_t names = {0};
    size_t at = 0;
    size_t line = 0;
    bool go_on = true;

    while (go_on && input_next_line(file, &at, &line, &row)) {
        if (!row.fault.found && (row.count == 0 || row.fields[0][0] == ';')) {
            continue;
        }
        if (!row.fault.found && row.count != SWF_FIELDS) {
            char found[40];
            snprintf(found, sizeof found, "%zu fields", row.count);
            input_fault(&row, SIZE_MAX, found, "%d fields", SWF_FIELDS);
        }
        if (!row.fault.found) {
            read_job(&row, workload, &names);
        }
        if (row.fault.found) {
            go_on = input_skip(file, &row, problems);
        }
    }
    names_free(&names);
    input_row_free(&row);
    return go_on;
}

/*
 * If the comment at `text` states `key`, its number. The words that may follow the number are
 * passed over.
 */
static void
read_comment(input_row_t *row, const char *text, const char *key, int64_t *value)
{
    char number[32];
    size_t length = strlen(key);

    text += strspn(text, "; \t");
    if (strncmp(text, key, length) != 0 || text[length] != ':') {
        return;
    }
    text += length + 1;
    text += strspn(text, " \t");
    snprintf(number, sizeof number, "%.*s", (int)strcspn(text, " \t\r\n"), text);
    if (!number_whole(number, 1, SWF_PROCESSORS_MAX, value)) {
        input_fault(row, SIZE_MAX, number, "a whole number from 1 to %" PRId64 " after \"%s:\"",
                    SWF_PROCESSORS_MAX, key);
    }
}

bool
swf_read_header(const input_file_t *file, swf_header_t *header, input_problems_t *problems)
{
    input_row_t row = {0};
    const char *text = file->text;
    bool go_on = true;

    *header = (swf_header_t){0};
    for (size_t line = 1; go_on && text != NULL; line++) {
        input_row_begin(&row, line);
        if (*text == ';') {
            read_comment(&row, text, "MaxProcs", &header->max_procs);
            read_comment(&row, text, "MaxNodes", &header->max_nodes);
        }
        if (row.fault.found) {
            go_on = input_skip(file, &row, problems);
        }
        text = strchr(text, '\n');
        text += text != NULL;
    }
    return go_on;
}

static int64_t
divided_up(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

static int64_t
widest_pod(const workload_t *workload)
{
    int64_t widest = 1;

    for (size_t i = 0; i < workload->pod_count; i++) {
        int64_t wide = divided_up(workload->pods[i].cpu_milli, 1000);
        widest = wide > widest ? wide : widest;
    }
    return widest;
}

static void
add_node(workload_t *workload, int64_t number, int64_t width)
{
    char name[32];
    int length = snprintf(name, sizeof name, "node-%06" PRId64, number);

    workload_node_t node = {.name = alloc_text(name, (size_t)length), .cpu_milli = width * 1000};
    workload_add_node(workload, &node);
}

bool
swf_make_nodes(const input_file_t *file, const swf_header_t *header, workload_t *workload,
               input_problems_t *problems)
{
    int64_t total = header->max_procs > 0 ? header->max_procs : header->max_nodes;
    int64_t width =
        header->max_nodes > 0 ? divided_up(total, header->max_nodes) : NODE_PROCESSORS_DEFAULT;
    int64_t widest = widest_pod(workload);

    if (total == 0) {
        fprintf(
            problems->out,
            "%s: the header states neither \"; MaxProcs: N\" nor \"; MaxNodes: N\" (1 to %" PRId64
            "), so no nodes can be made: give --nodes FILE\n",
            file->path, SWF_PROCESSORS_MAX);
        return false;
    }
    if (width > total) {
        width = total;
    }
    if (width < widest) {
        width = widest;
    }
    if (total < width) {
        total = width;
    }
    for (int64_t number = 0; total > 0; number++) {
        add_node(workload, number, total < width ? total : width);
        total -= width;
    }
    return true;
}
