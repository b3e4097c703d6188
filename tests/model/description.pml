/*
 * Update of a pod's description, and the pod that follows it: the lag (engine/lockfree: state, update, transfer).
 *
 * Beside the state word {version, place, band, lag} stands the word desc: 0 = the description that the pod was born
 * with, else the number of an update's record. An update installs its record with one two-word CAS on {word, desc}.
 * If the description changes where an ACTIVE pod stands, its band or its order key, the same CAS raises version and
 * lag: refs of version - lag stay VALID, FUTURE is version + 1 only. Then it follows: until the lag is 0 and the band
 * that of the newest description, it publishes a ref of the next version where the newest description says, and
 * switches {word, desc}, which sets the lag to 0. Whoever meets the FUTURE ref switches the word too. Claims, deletions
 * are two-word CASes on {word, desc}. Whoever is about to pop a pod, or to tell of it, and finds a lag, follows first.
 *
 * A container is a band and an order key: 2 is band 1; 1 and 0 are band 0, the lesser key and the greater. The pod is
 * born in 1. Update 1 describes container 2, update 2 container 0, update 3 container 1 again. Two updates (1 and 2;
 * with BACK 1 and 3) with a handle of the first life; a worker that pops the pod and ends its flight, or deletes it,
 * and gives the record its next life, in container 2, at once; with SCANNER a consumer that walks, helps and claims as
 * well; with READER update 1, the worker and a reader with a handle of the first life, who tells what he has read.
 *
 * Claims
 *   a handle of one life never changes the description of the next (Observer)
 *   all VALID refs of a pod are in one container (Observer)
 *   once an update has returned, or somebody was told of its description, and that is the newest, an ACTIVE pod stands
 *   where it says, and nowhere else (Observer)
 *   a pod is popped where the newest description says, and who pops it gets that description (claim)
 *   wherever threads stop, an ACTIVE pod has a ref that a healthy consumer finds VALID, or switches (Observer)
 *   an update does not take the holder's token (Worker)
 *   a reader never takes the description of another life for that of its handle (Reader)
 *
 * Planted bugs
 *   -DNO_LAG         the version is raised and the lag is not: nobody finds the pod until its updater has published
 *   -DNO_BUMP        neither is raised: an older update's ref becomes VALID beside the newest one
 *   -DBAND_ALONE     only a change of the band raises them: a change of the key is not followed
 *   -DLAG_KEPT       the switch leaves the lag as it is: the ref that was published is not VALID
 *   -DFUTURE_LOOSE   each ref above version - lag is FUTURE: the switch leads to a version without a ref
 *   -DBASE_LOOSE     each ref from version - lag to version is VALID: that of an older update, too
 *   -DPOP_AT_ONCE    a pop claims whatever the lag
 *   -DTELL_AT_ONCE   with READER: a reader tells of the pod whatever the lag
 *   -DREAD_ONCE      an update goes by its own description to the end
 *   -DBAND_FOLLOWED  an update is over when the band is right, whatever the lag
 *   -DDESC_ALONE     desc is exchanged without comparing the word: hits the next life of the record
 *   -DCLAIM_ALONE    a claim compares the word alone: with BACK the pod is popped under a description that was replaced
 *   -DBUMP_FLIGHT    an update of a pod in flight raises the version: the holder's token is void
 *   -DLOOK_ONCE      the reader does not read the word again
 *
 * Bounds: one record, two lives, two bands, two keys, two updates (--large: three). Records of descriptions are not
 * recycled here. The claims are checked in every prefix, so any number of threads may stop anywhere.
 *
 * stands for engine/lockfree/pod/state.h state_base 7d931ed8
 * stands for engine/lockfree/pod/state.h state_described af8caaec
 * stands for engine/lockfree/pod/state.h state_judge 5713fedf
 * stands for engine/lockfree/pod/state.h state_switched 07e485c1
 * stands for engine/lockfree/pod/entry.c entry_description 8f01fd9f
 * stands for engine/lockfree/pod/entry.h entry_describe 0630af5b
 * stands for engine/lockfree/pod/entry.h entry_switch 1b257892
 * stands for engine/lockfree/moves/transfer.h transfer_publish 72e45c9c
 * stands for engine/lockfree/moves/transfer.c stands_right 551de44a
 * stands for engine/lockfree/moves/transfer.c transfer_follow d6e2ae58
 * stands for engine/lockfree/moves/transfer.h transfer_switch 80a34f1b
 * stands for engine/lockfree/moves/describe.c describe_install 743c567d
 * stands for engine/lockfree/moves/report.c report_record ac34f7d1
 * stands for engine/lockfree/moves/settle.c settle_told 975fed23
 * stands for engine/lockfree/calls/pop.c take_said 7724150d
 * stands for engine/lockfree/calls/pop.c take_plain c3f0fdae
 * stands for engine/lockfree/calls/pop.c take_other 069ee53b
 */
#define CONTAINERS 3
#define ROOM       9
#define NO_REF     255

#define ACTIVE     0
#define INFLIGHT   1
#define DEAD       2

#define band_of(container) ((container) / 2)
/* Where description d says that the pod is to stand. */
#define where(d) ((d) == 0 -> (life == 1 -> 1 : 2) : ((d) == 1 -> 2 : ((d) == 2 -> 0 : 1)))

byte version = 1;
byte place;
byte band;
byte lag;
byte desc;
byte life = 1;
bool exists = true;     /* ghost: this life was published */
bool returned[4];       /* ghost: by description, told of or returned from; 0 is the add's */
byte ref[CONTAINERS * ROOM];
byte tail[CONTAINERS];
byte head[CONTAINERS];

/* What a ref of version r in a container means while the word is {v, p, b, l}. */
#ifdef BASE_LOOSE
#define is_base(r, v, l) ((r) + (l) >= (v) && (r) <= (v))
#else
#define is_base(r, v, l) ((r) + (l) == (v))
#endif
#define is_valid(r, container, v, p, b, l) (is_base(r, v, l) && (p) == ACTIVE && (b) == band_of(container))
#ifdef FUTURE_LOOSE
#define is_future(r, v, p, l) ((r) + (l) > (v) && (r) <= (v) + 1 && (p) != DEAD)
#else
#define is_future(r, v, p, l) (!is_base(r, v, l) && (r) == (v) + 1 && (p) != DEAD)
#endif

inline load_word()
{
    d_step {
        v = version;
        p = place;
        b = band;
        l = lag
    }
}

inline load_desc()
{
    d_step {
        d = desc;
        w = where(d)
    }
}

inline same_word()
{
    ok = (version == v && place == p && band == b && lag == l)
}

/* What each switch does to the word. */
inline set_word(to_place, to_band)
{
    version++;
    place = to_place;
    band = to_band;
#ifndef LAG_KEPT
    lag = 0
#endif
}

inline switch_word(to_place, to_band)
{
    d_step {
        same_word();
        if
        :: ok -> set_word(to_place, to_band)
        :: else
        fi
    }
}

inline switch_pair(to_place, to_band)
{
    d_step {
        same_word();
        ok = (ok && desc == d);
        if
        :: ok -> set_word(to_place, to_band)
        :: else
        fi
    }
}

#if defined(NO_BUMP)
#define moves(number) (false)
#elif defined(BAND_ALONE)
#define moves(number) (p == ACTIVE && band_of(where(number)) != band_of(w))
#elif defined(BUMP_FLIGHT)
#define moves(number) (where(number) != w)
#else
#define moves(number) (p == ACTIVE && where(number) != w)
#endif

/* What desc holds is w, and the word is {v, p, b, l} and d. */
inline install(number)
{
    d_step {
#ifdef DESC_ALONE
        ok = (desc == d);
#else
        same_word();
        ok = (ok && desc == d);
#endif
        if
        :: ok && moves(number) ->
            desc = number;
            version++;
#ifndef NO_LAG
            lag++
#endif
        :: ok && !moves(number) -> desc = number
        :: else
        fi
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

inline peek(container)
{
    d_step {
        h = head[container];
        if
        :: h < tail[container] -> r = ref[(container) * ROOM + h]
        :: else -> r = NO_REF
        fi
    }
}

inline advance(container)
{
    d_step {
        if
        :: head[container] == h -> head[container] = h + 1
        :: else
        fi
    }
}

/* The word was {v, p, b, l} and desc d. */
inline claim(container)
{
    d_step {
        same_word();
#ifndef CLAIM_ALONE
        ok = (ok && desc == d);
#endif
        if
        :: ok ->
            assert(where(desc) == (container) && desc == d);
            set_word(INFLIGHT, b);
            taken = true
        :: else
        fi
    }
}

/* Until the pod stands where the newest description says, or is not that life's ACTIVE pod any more. */
inline follow(of_life, own)
{
    do
    :: load_word();
        if
        :: p != ACTIVE || life != (of_life) -> break
        :: else
        fi;
#ifdef READ_ONCE
        d_step {
            d = desc;
            w = ((own) -> where(own) : where(desc))
        }
#else
        load_desc();
#endif
        same_word();
        if
        :: !ok
#ifdef BAND_FOLLOWED
        :: ok && b == band_of(w) -> break
        :: ok && b != band_of(w) ->
#else
        :: ok && l == 0 && b == band_of(w) -> break
        :: ok && !(l == 0 && b == band_of(w)) ->
#endif
            publish(w, v + 1);
            switch_pair(ACTIVE, band_of(w));
            if
            :: ok -> break
            :: else
            fi
        fi
    od
}

/* Sets n back to begin again. */
inline scan(container)
{
    do
    :: peek(container);
        if
        :: r == NO_REF -> break
        :: else
        fi;
        load_word();
        if
        :: is_valid(r, container, v, p, b, l) ->
#ifndef POP_AT_ONCE
            if
            :: l != 0 ->
                m = life;
                follow(m, 0);
                n = CONTAINERS;
                break
            :: else
            fi;
#endif
            d = desc;
            claim(container);
            if
            :: taken ->
                advance(container);
                break
            :: else
            fi
        :: !is_valid(r, container, v, p, b, l) && is_future(r, v, p, l) ->
            assert(p == ACTIVE);
            switch_word(ACTIVE, band_of(container))
        :: else -> advance(container)
        fi
    od
}

inline pop()
{
    n = CONTAINERS;
    do
    :: n > 0 && !taken ->
        n--;
        scan(n)
    :: else -> break
    od;
    n = 0;
    h = 0;
    r = 0;
    d = 0;
    w = 0;
    m = 0
}

proctype Update(byte number)
{
    byte v, p, b, l, d, w;
    bool ok;
    do
    :: load_word();
        if
        :: p == DEAD -> break
        :: else
        fi;
        load_desc();
        same_word();
        if
        :: ok && life != 1 ->
            ok = false;
            break
        :: ok && life == 1 ->
            install(number);
            if
            :: ok -> break
            :: else
            fi
        :: else
        fi
    od;
    if
    :: ok ->
        follow(1, number);
        returned[number] = true
    :: else
    fi;
    d_step {
        v = 0;
        p = 0;
        b = 0;
        l = 0;
        d = 0;
        w = 0;
        ok = false
    }
}

proctype Worker()
{
    byte v, p, b, l, d, w, h, r, n, m;
    bool ok, taken;
    if
    :: pop();
        if
        :: taken ->
            /* The token is the version that the claim led to. */
            r = v + 1;
            load_word();
            assert(v == r && p == INFLIGHT);
            switch_word(DEAD, b)
        :: else -> ok = false
        fi
    :: do
        :: load_word();
            d = desc;
            switch_pair(DEAD, b);
            if
            :: ok -> break
            :: else
            fi
        od
    fi;
    if
    :: ok ->
        d_step {
            exists = false;
            life = version + 1
        }
        desc = 0;
        d_step {
            version++;
            place = ACTIVE;
            band = 1;
            lag = 0
        }
        publish(2, version);
        exists = true
    :: else
    fi;
    d_step {
        v = 0;
        p = 0;
        b = 0;
        l = 0;
        d = 0;
        r = 0;
        ok = false;
        taken = false
    }
}

proctype Scanner()
{
    byte v, p, b, l, d, w, h, r, n, m;
    bool ok, taken;
    pop();
    d_step {
        v = 0;
        p = 0;
        b = 0;
        l = 0;
        ok = false;
        taken = false
    }
}

proctype Reader()
{
    byte v, p, b, l, d, w, handle, whose;
    bool ok;
    load_word();
    if
    :: p != DEAD ->
        handle = life;
        d_step {
            d = desc;
            whose = (d == 0 -> life : 1)
        }
#ifdef LOOK_ONCE
        ok = true;
#else
        same_word();
#endif
        assert(!ok || handle != 1 || whose == 1);
        ok = (ok && handle == 1);
        whose = d;
        if
        :: ok ->
#ifndef TELL_AT_ONCE
            if
            :: p == ACTIVE && l != 0 -> follow(1, 0)
            :: else
            fi;
#endif
            returned[whose] = true
        :: else
        fi
    :: else
    fi
}

proctype Observer()
{
    byte c, i, valid_in;
    bool reachable;
end:
    do
    :: d_step {
        assert(life == 1 || desc == 0 || place == DEAD);
        if
        :: place == ACTIVE && exists ->
            reachable = false;
            valid_in = NO_REF;
            for (c : 0 .. CONTAINERS - 1) {
                i = head[c];
                do
                :: i < tail[c] ->
                    if
                    :: is_valid(ref[c * ROOM + i], c, version, place, band, lag) ->
                        assert(valid_in == NO_REF || valid_in == c);
                        assert(!returned[desc] || c == where(desc));
                        valid_in = c;
                        reachable = true
                    :: else -> reachable = reachable || is_future(ref[c * ROOM + i], version, place, lag)
                    fi;
                    i++
                :: else -> break
                od
            }
            assert(reachable);
            assert(!returned[desc] || (valid_in == where(desc) && lag == 0))
        :: else
        fi;
        c = 0;
        i = 0;
        valid_in = 0;
        reachable = false
    }
    od
}

init
{
    atomic {
        returned[0] = true;
        publish(1, 1);
        run Update(1);
#ifdef READER
        run Reader();
#else
#ifdef BACK
        run Update(3);
#else
        run Update(2);
#endif
#endif
#ifdef LARGE
        run Update(3);
#endif
#if defined(SCANNER) || defined(LARGE)
        run Scanner();
#endif
        run Worker();
        run Observer()
    }
}
