/* Which parser reads which file. */
#include "load.h"

#include "openb.h"
#include "swf.h"
#include "trace.h"

#include <ctype.h>
#include <string.h>

typedef enum format { FORMAT_TRACE, FORMAT_SWF, FORMAT_CSV } format_t;

/* An SWF file begins with a comment or, without a header, with a number and a blank. */
static format_t
format_of(const input_file_t *file)
{
    const char *text = file->text + strspn(file->text, " \t\r\n");

    if (strncmp(text, TRACE_MAGIC, strlen(TRACE_MAGIC)) == 0) {
        return FORMAT_TRACE;
    }
    size_t digits = strspn(text, "0123456789");
    if (*text == ';' || (digits > 0 && isblank((unsigned char)text[digits]))) {
        return FORMAT_SWF;
    }
    return FORMAT_CSV;
}

static bool
load_trace(workload_t *workload, const char *path, input_problems_t *problems)
{
    input_file_t file;

    if (!input_read(&file, path, problems)) {
        return false;
    }
    bool loaded = trace_read(&file, workload, problems);
    input_free(&file);
    return loaded;
}

static bool
use_trace(const input_file_t *file, input_problems_t *problems)
{
    fprintf(problems->out, "%s: a trace holds pods and nodes: give it with --trace FILE alone\n",
            file->path);
    return false;
}

/* Nodes from their own file. */
static bool
load_nodes(workload_t *workload, const char *path, input_problems_t *problems)
{
    input_file_t file;
    swf_header_t header;
    bool loaded = false;

    if (!input_read(&file, path, problems)) {
        return false;
    }
    switch (format_of(&file)) {
    case FORMAT_TRACE:
        loaded = use_trace(&file, problems);
        break;
    case FORMAT_SWF:
        loaded = swf_read_header(&file, &header, problems) &&
                 swf_make_nodes(&file, &header, workload, problems);
        break;
    case FORMAT_CSV:
        loaded = openb_read_nodes(&file, workload, problems);
        break;
    }
    input_free(&file);
    return loaded;
}

/* Jobs, and without `nodes` the nodes that the header of the same file describes. */
static bool
load_swf(workload_t *workload, const input_file_t *file, const char *nodes,
         input_problems_t *problems)
{
    swf_header_t header = {0};

    if (nodes == NULL && !swf_read_header(file, &header, problems)) {
        return false;
    }
    if (!swf_read_pods(file, workload, problems)) {
        return false;
    }
    return nodes != NULL || swf_make_nodes(file, &header, workload, problems);
}

static bool
load_pods(workload_t *workload, const load_files_t *files, input_problems_t *problems)
{
    input_file_t file;
    bool loaded = false;

    if (!input_read(&file, files->pods, problems)) {
        return false;
    }
    switch (format_of(&file)) {
    case FORMAT_TRACE:
        loaded = use_trace(&file, problems);
        break;
    case FORMAT_SWF:
        loaded = load_swf(workload, &file, files->nodes, problems);
        break;
    case FORMAT_CSV:
        if (files->nodes == NULL) {
            fprintf(problems->out,
                    "%s: a CSV file of pods says nothing of nodes: give --nodes FILE\n", file.path);
            break;
        }
        loaded = openb_read_pods(&file, workload, problems);
        break;
    }
    input_free(&file);
    return loaded;
}

/* A replay of nothing would show nothing: a file without any legal line is a mistake. */
static bool
check_not_empty(const workload_t *workload, const load_files_t *files, input_problems_t *problems)
{
    const char *pods = files->trace != NULL ? files->trace : files->pods;
    const char *nodes = files->trace != NULL   ? files->trace
                        : files->nodes != NULL ? files->nodes
                                               : files->pods;

    if (workload->pod_count == 0) {
        fprintf(problems->out, "%s: 0 pods, legal: at least 1\n", pods);
        return false;
    }
    if (workload->node_count == 0) {
        fprintf(problems->out, "%s: 0 nodes, legal: at least 1\n", nodes);
        return false;
    }
    return true;
}

bool
workload_load(workload_t *workload, const load_files_t *files, input_problems_t *problems)
{
    bool loaded = files->trace != NULL ? load_trace(workload, files->trace, problems)
                                       : load_pods(workload, files, problems);

    /* Pods come first: nodes made from an SWF header must hold the widest of them. */
    if (loaded && files->trace == NULL && files->nodes != NULL) {
        loaded = load_nodes(workload, files->nodes, problems);
    }
    if (!loaded || !check_not_empty(workload, files, problems)) {
        return false;
    }
    workload_finish(workload);
    return true;
}
