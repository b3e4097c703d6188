/*
 * USDT probes of the provider `schedq`: where a tracer (bpftrace, perf, SystemTap) may look at a
 * process that runs. docs/PROBES.md says what each tells.
 *
 * A probe is one instruction that does nothing. A note in the object says where it is, and where
 * its arguments are. A tracer puts a breakpoint there. An argument is what the code at that place
 * has at hand: nothing is worked out for a probe.
 *
 * What an argument points to is valid while the probe is hit.
 *
 * The build sets SCHEDQ_PROBES where <sys/sdt.h> is. Without it a probe is no instruction.
 *
 * EVIDENCE. tests/probes; bench/cost/budget.json.
 */
#ifndef SCHEDQ_PLATFORM_PROBE_H
#define SCHEDQ_PLATFORM_PROBE_H

#include <schedq/schedq.h>

#if defined(SCHEDQ_PROBES)
#include <sys/sdt.h>
/*
 * gcc takes each line of an assembler text for an instruction, and a probe's notes have fifty
 * lines: it would not inline functions with a probe. `inline` says that the text is short.
 */
#define __asm__ __asm__ __inline__
#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wgnu-zero-variadic-macro-arguments" /* of its macros */
#endif
#else
/* Expressions without an effect: they use what is there for a probe only. */
#define DTRACE_PROBE1(provider, name, a) (void)(a)
#define DTRACE_PROBE2(provider, name, a, b) (void)(a), (void)(b)
#define DTRACE_PROBE3(provider, name, a, b, c) (void)(a), (void)(b), (void)(c)
#define DTRACE_PROBE4(provider, name, a, b, c, d) (void)(a), (void)(b), (void)(c), (void)(d)
#endif

/** Always inlined: a probe is in the function whose registers have the arguments. */
#define PROBE static inline __attribute__((always_inline)) void

/* ---- pods, in both engines ------------------------------------------------------------------- */

/** A pod has come to be; `name` is the caller's. */
PROBE
probe_add(const void *queue, uint64_t pod, const char *name, uint32_t length)
{
    DTRACE_PROBE4(schedq, add, queue, pod, name, length);
}

/** A pod goes into flight. `more` and `from_backoff` of *popped are not set yet. */
PROBE
probe_pop(const void *queue, const schedq_popped_t *popped)
{
    DTRACE_PROBE2(schedq, pop, queue, popped);
}

/** A pod's cycle ended, and the pod left the queue: it was placed, or deleted in flight. */
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

/** The change was told. */
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

/** The hint answered. */
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

/** The gate answered. */
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

/** The worker, or the timer thread, is awake. */
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
