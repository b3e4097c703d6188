/*
 * Publish, then switch; claim by the word; whoever meets a FUTURE ref helps (engine/lockfree: state, bin, transfer).
 *
 * One pod, PARKED or ACTIVE at first, and three bands. A container holds refs, that is versions; the state word holds
 * {version, place, band}. A mover publishes the ref of the next version in the container of the new place and only
 * then switches the word. A move, an update to band 1, a delete and a pop run at once; with UPDATES updates to bands 1
 * and 2 and a pop; with LARGE a move, both updates, a delete and a pop.
 *
 * Claims
 *   a pod is popped from the band that its word names (take)
 *   a pod is popped once, and not after its end (take, by the CAS)
 *   wherever threads stop, a healthy consumer reaches the pod if it is ACTIVE (Drain, from every state)
 *
 * Planted bugs
 *   -DSTATE_FIRST  the word is switched, then the ref published: an ACTIVE pod that no consumer reaches
 *   -DNO_BAND      a ref is judged by its version alone: popped from the wrong band
 *   -DNO_HELP      a consumer drops FUTURE refs as if they were stale: an ACTIVE pod that no consumer reaches
 *   -DNO_VERSION   the switch compares the place and not the version: the ref of another version stays, a pod is
 *                  stranded
 *
 * Bounds: one pod; each operation once, and repeated until its own switch succeeds. Any number may stop anywhere.
 *
 * stands for engine/lockfree/pod/state.h state_judge 5713fedf
 * stands for engine/lockfree/pod/state.h state_switched 07e485c1
 * stands for engine/lockfree/moves/switch.h switch_announced f08d5c8b
 * stands for engine/lockfree/moves/switch.c switch_help 8bc61031
 * stands for engine/lockfree/refs/bin.h bin_judge 37e3f0cc
 * stands for engine/lockfree/refs/bin.c bin_help d98182ae
 * stands for engine/lockfree/moves/transfer.h transfer_publish 72e45c9c
 * stands for engine/lockfree/moves/transfer.h transfer_switch 80a34f1b
 */
#define BANDS    3
#define ROOM     6
#define NO_REF   255

#define ACTIVE   0
#define PARKED   1
#define INFLIGHT 2
#define DEAD     3

byte version = 1;
byte place;
byte band;
byte ref[BANDS * ROOM];
byte tail[BANDS];
byte head[BANDS];
bool halted;

inline load_word()
{
    d_step {
        v = version;
        p = place;
        b = band
    }
}

inline switch_word(to_place, to_band)
{
    d_step {
#ifdef NO_VERSION
        ok = (place == p);
#else
        ok = (version == v && place == p && band == b);
#endif
        if
        :: ok ->
            version++;
            place = to_place;
            band = to_band
        :: else
        fi
    }
}

inline publish(in_band, of_version)
{
    d_step {
        assert(tail[in_band] < ROOM);
        ref[(in_band) * ROOM + tail[in_band]] = of_version;
        tail[in_band]++
    }
}

inline activate(to_band)
{
#ifdef STATE_FIRST
    switch_word(ACTIVE, to_band);
    if
    :: ok -> publish(to_band, v + 1)
    :: else
    fi
#else
    publish(to_band, v + 1);
    switch_word(ACTIVE, to_band)
#endif
}

/* r = ref at the head of a band, which it had at position h; NO_REF if the band is empty. */
inline peek(of_band)
{
    d_step {
        h = head[of_band];
        if
        :: h < tail[of_band] -> r = ref[(of_band) * ROOM + h]
        :: else -> r = NO_REF
        fi
    }
}

inline advance(of_band)
{
    d_step {
        if
        :: head[of_band] == h -> head[of_band] = h + 1
        :: else
        fi
    }
}

#ifdef NO_HELP
#define is_future (false)
#else
#define is_future (r == v + 1 && (p == ACTIVE || p == PARKED))
#endif
#ifdef NO_BAND
#define is_valid(in_band) (r == v && p == ACTIVE)
#else
#define is_valid(in_band) (r == v && p == ACTIVE && b == (in_band))
#endif

/* Works on the band until a pod is taken (taken) or the band is empty. */
inline scan(of_band)
{
    do
    :: peek(of_band);
        if
        :: r == NO_REF -> break
        :: else
        fi;
        load_word();
        if
        :: is_future -> switch_word(ACTIVE, of_band)
        :: !is_future && is_valid(of_band) ->
            switch_word(INFLIGHT, of_band);
            if
            :: ok ->
                assert(b == (of_band));
                taken = true;
                advance(of_band);
                break
            :: else
            fi
        :: !is_future && !is_valid(of_band) -> advance(of_band)
        fi
    od
}

proctype Move() provided (!halted)
{
    byte v, p, b;
    bool ok;
    do
    :: load_word();
        if
        :: p == PARKED -> activate(b)
        :: else -> break
        fi;
        if
        :: ok -> break
        :: else
        fi
    od
}

proctype Update(byte to) provided (!halted)
{
    byte v, p, b;
    bool ok;
    do
    :: load_word();
        if
        :: p == PARKED && b != to -> switch_word(PARKED, to)
        :: p == ACTIVE && b != to -> activate(to)
        :: else -> break
        fi;
        if
        :: ok -> break
        :: else
        fi
    od
}

proctype Delete() provided (!halted)
{
    byte v, p, b;
    bool ok;
    do
    :: load_word();
        if
        :: p == PARKED || p == ACTIVE -> switch_word(DEAD, b)
        :: else -> break
        fi;
        if
        :: ok -> break
        :: else
        fi
    od
}

proctype Pop() provided (!halted)
{
    byte v, p, b, h, r, n;
    bool ok, taken;
    n = BANDS;
    do
    :: n > 0 && !taken ->
        n--;
        scan(n)
    :: else -> break
    od
}

/* All others stop where they are. */
proctype Drain()
{
    byte v, p, b, h, r, n;
    bool ok, taken;
    d_step {
        halted = true;
        n = BANDS;
        do
        :: n > 0 && !taken ->
            n--;
            scan(n)
        :: else -> break
        od;
        n = 0;
        assert(place != ACTIVE)
    }
}

init
{
    atomic {
        if
        :: place = PARKED
        :: place = ACTIVE;
            publish(0, 1)
        fi;
#ifdef UPDATES
        run Update(1);
        run Update(2);
#else
        run Move();
        run Update(1);
        run Delete();
#endif
#ifdef LARGE
        run Update(2);
#endif
        run Pop();
        run Drain()
    }
}
