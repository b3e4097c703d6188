/*
 * Ticks: pods whose backoff is over become active, and the count of the pods that back off (engine/lockfree: serve,
 * bin, transfer).
 *
 * A holder fails pod X into the backoff bin: publishes the ref of the next version there, and switches INFLIGHT ->
 * BACKOFF. Its time is over at once. Ticks read the bin from its head: a FUTURE ref they help, for a VALID one they
 * publish the ref of the next version in a band, mark the band's bin (set its word unless it is SET), and switch
 * BACKOFF -> ACTIVE. Then they advance the head over STALE refs. Consumers pop from the band: help a FUTURE ref
 * (mark, switch), claim a VALID one, and clear the bin in two phases when they find nothing. With POP_BACKOFF they
 * then claim from the backoff bin.
 *
 * A shared word counts the pods that back off. Whoever is about to try the switch to BACKOFF, a helper too, raises
 * it before; whoever loses that switch takes his raise back; whoever wins a switch out of BACKOFF lowers it
 * afterwards. A tick may pass over the bin if it reads 0.
 *
 * Claims (in every state, so any number of threads may stop anywhere)
 *   X is popped once at most (claim)
 *   X in BACKOFF has a ref at or behind the head, and X ACTIVE one in the band, whose word is not CLEAR (Observer)
 *   no tick has returned that began when X was in BACKOFF, and X still is (Observer)
 *   the count is never below the truth, and above by one at most for each thread that has not finished (Observer)
 *
 * Planted bugs
 *   -DHEAD_FIRST        a tick advances the head over a ref that it is about to move
 *   -DHEAD_PAST_FUTURE  a tick passes a FUTURE ref for good
 *   -DCONSUMERS,HELP_UNMARKED  a consumer that helps does not mark the band's bin
 *   -DTICK_UNMARKED     a tick marks it after its switch
 *   -DKEEP_RAISE        who loses a switch to BACKOFF keeps his raise
 *   -DRAISE_LATE        the winner raises after the switch
 *   -DHELP_UNCOUNTED    a helper does not raise: whoever loses to him takes back what the pod is counted by
 *   -DLOWER_FIRST       the old place's count is lowered before the switch
 *   -DBOTH_LOWER        who loses a switch out of BACKOFF lowers too
 *
 * Bounds: one pod, a holder, two ticks, one consumer with one call; with CONSUMERS the pod backs off from the
 * beginning, and there are one tick and two consumers (--large: so, with two ticks and
 * POP_BACKOFF).
 *
 * stands for engine/lockfree/calls/serve.c flush_bin 7f909d84
 * stands for engine/lockfree/calls/mover.c move_by f272d7f4
 * stands for engine/lockfree/calls/mover.c move_batch 24424fe0
 * stands for engine/lockfree/calls/mover.c switch_group 88387551
 * stands for engine/lockfree/moves/switch.c switch_pod 74dc7c05
 * stands for engine/lockfree/moves/switch.h switch_announced f08d5c8b
 * stands for engine/lockfree/moves/switch.h switch_counted 418018fd
 * stands for engine/lockfree/moves/switch.c switch_help 8bc61031
 * stands for engine/lockfree/refs/bin.h bin_judge 37e3f0cc
 * stands for engine/lockfree/refs/bin.h bin_mark 02930f2f
 * stands for engine/lockfree/refs/bin.c bin_help d98182ae
 * stands for engine/lockfree/refs/summary.h summary_set 9c27a7b2
 * stands for engine/lockfree/refs/band.c band_mark_slowly b64c25ce
 */
#ifdef LARGE
#define CONSUMERS
#define POP_BACKOFF
#endif
#define ROOM     7

#define INFLIGHT 0
#define BACKOFF  1
#define ACTIVE   2

#define CLEAR    0
#define SET      1
#define CLEARING 2

/* containers */
#define WAITING  0
#define BAND     1

byte version = 1;
byte place;
byte ref[2 * ROOM];
byte tail[2];
byte head[2];
byte word_version;      /* of the band's bin */
byte word = SET;
byte counted;           /* how many pods back off */

bool popped;            /* ghost */
byte unfinished;        /* ghost: threads */
bool overlooked;        /* ghost: a tick has returned that began when X was in BACKOFF */

#define lives_in(container) ((container) == WAITING -> BACKOFF : ACTIVE)
#define is_valid(r, container, v, p) ((r) == (v) && (p) == lives_in(container))
/* X is published in BACKOFF from INFLIGHT, and in the band from BACKOFF. */
#define is_future(r, container, v, p) ((r) == (v) + 1)

inline load_word()
{
    d_step {
        v = version;
        p = place
    }
}

inline publish(container, of_version)
{
    d_step {
        assert(tail[container] < ROOM);
        ref[(container) * ROOM + tail[container]] = of_version;
        tail[container]++
    }
}

/* The word was {v, p}. */
inline switch_word(to)
{
    d_step {
        ok = (version == v && place == p);
        if
        :: ok ->
            version++;
            place = to
        :: else
        fi
    }
}

inline switch_to_backoff(helping)
{
#ifndef RAISE_LATE
#ifdef HELP_UNCOUNTED
    if
    :: !helping -> counted++
    :: else
    fi;
#else
    counted++;
#endif
#endif
    switch_word(BACKOFF);
    if
#ifdef RAISE_LATE
    :: ok -> counted++
    :: else
#else
    :: ok
    :: else ->
#ifndef KEEP_RAISE
#ifdef HELP_UNCOUNTED
        if
        :: !helping -> counted--
        :: else
        fi
#else
        counted--
#endif
#else
        skip
#endif
#endif
    fi
}

inline switch_from_backoff(to)
{
#ifdef LOWER_FIRST
    counted--;
#endif
    switch_word(to);
    if
#ifdef LOWER_FIRST
    :: ok
    :: else -> counted++
#elif defined(BOTH_LOWER)
    :: counted--
#else
    :: ok -> counted--
    :: else
#endif
    fi
}

inline mark()
{
    do
    :: d_step {
            wv = word_version;
            w = word
        }
        if
        :: w == SET -> break
        :: else ->
            d_step {
                ok = (word_version == wv && word == w);
                if
                :: ok ->
                    word_version++;
                    word = SET
                :: else
                fi
            }
            if
            :: ok -> break
            :: else
            fi
        fi
    od;
    wv = 0;
    w = 0
}

inline advance(container)
{
    d_step {
        if
        :: head[container] == i -> head[container] = i + 1
        :: else
        fi
    }
}

proctype Holder()
{
    byte v, p;
    bool ok;
    load_word();
    if
    :: p == INFLIGHT ->
#if !defined(RAISE_LATE)
        counted++;
#endif
        publish(WAITING, v + 1);
        switch_word(BACKOFF);
        if
#ifdef RAISE_LATE
        :: ok -> counted++
        :: else
#else
        :: ok
        :: else ->
#ifndef KEEP_RAISE
            counted--
#else
            skip
#endif
#endif
        fi
    fi;
    d_step {
        unfinished--;
        v = 0;
        p = 0;
        ok = false
    }
}

inline finish()
{
    d_step {
        unfinished--;
        v = 0;
        p = 0;
        i = 0;
        r = 0;
        ok = false
    }
}

/* The ref that is at i in the backoff bin: until it is STALE. */
inline move_due()
{
    do
    :: load_word();
        if
        :: is_valid(r, WAITING, v, p) ->
#ifdef HEAD_FIRST
            advance(WAITING);
#endif
            publish(BAND, v + 1);
#ifndef TICK_UNMARKED
            mark();
#endif
            switch_from_backoff(ACTIVE);
#ifdef TICK_UNMARKED
            mark()
#endif
        :: !is_valid(r, WAITING, v, p) && is_future(r, WAITING, v, p) ->
#ifdef HEAD_PAST_FUTURE
            advance(WAITING);
            break
#else
            switch_to_backoff(true)
#endif
        :: else -> break
        fi
    od
}

proctype Tick()
{
    byte v, p, wv, w, i, n, r;
    bool ok, was;
    was = (place == BACKOFF);
    i = head[WAITING];
    n = tail[WAITING];
    if
    :: counted == 0 -> i = n
    :: true
    fi;
    do
    :: i < n ->
        r = ref[WAITING * ROOM + i];
        move_due();
        i++
    :: else -> break
    od;
    n = 0;
    do
    :: i = head[WAITING];
        if
        :: i >= tail[WAITING] -> break
        :: else
        fi;
        r = ref[WAITING * ROOM + i];
        load_word();
        if
        :: is_valid(r, WAITING, v, p) || is_future(r, WAITING, v, p) -> break
        :: else -> advance(WAITING)
        fi
    od;
    overlooked = overlooked || was;
    finish()
}

inline claim()
{
    d_step {
        ok = (version == v && place == p);
        if
        :: ok ->
            version++;
            place = INFLIGHT;
            assert(!popped);
            popped = true
        :: else
        fi
    }
}

/* Ends with taken, or with nothing VALID or FUTURE in the band. */
inline scan_band()
{
    do
    :: i = head[BAND];
        if
        :: i >= tail[BAND] || taken -> break
        :: else
        fi;
        r = ref[BAND * ROOM + i];
        load_word();
        if
        :: is_valid(r, BAND, v, p) ->
            claim();
            taken = ok
        :: !is_valid(r, BAND, v, p) && is_future(r, BAND, v, p) ->
#ifndef HELP_UNMARKED
            mark();
#endif
            switch_from_backoff(ACTIVE)
        :: else -> advance(BAND)
        fi
    od
}

inline pop_band()
{
    do
    :: d_step {
            sv = word_version;
            s = word
        }
        if
        :: s == CLEAR || taken -> break
        :: else
        fi;
        scan_band();
        if
        :: taken
        :: else ->
            d_step {
                if
                :: word_version == sv && word == s ->
                    word_version++;
                    word = (s == SET -> CLEARING : CLEAR)
                :: else
                fi
            }
        fi
    od
}

inline pop_backoff()
{
    i = head[WAITING];
    do
    :: i < tail[WAITING] && !taken ->
        r = ref[WAITING * ROOM + i];
        load_word();
        if
        :: is_valid(r, WAITING, v, p) ->
            claim();
            taken = ok;
            if
            :: ok -> counted--
            :: else
            fi
        :: else
        fi;
        i++
    :: else -> break
    od
}

proctype Consumer()
{
    byte v, p, wv, w, sv, s, i, r;
    bool ok, taken;
    pop_band();
#ifdef POP_BACKOFF
    pop_backoff();
#endif
    finish()
}

proctype Observer()
{
    byte i;
    bool here;
end:
    do
    :: d_step {
        assert(place != BACKOFF || !overlooked);
        assert(counted >= (place == BACKOFF -> 1 : 0));
        assert(counted <= (place == BACKOFF -> 1 : 0) + unfinished);
        here = (place == INFLIGHT);
        i = (place == BACKOFF -> head[WAITING] : ROOM + head[BAND]);
        do
        :: i < (place == BACKOFF -> tail[WAITING] : ROOM + tail[BAND]) ->
            here = here || ref[i] == version;
            i++
        :: else -> break
        od;
        assert(here);
        assert(place != ACTIVE || word != CLEAR);
        here = false;
        i = 0
    }
    od
}

init
{
    atomic {
#ifdef CONSUMERS
        place = BACKOFF;
        counted = 1;
        publish(WAITING, version);
        unfinished = 3;
        run Consumer();
#else
        unfinished = 4;
        run Holder();
        run Tick();
#endif
#ifdef LARGE
        unfinished++;
        run Tick();
#endif
        run Tick();
        run Consumer();
        run Observer()
    }
}
