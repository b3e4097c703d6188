/* A watchdog's look: worker.h and policy/flights.h say how it tells for how long. */
#include "api/call.h"
#include "api/check.h"
#include "policy/backoff.h"
#include "policy/flights.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

_Static_assert((int)CALLBACK_WAKE == (int)SCHEDQ_CALLBACK_WAKE, "up to WAKE they are the same");
_Static_assert(sizeof(struct flights) <= sizeof((schedq_watch_t){0}.notes), "the notes have room");
_Static_assert(sizeof(schedq_overdue_t) == 48, "frozen");

struct look {
    schedq_watch_t *watch;
    const struct flights *flights;
    const schedq_t *queue;
    int64_t now; /* when the call began to look */
    schedq_overdue_t *out;
    size_t room, found;
};

static void
tell(struct look *look, const schedq_overdue_t *overdue)
{
    if (look->found < look->room) {
        look->out[look->found] = *overdue;
    }
    look->found++;
}

/* ---- workers --------------------------------------------------------------------------------- */

static schedq_callback_t
public_callback(uint64_t what)
{
    enum callback callback = (enum callback)(what & ((1u << INSIDE_KIND_BITS) - 1));

    return callback == CALLBACK_VISITED ? SCHEDQ_CALLBACK_RELEASE : (schedq_callback_t)callback;
}

static schedq_overdue_t
overdue_worker(const schedq_worker_t *worker, uint64_t busy, uint64_t what)
{
    return (schedq_overdue_t){
        .kind = SCHEDQ_OVERDUE_CALL,
        .callback = (uint8_t)public_callback(what),
        .plugin = (uint8_t)(what >> INSIDE_KIND_BITS),
        .profile = (schedq_profile_t)(what >> (INSIDE_KIND_BITS + INSIDE_PLUGIN_BITS)),
        .worker = worker->number,
        .thread = (uint32_t)busy,
    };
}

/* True: it is marked for so long that it is overdue. Marks it if it is not marked. */
static bool
is_overdue(const struct look *look, uint64_t *word, uint64_t value, int64_t limit, int64_t *since)
{
    if (value >> 32 == 0) {
        worker_mark(word, value, clock_now(&look->queue->clock)); /* behind the look at the word */
        return false;
    }
    *since = worker_since(value, look->now);
    return limit > 0 && *since >= limit;
}

/*
 * `busy` is read before and behind `what`: if it is the same, no sleep ended in between, and what
 * runs is this call's.
 */
COLD static void
look_at_worker(struct look *look, schedq_worker_t *worker)
{
    uint64_t busy = word_load(&worker->busy);
    uint64_t what = word_load(&worker->inside.what);
    schedq_overdue_t overdue = overdue_worker(worker, busy, what);

    if (busy == 0 || overdue.thread == WORKER_NOBODYS || what == CALLBACK_SLEEP ||
        word_load(&worker->busy) != busy) {
        return;
    }
    bool is = is_overdue(look, &worker->busy, busy, look->watch->call_ns, &overdue.for_ns);

    if ((uint32_t)what != CALLBACK_NONE) {
        int64_t since = 0;

        if (is_overdue(look, &worker->inside.what, what, look->watch->callback_ns, &since)) {
            overdue.kind = SCHEDQ_OVERDUE_CALLBACK;
            overdue.for_ns = since;
            is = true;
        }
    }
    if (is) {
        tell(look, &overdue);
    }
}

COLD static void
look_at_workers(struct look *look, const schedq_worker_t *own)
{
    schedq_t *queue = own->queue;

    for (uint32_t i = 0; i < queue->config.max_workers; i++) {
        schedq_worker_t *worker = queue->ops->worker_at(queue, i);

        if (worker != NULL && worker != own) {
            look_at_worker(look, worker);
        }
    }
}

/* ---- pods ------------------------------------------------------------------------------------ */

static void
tell_pod(struct look *look, schedq_overdue_kind_t kind, const struct watched *pod, int64_t since)
{
    const schedq_overdue_t overdue = {.kind = (uint8_t)kind,
                                      .profile = pod->profile,
                                      .plugin = kind == SCHEDQ_OVERDUE_GATED ? pod->gate : 0,
                                      .pod = pod->pod,
                                      .rejectors =
                                          kind == SCHEDQ_OVERDUE_LEFTOVER ? pod->rejectors : 0,
                                      .for_ns = since};

    tell(look, &overdue);
}

/* As watching.each. */
COLD static void
look_at_pod(void *ctx, const struct watched *pod)
{
    struct look *look = ctx;
    const schedq_watch_t *watch = look->watch;
    int64_t waits = flights_ago(pod->timestamp, look->now);
    int64_t flies = pod->pop_order != 0 ? flights_age(look->flights, pod->pop_order, look->now) : 0;

    if (watch->inflight_ns > 0 && flies >= watch->inflight_ns) {
        tell_pod(look, SCHEDQ_OVERDUE_INFLIGHT, pod, flies);
    }
    if (watch->gated_ns > 0 && pod->place == SCHEDQ_GATED && waits >= watch->gated_ns) {
        tell_pod(look, SCHEDQ_OVERDUE_GATED, pod, waits);
    }
    if (watch->leftovers != 0 && pod->freed_by == 1 + LABEL_LEFTOVER) {
        tell_pod(look, SCHEDQ_OVERDUE_LEFTOVER, pod, waits);
    }
}

COLD static schedq_status_t
look_at_pods(struct look *look, schedq_worker_t *own, struct flights *flights)
{
    schedq_t *queue = own->queue;
    struct watching watching = {.each = look_at_pod, .ctx = look};
    schedq_status_t status = queue->ops->watch(own, &watching);

    /* The clock is read behind `popped`: what was popped by then had been popped at that time. */
    if (status == SCHEDQ_OK && look->watch->inflight_ns > 0) {
        flights_note(flights, look->watch->inflight_ns, clock_now(&queue->clock), watching.popped);
    }
    return status;
}

/* ---- the call -------------------------------------------------------------------------------- */

static bool
check_limit(schedq_worker_t *worker, const char *name, int64_t limit)
{
    if (limit < 0) {
        worker_say(worker, "watch.%s %" PRId64 ": 0 or more nanoseconds", name, limit);
    }
    return limit >= 0;
}

COLD static bool
check_watch(schedq_worker_t *worker, const schedq_watch_t *watch)
{
    if (!check_not_null(worker, watch, "watch") ||
        !check_size(worker, "watch", watch->struct_size, sizeof *watch)) {
        return false;
    }
    if (watch->leftovers > 1) {
        worker_say(worker, "watch.leftovers %" PRIu32 ": 0..1", watch->leftovers);
        return false;
    }
    if (watch->notes[0] > FLIGHT_NOTES) {
        worker_say(worker, "watch.notes: zero at first, and the library's from then on");
        return false;
    }
    return check_limit(worker, "inflight_ns", watch->inflight_ns) &&
           check_limit(worker, "gated_ns", watch->gated_ns) &&
           check_limit(worker, "call_ns", watch->call_ns) &&
           check_limit(worker, "callback_ns", watch->callback_ns);
}

COLD static schedq_status_t
look_once(schedq_worker_t *worker, struct look *look)
{
    struct flights flights;
    const schedq_watch_t *watch = look->watch;
    schedq_status_t status = SCHEDQ_OK;

    memcpy(&flights, watch->notes, sizeof flights);
    look->flights = &flights;
    look->now = clock_now(&worker->queue->clock);
    if (watch->call_ns > 0 || watch->callback_ns > 0) {
        look_at_workers(look, worker);
    }
    if (watch->inflight_ns > 0 || watch->gated_ns > 0 || watch->leftovers != 0) {
        status = look_at_pods(look, worker, &flights);
    }
    memcpy(look->watch->notes, &flights, sizeof flights);
    return status;
}

COLD schedq_status_t
schedq_watch(schedq_worker_t *worker, schedq_watch_t *watch, schedq_overdue_t *out, size_t room,
             size_t *found)
{
    schedq_status_t status = call_begin_worker(worker);

    if (status != SCHEDQ_OK) {
        return status;
    }
    if (check_watch(worker, watch) && check_not_null(worker, found, "found") &&
        (room == 0 || check_not_null(worker, out, "out"))) {
        struct look look = {.watch = watch, .queue = worker->queue, .out = out, .room = room};

        status = look_once(worker, &look);
        *found = look.found;
    } else {
        status = SCHEDQ_INVALID;
    }
    call_end_worker(worker);
    return status;
}

/* ---- in words -------------------------------------------------------------------------------- */

static const char *
plugin_name(const schedq_t *queue, const schedq_overdue_t *overdue)
{
    bool known = overdue->plugin != 0 && overdue->plugin <= REGISTRY_PLUGINS_MAX &&
                 overdue->profile < registry_profile_count(&queue->registry) &&
                 (registry_known(&queue->registry, overdue->profile) &
                  UINT64_C(1) << (overdue->plugin - 1)) != 0;

    return known ? registry_plugin_name(&queue->registry, overdue->profile, overdue->plugin - 1u)
                 : NULL;
}

#define TEXT_ROOM 512 /* more than a name and a sentence */

/* As schedq_visit_fn. */
static int
write_name(void *ctx, const schedq_pod_info_t *pod)
{
    (void)snprintf(ctx, SCHEDQ_NAME_MAX + 1, "%s", pod->name);
    return 0;
}

/* As snprintf behind what is there. */
__attribute__((format(printf, 2, 3))) static void
add(char text[TEXT_ROOM], const char *format, ...)
{
    size_t length = strlen(text);
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(text + length, TEXT_ROOM - length, format, arguments);
    va_end(arguments);
}

static void
add_time(char text[TEXT_ROOM], int64_t time_ns, const char *behind)
{
    add(text, " %" PRId64 ".%03" PRId64 " s %s", time_ns / BACKOFF_SECOND_NS,
        time_ns % BACKOFF_SECOND_NS / 1000000, behind);
}

COLD static void
write_pod(schedq_worker_t *worker, const schedq_overdue_t *overdue, char text[TEXT_ROOM])
{
    char name[SCHEDQ_NAME_MAX + 1];
    const char *gate = plugin_name(worker->queue, overdue);

    if (worker->queue->ops->get(worker, overdue->pod, write_name, name) != SCHEDQ_OK) {
        (void)snprintf(name, sizeof name, "%" PRIu64, overdue->pod.bits);
    }
    add(text, "pod %s: ", name);
    if (overdue->kind == SCHEDQ_OVERDUE_INFLIGHT) {
        add(text, "popped");
        add_time(text, overdue->for_ns, "ago or earlier, and its cycle has not ended");
    } else if (overdue->kind == SCHEDQ_OVERDUE_GATED) {
        add(text, "gated by %s for", gate != NULL ? gate : "?");
        add_time(text, overdue->for_ns, "or longer");
    } else {
        add(text, "nothing but the limit of waiting freed it; came or failed");
        add_time(text, overdue->for_ns, "ago");
    }
}

COLD static void
write_worker(const schedq_worker_t *worker, const schedq_overdue_t *overdue, char text[TEXT_ROOM])
{
    const char *plugin = plugin_name(worker->queue, overdue);
    const char *callback = call_name((enum callback)overdue->callback);

    add(text, "worker %" PRIu32 ", thread %" PRIu32 ": ", overdue->worker, overdue->thread);
    if (overdue->kind == SCHEDQ_OVERDUE_CALLBACK) {
        add(text, "%s%s%s has not returned for", callback, plugin != NULL ? " of " : "",
            plugin != NULL ? plugin : "");
        add_time(text, overdue->for_ns, "or longer");
        return;
    }
    add(text, "inside a call for");
    add_time(text, overdue->for_ns, "or longer");
    if (overdue->callback != SCHEDQ_CALLBACK_NONE) {
        add(text, ", in %s%s%s", callback, plugin != NULL ? " of " : "",
            plugin != NULL ? plugin : "");
    }
}

COLD size_t
schedq_overdue_text(schedq_worker_t *worker, const schedq_overdue_t *overdue, char *text,
                    size_t size)
{
    char whole[TEXT_ROOM] = "";

    if (overdue == NULL || (text == NULL && size > 0) || call_begin_worker(worker) != SCHEDQ_OK) {
        return 0;
    }
    if (overdue->kind == SCHEDQ_OVERDUE_CALL || overdue->kind == SCHEDQ_OVERDUE_CALLBACK) {
        write_worker(worker, overdue, whole);
    } else {
        write_pod(worker, overdue, whole);
    }
    call_end_worker(worker);
    int length = snprintf(text, size, "%s", whole);

    return length > 0 ? (size_t)length : 0;
}
