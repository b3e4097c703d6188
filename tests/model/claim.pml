/*
 * Claim by the state word, then help the head (engine/lockfree: pop, lane).
 *
 * One lane holds PODS pods, oldest first. CONSUMERS consumers begin at the head, or where `passed` says, claim the pod
 * by the CAS of its state word, and go past it afterwards: they move the head, and losing that CAS is fine, since anybody
 * may move a head over a pod that is not ACTIVE any more; or they store `passed`, in no order with others. Behind a pod that
 * was not ACTIVE any more they go past those that follow it and are not either, by one such step. A deleter ends the life of the second pod without touching the lane.
 *
 * Claims
 *   contract O: a pop takes no pod while an older one was ACTIVE during the whole call, and reports none only if none
 *     was
 *   contract N: wherever threads stop, a healthy consumer reaches every ACTIVE pod (Drain, from every state)
 *
 * Planted bugs
 *   -DHEAD_FIRST      the head moves, then the word is taken: who stops in between hides an ACTIVE pod
 *   -DHEAD_UNCHECKED  the head moves by an unconditional increment: two helpers move it over an ACTIVE pod
 *   -DPASSED_FIRST    `passed` is stored, then the word is taken: who stops in between hides an ACTIVE pod
 *   -DSKIP_UNJUDGED   behind a pod that was not ACTIVE any more the next one is passed, too, whatever it is
 *
 * Bounds: 3 pods, CONSUMERS consumers with one pop each (2, with --large 3). Any number may stop anywhere.
 *
 * stands for engine/lockfree/calls/pop.c take_plain c3f0fdae
 * stands for engine/lockfree/calls/pop.c take_other 069ee53b
 * stands for engine/lockfree/calls/pop.c look_at_head 92506633
 * stands for engine/lockfree/refs/bin.c bin_pass_stale 0f496b05
 * stands for engine/lockfree/refs/lane.c lane_skip_stale 289bc8f7
 * stands for engine/lockfree/refs/lane.h lane_peek_from eb06cdef
 * stands for engine/lockfree/refs/lane.h lane_advance 3138938f
 * stands for engine/lockfree/refs/lane.h lane_pass_one 3a7563d0
 * stands for engine/lockfree/refs/lane.h lane_peek_next 875fa35d
 */
#ifdef LARGE
#define CONSUMERS 3
#else
#define CONSUMERS 2
#endif

#define PODS     3
#define ACTIVE   0
#define INFLIGHT 1
#define DEAD     2
#define NOBODY   PODS

byte place[PODS];
byte head, passed;
bool halted;

#define later(a, b) ((a) > (b) -> (a) : (b))

inline advance(seen, at)
{
#ifdef HEAD_UNCHECKED
    head++
#else
    atomic {
        if
        :: head == seen -> head = at + 1
        :: else
        fi
    }
#endif
}

/* Any consumer may do either: in the code the distance from the head decides. */
inline pass(seen, at)
{
    if
    :: true -> advance(seen, at)
#ifndef HEAD_UNCHECKED
    :: true -> passed = at + 1
#endif
    fi
}

inline take(pod, to)
{
    d_step {
        ok = (place[pod] == ACTIVE);
        if
        :: ok -> place[pod] = to
        :: else
        fi
    }
}

/* From p on, which is not ACTIVE any more. */
inline skip_others()
{
    do
#ifdef SKIP_UNJUDGED
    :: p + 1 < PODS -> p++
#else
    :: p + 1 < PODS && place[p + 1] != ACTIVE -> p++
#endif
    :: else -> break
    od
}

proctype Consumer() provided (!halted)
{
    bool was_active[PODS];
    bool ok;
    byte seen, at, p;
    d_step {
        for (p : 0 .. PODS - 1) {
            was_active[p] = (place[p] == ACTIVE)
        }
        p = 0
    }
    do
    :: seen = head;
        at = later(passed, seen);
        if
        :: at >= PODS ->
            at = NOBODY;
            break
        :: else
        fi;
#ifdef HEAD_FIRST
        d_step {
            ok = (head == at);
            if
            :: ok -> head = at + 1
            :: else
            fi
        }
        if
        :: ok -> take(at, INFLIGHT)
        :: else
        fi;
#elif defined(PASSED_FIRST)
        passed = at + 1;
        take(at, INFLIGHT);
#else
        take(at, INFLIGHT);
        p = at;
        if
        :: !ok -> skip_others()
        :: else
        fi;
        pass(seen, p);
        p = 0;
#endif
        if
        :: ok -> break
        :: else
        fi
    od;
    p = 0;
    d_step {
        for (p : 0 .. PODS - 1) {
            assert(p >= at || !was_active[p] || place[p] != ACTIVE)
        }
        p = 0
    }
}

proctype Deleter() provided (!halted)
{
    bool ok;
    take(1, DEAD)
}

/* All others stop where they are; a healthy consumer pops until it is told that nothing is there. */
proctype Drain()
{
    byte at, p;
    d_step {
        halted = true;
        at = later(passed, head);
        do
        :: at < PODS ->
            place[at] = DEAD;
            at++
        :: else -> break
        od;
        for (p : 0 .. PODS - 1) {
            assert(place[p] != ACTIVE)
        }
    }
}

init
{
    byte n;
    atomic {
        for (n : 1 .. CONSUMERS) {
            run Consumer()
        }
        run Deleter();
        run Drain()
    }
}
