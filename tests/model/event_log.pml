/*
 * One slot of the ring in which events are recorded, with their objects (engine/lockfree: event_log, hazard).
 *
 * Two writers of events that fall on the same slot, sequences 1 and 2; each event has one object, of the same
 * number, to which its caller has a reference during the call. The slot is {word, event, object}, the word
 * {sequence, BUSY}. A writer retains his object, then exchanges the word, if it is smaller than his and not BUSY,
 * for his sequence and BUSY; else he gives his reference back, and the event is not recorded. He writes the fields,
 * stores the word without BUSY, and lets go what the slot held before: looks at the readers' pins, and releases it
 * if nobody has it pinned; else the release is kept for later. A reader who asks for a sequence finds it in the
 * word, reads the fields, pins the object (a full fence), and finds the word the same; or he has a gap. With FORGET
 * somebody makes an empty slot of all records: raises `forgotten`, exchanges the word of a record for the same with
 * BUSY, takes the object out, stores 0. A writer looks at `forgotten` after he has published his record, and drops
 * it himself if need be. The pin sits in a store buffer until it drains by itself, or at the fence.
 *
 * Claims (wherever threads stop)
 *   who finds a record finds the event and the object of that sequence, and the object is alive until it is unpinned
 *   (Reader)
 *   no reference is given back that there is not, and no object is retained that is gone (release, retain)
 *   the slot of a record has a reference to its object (Observer, in every state)
 *   when all threads have finished, the references are those of the slot and those that are kept for later; none is
 *   in a slot that was forgotten (Observer)
 *
 * Planted bugs
 *   -DNO_BUSY          the word gets the sequence at once, the fields follow
 *   -DLOOK_ONCE        a reader does not look at the word again
 *   -DPIN_LATE         he looks at it again before he pins
 *   -DPIN_UNFENCED     no fence between the pin and the second look
 *   -DRELEASE_AT_ONCE  what the slot held is released without a look at the pins
 *   -DSCAN_EARLY       the pins are looked at before the object is taken out
 *   -DRETAIN_LATE      a writer retains his object after he has published it
 *   -DCLAIM_STORED     the word is stored, not exchanged
 *   -DANY_WORD         a writer takes a slot that is BUSY, too
 *   -DFORGET,BACK      who forgets stores the sequence back, not 0
 *   -DFORGET,LATE      a writer does not look at `forgotten` after he has published
 *   -DFORGET,EARLY     he looks at it before he publishes
 *
 * Bounds: two writers, a reader of each sequence; with FORGET one of the first (--large: and both
 * readers).
 *
 * stands for engine/lockfree/signals/event_log.c drop 6d208234
 * stands for engine/lockfree/signals/event_log.c event_log_forget 77c58ba7
 * stands for engine/lockfree/signals/event_log.c claim_slot fd1becf4
 * stands for engine/lockfree/signals/event_log.c publish a11381da
 * stands for engine/lockfree/signals/event_log.c event_log_write 5d87b7a4
 * stands for engine/lockfree/signals/event_log.c event_log_read 09988673
 * stands for engine/lockfree/signals/event_log.c let_go cda6c1ef
 * stands for engine/lockfree/memory/hazard.c pin 756d8f4b
 * stands for engine/lockfree/memory/hazard.c scan_slots d952ec74
 * stands for engine/lockfree/memory/hazard.c hazard_release bff40653
 * stands for engine/lockfree/memory/hazard.c hazard_pin_event 65638126
 */
#ifdef LARGE
#define FORGET
#endif
#define WRITERS 2
#define READERS 2

bool busy;
byte word;                  /* the sequence, or 0 */
byte event;
byte object;
byte forgotten;
byte references[WRITERS + 1];
byte kept[WRITERS + 1];     /* releases that wait */
byte pin[READERS + 1];      /* by the sequence that the reader wants */
byte buffered[READERS + 1]; /* the pin in the store buffer */
byte unfinished;            /* ghost: threads */

/* From {b, w}. */
inline exchange(to_busy, to)
{
    d_step {
        ok = (busy == b && word == w);
        if
        :: ok ->
            busy = to_busy;
            word = to
        :: else
        fi
    }
}

inline release(which)
{
    d_step {
        assert(references[which] > 0);
        references[which]--
    }
}

inline retain(which)
{
    d_step {
        assert(references[which] > 0);
        references[which]++
    }
}

inline scan()
{
    pinned = false;
    i = 1;
    do
    :: i <= READERS ->
        pinned = pinned || (pin[i] != 0 && pin[i] == held);
        i++
    :: else -> break
    od;
    i = 0
}

inline let_go()
{
    if
    :: held != 0 ->
#if defined(RELEASE_AT_ONCE)
        release(held)
#else
#ifndef SCAN_EARLY
        scan();
#endif
        if
        :: pinned -> kept[held]++
        :: else -> release(held)
        fi
#endif
    :: else
    fi;
    held = 0;
    pinned = false
}

/* The word is {b, w}, a record's. */
inline drop()
{
    exchange(true, w);
    if
    :: ok ->
        held = object;
        object = 0;
        d_step {
#ifdef BACK
            busy = false
#else
            word = 0;
            busy = false
#endif
        }
        let_go()
    :: else
    fi
}

inline write_fields()
{
    held = object;
    event = me;
    object = me
}

proctype Writer(byte me)
{
    byte w, held, i;
    bool b, ok, pinned;
#ifndef RETAIN_LATE
    retain(me);
#endif
    d_step {
        b = busy;
        w = word
    }
#ifdef SCAN_EARLY
    held = object;
    scan();
#endif
    ok = false;
    if
#ifdef ANY_WORD
    :: w < me ->
#else
    :: !b && w < me ->
#endif
#if defined(CLAIM_STORED)
        d_step {
            busy = true;
            word = me;
            ok = true
        }
#elif defined(NO_BUSY)
        exchange(false, me)
#else
        exchange(true, me)
#endif
    :: else
    fi;
    if
    :: ok ->
        write_fields();
#ifdef EARLY
        ok = (forgotten >= me);
#endif
        d_step {
            busy = false;
            word = me
        }
#ifdef RETAIN_LATE
        retain(me);
#endif
        let_go();
#if defined(FORGET) && !defined(LATE)
#ifndef EARLY
        ok = (forgotten >= me);
#endif
        if
        :: ok ->
            d_step {
                b = false;
                w = me
            }
            drop()
        :: else
        fi
#endif
#ifndef RETAIN_LATE
    :: else -> release(me)
#else
    :: else
#endif
    fi;
    release(me);
    d_step {
        unfinished--;
        b = false;
        w = 0;
        ok = false
    }
}

proctype Reader(byte wanted)
{
    byte e, o;
    bool ok;
    d_step {
        ok = (!busy && word == wanted)
    }
    if
    :: ok ->
        e = event;
        o = object;
#ifdef PIN_LATE
        d_step {
            ok = (!busy && word == wanted)
        }
#endif
        buffered[wanted] = o;
#ifndef PIN_UNFENCED
        d_step {
            pin[wanted] = o;
            buffered[wanted] = 0
        }
#endif
#if !defined(LOOK_ONCE) && !defined(PIN_LATE)
        d_step {
            ok = (!busy && word == wanted)
        }
#endif
        if
        :: ok ->
            assert(e == wanted && o == wanted && references[o] > 0);
            assert(references[o] > 0)
        :: else
        fi;
        d_step {
            buffered[wanted] = 0;
            pin[wanted] = 0;
            e = 0;
            o = 0
        }
    :: else
    fi;
    ok = false;
    unfinished--
}

proctype Forgetter()
{
    byte w, held, i;
    bool b, ok, pinned;
    forgotten = WRITERS;
    d_step {
        b = busy;
        w = word
    }
    if
    :: !b && w != 0 -> drop()
    :: else
    fi;
    d_step {
        unfinished--;
        b = false;
        w = 0;
        ok = false
    }
}

proctype StoreBuffers()
{
end:
    do
    :: d_step {
        buffered[1] != 0 ->
        pin[1] = buffered[1];
        buffered[1] = 0
    }
    :: d_step {
        buffered[2] != 0 ->
        pin[2] = buffered[2];
        buffered[2] = 0
    }
    od
}

proctype Observer()
{
    byte i;
end:
    do
    :: d_step {
        assert(busy || word == 0 || (event == word && object == word && references[word] > 0));
        if
        :: unfinished == 0 ->
            for (i : 1 .. WRITERS) {
                assert(references[i] == kept[i] + (object == i -> 1 : 0))
            }
            assert(object == 0 || object > forgotten)
        :: else
        fi;
        i = 0
    }
    od
}

init
{
    byte n;
    atomic {
        for (n : 1 .. WRITERS) {
            references[n] = 1;
            run Writer(n)
        }
#if defined(FORGET) && !defined(LARGE)
        run Reader(1);
        unfinished = WRITERS + 1;
#else
        run Reader(1);
        run Reader(2);
        unfinished = WRITERS + 2;
#endif
#ifdef FORGET
        unfinished++;
        run Forgetter();
#endif
        run StoreBuffers();
        run Observer()
    }
}
