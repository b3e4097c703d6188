/*
 * What a helper takes over from a publisher who stopped: the mark of the bin (engine/lockfree: bin, transfer, pop).
 *
 * Pod X is ACTIVE in the band BELOW. An updater moves it to the band HERE: publishes the ref of the next version in
 * the bin of HERE, passes a full fence, marks the bin (sets its word unless it is SET), raises reorder, switches. If
 * the bin is RETIRED he publishes in a new band instead. Consumers walk: reorder, the bin of HERE unless its word is
 * CLEAR or RETIRED, then the other bands, whose words are SET throughout. In the bin they find X's ref VALID (X is
 * HERE), FUTURE (X is BELOW: mark the bin, raise reorder, switch) or STALE; a bin that cannot be marked makes it
 * STALE. Reorder is read again before a claim and before EMPTY. They clear the bin in two phases, as in bin.pml, where
 * the word is explained, and a retirer makes CLEAR RETIRED: the band has left the table.
 *
 * Claims
 *   while X is ACTIVE HERE the bin's word is neither CLEAR nor RETIRED: wherever threads stop, walks find it (Observer,
 *   in every state)
 *   no walk reports EMPTY while X was ACTIVE during the whole call (Consumer)
 *
 * Planted bugs
 *   -DHELP_UNMARKED    a helper switches without a mark: a bin that was cleared after he had read its word holds X
 *   -DMARK_LATE        a helper marks after his switch: so too, if he stops in between
 *   -DHELP_RETIRED     a helper switches although the bin is RETIRED
 *   -DUPDATE_UNMARKED  the updater marks after his switch
 *
 * Bounds: one pod, one update, CONSUMERS consumers (2, with --large 3) with TRIES calls each, one retirer.
 *
 * stands for engine/lockfree/refs/bin.h bin_mark 02930f2f
 * stands for engine/lockfree/refs/bin.h bin_judge 37e3f0cc
 * stands for engine/lockfree/refs/summary.h summary_set 9c27a7b2
 * stands for engine/lockfree/refs/band.c band_mark_slowly b64c25ce
 * stands for engine/lockfree/refs/bin.c bin_help d98182ae
 * stands for engine/lockfree/moves/switch.c switch_help 8bc61031
 * stands for engine/lockfree/moves/switch.h switch_announced f08d5c8b
 * stands for engine/lockfree/moves/transfer.h transfer_announce febc216b
 * stands for engine/lockfree/moves/transfer.c transfer_follow d6e2ae58
 * stands for engine/lockfree/calls/pop.c take_plain c3f0fdae
 * stands for engine/lockfree/calls/pop.c take_other 069ee53b
 * stands for engine/lockfree/calls/pop.c look_at_head 92506633
 */
#ifdef LARGE
#define CONSUMERS 3
#else
#define CONSUMERS 2
#endif
#define TRIES     2

#define CLEAR     0
#define SET       1
#define CLEARING  2
#define RETIRED   3

#define BELOW     0     /* X's band, while it is ACTIVE */
#define HERE      1
#define NEW       2
#define TAKEN     3

byte word_version;
byte word = SET;
bool ref_here;          /* the bin's lane holds X's ref of the next version */
byte x = BELOW;
byte reorder;

#define over (x == TAKEN)

inline read_word()
{
    d_step {
        v = word_version;
        w = word
    }
}

inline cas_word(to)
{
    d_step {
        ok = (word_version == v && word == w);
        if
        :: ok ->
            word_version++;
            word = to
        :: else
        fi
    }
}

/* marked = the bin is SET, or was; else it is RETIRED. Leaves v and w. */
inline mark()
{
    do
    :: d_step {
            mv = word_version;
            mw = word
        }
        if
        :: mw == SET ->
            marked = true;
            break
        :: mw == RETIRED ->
            marked = false;
            break
        :: else ->
            d_step {
                marked = (word_version == mv && word == mw);
                if
                :: marked ->
                    word_version++;
                    word = SET
                :: else
                fi
            }
            if
            :: marked -> break
            :: else
            fi
        fi
    od;
    mv = 0;
    mw = 0
}

inline switch_x(from, to)
{
    d_step {
        if
        :: x == from -> x = to
        :: else
        fi
    }
}

proctype Updater()
{
    byte mv, mw;
    bool marked;
    ref_here = true;
#ifdef UPDATE_UNMARKED
    reorder++;
    switch_x(BELOW, HERE);
    mark()
#else
    mark();
    reorder++;
    if
    :: marked -> switch_x(BELOW, HERE)
    :: else -> switch_x(BELOW, NEW)
    fi;
    marked = false
#endif
}

inline help()
{
#if defined(HELP_UNMARKED) || defined(MARK_LATE)
    marked = true;
#else
    mark();
#endif
#ifdef HELP_RETIRED
    marked = true;
#endif
    if
    :: marked ->
        reorder++;
        switch_x(BELOW, HERE)
    :: else
    fi;
#ifdef MARK_LATE
    mark();
#endif
    marked = false
}

/* X's word was `at` when its ref was judged: claims, unless something was moved since the walk began. */
inline claim()
{
    if
    :: reorder != seen -> again = true
    :: else ->
        d_step {
            if
            :: x == at -> x = TAKEN
            :: else
            fi
        }
    fi
}

inline visit()
{
    do
    :: read_word();
        if
        :: w == CLEAR || w == RETIRED || over -> break
        :: else
        fi;
        found = false;
        if
        :: ref_here ->
            at = x;
            if
            :: at == BELOW ->
                help();
                at = x
            :: else
            fi;
            if
            :: at == HERE ->
                found = true;
                claim()
            :: else
            fi
        :: else
        fi;
        if
        :: found -> break
        :: else
        fi;
        if
        :: w == SET -> cas_word(CLEARING)
        :: w == CLEARING -> cas_word(CLEAR)
        fi;
        ok = false
    od;
    v = 0;
    w = 0;
    found = false
}

proctype Consumer()
{
    byte v, w, mv, mw, n, seen, at;
    bool ok, marked, found, again;
    do
    :: n < TRIES && !over ->
        n++;
        do
        :: again = false;
            seen = reorder;
            visit();
            if
            :: !again && !over ->
                at = x;
                if
                :: at == BELOW || at == NEW -> claim()
                :: at == HERE ->
                    if
                    :: reorder != seen -> again = true
                    :: else -> assert(false)    /* EMPTY */
                    fi
                :: else
                fi
            :: else
            fi;
            at = 0;
            if
            :: !again -> break
            :: else
            fi
        od;
        seen = 0
    :: else -> break
    od
}

proctype Retirer()
{
    byte v, w;
    bool ok;
    read_word();
    if
    :: w == CLEAR -> cas_word(RETIRED)
    :: else
    fi
}

proctype Observer()
{
end:
    do
    :: assert(x != HERE || word == SET || word == CLEARING)
    od
}

init
{
    byte n;
    atomic {
        for (n : 1 .. CONSUMERS) {
            run Consumer()
        }
        run Updater();
        run Retirer();
        run Observer()
    }
}
