/*
 * What the library shows to a visitor or a writer, copied into memory that the caller frees: C
 * never calls Go.
 */
#ifndef SCHEDQ_GO_VISIT_H
#define SCHEDQ_GO_VISIT_H

#include <schedq/schedq.h>

/**
 * Pods in the order of their visits. Their names stand in `names` one after the other, without a
 * NUL.
 */
struct visited {
    schedq_pod_info_t *pods;
    char *names;
    size_t count, capacity;
    size_t names_length, names_capacity;
};

struct written {
    char *text;
    size_t length, capacity;
};

/*
 * As the functions of the library; SCHEDQ_NOMEM also without memory for the copies. The caller
 * frees what is there.
 */
schedq_status_t visited_get(schedq_worker_t *worker, schedq_pod_t pod, struct visited *visited);
schedq_status_t visited_snapshot(schedq_worker_t *worker, struct visited *visited);
schedq_status_t visited_peek(schedq_worker_t *worker, struct visited *visited);
schedq_status_t visited_peek_many(schedq_worker_t *worker, size_t count, struct visited *visited);
schedq_status_t visited_nominated(schedq_worker_t *worker, uint64_t node, struct visited *visited);
schedq_status_t written_metrics(schedq_t *queue, struct written *written);

#endif
