/*
 * A recorded workload: pods that arrive, run for a while and end, and the nodes they ran on.
 *
 * Every parser (CSV, SWF, trace) fills this one form, and everything after the parsers reads only
 * it. Times are nanoseconds from the start of the recording. workload_finish sorts, so a pod's
 * index is its rank by arrival and does not depend on the file format it came from.
 */
#ifndef SCHEDQ_REPLAY_WORKLOAD_H
#define SCHEDQ_REPLAY_WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Legal ranges, the same in all formats. */
#define WORKLOAD_SECONDS_MAX INT64_C(4000000000) /* Unix times until 2096 */
#define WORKLOAD_CPU_MILLI_MAX INT64_C(1000000000)
#define WORKLOAD_MEMORY_MIB_MAX INT64_C(1000000000000)
#define WORKLOAD_GPUS_MAX 64
#define WORKLOAD_GPU_MILLI 1000 /* one whole GPU */
#define WORKLOAD_MODELS_MAX 63
#define WORKLOAD_CLASSES_MAX 1000
#define WORKLOAD_NAME_MAX 253
#define WORKLOAD_LABEL_MAX 63 /* a class or a GPU model */

#define NS_PER_SECOND INT64_C(1000000000)

typedef struct workload_pod {
    char *name;
    int64_t arrival_ns;
    int64_t run_ns;
    int64_t cpu_milli;
    int64_t memory_mib;
    uint64_t models; /* one bit per GPU model that it accepts; 0: any */
    uint16_t gpus;
    uint16_t gpu_milli; /* that it takes of each of its GPUs; 0 without GPUs */
    uint16_t qos;       /* number of its priority class */
    uint32_t shape;     /* set by workload_finish; equal for pods that ask nodes for the same */
} workload_pod_t;

typedef struct workload_node {
    char *name;
    int64_t arrival_ns; /* when it joins the cluster */
    int64_t cpu_milli;
    int64_t memory_mib;
    uint64_t model; /* the bit of its GPU model; 0: none stated */
    uint16_t gpus;
} workload_node_t;

/* Labels numbered in order of appearance. */
typedef struct workload_labels {
    char **names;
    size_t count;
    size_t capacity;
} workload_labels_t;

typedef struct workload {
    workload_pod_t *pods;
    size_t pod_count;
    size_t pod_capacity;
    workload_node_t *nodes;
    size_t node_count;
    size_t node_capacity;
    workload_labels_t classes;
    workload_labels_t models;
    size_t shape_count; /* set by workload_finish */
    char *source;       /* where the figures come from, as a trace file says; NULL: not stated */
} workload_t;

/* Class 0 is "none": that of pods whose file states no class. */
void workload_init(workload_t *workload);
void workload_clear(workload_t *workload);
/* Priority of a class, by its name: those of the openb trace have one, every other has 0. */
int32_t workload_default_priority(const char *class_name);
/* The pod and its name become the workload's. */
void workload_add_pod(workload_t *workload, const workload_pod_t *pod);
/* The node and its name become the workload's. */
void workload_add_node(workload_t *workload, const workload_node_t *node);
/* Number of a label, added if it is not known; `limit` if there are that many others. */
size_t workload_label(workload_labels_t *labels, const char *name, size_t limit);
/*
 * Sorts pods and nodes by arrival, those of equal arrival in the order of their files, and numbers
 * the shapes.
 */
void workload_finish(workload_t *workload);

#endif
