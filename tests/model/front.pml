/*
 * Fronts of lanes (engine/lockfree: bin, lane): which lane has the least key, without a look into
 * each.
 *
 * A bin has two lanes. A lane is a ring: slots, a head, a tail; keys never fall. Its front is a
 * lower bound of the keys of what is not stale, for ever, since whoever stores it saw that all
 * before it is stale. A consumer reads the fronts, looks into the lane with the least one, and into
 * the other only if that one's front lies below what it found. In a lane it goes over what lies
 * below the front, unjudged. It claims the pod by the CAS of its word, then reads the next slot's
 * key, and the head again: if the head is not beyond, the slot was not used again. So the key is
 * the new front. The head stays behind the front by LAG at most. Fronts are plain stores: a late
 * one is too low. So are the stores of the least of all fronts, as a consumer saw them one by one.
 * The owner of the first lane puts refs into slots that the head is past; when there
 * is none it moves the head over stale refs itself.
 *
 * With BANKS each lane is the only one of a bank: a consumer looks into both, and takes what is first.
 *
 * Claims
 *   contract O: a pop takes no pod while an older one was ACTIVE during the whole call, and reports
 *     none only if none was (Consumer)
 *   contract N: in every state, so wherever threads stop, no ACTIVE pod lies before its lane's head,
 *     below its front, or below the least of the fronts (Observer)
 *
 * Planted bugs
 *   -DRAISE_FIRST   the front is raised, then the pod is claimed
 *   -DSLOT_AGAIN    the next slot's key is taken without another look at the head
 *   -DHEAD_AGAIN    the first ref is taken without another look at the head
 *   -DLEAST_ONLY    the other lane is not looked into
 *   -DEMPTY_SKIPPED a lane that was found empty is not looked into again
 *   -DLEAST_OF_ONE  the least of the fronts is that of another than the least
 *   -DFIRST_FOUND   with BANKS: what is found in one bank is taken, without a look into the other
 *
 * Not modelled: that a head moves by a CAS only (claim); the words of a slot, which are read one by one, before the head; equal keys, and
 * that two keys may have one front; the tail that consumers tell each other, which is one that was
 * read; chains of segments (chain); lanes that come later (their front is the least). Memory is
 * sequentially consistent.
 *
 * Bounds: two lanes, six pods, five of them through three slots; two consumers, one of a pod, one
 * of two. --large: both of two, and one pod is deleted.
 *
 * stands for engine/lockfree/refs/bin.c raise_front 16a07300
 * stands for engine/lockfree/refs/bin.c pass_by d4cb97b1
 * stands for engine/lockfree/refs/bin.c try_lane cece1bd1
 * stands for engine/lockfree/refs/bin.c try_lanes 55c19f2c
 * stands for engine/lockfree/refs/bin.c compare_fronts 3f07f3b2
 * stands for engine/lockfree/refs/bin.c raise_least 589ced0d
 * stands for engine/lockfree/refs/bin.c compare_lines 2ee2f939
 * stands for engine/lockfree/refs/bin.c compare_lanes ff211e75
 * stands for engine/lockfree/refs/bin.c scan_banks 0051f592
 * stands for engine/lockfree/refs/lane.h lane_peek_from eb06cdef
 * stands for engine/lockfree/refs/lane.h lane_pass_by dbb7fe17
 */
#ifdef LARGE
#define POPS 2
#else
#define POPS 1
#endif

#define SLOTS   3       /* one stays free */
#define FIRST   5       /* pods of the first lane: 0, 1, 2, 3, 5 */
#define OTHER   4       /* the pod of the other lane */
#define PODS    6
#define LAG     2
#define NONE    PODS

#define pod_at(position) ((position) < 4 -> (position) : 5)
#define slot(lane, position) slots[(lane) * SLOTS + (position) % SLOTS]

byte slots[2 * SLOTS];
byte head[2];
byte tail[2];
byte front[2];
byte least;
#ifdef EMPTY_SKIPPED
bool skipped[2];        /* found empty */
#endif
bool published[PODS];
bool stale[PODS];

#define active(pod) (published[pod] && !stale[pod])

inline advance(lane, from, to)
{
    d_step {
        if
        :: head[lane] == from -> head[lane] = to
        :: else
        fi
    }
}

proctype Owner()
{
    byte h, at;
    do
    :: tail[0] < FIRST ->
        h = head[0];
        if
        :: tail[0] - h < SLOTS - 1
        :: else ->
            at = h;
            do
            :: at < tail[0] && stale[slot(0, at)] -> at++
            :: else -> break
            od;
            if
            :: at == h -> break
            :: else -> advance(0, h, at)
            fi;
            h = head[0];
            if
            :: tail[0] - h < SLOTS - 1
            :: else -> break
            fi
        fi;
        slot(0, tail[0]) = pod_at(tail[0]);
        d_step {
            published[pod_at(tail[0])] = true;
            tail[0] = tail[0] + 1;
            h = 0;
            at = 0
        }
    :: else -> break
    od
}

/* pod: the first of the lane that is not below the bound, at `at`; NONE: there is none. */
inline try_lane(lane, bound)
{
    h = head[lane];
    do
    ::  at = h;
        do
        :: at == tail[lane] ->
            pod = NONE;
            break
        :: else ->
            pod = slot(lane, at);
            if
            :: pod < bound -> at++
            :: else -> break
            fi
        od;
        if
        :: pod == NONE ->
            if
            :: at != h -> advance(lane, h, at)
            :: else
            fi;
            break
        :: else ->
#ifdef HEAD_AGAIN
            break
#else
            d_step {
                k = head[lane];
                if
                :: k != h -> h = k; pod = NONE
                :: else
                fi;
                k = 0
            }
            if
            :: pod != NONE -> break
            :: else
            fi
#endif
        fi
    od
}

/* h, at, pod: as try_lane left them. */
inline pass_by(lane)
{
    k = pod;
    if
    :: at + 1 != tail[lane] ->
        k = slot(lane, at + 1);
#ifndef SLOT_AGAIN
        if
        :: head[lane] <= at + 1
        :: else -> k = pod
        fi
#endif
    :: else
#ifdef EMPTY_SKIPPED
        -> skipped[lane] = true
#endif
    fi;
    raise(lane, k);
    if
    :: k <= pod || at + 1 - h >= LAG -> advance(lane, h, at + 1)
    :: else
    fi;
    k = 0
}

inline raise(lane, bound)
{
    if
    :: front[lane] < bound -> front[lane] = bound
    :: else
    fi
}

proctype Consumer(byte pops)
{
    bool was_active[PODS];
    byte f, g, h, at, pod, k, lane, other, p, best, best_h, best_at;
    bool ok;
    do
    :: pops > 0 ->
        d_step {
            pops--;
            for (p : 0 .. PODS - 1) {
                was_active[p] = active(p)
            }
            p = 0
        }
        do
        ::  f = front[0];
            g = front[1];
#ifdef LEAST_OF_ONE
            other = (f <= g -> g : f);
#else
            other = (f <= g -> f : g);
#endif
            if
            :: least < other -> least = other
            :: else
            fi;
            d_step {
#ifdef BANKS
                lane = 1;
                f = g;
#else
                lane = (f <= g -> 0 : 1);
#endif
                other = 1 - lane;
                f = (f <= g -> f : g);
                g = 0
            }
            try_lane(lane, f);
            g = front[other];
#ifdef LEAST_ONLY
            if
            :: pod == NONE ->
#else
            if
#ifdef EMPTY_SKIPPED
            :: (pod == NONE || g < pod) && !skipped[other] ->
#else
#ifdef BANKS
#ifdef FIRST_FOUND
            :: pod == NONE ->
#else
            :: true ->
#endif
#else
            :: pod == NONE || g < pod ->
#endif
#endif
#endif
                d_step {
                    best = pod;
                    best_h = h;
                    best_at = at
                }
                try_lane(other, g);
                atomic {
                    if
                    :: pod < best -> lane = other
                    :: else ->
                        pod = best;
                        h = best_h;
                        at = best_at
                    fi;
                    best = 0;
                    best_h = 0;
                    best_at = 0
                }
            :: else
            fi;
            atomic {
                f = 0;
                g = 0;
                other = 0
            }
            if
            :: pod == NONE -> break
            :: else
            fi;
#ifdef RAISE_FIRST
            pass_by(lane);
#endif
            d_step {
                ok = !stale[pod];
                stale[pod] = true
            }
            if
            :: ok -> break
            :: else
            fi;
#ifndef RAISE_FIRST
            pass_by(lane)
#endif
        od;
        atomic {
            for (p : 0 .. PODS - 1) {
                assert(p >= pod || !was_active[p] || stale[p]);
                was_active[p] = false
            }
            p = 0;
            ok = false
        }
        if
        :: pod == NONE -> break
        :: else ->
#ifndef RAISE_FIRST
            pass_by(lane);
#endif
            d_step {
                h = 0;
                at = 0;
                pod = 0;
                lane = 0
            }
        fi
    :: else -> break
    od
}

proctype Deleter()
{
    byte p;
    if
    :: p = 0
    :: p = 1
    :: p = 3
    :: p = 4
    fi;
    atomic {
        stale[p] = published[p];
        p = 0
    }
}

/* Where each pod of the first lane is: the pods before 4 are at their number. */
proctype Observer()
{
end:
    do
    :: d_step {
        assert(!active(0) || (head[0] == 0 && front[0] == 0));
        assert(!active(1) || (head[0] <= 1 && front[0] <= 1));
        assert(!active(2) || (head[0] <= 2 && front[0] <= 2));
        assert(!active(3) || (head[0] <= 3 && front[0] <= 3));
        assert(!active(5) || (head[0] <= 4 && front[0] <= 5));
        assert(!active(OTHER) || (head[1] == 0 && front[1] <= OTHER && least <= OTHER));
        assert(!active(0) || least == 0);
        assert(!active(1) || least <= 1);
        assert(!active(2) || least <= 2);
        assert(!active(3) || least <= 3);
        assert(!active(5) || least <= 5)
    }
    od
}

init
{
    atomic {
        slot(0, 0) = 0;
        slot(0, 1) = 1;
        published[0] = true;
        published[1] = true;
        tail[0] = 2;
        slot(1, 0) = OTHER;
        published[OTHER] = true;
        tail[1] = 1;
        run Owner();
        run Consumer(POPS);
        run Consumer(2);
#ifdef LARGE
        run Deleter();
#endif
        run Observer()
    }
}
