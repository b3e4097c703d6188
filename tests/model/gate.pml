/*
 * A waiting pod goes behind a gate while events come that reach only the gate (engine/lockfree: mover, events).
 *
 * A pod is PARKED. Events 1 and 2 help it, and reach its lot HERE; but PreEnqueue is asked before it may go to
 * active, and refuses it while the gate is shut. So they gate it: read asked = sequence, ask PreEnqueue, add the
 * gate to the pod's rejectors, publish the ref {v + 1} in the gate's lot THERE, pass a full fence, and read the
 * gate's stamp. Newer than asked: the lag is raised (see below), and they decide again. Else one CAS of the word: v
 * -> GATED v + 1. Who lost and finds the pod still waiting decides again, and gates it again if need be. The
 * publishing store sits in a store buffer until it drains by itself, or at the fence or the next locked access.
 *
 * Event 3 opens the gate, and event 4 concerns the gate and helps nobody: each draws its number, raises the gate's
 * stamp, passes a full fence, and reads THERE. A VALID ref: event 3 asks PreEnqueue and moves the pod. A FUTURE one:
 * nobody helps in a lot; the event makes the mover decide again, by raising version and lag: the refs that were
 * VALID stay so, and the mover's gets STALE.
 *
 * Claims (in every state, so any number of threads may stop anywhere)
 *   no pod is GATED when an event has returned that opened the gate (Observer)
 *   no pod is PARKED when an event has returned that helps it (Observer)
 *   a pod that waits has a VALID ref in its lot (Observer)
 *
 * Planted bugs
 *   -DHELP         an event that meets a FUTURE ref switches the word to GATED, and decides then
 *   -DNO_DISTURB   an event passes a FUTURE ref by
 *   -DNO_LAG       it raises the version alone: if the mover has stopped, nobody finds the pod
 *   -DUNFENCED     no fence between the mover's publish and his look at the stamp
 *   -DNO_LOOK      the mover does not look at the stamp after his publish
 *   -DASKED_LATE   he reads `asked` after PreEnqueue
 *   -DLOT_FIRST    events read the lot before they raise the stamp
 *   -DSWITCH_FIRST the mover publishes after his switch
 *   -DREJECTED_LATE  the gate gets one of the pod's rejectors after the switch: its event passes the pod by
 *   -DLOST_LEAVES  a mover who lost does not decide again
 *
 * Bounds: one pod, two lots, events 1, 3 and 4, with SECOND 1, 2 and 3 (--large: all).
 */
#ifdef LARGE
#define SECOND
#endif
#define EVENTS 4
#define ROOM   8

#define PARKED 0
#define GATED  1
#define ACTIVE 2

#define HERE   0
#define THERE  1

byte version = 1;
byte place = PARKED;
byte lag;

byte sequence;
byte stamp;                 /* the gate's */
bool open;                  /* what PreEnqueue goes by */
bool rejected;              /* the gate is among the pod's rejectors: else its events do not concern the pod */
byte ref[2 * ROOM];
byte tail[2];
byte buffered[EVENTS + 1];  /* the ref for THERE in an event's store buffer */

bool returned[EVENTS + 1];  /* ghost */

inline load_word()
{
    d_step {
        v = version;
        p = place;
        l = lag
    }
}

inline same_word()
{
    ok = (version == v && place == p && lag == l)
}

inline drain_buffer(whose)
{
    if
    :: buffered[whose] != 0 ->
        assert(tail[THERE] < ROOM);
        ref[THERE * ROOM + tail[THERE]] = buffered[whose];
        tail[THERE]++;
        buffered[whose] = 0
    :: else
    fi
}

/* A locked access. */
inline switch_word(to)
{
    d_step {
        drain_buffer(me);
        same_word();
        if
        :: ok ->
            version++;
            place = to;
            lag = 0
        :: else
        fi
    }
}

inline raise_lag()
{
    d_step {
        drain_buffer(me);
        same_word();
        if
        :: ok ->
            version++;
#ifndef NO_LAG
            lag++
#endif
        :: else
        fi
    }
}

/* The word was {v, p, l}. Ends with ok if the pod is GATED. */
inline gate_pod()
{
#ifdef SWITCH_FIRST
    switch_word(GATED);
    buffered[me] = v + 1;
#else
#ifndef REJECTED_LATE
    rejected = true;
#endif
    d_step {
        drain_buffer(me);
        buffered[me] = v + 1
    }
#ifndef UNFENCED
    d_step {
        drain_buffer(me)
    }
#endif
#ifdef NO_LOOK
    switch_word(GATED)
#else
    if
    :: stamp > asked ->
        raise_lag();
        ok = false
    :: else -> switch_word(GATED)
    fi
#endif
#endif
#ifdef REJECTED_LATE
    ;
    if
    :: ok -> rejected = true
    :: else
    fi
#endif
}

/* As long as the pod waits. */
inline try_pod()
{
    do
    :: load_word();
        if
        :: p == ACTIVE || (me > 2 && (p == PARKED || !rejected)) || me == 4 -> break
        :: else
        fi;
#ifdef ASKED_LATE
        passes = open;
        asked = sequence;
#else
        asked = sequence;
        passes = open;
#endif
        if
        :: passes -> switch_word(ACTIVE)
        :: else -> gate_pod()
        fi;
#ifndef LOST_LEAVES
        if
        :: ok -> break
        :: else
        fi
#else
        break
#endif
    od;
    passes = false;
    asked = 0
}

#define is_valid(r, lot) (p == (lot) && r + l == v)
#define is_future(r) (p != ACTIVE && r == v + 1)

/* The ref r of a lot. */
inline try_ref(lot)
{
    do
    :: load_word();
        if
        :: is_valid(r, lot) ->
            try_pod();
            break
        :: !is_valid(r, lot) && is_future(r) ->
#if defined(NO_DISTURB)
            break
#elif defined(HELP)
            switch_word(GATED)
#else
            raise_lag();
            if
            :: ok -> break
            :: else
            fi
#endif
        :: else -> break
        fi
    od
}

inline read_lot(lot)
{
    n = tail[lot];
    i = 0;
    do
    :: i < n ->
        r = ref[(lot) * ROOM + i];
        i++;
        try_ref(lot)
    :: else -> break
    od
}

proctype Helping(byte me)
{
    byte v, p, l, n, i, r, asked;
    bool ok, passes;
    sequence++;
    read_lot(HERE);
    returned[me] = true;
    d_step {
        v = 0;
        p = 0;
        l = 0;
        n = 0;
        i = 0;
        r = 0;
        ok = false
    }
}

inline raise_stamp()
{
    d_step {
        stamp = (stamp < number -> number : stamp)
    }
}

proctype Gate(byte me)
{
    byte v, p, l, n, i, r, asked, number;
    bool ok, passes;
    if
    :: me == 3 -> open = true
    :: else
    fi;
    d_step {
        sequence++;
        number = sequence
    }
#ifdef LOT_FIRST
    read_lot(THERE);
    raise_stamp();
#else
    raise_stamp();
    read_lot(THERE);
#endif
    returned[me] = true;
    d_step {
        v = 0;
        p = 0;
        l = 0;
        n = 0;
        i = 0;
        r = 0;
        number = 0;
        ok = false
    }
}

proctype StoreBuffers()
{
end:
    do
    :: d_step {
        buffered[1] != 0 ->
        drain_buffer(1)
    }
    :: d_step {
        buffered[2] != 0 ->
        drain_buffer(2)
    }
    od
}

proctype Observer()
{
    byte i;
    bool here;
end:
    do
    :: d_step {
        assert(place != GATED || !returned[3]);
        assert(place != PARKED || (!returned[1] && !returned[2]));
        if
        :: place != ACTIVE ->
            for (i : 0 .. tail[place] - 1) {
                here = here || (ref[place * ROOM + i] + lag == version)
            }
            assert(here)
        :: else
        fi;
        here = false;
        i = 0
    }
    od
}

init
{
    atomic {
        ref[HERE * ROOM] = 1;
        tail[HERE] = 1;
        run Helping(1);
#ifdef SECOND
        run Helping(2);
#endif
        run Gate(3);
#if !defined(SECOND) || defined(LARGE)
        run Gate(4);
#endif
        run StoreBuffers();
        run Observer()
    }
}
