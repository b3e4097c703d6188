/*
 * Claim by the state word, then help the head (engine/lockfree: pop, lane).
 *
 * One lane holds PODS pods, oldest first. CONSUMERS consumers peek at the head, claim the pod by the CAS of its state
 * word, and move the head afterwards; losing that CAS is fine, since anybody may move a head over a pod that is not
 * ACTIVE any more. A deleter ends the life of the second pod without touching the lane.
 *
 * Claims
 *   contract O: a pop takes no pod while an older one was ACTIVE during the whole call, and reports none only if none
 *     was
 *   contract N: wherever threads stop, a healthy consumer reaches every ACTIVE pod (Drain, from every state)
 *
 * Planted bugs
 *   -DHEAD_FIRST      the head moves, then the word is taken: who stops in between hides an ACTIVE pod
 *   -DHEAD_UNCHECKED  the head moves by an unconditional increment: two helpers move it over an ACTIVE pod
 *
 * Bounds: 3 pods, CONSUMERS consumers with one pop each (2, with --large 3). Any number may stop anywhere.
 *
 * stands for engine/lockfree/calls/pop.c take_head d7678a66
 * stands for engine/lockfree/calls/pop.c look_at_head 4eb684bc
 * stands for engine/lockfree/refs/lane.h lane_peek_from 3bd15d57
 * stands for engine/lockfree/refs/lane.h lane_advance 3138938f
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
byte head;
bool halted;

inline advance(at)
{
#ifdef HEAD_UNCHECKED
    head++
#else
    atomic {
        if
        :: head == at -> head = at + 1
        :: else
        fi
    }
#endif
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

proctype Consumer() provided (!halted)
{
    bool was_active[PODS];
    bool ok;
    byte at, p;
    d_step {
        for (p : 0 .. PODS - 1) {
            was_active[p] = (place[p] == ACTIVE)
        }
        p = 0
    }
    do
    :: at = head;
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
#else
        take(at, INFLIGHT);
        advance(at);
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
        at = head;
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
