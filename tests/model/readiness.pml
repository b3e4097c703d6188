/*
 * The queue's descriptor: {armed, changers}, signalled once, armed by a pop that finds nothing (engine/lockfree:
 * readiness, sleepers, pop).
 *
 * Word: armed, and how many threads are about to change the descriptor. A producer that has made a pod poppable passes a
 * full fence; if the word is armed, it signals: becomes a changer and takes armed away; writes the
 * descriptor; ceases to be a changer, and marks the word as doubted if it was armed meanwhile: the write came before or
 * behind the read. If the word is not armed and has changers, and nobody helped since, it helps: becomes a helper, writes, ceases to be one,
 * likewise. A loop waits until the descriptor is readable, then pops, once or until it finds nothing. A pop that
 * finds nothing while the word is not armed, or doubted, or has changers or helpers, becomes a changer and arms, undoubted; clears
 * the descriptor; looks again. If it finds nothing and the word still is armed, it ceases to be a changer. Else it takes
 * armed away, writes, and leaves as one who signals.
 * With BUFFER a producer's store sits in a store buffer until it drains by itself, or at the fence.
 *
 * With CLOSE the queue is closed meanwhile, and then signalled; loops that find nothing then end, and do not arm.
 *
 * With FROZEN one thread may stop for ever, between any two steps; then a tick tells, if there is something to pop (else
 * too, while there are changers or helpers, or the queue is closed: not modelled). With
 * FROZEN and ADD it is one that signals, or helps; then the next add tells.
 *
 * Claims: when nothing moves any more, no pod is there; all loops have ended if the queue is closed                init
 *   while nobody changes it, the descriptor is readable, or armed, and not both unless doubted                     Monitor
 *   a pop that finds nothing, and the word armed, leaves a readable descriptor only if it was written meanwhile    pop
 *
 * Planted bugs
 *   -DUNFENCED       with BUFFER: no fence between the producer's store and its look at the word
 *   -DNO_RESCAN      no second look after the descriptor was cleared
 *   -DCLEAR_FIRST    the descriptor is cleared before the word is armed
 *   -DARM_BLIND      a pop that has found nothing leaves it armed, whether or not it still is
 *   -DUNDOUBTED      who signals does not look whether the word was armed meanwhile
 *   -DTELL_FIRST     who signals writes before it takes armed away
 *   -DTAKE_SILENT    a second look that finds a pod leaves the descriptor cleared
 *   -DARMED_ONLY     with FROZEN and ADD: producers do not look at changers
 *   -DHELP_UNCOUNTED  who helps is not counted
 *   -DQUIET_TRUSTED  a pop that finds the word armed does not look at changers
 *   -DCLOSED_FIRST   with CLOSE: a pop looks whether the queue is closed before it arms only
 *
 * Bounds: two loops, two producers of one pod; with CLOSE, FROZEN or BUFFER one producer of two.
 *
 * stands for engine/lockfree/signals/readiness.c take_armed fdce5c2d
 * stands for engine/lockfree/signals/readiness.c tell_host 5de38399
 * stands for engine/lockfree/signals/readiness.c readiness_signal bb11007c
 * stands for engine/lockfree/signals/readiness.c begin_help 05cd87d6
 * stands for engine/lockfree/signals/readiness.c readiness_signal_always 358dff21
 * stands for engine/lockfree/signals/readiness.c waiters_wake 780e8140
 * stands for engine/lockfree/signals/readiness.c readiness_is_armed 9ecca0e6
 * stands for engine/lockfree/signals/readiness.c readiness_arm 9b9d1f56
 * stands for engine/lockfree/signals/readiness.c readiness_keep 594d1a5d
 * stands for engine/lockfree/signals/readiness.c readiness_disarm b62a6fea
 * stands for engine/lockfree/calls/pop.c leave_empty f0bd0848
 * stands for engine/lockfree/calls/pop.c arm_and_take 9fee06ea
 * stands for engine/lockfree/calls/pop.c lockfree_pop b7df9854
 * stands for engine/lockfree/calls/pop.c lockfree_close eed68d9a
 * stands for engine/lockfree/moves/publish.h publish_wake 22bc57f1
 */
byte pods;
byte buffered;    /* pods in the producers' store buffers */
bool armed;
bool doubted;     /* it is armed, and the descriptor may be readable */
byte changers;
byte helpers;
bool helped;      /* there was one since the word was armed, or told of */
bool readable = true;
bool closed;
byte stuck;       /* threads that stopped for ever */
byte loops = 2;   /* that run yet */
bool fresh[2];    /* the descriptor was written since this loop's pop began */

inline may_freeze()
{
#ifdef FROZEN
    if
    :: atomic {
        stuck == 0 -> stuck++;
        false
    }
    :: skip
    fi
#else
    skip
#endif
}

/* Not in ADD. */
inline may_freeze_armed()
{
#ifndef ADD
    may_freeze()
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

inline write()
{
    d_step {
        readable = true;
        fresh[0] = true;
        fresh[1] = true
    }
}

/* From where the caller is a changer, and has taken armed away; or a helper. */
inline tell(role)
{
    write();
    may_freeze();
    d_step {
        role--;
#ifndef UNDOUBTED
        doubted = armed
#endif
    }
}

inline signal()
{
#ifdef TELL_FIRST
    changers++;
    write();
    may_freeze();
    d_step {
        armed = false;
        doubted = false;
        helped = false;
        changers--
    }
#else
    d_step {
        changers++;
        armed = false;
        doubted = false;
        helped = false
    }
    may_freeze();
    tell(changers)
#endif
}

proctype Producer(byte count)
{
    bool wanted, helps;
#ifdef BUFFER
    buffered = buffered + count;
#ifndef UNFENCED
    drain();
#endif
#else
    pods = pods + count;
#endif
    may_freeze();
    d_step {
        wanted = armed;
#ifndef ARMED_ONLY
        helps = (!armed && changers > 0 && !helped);
        helped = helped || helps;
        helpers = helpers + helps
#endif
    }
    if
    :: wanted -> signal()
    :: helps ->
#ifdef HELP_UNCOUNTED
        helpers--;
        write()
#else
        may_freeze();
        tell(helpers)
#endif
    :: else
    fi;
    d_step {
        wanted = false;
        helps = false
    }
}

proctype StoreBuffer()
{
end:
    do
    :: buffered > 0 -> drain()
    od
}

proctype Closer()
{
    closed = true;
    may_freeze();
    signal()
}

#ifdef QUIET_TRUSTED
#define QUIET (armed && !doubted)
#else
#define QUIET (armed && !doubted && changers == 0 && helpers == 0)
#endif

/* A pop that does not wait. */
inline pop()
{
    fresh[me] = false;
    over = closed;
    take();
    if
    :: got || over
    :: !got && !over && QUIET -> assert(!readable || fresh[me])
    :: else ->
#ifdef CLEAR_FIRST
        changers++;
        readable = false;
        may_freeze_armed();
        d_step {
            armed = true;
            doubted = false;
            helped = false
        }
#else
        d_step {
            changers++;
            armed = true;
            doubted = false
        }
        may_freeze_armed();
        readable = false;
#endif
        may_freeze_armed();
#ifndef CLOSED_FIRST
        over = closed;
#endif
#ifndef NO_RESCAN
        take();
#endif
        may_freeze_armed();
        atomic {
            if
#ifdef TAKE_SILENT
            :: got || (armed && !over) ->
#elif defined(ARM_BLIND)
            :: !got && !over ->
#else
            :: !got && !over && armed ->
#endif
                changers--;
                told = false
            :: else ->
                armed = false;
                doubted = false;
                helped = false;
                told = true
            fi
        }
        if
        :: told -> tell(changers)
        :: else
        fi;
        told = false
    fi
}

proctype Loop(byte me)
{
    bool got, over, told;
    do
    :: readable ->
        got = true;
        do
        :: got && !over -> pop()
        :: got && !over -> break /* the level stays */
        :: !got || over -> break
        od;
        if
        :: over && !got -> break
        :: else
        fi;
        d_step {
            got = false;
            over = false
        }
    od;
    loops--
}

/* What a tick does if there is something to pop. */
proctype Tick()
{
    if
    :: pods > 0 && (armed || changers > 0 || helpers > 0) -> signal()
    :: else
    fi
}

/* At any time. */
proctype Monitor()
{
    atomic {
        changers == 0 && helpers == 0 && !doubted && armed == readable -> assert(false)
    }
}

init
{
    bool healed;
    atomic {
#if defined(LARGE)
        run Producer(2);
        run Producer(1);
#elif defined(CLOSE) || defined(FROZEN) || defined(BUFFER)
        run Producer(2);
#else
        run Producer(1);
        run Producer(1);
#endif
#ifdef CLOSE
        run Closer();
#endif
#ifdef BUFFER
        run StoreBuffer();
#endif
        run Monitor();
        run Loop(0);
        run Loop(1)
    }
    do
    :: timeout ->
#ifdef FROZEN
        if
        :: stuck > 0 && !healed ->
            healed = true;
#ifdef ADD
            run Producer(1)
#else
            run Tick()
#endif
        :: else -> break
        fi
#else
        break
#endif
    od;
    assert(pods == 0 || closed);
    assert(!closed || loops == 0 || stuck > 0)
}
