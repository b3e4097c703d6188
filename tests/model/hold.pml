/*
 * A pod that is kept back, against everything that would bring it out (engine/lockfree: moves/hold, calls/hold, pop).
 *
 * One pod, ACTIVE at first, or HELD and due. The word has version, place and the holder's flag, beside it stands the
 * description, with the mark that keeps the pod back; one exchange compares and changes both. A hold, a release, a tick
 * and a consumer run at once. The consumer pops, fails, and brings the pod back, to ACTIVE, or to HELD if the newest
 * description says so. Who meets a FUTURE ref of the band helps; nobody does in the bin of held pods.
 *
 * A member of a group is brought to ASIDE, where nothing is published, instead of to the band: fewer steps of these.
 *
 * Claims
 *   no pop takes the pod between the return of a hold and the begin of the next release (claim)
 *   a pod whose description keeps it back is not ACTIVE, at any time (exchange)
 *   wherever threads stop, an ACTIVE pod is found by pops, and one that is HELD without a mark by ticks (Drain, from every
 *     state)
 *
 * Planted bugs
 *   -DMARK_FIRST       the mark is installed, then the word is switched: an ACTIVE pod with the mark
 *   -DSAME_VERSION     a hold of a pod that is HELD and due leaves the version: a ref that a tick published gets it out
 *   -DNO_FLAG          a hold in flight sets no flag: a ref that the holder published gets it out (with TWO)
 *   -DFLAG_IGNORED     a helper does not look at the flag (with TWO)
 *   -DVERSION_ALONE    a ref is judged by its version, wherever it is: a pop takes a pod that is HELD
 *   -DRELEASE_SILENT   a release takes the mark away and makes the pod due nowhere: who stops then strands it
 *   -DRELEASE_FIRST    the mark is taken away, then the pod is made due: the same
 *
 * Who takes part: a hold, a release, a tick, a consumer that fails. Each works once, and repeats until its own exchange
 * succeeds. Any number may stop anywhere.
 *   -DTWO          a second consumer, which does not fail, in place of the tick
 *   -DWIDE         both (--wide)
 *   -DLARGE        two holds, two consumers that fail (--large)
 *
 * stands for engine/lockfree/pod/entry.h entry_describe 0630af5b
 * stands for engine/lockfree/moves/hold.c hold_install d6e1575f
 * stands for engine/lockfree/calls/hold.c grant c3178bcf
 * stands for engine/lockfree/calls/hold.c hold_leave e16aa570
 * stands for engine/lockfree/moves/route.c route_from_hold 7082850b
 * stands for engine/lockfree/moves/switch.c switch_help 8bc61031
 * stands for engine/lockfree/pod/state.h state_judge 5713fedf
 * stands for engine/lockfree/calls/pop.c take_head 75dde145
 */
#define ROOM     20
#define ACTIVE   0
#define HELD     1
#define INFLIGHT 2

byte version = 1;
byte place;
bool flag;
bool mark;
byte desc; /* which description it is */
bool band[ROOM];
bool bin[ROOM];
bool kept; /* a hold has returned, and no release has begun since */
byte releasing;
bool halted;

inline load()
{
    d_step {
        v = version;
        p = place;
        f = flag;
        m = mark;
        d = desc
    }
}

/* Everything is as it was loaded: another description, with the mark or without. */
inline exchange(to_version, to_place, to_flag, to_mark)
{
    d_step {
        ok = (version == v && place == p && flag == f && desc == d);
        if
        :: ok ->
            version = to_version;
            place = to_place;
            flag = to_flag;
            if
            :: mark != to_mark ->
                mark = to_mark;
                desc++
            :: else
            fi;
            assert(place != ACTIVE || !mark)
        :: else
        fi
    }
}

inline publish_in_band(of_version)
{
    assert(of_version < ROOM);
    band[of_version] = true
}

inline publish_in_bin(of_version)
{
    assert(of_version < ROOM);
    bin[of_version] = true
}

inline bring_out()
{
    do
    :: load();
        if
        :: p == HELD && !m ->
            publish_in_band(v + 1);
            exchange(v + 1, ACTIVE, false, false)
        :: else -> break
        fi
    od
}

proctype Hold() provided (!halted)
{
    byte v, p, d;
    bool f, m, ok;
    do
    :: load();
        if
        :: m -> break
        :: !m && p == INFLIGHT ->
#ifdef NO_FLAG
            exchange(v, p, f, true)
#else
            exchange(v, p, true, true)
#endif
        :: !m && p != INFLIGHT ->
#ifdef MARK_FIRST
            exchange(v, p, f, true);
            if
            :: ok ->
                load();
                exchange(v + 1, HELD, false, true)
            :: else
            fi
#elif defined(SAME_VERSION)
            if
            :: p == HELD -> exchange(v, HELD, false, true)
            :: else -> exchange(v + 1, HELD, false, true)
            fi
#else
            exchange(v + 1, HELD, false, true)
#endif
        fi;
        if
        :: ok -> break
        :: else
        fi
    od;
    kept = (mark && releasing == 0)
}

proctype Release() provided (!halted)
{
    byte v, p, d;
    bool f, m, ok;
    d_step {
        kept = false;
        releasing++
    }
    do
    :: load();
        if
        :: !m -> break
        :: m && p == INFLIGHT -> exchange(v, p, true, false)
        :: m && p != INFLIGHT ->
#if !defined(RELEASE_SILENT) && !defined(RELEASE_FIRST)
            publish_in_bin(v + 1);
#endif
            exchange(v + 1, HELD, false, false);
#ifdef RELEASE_FIRST
            if
            :: ok -> publish_in_bin(v + 1)
            :: else
            fi
#endif
        fi;
        if
        :: ok -> break
        :: else
        fi
    od;
    releasing--;
    bring_out()
}

proctype Tick() provided (!halted)
{
    byte v, p, d;
    bool f, m, ok;
    if
    :: bin[version] -> bring_out()
    :: else
    fi
}

#ifdef FLAG_IGNORED
#define may_help true
#else
#define may_help (p != INFLIGHT || !f)
#endif
#ifdef VERSION_ALONE
#define is_here (p != INFLIGHT)
#else
#define is_here (p == ACTIVE)
#endif

inline claim()
{
    d_step {
        ok = (version == v && place == p && desc == d);
        if
        :: ok ->
            assert(!kept && !mark);
            version++;
            place = INFLIGHT;
            flag = false;
            token = version
        :: else
        fi
    }
}

/* Decides on the word and the description that it loads; a description that changes makes it begin again. */
proctype Consumer(bool fails) provided (!halted)
{
    byte v, p, d, token;
    bool f, m, ok, taken;
    do
    :: load();
        if
        :: band[v] && is_here ->
            claim();
            if
            :: ok ->
                taken = true;
                break
            :: else
            fi
        :: !(band[v] && is_here) && band[v + 1] && may_help -> exchange(v + 1, ACTIVE, false, m)
        :: else -> break
        fi
    od;
    do
    :: taken && fails ->
        load();
        if
        :: p != INFLIGHT || v != token -> break
        :: p == INFLIGHT && v == token && f ->
            exchange(v + 1, INFLIGHT, false, m);
            if
            :: ok -> token++
            :: else
            fi
        :: p == INFLIGHT && v == token && !f && m ->
            exchange(v + 1, HELD, false, true)
        :: p == INFLIGHT && v == token && !f && !m ->
            publish_in_band(v + 1);
            exchange(v + 1, ACTIVE, false, false)
        fi
    :: !taken || !fails -> break
    od
}

/* All others stop where they are. */
proctype Drain()
{
    d_step {
        halted = true;
        assert(place != ACTIVE || band[version]);
        assert(place != HELD || mark || bin[version])
    }
}

init
{
    atomic {
        if
        :: band[1] = true
        :: place = HELD;
            bin[1] = true
        fi;
        run Hold();
        run Release();
#ifndef TWO
        run Tick();
#endif
        run Consumer(true);
#ifdef LARGE
        run Hold();
        run Consumer(true);
#elif defined(TWO) || defined(WIDE)
        run Consumer(false);
#endif
        run Drain()
    }
}
