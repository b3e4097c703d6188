/*
 * The next deadline: a word that is never later than the least due time that waits (engine/lockfree: deadline,
 * serve, timer).
 *
 * Who parks something that is due at d puts d into its bin, passes a full fence, and lowers the word to d. Who finds
 * the word due recomputes: exchanges the word for a marker, which no other exchange used and which reads as
 * "due now"; then looks at all bins, and serves what is due there; then exchanges his marker for the least time that he has found, if it is still
 * there. A parker who finds a marker cannot tell what its recomputer has seen, nor what waits beside his own time:
 * he exchanges it for another marker, so that the recomputer's exchange fails, and leaves it. So a recomputer who
 * stops, or fails, leaves "due now" to whoever looks next. Who made the word earlier, or exchanged a marker, wakes
 * the sleeper, who serves or sleeps until the word's time. The store into the bin sits in a store buffer until it
 * drains by itself, or at the fence or the next locked access.
 *
 * Who has much to serve exchanges the marker for a time before all others first, which parkers find low enough, and
 * recomputes once more behind it.
 *
 * With COUNT there is a word that says how many wait, as there is for each place where pods wait. A parker raises it
 * behind the store into the bin, and before it looks at the word: that is its fence. A recomputer that reads 0 there,
 * behind its marker, looks at no bin.
 *
 * Time 1 waits and is due: who finds the word due serves it. Parkers park 2 and 3.
 *
 * Claims
 *   the word is a marker, or not later than any time that waits and whose parker has returned, wherever threads stop
 *   (Observer, in every state)
 *   when all others have finished and the sleeper sleeps, then until no time later than one that waits (Observer)
 *
 * Planted bugs
 *   -DPARK_UNFENCED    no fence between the store into the bin and the look at the word
 *   -DWORD_FIRST       the word is lowered before the time is in its bin
 *   -DMARKER_LEFT      a parker leaves a marker as it is: the recomputer's exchange hides his time
 *   -DMARKER_TO_TIME   a parker exchanges a marker for his time: what waited before is late if the recomputer stops
 *   -DONE_MARKER       all markers are the same
 *   -DNO_MARKER        the word is exchanged for the new time directly
 *   -DLOOK_FIRST       the bins are looked at before the marker is in the word
 *   -DLOST_STORES      a recomputer stores the time that he has found, whatever the word is
 *   -DMARKER_SILENT    a parker who exchanges a marker wakes nobody
 *   -DLET_GO_LATE      the marker is let go for a time that is after one that waits
 *   -DLET_GO_SILENT    a recomputer who has let a marker go, and finds no time before the word, wakes nobody
 *   -DEND_SILENT       a recomputer wakes nobody: he may have put a time into the word before its parker could
 *   -DCOUNT_LATE       with COUNT: a parker raises the count when it has lowered the word
 *   -DCOUNT_READ_FIRST with COUNT: a recomputer reads the count before the marker is in the word
 *
 * Bounds: two parkers, the sleeper, which lets no marker go, one more recomputer (--large: two).
 *
 * stands for engine/lockfree/signals/deadline.c deadline_lower 1c1242a5
 * stands for engine/lockfree/signals/deadline.c deadline_begin bdad5527
 * stands for engine/lockfree/signals/deadline.c deadline_end 9397c9ca
 * stands for engine/lockfree/signals/deadline.c deadline_let_go 625a0673
 * stands for engine/lockfree/calls/serve.c let_marker_go cbf6b4f7
 * stands for engine/lockfree/calls/serve.c serve_once 81cdcebd
 * stands for engine/lockfree/moves/transfer.h transfer_announce febc216b
 * stands for engine/lockfree/moves/transfer.c transfer_lower_deadline 73da8e60
 */
#ifdef LARGE
#define RECOMPUTERS 2
#else
#define RECOMPUTERS 1
#endif
#define TIMES 3
#define NEVER 9
#define NOW   1
#define BEFORE_ALL 0

bool waits[TIMES + 1];      /* in its bin */
bool buffered[TIMES + 1];   /* the store into the bin is in the store buffer */
bool told[TIMES + 1];       /* ghost: its parker has returned */
bool marker;                /* what the word is: a marker, or a time */
byte word = NOW;
byte markers;               /* how many there were */
bool asleep;
byte until;
byte unfinished;            /* ghost: threads, without the sleeper */
byte count;                 /* with COUNT: of parkers that were */

#ifdef ONE_MARKER
#define NEW_MARKER 0
#else
#define NEW_MARKER markers
#endif

inline read_word()
{
    d_step {
        m = marker;
        w = word
    }
}

/* From {m, w}. */
inline exchange(to_marker, to)
{
    d_step {
        ok = (marker == m && word == w);
        if
        :: ok ->
            marker = to_marker;
            word = to
        :: else
        fi
    }
}

inline exchange_for_marker()
{
    d_step {
        ok = (marker == m && word == w);
        if
        :: ok ->
            markers++;
            marker = true;
            word = NEW_MARKER
        :: else
        fi
    }
}

/* The marker is {m, w}. */
inline put_marker()
{
    d_step {
        markers++;
        before = (marker || word == BEFORE_ALL -> NEVER + 1 : word);
#ifdef LET_GO_SILENT
        before = (marker -> NEVER + 1 : word);
#endif
        marker = true;
        word = NEW_MARKER;
        m = true;
        w = word
    }
}

inline wake()
{
    asleep = false
}

/* A locked access drains the store buffer. */
inline drain()
{
    d_step {
        waits[due] = waits[due] || buffered[due];
        buffered[due] = false
    }
}

inline lower_word()
{
    do
    :: read_word();
        if
        :: !m && w <= due -> break
        :: m ->
#if defined(MARKER_LEFT)
            break
#else
            drain();
#if defined(MARKER_TO_TIME)
            exchange(false, due);
#else
            exchange_for_marker();
#endif
            if
            :: ok -> break
            :: else
            fi
#endif
        :: else ->
            drain();
            exchange(false, due);
            if
            :: ok -> break
            :: else
            fi
        fi
    od;
#ifdef MARKER_SILENT
    ok = ok && !m;
#endif
    if
    :: ok -> wake()
    :: else
    fi
}

/* A locked access. */
inline raise_count()
{
    d_step {
        drain();
        count++
    }
}

proctype Parker(byte due)
{
    byte w;
    bool m, ok;
#ifdef WORD_FIRST
    lower_word();
    waits[due] = true;
#else
    buffered[due] = true;
#if defined(COUNT_LATE)
    drain();
    lower_word();
    raise_count();
#elif defined(COUNT)
    raise_count();
    lower_word();
#else
#ifndef PARK_UNFENCED
    drain();
#endif
    lower_word();
#endif
#endif
    d_step {
        told[due] = true;
        unfinished--;
        w = 0;
        m = false;
        ok = false
    }
}

#ifdef COUNT
#define SAYS_NONE (counted == 0)
#else
#define SAYS_NONE false
#endif

inline read_count()
{
#ifdef COUNT
    counted = count
#else
    skip
#endif
}

inline look_at_bins()
{
    least = NEVER;
#ifndef COUNT_READ_FIRST
    read_count();
#endif
    i = (SAYS_NONE -> TIMES + 1 : NOW + 1);
    do
    :: i <= TIMES && least == NEVER -> d_step {
        if
        :: waits[i] -> least = i
        :: else
        fi;
        i++
    }
    :: else -> break
    od;
    i = 0;
    counted = 0
}

/* The word was {m, w}. `lets`: the marker may be let go. */
inline recompute(lets)
{
#ifdef NO_MARKER
    waits[NOW] = false;
    look_at_bins();
    before = w;
    exchange(false, least);
#else
#ifdef LOOK_FIRST
    look_at_bins();
#endif
#ifdef COUNT_READ_FIRST
    read_count();
#endif
    put_marker();
    if
#ifdef LET_GO_LATE
    :: lets -> exchange(false, NOW + 1);
#else
    :: lets -> exchange(false, BEFORE_ALL);
#endif
       waits[NOW] = false;
       put_marker()
    :: waits[NOW] = false
    fi;
#ifndef LOOK_FIRST
    look_at_bins();
#endif
#ifdef LOST_STORES
    d_step {
        marker = false;
        word = least;
        ok = true
    }
#else
    exchange(false, least);
#endif
#endif
#ifndef END_SILENT
    if
    :: ok && least < before -> wake()
    :: else
    fi;
#endif
    least = 0;
    before = 0;
    ok = false
}

proctype Recomputer()
{
    byte w, i, least, before, counted;
    bool m, ok;
    read_word();
    if
    :: m || w <= NOW -> recompute(true)
    :: else
    fi;
    d_step {
        unfinished--;
        w = 0;
        m = false
    }
}

/* asleep before the word is read: that is the sequence that the futex compares. */
proctype Sleeper()
{
    byte w, i, least, before, counted;
    bool m, ok;
end:
    do
    :: asleep = true;
        read_word();
        if
        :: m || w <= NOW -> recompute(false)
        :: else ->
            until = w;
            !asleep
        fi;
        until = 0
    od
}

proctype StoreBuffers()
{
    byte due;
end:
    do
    :: d_step {
        buffered[2] || buffered[3] ->
        due = (buffered[2] -> 2 : 3);
        waits[due] = true;
        buffered[due] = false;
        due = 0
    }
    od
}

proctype Observer()
{
    byte i;
end:
    do
    :: d_step {
        for (i : 1 .. TIMES) {
            assert(marker || !waits[i] || !told[i] || word <= i);
            assert(unfinished > 0 || !asleep || !waits[i] || until <= i)
        }
        i = 0
    }
    od
}

init
{
    byte n;
    atomic {
        waits[1] = true;
        told[1] = true;
        for (n : 2 .. TIMES) {
            run Parker(n)
        }
        for (n : 1 .. RECOMPUTERS) {
            run Recomputer()
        }
        unfinished = TIMES - 1 + RECOMPUTERS;
        run Sleeper();
        run StoreBuffers();
        run Observer()
    }
}
