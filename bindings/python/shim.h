/*
 * What the Python package calls instead of the library itself. Three things have to be in C:
 *
 *   guard     A queue that a thread ends while another is about to call it must refuse that call.
 *             Each call is counted from its begin to its end; sqp_end refuses while there are any.
 *   objects   A Python object is 64 bits to the library: the address of a `struct ref`, which
 *             counts the library's references. retain and release only count: they never wait for
 *             the GIL. Which object a ref stands for is in a dict of the package. A ref whose count
 *             came to 0 is on a list until the package takes it, which drops the object.
 *   visits    What a visitor sees is valid during the visit only. So it is copied, and its objects
 *             are retained.
 *
 * Every function is called without the GIL. So none may touch Python but through the four
 * functions at the end.
 */
#ifndef SCHEDQ_PYTHON_SHIM_H
#define SCHEDQ_PYTHON_SHIM_H

#include <schedq/schedq.h>

typedef struct sqp_queue sqp_queue;

/* Added to a status: enough refs wait to be taken by sqp_take_dead. */
enum { SQP_DEAD = 0x100 };

/* The words of this thread's last call that was refused; empty if they say nothing. */
const char *sqp_words(void);

/* Bytes of a sqp_queue, which the package allocates: all zero until sqp_create. */
size_t sqp_size(void);
/* Makes the queue. `self` is passed to sqp_py_affinity, if has_affinity. */
int sqp_create(schedq_config_t *config, void *self, int has_affinity, sqp_queue *queue);
/* Ends the timer thread and the queue, with its pods and refs. Later calls are refused. */
int sqp_end(sqp_queue *queue);
/*
 * Ends the queue, and its pods if `with_pods`; not while a call has not returned, or the timer
 * thread runs. Later calls are refused.
 */
int sqp_destroy(sqp_queue *queue, int with_pods);

#define CALL(name, parameters, arguments) int sqp_##name parameters;
#define CALL_QUEUE(name, parameters, arguments) int sqp_##name parameters;
#include "calls.h"
#undef CALL
#undef CALL_QUEUE

/* As schedq_done: works in callbacks too, where the thread's own worker is not to be had. */
int sqp_done(sqp_queue *queue, const schedq_popped_t *pod);
int sqp_done_many(sqp_queue *queue, const schedq_popped_t *const *pods, size_t count,
                  uint8_t *statuses);
/* schedq_add without a spec to fill. Ends the caller's reference to the object in any case. */
int sqp_add_plain(sqp_queue *queue, const char *name, size_t length, int32_t priority,
                  uint64_t object, schedq_pod_t *pod);
/*
 * schedq_add_many; names lie one after the other in `text`; priorities and objects NULL: that of
 * `spec`. Ends the caller's references to the objects.
 */
int sqp_add_many(sqp_queue *queue, const char *text, size_t text_length, const uint32_t *lengths,
                 const int32_t *priorities, const uint64_t *objects, const schedq_pod_spec_t *spec,
                 size_t count, schedq_pod_t *pods, uint8_t *statuses);
/* The calling thread gives its worker back; its next call gets another. */
int sqp_leave_worker(sqp_queue *queue);

/* Interest i is hinted if hinted[i] is 1; the hint is asked as sqp_py_hint(self, i, ...). */
int sqp_plugin_register(sqp_queue *queue, schedq_plugin_t *plugin, schedq_interest_t *interests,
                        const uint8_t *hinted, int gates, void *self, uint64_t *bit);
int sqp_set_precheck(schedq_change_t *change, void *self);

/* These answer by their last argument what the library's call returns. */
int sqp_rejector_bit(sqp_queue *queue, schedq_profile_t profile, const char *name, size_t length,
                     uint64_t *bit);
int sqp_event_plugins(sqp_queue *queue, schedq_profile_t profile, schedq_event_t event,
                      uint64_t *plugins);
int sqp_now(sqp_queue *queue, int64_t *now_ns);
int sqp_next_deadline(sqp_queue *queue, int64_t *deadline_ns);
int sqp_read_words(sqp_queue *queue, schedq_words_t *copy);
/* Texts are cut to `size`, and end in NUL. */
int sqp_pending_text(sqp_queue *queue, char *text, size_t size);
int sqp_rejector_name(sqp_queue *queue, schedq_profile_t profile, uint64_t bit, char *text,
                      size_t size);
int sqp_explanation_text(sqp_queue *queue, const schedq_explanation_t *explanation, char *text,
                         size_t size);
int sqp_overdue_text(sqp_queue *queue, const schedq_overdue_t *overdue, char *text, size_t size);

typedef struct sqp_text {
    char *bytes;
    size_t length, capacity;
} sqp_text;

int sqp_metrics_write(sqp_queue *queue, sqp_text *text);
void sqp_text_free(sqp_text *text);

/* Pods as visitors saw them. Each name is a copy, each object retained until sqp_visited_free. */
typedef struct sqp_visited {
    schedq_pod_info_t *pods;
    size_t count, capacity;
    int no_memory;
} sqp_visited;

int sqp_get(sqp_queue *queue, schedq_pod_t pod, sqp_visited *visited);
int sqp_snapshot(sqp_queue *queue, sqp_visited *visited);
int sqp_nominated_pods(sqp_queue *queue, uint64_t node, sqp_visited *visited);
int sqp_peek(sqp_queue *queue, sqp_visited *visited);
int sqp_peek_many(sqp_queue *queue, size_t count, sqp_visited *visited);
void sqp_visited_free(sqp_queue *queue, sqp_visited *visited);

/* Makes `count` refs, each with one reference, the caller's. */
int sqp_make_refs(sqp_queue *queue, uint64_t *refs, size_t count);
/* Drops one reference of each; 0 is none. Returns SQP_DEAD or 0. */
int sqp_drop_refs(sqp_queue *queue, const uint64_t *refs, size_t count);
/* From now on every call answers SQP_DEAD, until it is set to 0: a callable was interrupted. */
void sqp_ask_for_attention(sqp_queue *queue, int asks);
/* How many refs sqp_take_dead could take. */
size_t sqp_dead_count(sqp_queue *queue);
/* Takes refs that nobody has; each has one reference again, the caller's. Returns how many. */
size_t sqp_take_dead(sqp_queue *queue, uint64_t *refs, size_t room);

/* The initializers. */
void sqp_init_config(schedq_config_t *config);
void sqp_init_spec(schedq_pod_spec_t *spec);
void sqp_init_failure(schedq_failure_t *failure);
void sqp_init_group(schedq_group_spec_t *spec);
void sqp_init_group_end(schedq_group_end_t *end);
void sqp_init_group_info(schedq_group_info_t *info);
void sqp_init_plugin(schedq_plugin_t *plugin);
void sqp_init_change(schedq_change_t *change);
void sqp_init_stats(schedq_stats_t *stats);
void sqp_init_explanation(schedq_explanation_t *explanation);
void sqp_init_reasons(schedq_reasons_t *reasons);
void sqp_init_watch(schedq_watch_t *watch);

/* In Python. They take the GIL, which no thread holds that waits for the queue. */
#ifdef SQP_CDEF
extern "Python+C" int sqp_py_hint(void *self, unsigned number, uint64_t pod, uint64_t old_object,
                                  uint64_t new_object);
extern "Python+C" int sqp_py_gate(void *self, uint64_t pod);
extern "Python+C" int sqp_py_precheck(void *self, uint64_t pod);
extern "Python+C" int sqp_py_affinity(void *self, uint64_t pod, uint64_t assigned);
#else
int sqp_py_hint(void *self, unsigned number, uint64_t pod, uint64_t old_object,
                uint64_t new_object);
int sqp_py_gate(void *self, uint64_t pod);
int sqp_py_precheck(void *self, uint64_t pod);
int sqp_py_affinity(void *self, uint64_t pod, uint64_t assigned);
#endif

#endif
