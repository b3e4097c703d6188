/*
 * Sleepers: {sequence, waiters}, wake one, pass it on (engine/lockfree: sleepers).
 *
 * A consumer that finds nothing adds itself to waiters, looks again, and sleeps if the sequence is still what it was
 * before; whatever ends the sleep, it takes itself out of waiters. A producer that has made pods poppable increments
 * the sequence and wakes one sleeper if there are waiters. Who takes a pod and leaves another behind wakes the next.
 * Consumer 0 has a deadline, which may pass while it sleeps or just when it is woken; then it looks a last time
 * before it returns TIMEDOUT. A consumer takes one pod and is busy for ever with it.
 *
 * With FROZEN one woken consumer may stop for ever. A tick that finds pods and waiters, and no pop since the last
 * tick, wakes one more.
 *
 * Claim: when nothing moves any more, no consumer sleeps while a pod is there        init
 *
 * Planted bugs
 *   -DFLAG          a flag instead of the count, cleared by the waker (ck_ec with wake-one): later producers see no
 *                   sleeper
 *   -DNO_RESCAN     no second look after waiters + 1
 *   -DNO_LAST_LOOK  a consumer whose deadline passes while it is woken leaves without a look: the wake-up is lost
 *   -DNO_CHAIN      who leaves a pod behind wakes nobody
 *   -DNO_TICK       with FROZEN: the tick wakes nobody
 *
 * Bounds: producers of 1 and of 2 pods, CONSUMERS consumers (3, with --large 4).
 */
#ifdef LARGE
#define CONSUMERS 4
#else
#define CONSUMERS 3
#endif

byte pods;
byte sequence;
byte waiters;           /* with FLAG: 0 or 1 */
bool asleep[CONSUMERS]; /* in the futex */
byte sleeping;          /* how many */
byte stuck;           /* consumers that stuck for ever */

inline take()
{
    d_step {
        got = (pods > 0);
        if
        :: got -> pods--
        :: else
        fi
    }
}

inline futex_wake_one()
{
    atomic {
        if
        :: sleeping == 0
        :: asleep[0] -> wake(0)
        :: asleep[1] -> wake(1)
        :: asleep[2] -> wake(2)
#ifdef LARGE
        :: asleep[3] -> wake(3)
#endif
        fi
    }
}

inline wake(who)
{
    asleep[who] = false;
    sleeping--
}

inline wake_one()
{
    if
    :: waiters > 0 ->
#ifdef FLAG
        d_step {
            sequence++;
            waiters = 0
        }
#else
        sequence++;
#endif
        futex_wake_one()
    :: else
    fi
}

inline enter()
{
#ifdef FLAG
    waiters = 1
#else
    waiters++
#endif
}

inline leave()
{
#ifndef FLAG
    waiters--
#else
    skip
#endif
}

proctype Producer(byte count)
{
    pods = pods + count;
    wake_one()
}

proctype Consumer(byte me)
{
    byte seen;
    bool got, late;
    do
    :: take();
        if
        :: got || late -> break
        :: else
        fi;
        seen = sequence;
        enter();
#ifndef NO_RESCAN
        take();
#endif
        if
        :: got ->
            leave();
            break
        :: else
        fi;
        d_step {
            if
            :: sequence == seen ->
                asleep[me] = true;
                sleeping++
            :: else
            fi
        }
        atomic {
            if
            :: !asleep[me]
            :: !asleep[me] && me == 0 -> late = true
            :: asleep[me] && me == 0 ->
                wake(me);
                late = true
            fi
        }
#ifdef FROZEN
        if
        :: stuck == 0 && !late -> atomic {
            stuck++;
            false
        }
        :: skip
        fi;
#endif
        leave();
#ifdef NO_LAST_LOOK
        if
        :: late -> break
        :: else
        fi
#endif
    od;
#ifndef NO_CHAIN
    if
    :: got && pods > 0 -> wake_one()
    :: else
    fi
#endif
}

init
{
    byte n;
    atomic {
        run Producer(1);
        run Producer(2);
        for (n : 1 .. CONSUMERS) {
            run Consumer(n - 1)
        }
    }
    do
    :: timeout ->
#if defined(FROZEN) && !defined(NO_TICK)
        if
        :: pods > 0 && sleeping > 0 && waiters > 0 -> wake_one()
        :: else -> break
        fi
#else
        break
#endif
    od;
    assert(pods == 0 || sleeping == 0)
}
