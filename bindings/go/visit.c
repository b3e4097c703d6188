/* Visitors that copy, see visit.h. */
#include "visit.h"

#include <stdlib.h>
#include <string.h>

/* Room for `more` elements behind the first `count`; false: no memory, and nothing changed. */
static int
make_room(void **memory, size_t *capacity, size_t count, size_t more, size_t size)
{
    size_t wanted = *capacity == 0 ? 64 : *capacity;
    void *grown;

    if (count + more <= *capacity) {
        return 1;
    }
    while (wanted < count + more) {
        wanted *= 2;
    }
    grown = realloc(*memory, wanted * size);
    if (grown == NULL) {
        return 0;
    }
    *memory = grown;
    *capacity = wanted;
    return 1;
}

struct visit {
    struct visited *visited;
    int failed;
};

static int
copy_pod(void *ctx, const schedq_pod_info_t *pod)
{
    struct visit *visit = ctx;
    struct visited *to = visit->visited;
    void *pods = to->pods;
    void *names = to->names;
    int room = make_room(&pods, &to->capacity, to->count, 1, sizeof *to->pods);

    to->pods = pods;
    room = room && make_room(&names, &to->names_capacity, to->names_length, pod->name_length, 1);
    to->names = names;
    if (!room) {
        visit->failed = 1;
        return 0;
    }
    to->pods[to->count] = *pod;
    to->pods[to->count++].name = NULL;
    memcpy(to->names + to->names_length, pod->name, pod->name_length);
    to->names_length += pod->name_length;
    return 1;
}

static schedq_status_t
answer(const struct visit *visit, schedq_status_t status)
{
    return visit->failed ? SCHEDQ_NOMEM : status;
}

schedq_status_t
visited_get(schedq_worker_t *worker, schedq_pod_t pod, struct visited *visited)
{
    struct visit visit = {.visited = visited};
    schedq_status_t status = schedq_get(worker, pod, copy_pod, &visit);

    return answer(&visit, status);
}

schedq_status_t
visited_snapshot(schedq_worker_t *worker, struct visited *visited)
{
    struct visit visit = {.visited = visited};
    schedq_status_t status = schedq_snapshot(worker, copy_pod, &visit);

    return answer(&visit, status);
}

schedq_status_t
visited_peek(schedq_worker_t *worker, struct visited *visited)
{
    struct visit visit = {.visited = visited};
    schedq_status_t status = schedq_peek(worker, copy_pod, &visit);

    return answer(&visit, status);
}

schedq_status_t
visited_peek_many(schedq_worker_t *worker, size_t count, struct visited *visited)
{
    struct visit visit = {.visited = visited};
    schedq_status_t status = schedq_peek_many(worker, count, copy_pod, &visit);

    return answer(&visit, status);
}

schedq_status_t
visited_nominated(schedq_worker_t *worker, uint64_t node, struct visited *visited)
{
    struct visit visit = {.visited = visited};
    schedq_status_t status = schedq_nominated_pods(worker, node, copy_pod, &visit);

    return answer(&visit, status);
}

struct write {
    struct written *written;
    int failed;
};

static int
copy_text(void *ctx, const char *text, size_t length)
{
    struct write *write = ctx;
    struct written *to = write->written;
    void *memory = to->text;

    write->failed = !make_room(&memory, &to->capacity, to->length, length, 1);
    to->text = memory;
    if (write->failed) {
        return 0;
    }
    memcpy(to->text + to->length, text, length);
    to->length += length;
    return 1;
}

schedq_status_t
written_metrics(schedq_t *queue, struct written *written)
{
    struct write write = {.written = written};
    schedq_status_t status = schedq_metrics_write(queue, copy_text, &write);

    return write.failed ? SCHEDQ_NOMEM : status;
}
