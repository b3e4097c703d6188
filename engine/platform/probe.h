/*
 * USDT probes of the provider `schedq`: where a tracer (bpftrace, perf, SystemTap) may look at a
 * process that runs. docs/PROBES.md says what each tells.
 *
 * A probe is one instruction that does nothing, and a note in the object that says where it is and
 * where its arguments are. A tracer puts a breakpoint there; nobody else pays. So an argument is
 * what the code at that place has at hand, and nothing is worked out for it: a probe that would
 * need that is no probe.
 *
 * Arguments are 64 bits wide, or the width of what they are. They point to what is valid while the
 * probe is hit.
 *
 * Without SCHEDQ_PROBES, which the build sets where <sys/sdt.h> is, all of this is empty.
 *
 * EVIDENCE. tests/probes; bench/cost/budget.json.
 */
#ifndef SCHEDQ_PLATFORM_PROBE_H
#define SCHEDQ_PLATFORM_PROBE_H

#include <schedq/schedq.h>

#if defined(SCHEDQ_PROBES)
#include <sys/sdt.h>
/*
 * gcc takes each line of an assembler text for an instruction. A probe's notes have fifty, and
 * functions with a probe would not be inlined any more. `inline` says that the text is short.
 */
#define __asm__ __asm__ __inline__
#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wgnu-zero-variadic-macro-arguments" /* of its macros */
#endif
#else
/* Expressions without an effect: what is only there for a probe is used. */
#define DTRACE_PROBE1(provider, name, a) (void)(a)
#define DTRACE_PROBE2(provider, name, a, b) (void)(a), (void)(b)
#define DTRACE_PROBE3(provider, name, a, b, c) (void)(a), (void)(b), (void)(c)
#define DTRACE_PROBE4(provider, name, a, b, c, d) (void)(a), (void)(b), (void)(c), (void)(d)
#endif

/** In the caller, whose registers have the arguments. */
#define PROBE static inline __attribute__((always_inline)) void

/* ---- pods, in both engines ------------------------------------------------------------------- */

/** A pod has come to be; `name` is the caller's. */
PROBE
probe_add(const void *queue, uint64_t pod, const char *name, uint32_t length)
{
    DTRACE_PROBE4(schedq, add, queue, pod, name, length);
}

/** A pod goes into flight. What is said of other pods (`more`) is not told yet. */
PROBE
probe_pop(const void *queue, const schedq_popped_t *popped)
{
    DTRACE_PROBE2(schedq, pop, queue, popped);
}

/** A pod's cycle ended, and the pod: it was placed, or deleted in flight. */
PROBE
probe_done(const void *queue, uint64_t token)
{
    DTRACE_PROBE2(schedq, done, queue, token);
}

/** A pod left the place where it waited for an event. `label`: 1 + label of what freed it. */
PROBE
probe_free(const void *queue, uint32_t record, uint32_t label)
{
    DTRACE_PROBE3(schedq, free, queue, record, label);
}

/* ---- calls ----------------------------------------------------------------------------------- */

/** schedq_fail returns; *result is filled. */
PROBE
probe_fail(const schedq_worker_t *worker, schedq_status_t status, const schedq_result_t *result)
{
    DTRACE_PROBE3(schedq, fail, worker, status, result);
}

/** schedq_update. */
PROBE
probe_update(const schedq_worker_t *worker, schedq_status_t status, const schedq_result_t *result)
{
    DTRACE_PROBE3(schedq, update, worker, status, result);
}

/** schedq_delete, schedq_delete_name. */
PROBE
probe_delete(const schedq_worker_t *worker, schedq_status_t status, const schedq_result_t *result)
{
    DTRACE_PROBE3(schedq, delete, worker, status, result);
}

/** A change begins to be told: schedq_notify, and its like for assigned pods. */
PROBE
probe_event_begin(const schedq_worker_t *worker, const schedq_change_t *change)
{
    DTRACE_PROBE2(schedq, event__begin, worker, change);
}

/** It was told. */
PROBE
probe_event_end(const schedq_worker_t *worker, schedq_status_t status,
                const schedq_result_t *result)
{
    DTRACE_PROBE3(schedq, event__end, worker, status, result);
}

/* ---- the caller's code ----------------------------------------------------------------------- */

/** A hint is asked. `what`: inside_plugin's (inside.h). */
PROBE
probe_hint_begin(uint32_t what, uint64_t object)
{
    DTRACE_PROBE2(schedq, hint__begin, what, object);
}

/** It answered. */
PROBE
probe_hint_end(uint32_t what, schedq_hint_t says)
{
    DTRACE_PROBE2(schedq, hint__end, what, says);
}

/** A gate is asked. */
PROBE
probe_gate_begin(uint32_t what, uint64_t object)
{
    DTRACE_PROBE2(schedq, gate__begin, what, object);
}

/** It answered. */
PROBE
probe_gate_end(uint32_t what, int lets)
{
    DTRACE_PROBE2(schedq, gate__end, what, lets);
}

/* ---- sleep ----------------------------------------------------------------------------------- */

/** A worker that found no pod goes to sleep, or the timer thread does. */
PROBE
probe_sleep(const schedq_worker_t *worker)
{
    DTRACE_PROBE1(schedq, sleep, worker);
}

/** It is awake. */
PROBE
probe_wake(const schedq_worker_t *worker)
{
    DTRACE_PROBE1(schedq, wake, worker);
}

#if defined(SCHEDQ_PROBES)
#undef __asm__
#if defined(__clang__)
#pragma clang diagnostic pop
#endif
#endif

#endif
