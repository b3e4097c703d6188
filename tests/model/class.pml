/*
 * The scout of a class, and the pods that wait behind it (engine/lockfree: calls/class, pop, fail, delete, finish).
 *
 * One class. Pod 1 is its scout. Consumers meet pods 2 and 3 and keep them back, while the scout leaves; pod 4 is rejected
 * in its flight, and leaves at once, whatever it is by then. A pod that is kept back is let go by one exchange of its word;
 * what else may happen to it there (an update, its time, a deletion) is another exchange, after which its ref is stale.
 *
 * Claims
 *   when all calls have returned, a pod that waits with a ref that is good has a scout, which is one that will be tried
 *
 * Planted bugs
 *   -DNO_SECOND_LOOK   who keeps a pod back does not look at the scout again
 *   -DLOOK_FIRST       he does before the pod's ref can be found
 *   -DOPEN_ONCE        who opens the class does not look again for those that wait
 *   -DNO_RECHECK       who makes itself the scout does not look whether it has left
 *   -DLEAVE_LATE       a pod looks whether it is the scout, then leaves
 *   -DTRUST            who lets a pod go that has changed believes that it is the scout
 *
 * Who takes part: a consumer, the scout's end, a failure, an end of the pod that fails. All work once.
 *   -DTOUCHED   a second consumer, and somebody deletes pod 2, wherever it is; pod 4 is not there
 *   -DLARGE     all of that
 *
 * Not here: that a stopped thread may leave pods waiting without a scout; their time lets them go (hold.pml).
 *
 * stands for engine/lockfree/calls/class.c promote f4172c70
 * stands for engine/lockfree/calls/class.c let_next_go e9cb9376
 * stands for engine/lockfree/calls/class.c class_list 9a54a501
 * stands for engine/lockfree/calls/class.c class_scouts 6d7b19c8
 * stands for engine/lockfree/calls/class.c class_hands_over eda27dee
 * stands for engine/lockfree/calls/class.c class_meet 340b3cb2
 */
#define PODS 5

#define ACTIVE 0 /* it is tried, or will be */
#define HELD   1
#define GONE   2

byte place[PODS];
bool listed[PODS];
byte scout = 1;
byte running;

#define good(pod) (pod != 0 && place[pod] == ACTIVE)

inline first_waiting()
{
    d_step {
        p = 0;
        if
        :: listed[2] && place[2] == HELD -> p = 2
        :: else ->
            if
            :: listed[3] && place[3] == HELD -> p = 3
            :: else
            fi
        fi
    }
}

inline exchange_scout(from, to)
{
    d_step {
        ok = (scout == from);
        if
        :: ok -> scout = to
        :: else
        fi
    }
}

/* q is the scout no more; 0: there was none. */
inline promote()
{
    do
    :: first_waiting();
        exchange_scout(q, p);
        if
        :: !ok -> break
        :: ok && p == 0 ->
#ifdef OPEN_ONCE
            break
#else
            first_waiting();
            if
            :: p == 0 -> break
            :: else -> q = 0
            fi
#endif
        :: ok && p != 0 ->
            d_step {
                ok = (place[p] == HELD);
                if
                :: ok -> place[p] = ACTIVE
                :: else
                fi
            }
            if
            :: ok -> break
#ifdef TRUST
            :: !ok -> break
#else
            :: !ok && good(p) -> break
            :: !ok && !good(p) -> q = p
#endif
            fi
        fi
    od
}

inline leave()
{
    d_step {
        q = 0;
        p = 0;
        ok = false;
        running--
    }
}

proctype Consumer(byte pod)
{
    byte q, p;
    bool ok;
    q = scout;
    if
    :: good(q) && q != pod ->
        d_step {
            ok = (place[pod] == ACTIVE);
            if
            :: ok -> place[pod] = HELD
            :: else
            fi
        }
        if
        :: ok ->
#ifdef LOOK_FIRST
            q = scout;
            listed[pod] = true;
#else
            listed[pod] = true;
            q = scout;
#endif
#ifndef NO_SECOND_LOOK
            if
            :: q == 0 || !good(q) -> promote()
            :: else
            fi
#endif
        :: else
        fi
    :: else
    fi;
    leave()
}

proctype Leave(byte pod)
{
    byte q, p;
    bool ok;
#ifdef LEAVE_LATE
    q = scout;
    place[pod] = GONE;
#else
    place[pod] = GONE;
    q = scout;
#endif
    if
    :: q == pod -> promote()
    :: else
    fi;
    leave()
}

proctype Fail(byte pod)
{
    byte q, p;
    bool ok;
    q = scout;
    if
    :: q == 0 || !good(q) ->
        exchange_scout(q, pod);
        if
#ifndef NO_RECHECK
        :: ok && !good(pod) ->
            q = pod;
            promote()
#endif
        :: else
        fi
    :: else
    fi;
    leave()
}

proctype End()
{
    running == 0;
    assert(!(listed[2] && place[2] == HELD) || good(scout));
    assert(!(listed[3] && place[3] == HELD) || good(scout))
}

init
{
    atomic {
#ifdef LARGE
        running = 6;
#else
        running = 4;
#endif
        run Consumer(2);
#if defined(TOUCHED) || defined(LARGE)
        run Consumer(3);
#endif
        run Leave(1);
#if !defined(TOUCHED) || defined(LARGE)
        run Fail(4);
        run Leave(4);
#endif
#if defined(TOUCHED) || defined(LARGE)
        run Leave(2);
#endif
        run End()
    }
}
