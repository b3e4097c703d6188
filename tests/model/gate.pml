/*
 * A waiting pod goes behind a gate while events come that reach only the gate (engine/lockfree: mover, events, stray).
 *
 * A pod is PARKED. Events 1 and 2 help it, and reach its lot HERE; but PreEnqueue is asked before it may go to
 * active, and refuses it while the gate is shut. So they gate it: read asked = sequence, ask PreEnqueue, publish the ref
 * {v + 1} in the gate's lot THERE, pass a full fence, and read the gate's stamp. Then one CAS of the word, which makes
 * the gate one of the pod's rejectors: v -> GATED v + 1. If the stamp was newer than asked, the mover says before the
 * CAS that it owes a question, and asks once more when the pod is GATED: refused again, the pod stays, without another
 * look. A mover that meets the pod GATED may publish it anew there; a newer stamp makes it leave the pod as it is. One
 * that lost and finds the pod still waiting asks, and tries, again. The publishing store sits in a store buffer until it
 * drains by itself, or at the fence or the next locked access.
 *
 * Event 3 opens the gate, and event 4 concerns the gate and helps nobody: each draws its number, raises the gate's
 * stamp, passes a full fence, and reads THERE. A VALID ref: event 3 asks PreEnqueue and moves the pod. A FUTURE one:
 * nobody helps in a lot; the event makes the mover decide again, by raising version and lag: the refs that were
 * VALID stay so, and the mover's gets STALE. A tick asks about the pod if a mover owes a question.
 *
 * Claims (in every state, so any number of threads may stop anywhere)
 *   no pod is GATED when an event has returned that opened the gate, unless a mover owes a question (Observer)
 *   no pod is GATED after a tick that found it GATED, with a mover that owed a question, when an event had returned
 *   that opened the gate (Tick)
 *   no pod is PARKED when an event has returned that helps it (Observer)
 *   a pod that waits has a VALID ref in its lot (Observer)
 *   the gate is none of the rejectors of a pod that was never GATED (Observer)
 *
 * Planted bugs
 *   -DHELP         an event that meets a FUTURE ref switches the word to GATED, and decides then
 *   -DNO_DISTURB   an event passes a FUTURE ref by
 *   -DNO_LAG       it raises the version alone: if the mover has stopped, nobody finds the pod
 *   -DUNFENCED     no fence between the mover's publish and its look at the stamp
 *   -DNO_LOOK      the mover does not look at the stamp after its publish
 *   -DASKED_LATE   it reads `asked` after PreEnqueue
 *   -DLOT_FIRST    events read the lot before they raise the stamp
 *   -DSWITCH_FIRST the mover publishes after its switch
 *   -DREJECTED_LATE   the gate gets one of the pod's rejectors after the switch: its event passes the pod by
 *   -DREJECTED_EARLY  the gate gets one of them before the publish: a mover that loses leaves it there
 *   -DOWES_NOTHING    a mover that saw a newer stamp does not say that it owes a question
 *   -DOWES_LATE       it says so after the switch
 *   -DNOT_ASKED       it does not ask again
 *   -DLOST_LEAVES  a mover that lost does not decide again
 *
 * Not modelled: decisions of a host, a lag at its end, a place without a lot.
 *
 * Bounds: one pod, two lots, one tick, events 1, 3 and 4, with SECOND 1, 2 and 3 (--large: all).
 *
 * stands for engine/lockfree/calls/mover.c raise_lag 5921e8a5
 * stands for engine/lockfree/calls/mover.c stay_gated a0e21d4e
 * stands for engine/lockfree/calls/mover.c switch_gated 7cf0a682
 * stands for engine/lockfree/calls/mover.c gate_pod 529cab8a
 * stands for engine/lockfree/calls/mover.c act_on 7ae6d183
 * stands for engine/lockfree/calls/mover.c disturb b2af02ba
 * stands for engine/lockfree/calls/mover.c try_ref ec3da66c
 * stands for engine/lockfree/moves/stray.h stray_ask_owed 3133b4c0
 * stands for engine/lockfree/moves/transfer.h transfer_announce febc216b
 */
#ifdef LARGE
#define SECOND
#endif
#define EVENTS 4
#define TICK   5
#define ROOM   12

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
byte buffered[TICK + 1];    /* the ref for THERE in a mover's store buffer */

bool owed[TICK + 1];        /* by mover */

bool returned[EVENTS + 1];  /* ghost */
bool was_gated;             /* ghost */

#define anything_owed() (owed[1] || owed[2] || owed[3] || owed[4] || owed[TICK])

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
            lag = 0;
#ifndef REJECTED_LATE
            rejected = (rejected || to == GATED);
#endif
            was_gated = (was_gated || to == GATED)
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

/* The word was {v, p, l}. Ends with ok if the pod is GATED, and with unjudged if it has to be asked about again. */
inline gate_pod()
{
    unjudged = false;
#ifdef SWITCH_FIRST
    switch_word(GATED);
    buffered[me] = v + 1;
#else
#ifdef REJECTED_EARLY
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
#ifndef NO_LOOK
    unjudged = (stamp > asked);
#endif
    if
    :: unjudged && p == GATED ->
        raise_lag();
        unjudged = false;
        ok = true
    :: else ->
#if !defined(OWES_NOTHING) && !defined(OWES_LATE)
        owed[me] = (owed[me] || unjudged);
#endif
        switch_word(GATED);
#ifdef OWES_LATE
        owed[me] = (owed[me] || unjudged);
#endif
    fi
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
    placed = false;
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
        unjudged = false;
        if
        :: passes -> switch_word(ACTIVE)
        :: !passes && p == GATED -> ok = true
        :: !passes && !(p == GATED && placed) -> gate_pod()
        fi;
#ifdef NOT_ASKED
        unjudged = false;
#endif
        if
        :: ok && unjudged -> placed = true
        :: ok && !unjudged -> break
        :: else ->
#ifdef LOST_LEAVES
            break
#endif
        fi
    od;
    owed[me] = false;
    d_step {
        passes = false;
        placed = false;
        unjudged = false;
        asked = 0
    }
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
    bool ok, passes, placed, unjudged;
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
    bool ok, passes, placed, unjudged;
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

proctype Tick(byte me)
{
    byte v, p, l, asked;
    bool ok, passes, placed, unjudged, late;
    d_step {
        ok = anything_owed();
        late = (ok && returned[3] && place == GATED)
    }
    if
    :: ok -> try_pod()
    :: else
    fi;
    skip;
    assert(!late || place != GATED);
    d_step {
        v = 0;
        p = 0;
        l = 0;
        ok = false;
        late = false
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
    :: d_step {
        buffered[3] != 0 ->
        drain_buffer(3)
    }
    :: d_step {
        buffered[TICK] != 0 ->
        drain_buffer(TICK)
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
        assert(place != GATED || !returned[3] || anything_owed());
        assert(!rejected || was_gated);
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
        run Tick(TICK);
        run StoreBuffers();
        run Observer()
    }
}
