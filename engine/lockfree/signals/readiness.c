/*
 * The upper 22 bits of the word's lower half, of readiness.h.
 *
 * CONTRACT. While a pod can be popped and no call is under way, the descriptor is readable, or the
 * host was called back after the last pop that found nothing. It may be readable for nothing.
 *
 * STATES, {armed, doubted, helped, helpers, changers}. A changer is a thread between a change of
 * this word and the write or read of the descriptor that goes with it. A helper is one that writes
 * because there are changers, which may have stopped. "Quiet": there is neither.
 *   armed, quiet             the descriptor is not readable; the host is told of the next pod
 *   armed, doubted, quiet    it may be readable; the host is told of the next pod, and the next pop
 *                            that finds nothing arms again
 *   not armed, quiet         the descriptor is readable; nothing has to be done
 *   changers                 it may be either, and may change: a helper tells the host of the next
 *                            pod
 *   changers, helped         the same, and there was a helper: the host is not told of the next pod
 *   helpers or changers      each pop that finds nothing arms
 * One helper is enough until the word is armed, or the host told, again: else each add would write
 * while a changer is not on a processor, and two producers would keep each other writing.
 *
 * CHANGES. A thread that tells the host (readiness_signal_always) takes `armed` away, then writes.
 * If the word was armed meanwhile, its write came before the read of that arming, or behind it: so
 * it doubts the word (tell_host). A helper does the same. A thread that arms (readiness_arm) sets
 * `armed`, without doubt, then reads, then looks for pods. If `armed` is still there then, the only
 * writes since are those of changers and helpers, which will find the word armed.
 *
 * LINEARIZATION. Told: the write. Armed: readiness_keep:A.
 *
 * ORDERING
 *   ref ; the load of `word` in waiters_are_there, readiness_signal:A | readiness_arm:A, look
 *       if the producer tells the host nothing of its pod, the look finds the pod
 *   the exchange of `closed` ; take_armed:A | readiness_arm:A, the load of `closed`
 *   the deadline is lowered ; readiness_signal:A | readiness_arm:A, the host reads the deadline
 *   notifier_descriptor's exchange -> take_armed:A
 *       a producer that finds the word armed finds the descriptor that is to be written
 *
 * PROGRESS. Lock-free: each exchange that fails is another thread's change of the word. A thread
 * that stops leaves itself as a changer or a helper: each pop that finds nothing reads. The next
 * add writes for a changer that stopped before its write. If a changer stopped behind its read, or
 * the helper stopped too, each tick tells the host (serve.c), also of the end and of a deadline, or
 * the next pop that finds nothing looks for pods. So does a tick if the one that closed the queue
 * stopped before it told.
 *
 * NOT CHOSEN. words.poppable as the state: it may be set late, for nothing, and would then hide a
 * pod. A read at each pop that finds nothing, without a word: a system call for each look of a host
 * that polls. Telling without changers: after a thread that stopped before its write, or behind its
 * read, no thread would ever make the descriptor readable. A second write by a thread that tells
 * and finds the word armed meanwhile: beside a loop of a higher priority on the same processor that
 * would never end (found by stress/explore).
 *
 * EVIDENCE. tests/model: readiness; stress/explore: readiness_*; tests/unit/test_wait_fd.c;
 * stress/epoll.
 */
#include "lockfree/signals/readiness.h"

/* What begins anew when the word is armed, or told of. */
#define STATE (READINESS_ARMED | READINESS_DOUBTED | READINESS_HELPED)

/*
 * Takes `armed` away, and adds changers. A full fence. Ends: each failed exchange is another
 * thread's change of the word.
 */
static void
take_armed(struct sleepers *sleepers, uint64_t changers)
{
    uint64_t word = u64_load(&sleepers->word);

    /* take_armed:A */
    while (!u64_swing(&sleepers->word, &word, (word & ~STATE) + changers)) {
    }
}

/* Tells the host. `role`: a changer that took `armed` away; or a helper. Ends as take_armed. */
static void
tell_host(struct sleepers *sleepers, const struct notifier *notifier, uint64_t role)
{
    notifier_tell(notifier);
    uint64_t word = u64_load(&sleepers->word), doubted;

    do {
        doubted = (word & READINESS_ARMED) != 0 ? READINESS_DOUBTED : 0;
        /* tell_host:A */
    } while (!u64_swing(&sleepers->word, &word, (word | doubted) - role));
}

void
readiness_signal_always(struct sleepers *sleepers, const struct notifier *notifier)
{
    if (notifier_is_used(notifier)) {
        take_armed(sleepers, READINESS_CHANGER);
        tell_host(sleepers, notifier, READINESS_CHANGER);
    }
}

/*
 * True for the first thread that finds changers, which may have stopped. Ends as take_armed does.
 */
static bool
begin_help(struct sleepers *sleepers)
{
    uint64_t word = u64_load(&sleepers->word);

    while ((word & READINESS_ARMED) == 0 && (word & READINESS_CHANGERS) != 0 &&
           (word & READINESS_HELPED) == 0) {
        /* begin_help:A */
        if (u64_swing(&sleepers->word, &word, (word | READINESS_HELPED) + READINESS_HELPER)) {
            return true;
        }
    }
    return false;
}

void
readiness_signal(struct sleepers *sleepers, const struct notifier *notifier)
{
    /* readiness_signal:A; relaxed: the caller's fence orders it */
    uint64_t word = u64_load(&sleepers->word);

    if ((word & READINESS_ARMED) != 0) {
        readiness_signal_always(sleepers, notifier);
    } else if (begin_help(sleepers)) {
        tell_host(sleepers, notifier, READINESS_HELPER);
    }
}

void
waiters_wake(struct sleepers *sleepers, const struct notifier *notifier)
{
    (void)sleepers_wake_one(sleepers);
    readiness_signal(sleepers, notifier);
}

bool
readiness_is_armed(const struct sleepers *sleepers)
{
    uint64_t word = u64_load(&sleepers->word);

    return (uint32_t)(word & ~SLEEPERS_WAITERS) == READINESS_ARMED;
}

bool
readiness_is_overdue(const struct sleepers *sleepers, bool closed)
{
    uint64_t word = u64_load(&sleepers->word);

    return (word & (READINESS_CHANGERS | READINESS_HELPERS)) != 0 ||
           (closed && (word & READINESS_ARMED) != 0);
}

void
readiness_arm(struct sleepers *sleepers, const struct notifier *notifier)
{
    uint64_t word = u64_load(&sleepers->word);

    /* Ends as take_armed does. */
    /* readiness_arm:A */
    while (!u64_swing(&sleepers->word, &word,
                      ((word & ~STATE) | READINESS_ARMED) + READINESS_CHANGER)) {
    }
    notifier_clear(notifier);
}

/* Ends as take_armed does. */
bool
readiness_keep(struct sleepers *sleepers)
{
    uint64_t word = u64_load(&sleepers->word);

    while ((word & READINESS_ARMED) != 0) {
        if (u64_swing(&sleepers->word, &word, word - READINESS_CHANGER)) { /* readiness_keep:A */
            return true;
        }
    }
    return false;
}

void
readiness_disarm(struct sleepers *sleepers, const struct notifier *notifier)
{
    take_armed(sleepers, 0);
    tell_host(sleepers, notifier, READINESS_CHANGER);
}
