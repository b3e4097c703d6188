/*
 * A scheduler that can be looked at: it serves its metrics to Prometheus, and a page to a person.
 *
 * cc server.c $(pkg-config --cflags --libs schedq libmicrohttpd)
 *
 * usage: example_metrics PAGE [PORT]
 *
 * PAGE is the file page.html beside this one; PORT is 0 (default) for any that is free. It prints
 * its address, and ends at SIGINT or SIGTERM.
 *
 *   /         the page: how many pods are where over the last minutes, which wait longest and why
 *   /metrics  what Prometheus reads
 *   /state    what the page reads
 *
 * Both look at every pod, without stopping the scheduler. The work is made up: jobs come, some do
 * not fit, some fail, now and then there is room again. The scenes of a film are a group: they are
 * rendered together or not at all.
 */
#include <errno.h>
#include <inttypes.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <schedq/schedq.h>

#define HISTORY 300 /* seconds */
#define LONGEST 12
#define JOBS_WAITING 150
#define SCENES_MAX 6

static schedq_t *queue;
static uint64_t cores, licence; /* bits of plugins */
static schedq_event_t licence_add, quota_add;
static atomic_uint_fast64_t jobs; /* so many were added */
static atomic_uint_fast64_t paid; /* the quota is enough for the jobs before this one */
static atomic_bool ends;

static void
must(int ok, const char *what)
{
    if (!ok) {
        fprintf(stderr, "%s\n", what);
        exit(EXIT_FAILURE);
    }
}

/* Asks for the words here, after the call: of two arguments C may evaluate either one first. */
static void
worker_must(schedq_worker_t *worker, int ok)
{
    must(ok, schedq_worker_error(worker));
}

/* This thread's own; it is given back when the thread ends. */
static schedq_worker_t *
my_worker(void)
{
    schedq_worker_t *worker;
    char why[200];

    must(schedq_worker_get(queue, &worker, why, sizeof why) == SCHEDQ_OK, why);
    return worker;
}

static void
pause_ms(long ms)
{
    const struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

    (void)nanosleep(&pause, NULL);
}

/* ---- the work -------------------------------------------------------------------------------- */

static uint32_t
dice(uint64_t *random, uint32_t sides)
{
    *random = *random * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)((*random >> 33) % sides);
}

/* PreEnqueue: one job in 40 waits for its owner's quota. */
static int
within_quota(void *ctx, uint64_t job)
{
    (void)ctx;
    return job % 40 != 7 || job < atomic_load(&paid);
}

static void
add_job(schedq_worker_t *worker, uint64_t job, int32_t priority)
{
    schedq_pod_spec_t spec = SCHEDQ_POD_SPEC_INIT;
    schedq_result_t result;
    char name[40];
    int length = snprintf(name, sizeof name, "render/%" PRIu64, job);

    spec.object = job;
    spec.priority = priority;
    worker_must(worker, schedq_add(worker, name, (size_t)length, &spec, &result) == SCHEDQ_OK);
    if (job % 60 == 11) {
        int64_t later = schedq_now(queue) + INT64_C(20000000000);

        worker_must(worker, schedq_not_before(worker, result.pod, later, NULL) == SCHEDQ_OK);
    }
}

static uint32_t
scenes_of(uint64_t film)
{
    return 3 + (uint32_t)(film % (SCENES_MAX - 2));
}

/* A film's group has its number, and needs all of its scenes. */
static void
add_scene(schedq_worker_t *worker, uint64_t film, uint32_t scene)
{
    schedq_pod_spec_t spec = SCHEDQ_POD_SPEC_INIT;
    char name[40];
    int length = snprintf(name, sizeof name, "film-%" PRIu64 "/scene-%" PRIu32, film, scene);

    spec.group = film;
    worker_must(worker, schedq_add(worker, name, (size_t)length, &spec, NULL) == SCHEDQ_OK);
}

/* Its last scene comes with the next film: until then the others are aside. */
static void
add_film(schedq_worker_t *worker, uint64_t film, int32_t priority)
{
    schedq_group_spec_t group = SCHEDQ_GROUP_SPEC_INIT;

    group.priority = priority;
    group.quorum = scenes_of(film);
    worker_must(worker, schedq_group_add(worker, film, &group, NULL) == SCHEDQ_OK);
    for (uint32_t scene = 1; scene < scenes_of(film); scene++) {
        add_scene(worker, film, scene);
    }
    if (film > 1) {
        add_scene(worker, film - 1, scenes_of(film - 1));
    }
}

/* Jobs come in waves; one in 60 is not to begin before a time, and with one in 30 comes a film. */
static void *
add_jobs(void *unused)
{
    schedq_worker_t *worker = my_worker();
    uint64_t random = 1;

    (void)unused;
    for (uint64_t job = 0; !atomic_load(&ends); job++, atomic_store(&jobs, job)) {
        schedq_stats_t stats = SCHEDQ_STATS_INIT;
        int32_t priority = (int32_t)dice(&random, 3);

        add_job(worker, job, priority);
        if (job % 30 == 0) {
            add_film(worker, 1 + job / 30, priority);
        }
        do {
            pause_ms(job / 200 % 2 == 0 ? 10 : 30);
            must(schedq_stats(queue, &stats) == SCHEDQ_OK, "schedq_stats");
        } while (!atomic_load(&ends) && stats.parked + stats.gated + stats.held > JOBS_WAITING);
    }
    return NULL;
}

/*
 * Ends a cycle: most jobs are placed, others find no cores or no licence, or their node dies. The
 * scenes of a film share its fate.
 */
static void
end_cycle(schedq_worker_t *worker, schedq_popped_group_t *film, schedq_popped_t *jobs_taken,
          size_t count, uint32_t fate)
{
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
    schedq_group_end_t end = SCHEDQ_GROUP_END_INIT;

    failure.unschedulable = fate == 9 ? 0 : fate == 8 ? licence : cores;
    for (size_t i = 0; i < count; i++) {
        worker_must(worker, (fate < 6 ? schedq_done(worker, jobs_taken[i].token)
                                      : schedq_fail(worker, &jobs_taken[i].token, &failure,
                                                    NULL)) == SCHEDQ_OK);
    }
    if (film->group == 0) {
        return;
    }
    end.outcome = fate < 6    ? SCHEDQ_GROUP_PLACED
                  : fate == 9 ? SCHEDQ_GROUP_ERROR
                              : SCHEDQ_GROUP_REJECTED;
    worker_must(worker, schedq_group_done(worker, &film->token, &end, NULL) == SCHEDQ_OK);
    if (fate < 6) {
        worker_must(worker, schedq_group_delete(worker, film->group, NULL) == SCHEDQ_OK);
    }
}

static void *
place_jobs(void *number)
{
    schedq_worker_t *worker = my_worker();
    uint64_t random = (uint64_t)(uintptr_t)number;
    schedq_popped_group_t film;
    schedq_popped_t jobs_taken[SCENES_MAX];
    schedq_status_t status;
    size_t count;

    while ((status = schedq_pop_group_until(worker, SCHEDQ_NO_DEADLINE, &film, jobs_taken,
                                            SCENES_MAX, &count)) == SCHEDQ_OK) {
        pause_ms(5 + (long)dice(&random, 20));
        end_cycle(worker, &film, jobs_taken, count, dice(&random, 10));
    }
    worker_must(worker, status == SCHEDQ_CLOSED);
    return NULL;
}

static void
notify(schedq_worker_t *worker, schedq_event_t event)
{
    schedq_change_t change = SCHEDQ_CHANGE_INIT;

    change.event = event;
    worker_must(worker, schedq_notify(worker, &change, NULL) == SCHEDQ_OK);
}

/* Now and then a node comes; less often there is a licence, or quota. */
static void *
make_room(void *unused)
{
    schedq_worker_t *worker = my_worker();

    (void)unused;
    for (unsigned second = 1; !atomic_load(&ends); second++) {
        pause_ms(1000);
        if (second % 7 == 0) {
            notify(worker, SCHEDQ_EVENT_NODE_ADD);
        }
        if (second % 19 == 0) {
            notify(worker, licence_add);
        }
        if (second % 23 == 0) {
            atomic_store(&paid, atomic_load(&jobs));
            notify(worker, quota_add);
        }
    }
    return NULL;
}

/* ---- the last minutes ------------------------------------------------------------------------ */

struct depth {
    int64_t time; /* seconds since 1970 */
    uint64_t pods[SCHEDQ_ASIDE + 1];
};

static pthread_mutex_t history_lock = PTHREAD_MUTEX_INITIALIZER;
static struct depth history[HISTORY];
static size_t history_count; /* samples so far, with those that were overwritten */

static void *
watch(void *unused)
{
    (void)unused;
    while (!atomic_load(&ends)) {
        schedq_stats_t stats = SCHEDQ_STATS_INIT;

        must(schedq_stats(queue, &stats) == SCHEDQ_OK, "schedq_stats");
        pthread_mutex_lock(&history_lock);
        history[history_count++ % HISTORY] = (struct depth){
            .time = (int64_t)time(NULL),
            .pods = {[SCHEDQ_ACTIVE] = stats.active,
                     [SCHEDQ_BACKOFF] = stats.backoff,
                     [SCHEDQ_ERROR_BACKOFF] = stats.error_backoff,
                     [SCHEDQ_PARKED] = stats.parked,
                     [SCHEDQ_GATED] = stats.gated,
                     [SCHEDQ_INFLIGHT] = stats.inflight,
                     [SCHEDQ_HELD] = stats.held,
                     [SCHEDQ_ASIDE] = stats.aside},
        };
        pthread_mutex_unlock(&history_lock);
        pause_ms(1000);
    }
    return NULL;
}

/* ---- the longest waiting --------------------------------------------------------------------- */

struct waiting {
    schedq_pod_t pod;
    uint64_t group;
    int64_t since_ns;
    char name[SCHEDQ_NAME_MAX + 1];
};

struct longest {
    struct waiting pods[LONGEST];
    size_t count;
};

/* The number of the entry with a pod of that group; the count, if there is none. */
static size_t
entry_of(const struct longest *longest, uint64_t group)
{
    size_t i = 0;

    while (i < longest->count && (group == 0 || longest->pods[i].group != group)) {
        i++;
    }
    return i;
}

/* A visitor of schedq_snapshot: keeps the oldest, in order, and of each group one pod. */
static int
keep_oldest(void *ctx, const schedq_pod_info_t *pod)
{
    struct longest *longest = ctx;
    size_t last = entry_of(longest, pod->group);
    size_t i = last;

    if (pod->place == SCHEDQ_INFLIGHT) {
        return 1;
    }
    while (i > 0 && pod->history.timestamp_ns < longest->pods[i - 1].since_ns) {
        i--;
    }
    if (i == LONGEST || (i == last && last < longest->count)) {
        return 1; /* too young, or its group has an older one */
    }
    if (last == longest->count) {
        last = longest->count < LONGEST ? longest->count++ : LONGEST - 1;
    }
    memmove(&longest->pods[i + 1], &longest->pods[i], (last - i) * sizeof longest->pods[0]);
    longest->pods[i] = (struct waiting){
        .pod = pod->pod, .group = pod->group, .since_ns = pod->history.timestamp_ns};
    memcpy(longest->pods[i].name, pod->name, pod->name_length);
    return 1;
}

/* ---- texts ----------------------------------------------------------------------------------- */

struct text {
    char *bytes;
    size_t length, capacity;
};

/* A writer of schedq_metrics_write. */
static int
append(void *ctx, const char *piece, size_t length)
{
    struct text *text = ctx;

    if (text->length + length > text->capacity) {
        text->capacity = 2 * (text->length + length);
        text->bytes = realloc(text->bytes, text->capacity);
        must(text->bytes != NULL, "no memory");
    }
    memcpy(text->bytes + text->length, piece, length);
    text->length += length;
    return 1;
}

__attribute__((format(printf, 2, 3))) static void
say(struct text *text, const char *format, ...)
{
    char piece[256];
    va_list arguments;

    va_start(arguments, format);
    int length = vsnprintf(piece, sizeof piece, format, arguments);
    va_end(arguments);
    must(length >= 0 && (size_t)length < sizeof piece, "a piece of text is too long");
    (void)append(text, piece, (size_t)length);
}

/* As JSON has it. */
static void
say_string(struct text *text, const char *string)
{
    say(text, "\"");
    for (; *string != '\0'; string++) {
        if ((unsigned char)*string < ' ' || *string == '"' || *string == '\\') {
            say(text, "\\u%04x", (unsigned char)*string);
        } else {
            say(text, "%c", *string);
        }
    }
    say(text, "\"");
}

static void
say_history(struct text *text)
{
    say(text, "{\"places\":[");
    for (int place = SCHEDQ_ACTIVE; place <= SCHEDQ_ASIDE; place++) {
        say(text, "%s\"%s\"", place > SCHEDQ_ACTIVE ? "," : "",
            schedq_place_name((schedq_place_t)place));
    }
    say(text, "],\n\"history\":[");
    pthread_mutex_lock(&history_lock);
    for (size_t i = history_count > HISTORY ? history_count - HISTORY : 0, first = i;
         i < history_count; i++) {
        const struct depth *depth = &history[i % HISTORY];

        say(text, "%s[%" PRId64, i > first ? ",\n" : "", depth->time);
        for (int place = SCHEDQ_ACTIVE; place <= SCHEDQ_ASIDE; place++) {
            say(text, ",%" PRIu64, depth->pods[place]);
        }
        say(text, "]");
    }
    pthread_mutex_unlock(&history_lock);
    say(text, "]");
}

/* A pod that has gone meanwhile is left out. */
static void
say_longest(struct text *text)
{
    schedq_worker_t *worker = my_worker();
    struct longest longest = {.count = 0};
    const char *between = "";

    worker_must(worker, schedq_snapshot(worker, keep_oldest, &longest) == SCHEDQ_OK);
    say(text, ",\n\"longest\":[");
    for (size_t i = 0; i < longest.count; i++) {
        schedq_explanation_t explanation = SCHEDQ_EXPLANATION_INIT;
        schedq_group_info_t group = SCHEDQ_GROUP_INFO_INIT;
        char why[400];

        (void)schedq_group_get(worker, longest.pods[i].group, &group); /* waiting 0: it has none */
        if (schedq_explain(worker, longest.pods[i].pod, &explanation) != SCHEDQ_OK) {
            continue;
        }
        (void)schedq_explanation_text(queue, &explanation, why, sizeof why);
        say(text, "%s{\"name\":", between);
        say_string(text, longest.pods[i].name);
        say(text,
            ",\"with\":%" PRIu64 ",\"place\":\"%s\",\"seconds\":%.1f,\"attempts\":%" PRIu32
            ",\"why\":",
            group.waiting > 1 ? group.waiting - 1 : 0,
            schedq_place_name((schedq_place_t)explanation.place),
            (double)(explanation.now_ns - explanation.history.timestamp_ns) / 1e9,
            explanation.history.attempts);
        say_string(text, why);
        say(text, "}");
        between = ",\n";
    }
    say(text, "]}\n");
}

/* ---- the server ------------------------------------------------------------------------------ */

static struct text page;

static void
read_page(const char *path)
{
    FILE *file = fopen(path, "r");
    char piece[4096];

    must(file != NULL, path);
    for (size_t length; (length = fread(piece, 1, sizeof piece, file)) > 0;) {
        (void)append(&page, piece, length);
    }
    must(!ferror(file) && page.length > 0, path);
    (void)fclose(file);
}

static enum MHD_Result
respond(struct MHD_Connection *connection, unsigned status, const char *kind, struct text *text)
{
    struct MHD_Response *response =
        MHD_create_response_from_buffer(text->length, text->bytes, MHD_RESPMEM_MUST_COPY);

    if (response == NULL) {
        return MHD_NO;
    }
    (void)MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, kind);
    enum MHD_Result result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result
answer(void *ctx, struct MHD_Connection *connection, const char *path, const char *method,
       const char *version, const char *upload, size_t *upload_size, void **memory)
{
    struct text text = {NULL, 0, 0};
    enum MHD_Result result;

    (void)ctx;
    (void)version;
    (void)upload;
    (void)upload_size;
    (void)memory;
    if (strcmp(method, MHD_HTTP_METHOD_GET) != 0) {
        say(&text, "GET is all that there is\n");
        result = respond(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "text/plain", &text);
    } else if (strcmp(path, "/") == 0) {
        result = respond(connection, MHD_HTTP_OK, "text/html; charset=utf-8", &page);
    } else if (strcmp(path, "/metrics") == 0) {
        must(schedq_metrics_write(queue, append, &text) == SCHEDQ_OK, "schedq_metrics_write");
        result = respond(connection, MHD_HTTP_OK, "text/plain; version=0.0.4", &text);
    } else if (strcmp(path, "/state") == 0) {
        say_history(&text);
        say_longest(&text);
        result = respond(connection, MHD_HTTP_OK, "application/json", &text);
    } else {
        say(&text, "/, /metrics and /state are all that there is\n");
        result = respond(connection, MHD_HTTP_NOT_FOUND, "text/plain", &text);
    }
    free(text.bytes);
    return result;
}

/* On this machine only; one thread answers all. */
static struct MHD_Daemon *
serve(uint16_t port)
{
    const struct sockaddr_in here = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct MHD_Daemon *daemon =
        MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD, port, NULL, NULL, answer, NULL,
                         MHD_OPTION_SOCK_ADDR, &here, MHD_OPTION_END);

    must(daemon != NULL, "the server did not start: is the port taken?");
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);
    printf("http://127.0.0.1:%u/\n", info->port);
    (void)fflush(stdout);
    return daemon;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static schedq_event_t
event(const char *resource, const char *label)
{
    schedq_event_t event;
    char why[200];

    must(schedq_event_define(queue, resource, SCHEDQ_ACTION_ADD, label, &event, why, sizeof why) ==
             SCHEDQ_OK,
         why);
    return event;
}

static uint64_t
plugin(const char *name, const char *resource, schedq_pre_enqueue_fn gate)
{
    const schedq_interest_t interest = {.resource = resource, .actions = SCHEDQ_ACTION_ADD};
    schedq_plugin_t plugin = SCHEDQ_PLUGIN_INIT;
    uint64_t bit;
    char why[200];

    plugin.name = name;
    plugin.interests = &interest;
    plugin.interest_count = 1;
    plugin.pre_enqueue = gate;
    must(schedq_plugin_register(queue, &plugin, &bit, why, sizeof why) == SCHEDQ_OK, why);
    return bit;
}

static void
create(void)
{
    schedq_config_t config = SCHEDQ_CONFIG_INIT;
    char why[200];

    config.sample_calls = 16; /* one call of 16 is timed */
    must(schedq_create(&config, &queue, why, sizeof why) == SCHEDQ_OK, why);
    licence_add = event("Licence", "LicenceAdd");
    quota_add = event("Quota", "QuotaAdd");
    cores = plugin("cores", "Node", NULL);
    licence = plugin("licence", "Licence", NULL);
    (void)plugin("quota", "Quota", within_quota);
    must(schedq_run(queue, why, sizeof why) == SCHEDQ_OK, why);
}

static uint16_t
port_of(const char *text)
{
    char *end;

    errno = 0;
    unsigned long port = strtoul(text, &end, 10);
    must(errno == 0 && end != text && *end == '\0' && port <= UINT16_MAX, "PORT: 0..65535");
    return (uint16_t)port;
}

int
main(int argc, char **argv)
{
    void *(*const roles[])(void *) = {add_jobs, make_room, watch, place_jobs, place_jobs};
    pthread_t threads[sizeof roles / sizeof roles[0]];
    sigset_t signals;
    char why[200];
    int signal;

    must(argc == 2 || argc == 3, "usage: example_metrics PAGE [PORT]");
    read_page(argv[1]);
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals, NULL); /* of all threads: sigwait takes them */
    create();
    for (size_t i = 0; i < sizeof roles / sizeof roles[0]; i++) {
        must(pthread_create(&threads[i], NULL, roles[i], (void *)(uintptr_t)(i + 1)) == 0,
             "pthread_create");
    }
    struct MHD_Daemon *daemon = serve(argc == 3 ? port_of(argv[2]) : 0);

    (void)sigwait(&signals, &signal);
    MHD_stop_daemon(daemon);
    atomic_store(&ends, true);
    must(schedq_close(queue) == SCHEDQ_OK, "schedq_close");
    for (size_t i = 0; i < sizeof roles / sizeof roles[0]; i++) {
        pthread_join(threads[i], NULL);
    }
    must(schedq_stop(queue) == SCHEDQ_OK, "schedq_stop");
    must(schedq_destroy_with_pods(queue, why, sizeof why) == SCHEDQ_OK, why);
    free(page.bytes);
    return EXIT_SUCCESS;
}
