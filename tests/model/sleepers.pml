/*
 * Sleepers: {sequence, waiters}, wake one, pass it on; who watches time; close (engine/lockfree: sleepers, pop, timer).
 *
 * A consumer that finds nothing adds itself to waiters, looks again, and sleeps if the sequence is still what it was
 * before; whatever ends the sleep, it takes itself out of waiters. A producer that has made pods poppable passes a full
 * fence; then it increments the sequence and wakes one sleeper if there are waiters. A consumer that takes a pod and
 * leaves another behind wakes the next. Consumer 0 has a deadline, which may pass while it sleeps or just when it is
 * woken; then it looks a last time before it returns TIMEDOUT. A consumer takes one pod and is busy for ever with it.
 * With BUFFER the producer's store sits in a store buffer until it drains by itself, or at the fence.
 *
 * With TIME pods back off too, due at 1 and at 2; the clock moves on by itself. Word: the deadline. A parker puts its pod
 * there, lowers the word, and wakes one sleeper if `watched` is later than the word. A consumer that finds the word due
 * serves one pod (a slice), and looks again. One that goes to sleep and finds `watched` later than the word, or past,
 * puts the word's time there and sleeps until then; others sleep until they are woken. Who wakes up takes its time away.
 * Who leaves wakes one sleeper if the word is earlier than `watched`, or `watched` is past.
 *
 * With CLOSE the queue is closed meanwhile: consumers that find nothing end.
 *
 * With CANCEL nobody has a deadline, and the wait of consumer 0 is cancelled meanwhile: a flag is set, then the sequence
 * incremented and consumer 0 woken if there are waiters. If it finds the flag before it has a pod, it takes it back and
 * ends; and wakes one if it was counted, since what woke it may have been a pod.
 *
 * With FROZEN one woken consumer may stop for ever. A sleeper that looks by itself (the line), or a tick, finds what that
 * one was woken for. With TIME too, it is the one that watches; the clock goes on to 3, so that
 * each time that was watched is past in the end, and sleepers look by themselves once at most: what
 * the first of them finds late ends in the state of none stopped.
 *
 * Claim: when nothing moves any more, no consumer sleeps while a pod is there, time is late, the queue is closed, or
 *   its wait is cancelled                                                                                            init
 *
 * Planted bugs
 *   -DFLAG          a flag instead of the count, cleared by the waker (ck_ec with wake-one): later producers see no
 *                   sleeper
 *   -DUNFENCED      with BUFFER: no fence between the producer's store and its look at the waiters
 *   -DNO_RESCAN     no second look after waiters + 1
 *   -DNO_LAST_LOOK  a consumer whose deadline passes while it is woken leaves without a look: the wake-up is lost
 *   -DNO_CHAIN      who leaves a pod behind wakes nobody
 *   -DNO_LINE       with FROZEN: sleepers do not look by themselves
 *   with TIME
 *   -DSILENT        a parker that lowers the word wakes nobody
 *   -DNO_HAND_OVER  who leaves wakes nobody for time
 *   -DWATCH_KEPT    who wakes up leaves its time in `watched`
 *   -DLEAVE_FIRST   who leaves looks at `watched` before it has taken its own time away
 *   -DTIME_FIRST    the word is read before waiters + 1
 *   -DNO_WATCH      who goes to sleep does not sleep until the word's time
 *   -DPAST_TRUSTED  with FROZEN: who leaves, or parks, trusts a `watched` that is past
 *   with CLOSE
 *   -DCLOSE_ONE     close wakes one
 *   -DWAKE_FIRST    close wakes before the queue is closed
 *   -DCLOSED_FIRST  a consumer looks whether the queue is closed before waiters + 1 only
 *   with CANCEL
 *   -DSWALLOW       who is cancelled wakes nobody
 *   -DCANCEL_FIRST  consumer 0 looks at the flag before waiters + 1 only
 *   -DWAKE_UNNAMED  cancel wakes one
 *
 * Bounds: CONSUMERS consumers (3, with BUFFER or TIME 2, with --large 4); producers of 1 and of 2 pods, with TIME, CLOSE or
 * CANCEL of one; two parkers. With TIME and FROZEN three consumers, none with a
 * deadline, and no pod but those of the parkers.
 *
 * stands for engine/lockfree/signals/sleepers.c sleepers_prepare 3af176d4
 * stands for engine/lockfree/signals/sleepers.c sleepers_cancel 56a73009
 * stands for engine/lockfree/signals/sleepers.c is_unwatched ba653bb1
 * stands for engine/lockfree/signals/sleepers.c sleepers_watch e3558dd2
 * stands for engine/lockfree/signals/sleepers.c sleepers_unwatch a0f2050b
 * stands for engine/lockfree/signals/sleepers.c sleepers_wake_one b51a02c9
 * stands for engine/lockfree/signals/sleepers.c sleepers_wake_for 97b53834
 * stands for engine/lockfree/signals/sleepers.c sleepers_wake_all dab60733
 * stands for engine/lockfree/signals/sleepers.c sleepers_wake_named 0ab916bf
 * stands for engine/lockfree/calls/pop.c look_once c375cca1
 * stands for engine/lockfree/calls/pop.c lockfree_wait_cancel 089aa518
 * stands for engine/lockfree/calls/pop.c pass_wake_up 0cf6f488
 * stands for engine/lockfree/calls/pop.c sleep_in_line 4c6db7b0
 * stands for engine/lockfree/calls/pop.c pop_or_sleep e0c21f18
 * stands for engine/lockfree/calls/pop.c hand_over_watch 012525b0
 * stands for engine/lockfree/calls/pop.c lockfree_pop b7df9854
 * stands for engine/lockfree/calls/pop.c take ab443b2f
 * stands for engine/lockfree/calls/pop.c take_at_once 68bf1a72
 * stands for engine/lockfree/calls/pop.c take_walking 60082f24
 * stands for engine/lockfree/calls/pop.c walk_for ef7ed194
 * stands for engine/lockfree/calls/pop.c nothing_else_is_there f507dfd8
 * stands for engine/lockfree/calls/pop.c wait_and_take 67022dc1
 * stands for engine/lockfree/calls/pop.c lockfree_close eed68d9a
 * stands for engine/lockfree/calls/serve.c serve_wake_sleeper 025b1e89
 * stands for engine/lockfree/calls/serve.c server_serve 8354e99b
 * stands for engine/lockfree/moves/publish.h publish_wake 22bc57f1
 */
#if defined(LARGE)
#define CONSUMERS 4
#elif (defined(TIME) && !defined(FROZEN)) || defined(BUFFER)
#define CONSUMERS 2
#else
#define CONSUMERS 3
#endif
#define NEVER 4

byte pods;
byte buffered; /* pods in the producers' store buffers */
byte sequence;
byte waiters;           /* with FLAG: 0 or 1 */
bool asleep[CONSUMERS]; /* in the futex */
byte sleeping;          /* how many */
byte stuck;             /* consumers that stopped for ever */
bool closed;
bool canceled;          /* consumer 0's flag */
byte clock;
byte word = NEVER;      /* the deadline */
byte watched = NEVER;
bool waits[NEVER];      /* the pod that is due then backs off */
byte until[CONSUMERS];

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
#if CONSUMERS > 2
        :: asleep[2] -> wake(2)
#endif
#if CONSUMERS > 3
        :: asleep[3] -> wake(3)
#endif
        fi
    }
}

inline wake(who)
{
    asleep[who] = false;
    until[who] = 0;
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

#ifdef PAST_TRUSTED
#define UNWATCHED (word < watched)
#else
#define UNWATCHED (word < watched || (word < NEVER && watched < clock))
#endif

inline wake_for_time()
{
    if
    :: UNWATCHED -> wake_one()
    :: else
    fi
}

/* One locked access. */
inline enter()
{
    d_step {
        seen = sequence;
#ifdef FLAG
        waiters = 1
#else
        waiters++
#endif
    }
}

inline leave()
{
#ifndef FLAG
    waiters--
#else
    skip
#endif
}

inline drain()
{
    d_step {
        pods = pods + buffered;
        buffered = 0
    }
}

/* The first pod that is due becomes poppable; what is left stays due. */
inline serve()
{
    d_step {
        if
        :: clock >= 1 && waits[1] ->
            waits[1] = false;
            pods++
        :: clock >= 2 && waits[2] && !waits[1] ->
            waits[2] = false;
            pods++
        :: else
        fi;
        word = (waits[1] -> 1 : (waits[2] -> 2 : NEVER))
    }
}

proctype Producer(byte count)
{
#ifdef BUFFER
    buffered = buffered + count;
#ifndef UNFENCED
    drain();
#endif
#else
    pods = pods + count;
#endif
    wake_one()
}

proctype StoreBuffer()
{
end:
    do
    :: buffered > 0 -> drain()
    od
}

proctype Parker(byte due)
{
    bool lowered;
    d_step {
        waits[due] = true;
        lowered = (due < word);
        if
        :: lowered -> word = due
        :: else
        fi
    }
#ifndef SILENT
    if
    :: lowered -> wake_for_time()
    :: else
    fi
#endif
}

proctype Clock()
{
    clock = 1;
    clock = 2;
#ifdef FROZEN
    clock = 3
#endif
}

proctype Closer()
{
#ifndef WAKE_FIRST
    closed = true;
#endif
#ifdef CLOSE_ONE
    wake_one();
#else
    d_step {
        sequence++;
        asleep[0] = false;
        asleep[1] = false;
        until[0] = 0;
        until[1] = 0;
#if CONSUMERS > 2
        asleep[2] = false;
#endif
#if CONSUMERS > 3
        asleep[3] = false;
#endif
        sleeping = 0
    }
#endif
#ifdef WAKE_FIRST
    closed = true
#endif
}

proctype Canceller()
{
    canceled = true;
#ifdef WAKE_UNNAMED
    wake_one()
#else
    if
    :: waiters > 0 ->
        sequence++;
        atomic {
            if
            :: asleep[0] -> wake(0)
            :: else
            fi
        }
    :: else
    fi
#endif
}

inline look_at_flag()
{
    d_step {
        gone = (me == 0 && canceled);
        if
        :: gone -> canceled = false
        :: else
        fi
    }
}

inline watch()
{
    d_step {
#ifdef NO_WATCH
        mine = false
#else
        mine = (watched > want || watched < clock);
        if
        :: mine -> watched = want
        :: else
        fi
#endif
    }
}

inline unwatch()
{
    d_step {
        if
        :: mine && watched == want -> watched = NEVER
        :: else
        fi;
        mine = false;
        want = 0
    }
}

proctype Consumer(byte me)
{
    byte seen, want;
    bool got, late, over, mine, slept, gone;
    do
    ::
#ifdef CANCEL
        look_at_flag();
        if
        :: gone -> break
        :: else
        fi;
#endif
        take();
        if
        :: got || late || over -> break
        :: else
        fi;
        slept = true;
        seen = 0;
#ifdef TIME_FIRST
        want = word;
#endif
#ifdef CLOSED_FIRST
        over = closed;
#endif
        enter();
#ifndef CLOSED_FIRST
        over = closed;
#endif
#ifdef CANCEL
#ifndef CANCEL_FIRST
        look_at_flag();
#endif
        if
        :: gone ->
            leave();
            break
        :: else
        fi;
#endif
#ifndef NO_RESCAN
        take();
#endif
        if
        :: got || over ->
            leave();
            break
        :: else
        fi;
#ifndef TIME_FIRST
        want = word;
#endif
        if
        :: want <= clock -> d_step {
            want = 0;
            seen = 0
        }
            serve()
        :: else ->
            watch();
            d_step {
                if
                :: sequence == seen ->
                    asleep[me] = true;
                    until[me] = (mine -> want : NEVER);
                    sleeping++
                :: else
                fi
            }
            atomic {
                if
                :: !asleep[me]
#if (!defined(TIME) || !defined(FROZEN)) && !defined(CANCEL)
                :: !asleep[me] && me == 0 -> late = true
                :: asleep[me] && me == 0 ->
                    wake(me);
                    late = true
#endif
                :: asleep[me] && until[me] <= clock -> wake(me)
                fi
            }
#ifdef FROZEN
            if
#ifdef TIME
            :: stuck == 0 && mine -> atomic {
#else
            :: stuck == 0 && !late -> atomic {
#endif
                stuck++;
                false
            }
            :: skip
            fi;
#endif
#if !defined(WATCH_KEPT) && !defined(LEAVE_FIRST)
            unwatch()
#endif
        fi;
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
    fi;
#endif
#if defined(CANCEL) && !defined(SWALLOW)
    if
    :: gone && slept -> wake_one()
    :: else
    fi;
#endif
#ifndef NO_HAND_OVER
    if
    :: slept -> wake_for_time()
    :: else
    fi;
#endif
#ifdef LEAVE_FIRST
    unwatch();
#endif
    d_step {
        seen = 0;
        want = 0;
        got = false;
        late = false;
        over = false;
        slept = false;
        gone = false
    }
}

#define OVERLOOKED (pods > 0 || word <= clock || closed)

init
{
    byte n;
    byte looks; /* by the line */
    atomic {
#if !defined(TIME) || !defined(FROZEN)
        run Producer(1);
#endif
#if !defined(TIME) && !defined(CLOSE) && !defined(CANCEL)
        run Producer(2);
#endif
#ifdef TIME
        run Parker(1);
        run Parker(2);
        run Clock();
#endif
#ifdef CLOSE
        run Closer();
#endif
#ifdef CANCEL
        run Canceller();
#endif
#ifdef BUFFER
        run StoreBuffer();
#endif
        for (n : 1 .. CONSUMERS) {
            run Consumer(n - 1)
        }
    }
    do
    :: timeout ->
#if defined(FROZEN) && !defined(NO_LINE)
        if
        :: OVERLOOKED && sleeping > 0 ->
#ifdef TIME
            assert(looks == 0);
            looks++;
#endif
            futex_wake_one()
        :: else -> break
        fi
#else
        break
#endif
    od;
    assert(!OVERLOOKED || sleeping == 0);
    assert(!canceled || !asleep[0])
}
