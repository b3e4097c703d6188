/*
 * Pods and nodes from CSV. One loop reads both kinds; a table of columns and a function per record
 * make the difference.
 */
#include "openb.h"

#include "csv.h"
#include "fields.h"
#include "names.h"

#include <stdlib.h>
#include <string.h>

typedef struct reading reading_t;

/* A kind of file. */
typedef struct table {
    const char *const *columns; /* the required ones first */
    size_t required;
    size_t count;
    void (*add)(reading_t *reading);
} table_t;

enum { COLUMNS_MAX = 16 };

/* A file being read. */
struct reading {
    const input_file_t *file;
    const table_t *table;
    workload_t *workload;
    names_seen_t names;
    input_row_t header;
    input_row_t row;
    size_t where[COLUMNS_MAX]; /* of the table's columns in the file; SIZE_MAX: nowhere */
};

enum {
    POD_NAME,
    POD_CPU,
    POD_MEMORY,
    POD_CREATION,
    POD_DELETION,
    POD_GPUS,
    POD_GPU_MILLI,
    POD_SPEC,
    POD_QOS,
    POD_SCHEDULED
};
static const char *const pod_columns[] = {
    "name",    "cpu_milli", "memory_mib", "creation_time", "deletion_time",
    "num_gpu", "gpu_milli", "gpu_spec",   "qos",           "scheduled_time"};

enum { NODE_NAME, NODE_CPU, NODE_MEMORY, NODE_GPUS, NODE_MODEL, NODE_CREATION };
static const char *const node_columns[] = {"sn",  "cpu_milli", "memory_mib",
                                           "gpu", "model",     "creation_time"};

/* Is there such a column, and something in it? */
static bool
stated(const reading_t *reading, size_t column)
{
    size_t where = reading->where[column];

    return where != SIZE_MAX && reading->row.fields[where][0] != '\0';
}

static int64_t
whole(reading_t *reading, size_t column, int64_t min, int64_t max)
{
    return field_whole(&reading->row, reading->where[column], min, max);
}

static int64_t
moment(reading_t *reading, size_t column, int64_t min_ns, const char *what)
{
    return field_moment(&reading->row, reading->where[column], min_ns, what);
}

/*
 * What a pod takes of GPUs: gpu_milli of each of num_gpu, a whole one where gpu_milli is not
 * stated.
 */
static void
read_gpus(reading_t *reading, workload_pod_t *pod)
{
    if (!stated(reading, POD_GPUS)) {
        return;
    }
    pod->gpus = (uint16_t)whole(reading, POD_GPUS, 0, WORKLOAD_GPUS_MAX);
    if (pod->gpus == 0) {
        return;
    }
    pod->gpu_milli = WORKLOAD_GPU_MILLI;
    if (stated(reading, POD_GPU_MILLI)) {
        pod->gpu_milli = (uint16_t)whole(reading, POD_GPU_MILLI, 1, WORKLOAD_GPU_MILLI);
    }
    if (stated(reading, POD_SPEC)) {
        pod->models = field_models(&reading->row, reading->where[POD_SPEC], reading->workload);
    }
}

static void
read_times(reading_t *reading, workload_pod_t *pod)
{
    pod->arrival_ns = moment(reading, POD_CREATION, 0, NULL);
    int64_t started_ns = pod->arrival_ns;
    if (stated(reading, POD_SCHEDULED)) {
        started_ns = moment(reading, POD_SCHEDULED, pod->arrival_ns, "not before creation_time");
    }
    pod->run_ns =
        moment(reading, POD_DELETION, started_ns, "not before the pod started") - started_ns;
}

static void
add_pod(reading_t *reading)
{
    input_row_t *row = &reading->row;
    workload_pod_t pod = {.name = field_name(row, reading->where[POD_NAME])};

    pod.cpu_milli = whole(reading, POD_CPU, 0, WORKLOAD_CPU_MILLI_MAX);
    pod.memory_mib = whole(reading, POD_MEMORY, 0, WORKLOAD_MEMORY_MIB_MAX);
    read_gpus(reading, &pod);
    read_times(reading, &pod);
    if (stated(reading, POD_QOS)) {
        pod.qos = field_class(row, reading->where[POD_QOS], reading->workload);
    }
    if (row->fault.found || !names_note(&reading->names, row, reading->where[POD_NAME], pod.name)) {
        free(pod.name);
        return;
    }
    workload_add_pod(reading->workload, &pod);
}

static void
add_node(reading_t *reading)
{
    input_row_t *row = &reading->row;
    workload_node_t node = {.name = field_name(row, reading->where[NODE_NAME])};

    node.cpu_milli = whole(reading, NODE_CPU, 0, WORKLOAD_CPU_MILLI_MAX);
    node.memory_mib = whole(reading, NODE_MEMORY, 0, WORKLOAD_MEMORY_MIB_MAX);
    if (stated(reading, NODE_GPUS)) {
        node.gpus = (uint16_t)whole(reading, NODE_GPUS, 0, WORKLOAD_GPUS_MAX);
    }
    if (stated(reading, NODE_MODEL)) {
        node.model = field_model(row, reading->where[NODE_MODEL], reading->workload);
    }
    if (stated(reading, NODE_CREATION)) {
        node.arrival_ns = moment(reading, NODE_CREATION, 0, NULL);
    }
    if (row->fault.found ||
        !names_note(&reading->names, row, reading->where[NODE_NAME], node.name)) {
        free(node.name);
        return;
    }
    workload_add_node(reading->workload, &node);
}

static const table_t pod_table = {pod_columns, 5, sizeof pod_columns / sizeof pod_columns[0],
                                  add_pod};
static const table_t node_table = {node_columns, 3, sizeof node_columns / sizeof node_columns[0],
                                   add_node};

/* Finds one column of the table in the header; false: it is there twice, or needed and missing. */
static bool
find_column(reading_t *reading, size_t column, FILE *out)
{
    const table_t *table = reading->table;
    const input_row_t *header = &reading->header;
    const char *name = table->columns[column];

    reading->where[column] = SIZE_MAX;
    for (size_t i = 0; i < header->count; i++) {
        if (strcmp(header->fields[i], name) != 0) {
            continue;
        }
        if (reading->where[column] != SIZE_MAX) {
            fprintf(out,
                    "%s:%zu: column %zu: value \"%s\", legal: a name that no other column has\n",
                    reading->file->path, header->line, i + 1, name);
            return false;
        }
        reading->where[column] = i;
    }
    if (reading->where[column] == SIZE_MAX && column < table->required) {
        fprintf(out, "%s:%zu: the header has no column \"%s\"; needed are", reading->file->path,
                header->line, name);
        for (size_t i = 0; i < table->required; i++) {
            fprintf(out, "%s %s", i == 0 ? "" : ",", table->columns[i]);
        }
        fputc('\n', out);
        return false;
    }
    return true;
}

static bool
read_header(reading_t *reading, csv_reader_t *csv, input_problems_t *problems)
{
    if (!csv_next(csv, &reading->header)) {
        fprintf(problems->out, "%s: empty; a CSV file begins with a line of column names\n",
                reading->file->path);
        return false;
    }
    if (reading->header.fault.found) {
        input_problems_t strict = {.out = problems->out};
        return input_skip(reading->file, &reading->header, &strict);
    }
    for (size_t i = 0; i < reading->table->count; i++) {
        if (!find_column(reading, i, problems->out)) {
            return false;
        }
    }
    reading->row.names = (const char *const *)reading->header.fields;
    reading->row.name_count = reading->header.count;
    return true;
}

static void
add_row(reading_t *reading)
{
    input_row_t *row = &reading->row;

    if (row->fault.found) {
        return;
    }
    if (row->count != reading->header.count) {
        char found[40];
        snprintf(found, sizeof found, "%zu columns", row->count);
        input_fault(row, SIZE_MAX, found, "%zu columns, as the header has", reading->header.count);
        return;
    }
    reading->table->add(reading);
}

static bool
read_rows(reading_t *reading, csv_reader_t *csv, input_problems_t *problems)
{
    while (csv_next(csv, &reading->row)) {
        add_row(reading);
        if (reading->row.fault.found && !input_skip(reading->file, &reading->row, problems)) {
            return false;
        }
    }
    return true;
}

static bool
read_table(const table_t *table, const input_file_t *file, workload_t *workload,
           input_problems_t *problems)
{
    reading_t reading = {.file = file, .table = table, .workload = workload};
    csv_reader_t csv;

    csv_begin(&csv, file);
    bool complete = read_header(&reading, &csv, problems) && read_rows(&reading, &csv, problems);
    names_free(&reading.names);
    input_row_free(&reading.header);
    input_row_free(&reading.row);
    return complete;
}

bool
openb_read_pods(const input_file_t *file, workload_t *workload, input_problems_t *problems)
{
    return read_table(&pod_table, file, workload, problems);
}

bool
openb_read_nodes(const input_file_t *file, workload_t *workload, input_problems_t *problems)
{
    return read_table(&node_table, file, workload, problems);
}
