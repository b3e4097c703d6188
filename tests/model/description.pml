/*
 * Update of a pod's description, and the band that follows it (engine/lockfree: description, pods).
 *
 * Beside the state word {version, place, band} stands the word desc: 0 = the description that the pod was born with,
 * else the number of an update's record. An update installs its record with one two-word CAS on {state, desc} that
 * leaves the state as it is. Then, as long as the pod is ACTIVE and its band is not that of the newest description,
 * it publishes the next version there and switches. Every switch from ACTIVE to ACTIVE, a helper's too, compares desc
 * as well, and a FUTURE ref in a band that is not the newest description's is stale.
 *
 * With ALWAYS_BUMP, another correct protocol: switches compare the state word only, and refs are judged by it alone;
 * but an update that was not the life's first ends only when the version is another than the one it was installed
 * under, if need be by a switch from the band into the same band.
 *
 * Two updates (with READER one) with a handle of the first life; a worker that pops or deletes the pod and gives the record its next
 * life at once; with READER a reader with a handle of the first life.
 *
 * Claims
 *   a handle of one life never changes the description of the next (Observer)
 *   once an update has returned, and its description is the newest, the band is its band (Observer)
 *   a reader never takes the description of another life for that of its handle (Reader)
 *   wherever threads stop, a healthy consumer reaches the pod if it is ACTIVE (Drain, from every state)
 *
 * Planted bugs
 *   -DDESC_ALONE       desc is exchanged without comparing the state: hits the next life of the record
 *   -DREAD_ONCE        an update goes by its own description to the end: it publishes for ever against a newer one
 *   -DWORD_ALONE       the switch compares the state word only: a slow update, or who helps it, moves the pod into
 *                      the band of an older description after the newer update found the band right and returned
 *   -DSTALE_UNCHECKED  a ref is dropped by a description that was not read under the same word: an ACTIVE pod without
 *                      a ref
 *   -DLOOK_ONCE        the reader does not read the words again
 *
 * Bounds: one record, two lives, two bands, two updates (--large: three). Records of descriptions are not recycled
 * here.
 */
#define BANDS    2
#define ROOM     8
#define NO_REF   255

#define ACTIVE   0
#define INFLIGHT 1
#define DEAD     2

/* Updates 1 and 3 go to band 1, update 2 back to band 0, where the pod was born. The next life is born in band 1. */
#define band_of(d) (((d) == 0 && life != 1) || ((d) != 0 && (d) != 2))

byte version = 1;
byte place;
byte band;
byte desc;
byte life = 1;
bool exists = true;     /* ghost: this life was published */
bool returned[4];       /* ghost: by update */
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

inline same_word()
{
    ok = (version == v && place == p && band == b)
}

inline switch_word(to_place, to_band)
{
    d_step {
        same_word();
        if
        :: ok ->
            version++;
            place = to_place;
            band = to_band
        :: else
        fi
    }
}

/* From ACTIVE to ACTIVE under the description d. */
inline switch_band(to_band)
{
    d_step {
#if defined(WORD_ALONE) || defined(ALWAYS_BUMP)
        same_word();
#else
        ok = (version == v && place == p && band == b && desc == d);
#endif
        if
        :: ok ->
            version++;
            band = to_band
        :: else
        fi
    }
}

inline install(number)
{
    d_step {
#ifdef DESC_ALONE
        ok = (desc == d);
#else
        ok = (version == v && place == p && band == b && desc == d);
#endif
        if
        :: ok -> desc = number
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

#if defined(WORD_ALONE) || defined(ALWAYS_BUMP)
#define is_future(of_band) (r == v + 1 && p == ACTIVE)
#else
#define is_future(of_band) (r == v + 1 && p == ACTIVE && band_of(d) == (of_band))
#endif
#define is_valid(of_band)  (r == v && p == ACTIVE && b == (of_band))

inline scan(of_band)
{
    do
    :: peek(of_band);
        if
        :: r == NO_REF -> break
        :: else
        fi;
        load_word();
        d = desc;
        ok = true;
        if
        :: is_valid(of_band) ->
            switch_word(INFLIGHT, of_band);
            if
            :: ok ->
                taken = true;
                advance(of_band);
                break
            :: else
            fi
        :: !is_valid(of_band) && is_future(of_band) -> switch_band(of_band)
        :: else ->
#ifndef STALE_UNCHECKED
            same_word();
#endif
            if
            :: ok -> advance(of_band)
            :: else
            fi
        fi
    od
}

inline pop()
{
    n = BANDS;
    do
    :: n > 0 && !taken ->
        n--;
        scan(n)
    :: else -> break
    od;
    n = 0
}

proctype Update(byte number) provided (!halted)
{
    byte v, p, b, d;
#ifdef ALWAYS_BUMP
    byte installed_at;  /* version under which it was installed; 0 if it was the life's first update */
#endif
    bool ok;
    do
    :: load_word();
        d = desc;
        if
        :: life != 1 || p == DEAD -> break
        :: else -> install(number)
        fi;
        if
        :: ok -> break
        :: else
        fi
    od;
    if
    :: ok ->
#ifdef ALWAYS_BUMP
        installed_at = (d == 0 -> 0 : v);
#endif
        d = number;
        do
        :: load_word();
#ifndef READ_ONCE
            d = desc;
#endif
            if
#ifdef ALWAYS_BUMP
            :: life != 1 || p != ACTIVE || (b == band_of(d) && v != installed_at) -> break
#else
            :: life != 1 || p != ACTIVE || b == band_of(d) -> break
#endif
            :: else ->
                publish(band_of(d), v + 1);
                switch_band(band_of(d))
            fi
        od;
        returned[number] = true
    :: else
    fi
}

proctype Worker() provided (!halted)
{
    byte v, p, b, d, h, r, n;
    bool ok, taken;
    if
    :: pop();
        if
        :: taken ->
            load_word();
            switch_word(DEAD, b)
        :: else
        fi
    :: load_word();
        switch_word(DEAD, b)
    fi;
    if
    :: ok && place == DEAD ->
        exists = false;
        desc = 0;
        life = version + 1;
        d_step {
            version++;
            place = ACTIVE;
            band = 1
        }
        publish(1, version);
        exists = true
    :: else
    fi
}

proctype Reader() provided (!halted)
{
    byte v, p, b, d;
    bool ok;
    load_word();
    ok = (life == 1 && p != DEAD);
    if
    :: ok ->
        d = desc;
        p = life;
#ifndef LOOK_ONCE
        ok = (version == v && desc == d);
#endif
        assert(!ok || p == 1)
    :: else
    fi
}

proctype Observer()
{
end:
    do
    :: d_step {
        assert(life == 1 || desc == 0 || place == DEAD);
        assert(life != 1 || place != ACTIVE || desc == 0 || !returned[desc] || band == band_of(desc))
    }
    od
}

/* All others stop where they are. */
proctype Drain()
{
    byte v, p, b, d, h, r, n;
    bool ok, taken;
    d_step {
        halted = true;
        pop();
        assert(place != ACTIVE || !exists)
    }
}

init
{
    atomic {
        publish(0, 1);
#ifdef READER
        run Update(1);
        run Reader();
#else
        run Update(1);
        run Update(2);
#endif
#ifdef LARGE
        run Update(3);
#endif
        run Worker();
        run Observer();
        run Drain()
    }
}
