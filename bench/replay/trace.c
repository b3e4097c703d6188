/*
 * Reading and writing trace files. A line's first word says what it is; each kind has a fixed
 * number of fields. The last line counts pods and nodes, so that a file that was cut is noticed.
 */
#include "trace.h"

#include "output.h"
#include "support/interrupt.h"

#include "alloc.h"
#include "fields.h"
#include "names.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum {
    NODE_WORD,
    NODE_NAME,
    NODE_ARRIVAL,
    NODE_CPU,
    NODE_MEMORY,
    NODE_GPUS,
    NODE_MODEL,
    NODE_FIELDS
};
static const char *const node_names[NODE_FIELDS] = {"kind",       "name", "arrival", "cpu_milli",
                                                    "memory_mib", "gpus", "model"};

enum {
    POD_WORD,
    POD_NAME,
    POD_ARRIVAL,
    POD_RUN,
    POD_CPU,
    POD_MEMORY,
    POD_GPUS,
    POD_GPU_MILLI,
    POD_CLASS,
    POD_MODELS,
    POD_FIELDS
};
static const char *const pod_names[POD_FIELDS] = {"kind",      "name",       "arrival", "run",
                                                  "cpu_milli", "memory_mib", "gpus",    "gpu_milli",
                                                  "class",     "models"};

enum { END_WORD, END_NODES, END_PODS, END_FIELDS };
static const char *const end_names[END_FIELDS] = {"kind", "nodes", "pods"};

/* A file being read. Lines of nodes and pods are counted whether they are legal or not. */
typedef struct reading {
    workload_t *workload;
    names_seen_t node_seen;
    names_seen_t pod_seen;
    input_row_t row;
    int64_t node_lines;
    int64_t pod_lines;
    bool ended;
} reading_t;

static void
read_node(reading_t *reading)
{
    input_row_t *row = &reading->row;

    workload_node_t node = {
        .name = field_name(row, NODE_NAME),
        .arrival_ns = field_moment(row, NODE_ARRIVAL, 0, NULL),
        .cpu_milli = field_whole(row, NODE_CPU, 0, WORKLOAD_CPU_MILLI_MAX),
        .memory_mib = field_whole(row, NODE_MEMORY, 0, WORKLOAD_MEMORY_MIB_MAX),
        .gpus = (uint16_t)field_whole(row, NODE_GPUS, 0, WORKLOAD_GPUS_MAX),
        .model = field_model(row, NODE_MODEL, reading->workload),
    };
    if (row->fault.found || !names_note(&reading->node_seen, row, NODE_NAME, node.name)) {
        free(node.name);
        return;
    }
    workload_add_node(reading->workload, &node);
}

static void
read_pod(reading_t *reading)
{
    input_row_t *row = &reading->row;

    workload_pod_t pod = {
        .name = field_name(row, POD_NAME),
        .arrival_ns = field_moment(row, POD_ARRIVAL, 0, NULL),
        .run_ns = field_seconds(row, POD_RUN),
        .cpu_milli = field_whole(row, POD_CPU, 0, WORKLOAD_CPU_MILLI_MAX),
        .memory_mib = field_whole(row, POD_MEMORY, 0, WORKLOAD_MEMORY_MIB_MAX),
        .gpus = (uint16_t)field_whole(row, POD_GPUS, 0, WORKLOAD_GPUS_MAX),
        .qos = field_class(row, POD_CLASS, reading->workload),
        .models = field_models(row, POD_MODELS, reading->workload),
    };
    bool any_gpu = pod.gpus > 0;
    pod.gpu_milli = (uint16_t)field_whole(row, POD_GPU_MILLI, any_gpu ? 1 : 0,
                                          any_gpu ? WORKLOAD_GPU_MILLI : 0);
    if (row->fault.found || !names_note(&reading->pod_seen, row, POD_NAME, pod.name)) {
        free(pod.name);
        return;
    }
    workload_add_pod(reading->workload, &pod);
}

/* The counts are those of the lines, so they hold with lines left out. */
static void
read_end(reading_t *reading)
{
    field_whole(&reading->row, END_NODES, reading->node_lines, reading->node_lines);
    field_whole(&reading->row, END_PODS, reading->pod_lines, reading->pod_lines);
    reading->ended = true;
}

/* Joins the words after "source" with single blanks; a later line is appended. */
static void
read_source(reading_t *reading)
{
    workload_t *workload = reading->workload;
    size_t length = workload->source == NULL ? 0 : strlen(workload->source);

    for (size_t i = 1; i < reading->row.count; i++) {
        const char *word = reading->row.fields[i];
        size_t size = strlen(word);
        char *joined = alloc_array(length + size + 2, 1);
        if (length > 0) {
            memcpy(joined, workload->source, length);
            joined[length++] = ' ';
        }
        memcpy(joined + length, word, size);
        length += size;
        free(workload->source);
        workload->source = joined;
    }
}

/* The kinds of lines. `fields` 0: any number. */
typedef struct line_kind {
    const char *word;
    size_t fields;
    const char *const *names;
    void (*read)(reading_t *reading);
} line_kind_t;

static const line_kind_t kinds[] = {
    {"p", POD_FIELDS, pod_names, read_pod},
    {"n", NODE_FIELDS, node_names, read_node},
    {"end", END_FIELDS, end_names, read_end},
    {"source", 0, NULL, read_source},
};

static const line_kind_t *
kind_of(const char *word)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strcmp(kinds[i].word, word) == 0) {
            return &kinds[i];
        }
    }
    return NULL;
}

static void
read_line(reading_t *reading)
{
    input_row_t *row = &reading->row;
    const line_kind_t *kind = kind_of(row->fields[0]);

    if (reading->ended) {
        input_fault(row, SIZE_MAX, row->fields[0], "nothing after the line \"end\"");
        return;
    }
    if (kind == NULL) {
        input_fault(row, 0, row->fields[0], "p, n, source, end, or # and a comment");
        return;
    }
    reading->pod_lines += kind->read == read_pod;
    reading->node_lines += kind->read == read_node;
    row->names = kind->names;
    row->name_count = kind->fields;
    if (kind->fields != 0 && row->count != kind->fields) {
        char found[40];
        snprintf(found, sizeof found, "%zu fields", row->count);
        input_fault(row, SIZE_MAX, found, "%zu fields in a line that begins with %s", kind->fields,
                    kind->word);
        return;
    }
    kind->read(reading);
}

/* "schedq-trace 1", the first line. */
static bool
read_version(const input_file_t *file, size_t *at, size_t *line, input_row_t *row,
             input_problems_t *problems)
{
    int64_t version = 0;

    if (!input_next_line(file, at, line, row) || row->count != 2 ||
        strcmp(row->fields[0], TRACE_MAGIC) != 0 ||
        !number_whole(row->fields[1], TRACE_VERSION, TRACE_VERSION, &version)) {
        fprintf(problems->out,
                "%s:1: not a trace of this format: legal as first line is \"%s %d\"\n", file->path,
                TRACE_MAGIC, TRACE_VERSION);
        return false;
    }
    return true;
}

static bool
read_lines(const input_file_t *file, reading_t *reading, input_problems_t *problems)
{
    input_row_t *row = &reading->row;
    size_t at = 0;
    size_t line = 0;

    if (!read_version(file, &at, &line, row, problems)) {
        return false;
    }
    while (input_next_line(file, &at, &line, row)) {
        if (!row->fault.found && (row->count == 0 || row->fields[0][0] == '#')) {
            continue;
        }
        row->names = NULL;
        if (!row->fault.found) {
            read_line(reading);
        }
        if (row->fault.found && !input_skip(file, row, problems)) {
            return false;
        }
    }
    if (reading->ended) {
        return true;
    }
    input_row_begin(row, line);
    input_fault(row, SIZE_MAX, "end of the file",
                "a last line \"end NODES PODS\": the file was cut");
    return input_skip(file, row, problems);
}

bool
trace_read(const input_file_t *file, workload_t *workload, input_problems_t *problems)
{
    reading_t reading = {.workload = workload};
    bool complete = read_lines(file, &reading, problems);

    names_free(&reading.node_seen);
    names_free(&reading.pod_seen);
    input_row_free(&reading.row);
    return complete;
}

/* ---- writing ---- */

/* Seconds without needless decimals. */
static void
put_seconds(gzFile stream, int64_t ns)
{
    char decimals[16];
    int length = snprintf(decimals, sizeof decimals, ".%09" PRId64, ns % NS_PER_SECOND);

    while (length > 0 && (decimals[length - 1] == '0' || decimals[length - 1] == '.')) {
        decimals[--length] = '\0';
    }
    gzprintf(stream, " %" PRId64 "%s", ns / NS_PER_SECOND, decimals);
}

static void
put_models(gzFile stream, const workload_t *workload, uint64_t models)
{
    const char *separator = " ";

    if (models == 0) {
        gzputs(stream, " -");
    }
    for (size_t i = 0; i < workload->models.count; i++) {
        if ((models >> i & 1) != 0) {
            gzprintf(stream, "%s%s", separator, workload->models.names[i]);
            separator = "|";
        }
    }
}

static void
put_node(gzFile stream, const workload_t *workload, const workload_node_t *node)
{
    gzprintf(stream, "n %s", node->name);
    put_seconds(stream, node->arrival_ns);
    gzprintf(stream, " %" PRId64 " %" PRId64 " %d", node->cpu_milli, node->memory_mib, node->gpus);
    put_models(stream, workload, node->model);
    gzputs(stream, "\n");
}

static void
put_pod(gzFile stream, const workload_t *workload, const workload_pod_t *pod)
{
    gzprintf(stream, "p %s", pod->name);
    put_seconds(stream, pod->arrival_ns);
    put_seconds(stream, pod->run_ns);
    gzprintf(stream, " %" PRId64 " %" PRId64 " %d %d %s", pod->cpu_milli, pod->memory_mib,
             pod->gpus, pod->gpu_milli, workload->classes.names[pod->qos]);
    put_models(stream, workload, pod->models);
    gzputs(stream, "\n");
}

static void
put_workload(gzFile stream, const workload_t *workload)
{
    gzprintf(stream, "%s %d\n", TRACE_MAGIC, TRACE_VERSION);
    if (workload->source != NULL) {
        gzputs(stream, "source ");
        gzputs(stream, workload->source);
        gzputs(stream, "\n");
    }
    gzputs(stream, "# n name arrival cpu_milli memory_mib gpus model\n"
                   "# p name arrival run cpu_milli memory_mib gpus gpu_milli class models\n");
    for (size_t i = 0; i < workload->node_count && !interrupt_came(); i++) {
        put_node(stream, workload, &workload->nodes[i]);
    }
    for (size_t i = 0; i < workload->pod_count && !interrupt_came(); i++) {
        put_pod(stream, workload, &workload->pods[i]);
    }
    gzprintf(stream, "end %zu %zu\n", workload->node_count, workload->pod_count);
}

static bool
ends_in_gz(const char *path)
{
    size_t length = strlen(path);

    return length >= 3 && strcmp(path + length - 3, ".gz") == 0;
}

bool
trace_write(const char *path, const workload_t *workload, char *why, size_t why_size)
{
    errno = 0;
    output_t output;
    gzFile stream = NULL;

    if (output_begin(&output, path)) {
        stream = gzdopen(output.descriptor, ends_in_gz(path) ? "wb9" : "wbT");
    }
    if (stream == NULL) {
        snprintf(why, why_size, "%s: cannot open for writing: %s", path, strerror(errno));
        (void)output_end(&output, false);
        return false;
    }
    output.descriptor = -1; /* gzclose closes it */
    put_workload(stream, workload);
    int failed = Z_OK;
    gzerror(stream, &failed);
    bool written = gzclose(stream) == Z_OK && failed == Z_OK;
    if (interrupt_came()) {
        (void)output_end(&output, false);
        snprintf(why, why_size, "%s: left as it was", path);
        return false;
    }
    if (!output_end(&output, written) || !written) {
        snprintf(why, why_size, "%s: cannot write: %s", path, strerror(errno));
        return false;
    }
    return true;
}
