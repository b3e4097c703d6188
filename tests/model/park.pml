/*
 * A pod that fails while events come: it must not be parked beside an event that helps it (engine/lockfree:
 * fail, events, lots).
 *
 * An event draws its number from the sequence, writes the log, raises the stamp to its number (by maximum), passes a
 * full fence, and reads the lot. The holder of a pod in flight, popped when the sequence was `seen`, reads s0 =
 * sequence and judges: the events (seen, s0] of the log, and one that is not in the log yet counts as one that
 * helps. If none helps: he publishes the ref {v + 1} in the lot, passes a full fence, and reads the stamp. Newer
 * than s0: INFLIGHT v -> INFLIGHT v + 1 and judge again. Else one two-word CAS of {word, desc}: INFLIGHT v without
 * flags -> PARKED v + 1. Nobody helps in a lot: an event that meets the ref FUTURE sets the flag JUDGE, which makes
 * the holder's switch fail. An event that meets the ref VALID decides by the description, and moves the pod with a
 * two-word CAS; if it lost and the pod is still parked, it decides again. The holder's publishing store sits in a
 * store buffer until it drains by itself, or at the fence or his next locked access.
 *
 * Event 1 helps the pod whatever its description, event 2 helps it under description 1 only; both raise the same
 * stamp. With UPDATE the pod is updated to description 1: in flight the word stays as it is; parked, version and lag
 * are raised, so that the ref in the lot stays VALID. With DELETE it is deleted: in flight by a flag. With
 * STAMP_SEEN the holder does not read the log unless the stamp is newer than `seen`, and then has to compare it with
 * `seen` again after the publish.
 *
 * Claims (in every state, so any number of threads may stop anywhere)
 *   no pod is PARKED beside an event that has returned, came after the pod was popped, and helps it (Observer)
 *   a deleted pod is neither parked nor moved (Observer)
 *
 * Planted bugs
 *   -DHOLDER_UNFENCED  no fence between the holder's publish and his look at the stamp
 *   -DEVENT_UNFENCED   the stamp is raised by an access that is no fence, and none follows
 *   -DNO_LOOK          the holder does not look at the stamp after his publish
 *   -DLOOK_EARLY       he looks at it before his publish only
 *   -DNO_JUDGE         an event passes a FUTURE ref by
 *   -DHELP             an event that meets a FUTURE ref switches the word to PARKED, and decides then
 *   -DFLAG_IGNORED     the holder's switch does not look at the flags
 *   -DS0_LATE          s0 is read again after the judgement
 *   -DLOT_FIRST        an event reads the lot before it raises the stamp
 *   -DPLAIN_STAMP      the stamp is stored, not raised by maximum
 *   -DGAP_SKIPPED      an event that is not in the log counts as one that does not help
 *   -DSTAMP_S0         STAMP_SEEN, and the stamp is compared with s0 after the publish
 *   -DUPDATE,NO_LAG    an update of a parked pod raises the version and not the lag
 *   -DUPDATE,REPUBLISH  such an update publishes a ref {v + 1} in the lot, looks at the stamp as the holder does, and
 *                      switches with lag 0: an event that took the lane's tail before finds its old ref STALE
 *   -DUPDATE,WORD_ALONE  the holder's switch does not compare the description
 *   -DLOST_LEAVES      with UPDATE: an event whose switch was lost does not decide again
 *
 * Bounds: one pod, two events, one lot, one lane (--large: UPDATE and DELETE).
 *
 * stands for engine/lockfree/calls/fail.c raise_version 18637c63
 * stands for engine/lockfree/calls/fail.c take_back f080f4e0
 * stands for engine/lockfree/calls/fail.c judge_events a4f64790
 * stands for engine/lockfree/calls/fail.c event_came 4a0a9216
 * stands for engine/lockfree/calls/fail.c try_once 22b30fbf
 * stands for engine/lockfree/calls/fail.c look_in_flight 2e8e2468
 * stands for engine/lockfree/calls/fail.c try_round 1f2f929f
 * stands for engine/lockfree/calls/events.c announce 98ad9239
 * stands for engine/lockfree/calls/events.c judge_record f6b168aa
 * stands for engine/lockfree/calls/events.c judge_log 63c26978
 * stands for engine/lockfree/calls/events.h events_judge_flight 2ef2c40b
 * stands for engine/lockfree/calls/mover.c disturb b2af02ba
 * stands for engine/lockfree/calls/mover.c try_ref ec3da66c
 * stands for engine/lockfree/calls/mover.c try_like af3adc06
 * stands for engine/lockfree/calls/mover.c try_first_like 76fdaab2
 * stands for engine/lockfree/moves/report.h report_plain 7b32d694
 * stands for engine/lockfree/calls/mover.c switch_group 88387551
 * stands for engine/lockfree/moves/transfer.h transfer_announce febc216b
 */
#ifdef LARGE
#define UPDATE
#define DELETE
#endif
#define EVENTS 2
#ifdef STAMP_S0
#define STAMP_SEEN
#endif
#define ROOM     8

#define INFLIGHT 0
#define PARKED   1
#define MOVED    2
#define DEAD     3

#define DELETED  1
#define JUDGE    2

/* Does event e, of 1 .. EVENTS, help a pod of description d? */
#define helps(e, d) ((e) == 1 || (d) == 1)

byte version = 1;
byte place = INFLIGHT;
byte flags;
byte lag;
byte desc;

byte sequence;
byte stamp;
byte recorded[EVENTS + 1]; /* the log, by number: the event, or 0 */
byte ref[ROOM];            /* the lot */
byte tail;
byte buffered;             /* the ref of the holder's store buffer, or 0 */
byte unraised[EVENTS + 1]; /* with EVENT_UNFENCED: the number that an event's stamp in the store buffer has */

byte seen;
byte number[EVENTS + 1];   /* ghost: of an event that has begun, by event */
bool returned[EVENTS + 1]; /* ghost */
bool excused[EVENTS + 1];  /* ghost: the description that it helps came later, in the lot */
bool gone;                 /* ghost: the delete has returned */

inline load_word()
{
    d_step {
        v = version;
        p = place;
        f = flags;
        l = lag
    }
}

inline same_word()
{
    ok = (version == v && place == p && flags == f && lag == l)
}

inline drain_buffer()
{
    if
    :: buffered != 0 ->
        ref[tail] = buffered;
        tail++;
        buffered = 0
    :: else
    fi
}

inline publish(of_version)
{
    d_step {
        assert(tail < ROOM && buffered == 0);
        buffered = of_version
    }
}

inline set_word(to_place)
{
    version++;
    place = to_place;
    flags = 0;
    lag = 0
}

/* A move by an event; the word was {v, p, f, l} and desc d. */
inline switch_pair(to_place)
{
    d_step {
        same_word();
        ok = (ok && desc == d);
        if
        :: ok -> set_word(to_place)
        :: else
        fi
    }
}

/* The holder's, from {INFLIGHT, v, no flags} and d; a locked access. */
inline holder_switch(to_place)
{
    d_step {
        drain_buffer();
        ok = (version == v && place == INFLIGHT);
#ifndef FLAG_IGNORED
        ok = (ok && flags == 0);
#endif
#ifndef WORD_ALONE
        ok = (ok && desc == d);
#endif
        if
        :: ok -> set_word(to_place)
        :: else
        fi
    }
}

/* What was published goes stale, and the flags are dropped, but not that of a delete. */
inline void_refs()
{
    d_step {
        drain_buffer();
        if
        :: version == v && place == INFLIGHT && (flags & DELETED) == 0 -> set_word(INFLIGHT)
        :: else
        fi
    }
}

inline judge()
{
    s0 = sequence;
    bound = s0;
    helped = false;
#ifdef STAMP_SEEN
    if
    :: stamp <= seen ->
        s0 = seen;
#ifndef STAMP_S0
        bound = seen
#endif
    :: else
    fi;
#endif
    i = seen;
    do
    :: i < s0 && !helped ->
        i++;
        d_step {
            if
            :: recorded[i] == 0 ->
#ifndef GAP_SKIPPED
                helped = true
#endif
            :: else -> helped = helps(recorded[i], d)
            fi
        }
    :: else -> break
    od;
    i = 0;
#ifdef S0_LATE
    bound = sequence
#endif
}

proctype Holder()
{
    byte v, p, f, l, d, s0, bound, i;
    bool ok, helped, newer;
    seen = sequence;
    do
    :: load_word();
        if
        :: p != INFLIGHT -> break
        :: p == INFLIGHT && (f & DELETED) != 0 ->
            d_step {
                same_word();
                if
                :: ok -> set_word(DEAD)
                :: else
                fi
            }
        :: p == INFLIGHT && f == JUDGE -> void_refs()
        :: else ->
            d = desc;
            judge();
            newer = false;
            if
            :: helped -> holder_switch(MOVED)
            :: else ->
#ifdef LOOK_EARLY
                newer = (stamp > bound);
                publish(v + 1);
#else
                publish(v + 1);
#ifndef HOLDER_UNFENCED
                d_step {
                    drain_buffer()
                }
#endif
#ifndef NO_LOOK
                newer = (stamp > bound);
#endif
#endif
                if
                :: newer -> ok = false
                :: else -> holder_switch(PARKED)
                fi
            fi;
            if
            :: ok -> break
            :: else -> void_refs()
            fi
        fi
    od;
    v = 0;
    d_step {
        p = 0;
        f = 0;
        l = 0;
        d = 0;
        s0 = 0;
        bound = 0;
        ok = false;
        helped = false;
        newer = false
    }
}

inline raise_stamp()
{
#if defined(EVENT_UNFENCED)
    unraised[me] = number[me]
#elif defined(PLAIN_STAMP)
    stamp = number[me]
#else
    d_step {
        stamp = (stamp < number[me] -> number[me] : stamp)
    }
#endif
}

/* The ref r of the lot. */
inline look_at()
{
    do
    :: load_word();
        if
        :: p == PARKED && v == r + l ->
            d = desc;
            same_word();
            if
            :: ok && !helps(me, d) -> break
            :: ok && helps(me, d) ->
                switch_pair(MOVED);
#ifndef LOST_LEAVES
                if
                :: ok -> break
                :: else
                fi
#else
                break
#endif
            :: else
            fi
#ifdef REPUBLISH
        :: p == PARKED && r == v + 1 ->
            d_step {
                same_word();
                if
                :: ok ->
                    version++;
                    lag++
                :: else
                fi
            }
            if
            :: ok -> break
            :: else
            fi
#endif
        :: p == INFLIGHT && r == v + 1 && f == 0 ->
#if defined(NO_JUDGE)
            break
#elif defined(HELP)
            d_step {
                same_word();
                if
                :: ok -> set_word(PARKED)
                :: else
                fi
            }
#else
            d_step {
                same_word();
                if
                :: ok -> flags = flags | JUDGE
                :: else
                fi
            }
            if
            :: ok -> break
            :: else
            fi
#endif
        :: else -> break
        fi
    od
}

inline read_lot()
{
    n = tail;
    do
    :: i < n ->
        r = ref[i];
        i++;
        look_at()
    :: else -> break
    od
}

proctype Event(byte me)
{
    byte v, p, f, l, d, n, i, r;
    bool ok;
    d_step {
        sequence++;
        number[me] = sequence
    }
    recorded[number[me]] = me;
#ifdef LOT_FIRST
    read_lot();
    raise_stamp();
#else
    raise_stamp();
    read_lot();
#endif
    returned[me] = true;
    d_step {
        v = 0;
        p = 0;
        f = 0;
        l = 0;
        d = 0;
        n = 0;
        i = 0;
        r = 0;
        ok = false
    }
}

proctype Update()
{
    byte v, p, f, l, i, s0;
    bool ok;
    do
    :: load_word();
        if
        :: p == MOVED || p == DEAD || (f & DELETED) != 0 -> break
        :: else
        fi;
#ifdef REPUBLISH
        s0 = sequence;
        if
        :: p == PARKED ->
            d_step {
                ref[tail] = v + 1;
                tail++
            }
            if
            :: stamp > s0 -> l = 255
            :: else
            fi
        :: else
        fi;
#endif
        d_step {
            same_word();
            if
            :: ok ->
                desc = 1;
                if
                :: p == PARKED ->
                    version++;
#if defined(REPUBLISH)
                    lag = 0;
#elif !defined(NO_LAG)
                    lag++;
#endif
                    for (i : 1 .. EVENTS) {
                        excused[i] = excused[i] || (number[i] != 0 && !helps(i, 0))
                    }
                :: else
                fi
            :: else
            fi;
            i = 0
        }
        if
        :: ok -> break
        :: else
        fi
    od
}

proctype Delete()
{
    byte v, p, f, l;
    bool ok;
    do
    :: load_word();
        if
        :: p == MOVED || p == DEAD -> break
        :: else
        fi;
        d_step {
            same_word();
            if
            :: ok && p == INFLIGHT -> flags = flags | DELETED
            :: ok && p == PARKED -> set_word(DEAD)
            :: else
            fi;
            gone = ok
        }
        if
        :: ok -> break
        :: else
        fi
    od
}

proctype StoreBuffers()
{
    byte e;
end:
    do
    :: d_step {
        buffered != 0 ->
        drain_buffer()
    }
#ifdef EVENT_UNFENCED
    :: d_step {
        unraised[1] != 0 || unraised[2] != 0 ->
        e = (unraised[1] != 0 -> 1 : 2);
        stamp = (stamp < unraised[e] -> unraised[e] : stamp);
        unraised[e] = 0;
        e = 0
    }
#endif
    od
}

proctype Observer()
{
    byte e;
end:
    do
    :: d_step {
        if
        :: place == PARKED ->
            for (e : 1 .. EVENTS) {
                assert(!returned[e] || number[e] <= seen || !helps(e, desc) || excused[e])
            }
        :: else
        fi;
        assert(!gone || place == DEAD || (place == INFLIGHT && (flags & DELETED) != 0));
        e = 0
    }
    od
}

init
{
    byte e;
    atomic {
        for (e : 1 .. EVENTS) {
            run Event(e)
        }
        run Holder();
#ifdef UPDATE
        run Update();
#endif
#ifdef DELETE
        run Delete();
#endif
        run StoreBuffers();
        run Observer()
    }
}
