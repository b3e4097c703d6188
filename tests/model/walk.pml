/*
 * Top-down walk against updates of an ACTIVE pod's priority and order key (engine/lockfree: pop, describe, band).
 *
 * Four containers, in the order in which a walk reads them: band 2, which the table does not have at first; two run
 * slots of band 1; band 0. Pod X is in one of the first three, pod Y in band 0, so X ranks before Y. Y itself is
 * not modelled: to claim it is wrong whenever EMPTY is. An updater takes X from one container to another: into the
 * new band, or within band 1 when only the key changes.
 * It publishes, increments reorder, switches; who helps increments reorder before he switches. A pop loads reorder
 * and the table, walks, and reads reorder again before it claims and before it reports EMPTY. Another scanner walks
 * as well, helps, advances heads over stale refs, and takes nothing.
 *
 * Claims
 *   contract O: no pop takes Y while X was ACTIVE during the whole call (Pop)
 *   no pop reports EMPTY while X was ACTIVE during the whole call (Pop)
 *
 * Planted bugs
 *   -DNO_REORDER_CHECK  the pop does not read reorder again: X is passed over between two bands
 *   -DREORDER_LATE      reorder + 1 after the switch: so too
 *   -DHELPER_SILENT     a helper switches without it: X is passed over while the updater stands before his increment
 *   -DTABLE_ONCE        a pop that walks again keeps the table it has read first: X in the new band is overlooked
 *   -DSAME_BAND_SILENT  a change of the key within a band does not touch reorder: X is passed over between two run
 *                       slots
 *
 * Bounds: two pods, UPDATES updates in a row (2, with --large 3), one pop, one other scanner.
 *
 * stands for engine/lockfree/calls/pop.c walk_take 59a608ff
 * stands for engine/lockfree/calls/pop.c take_first cf8a0a6c
 * stands for engine/lockfree/calls/pop.c take_more 2dc0671e
 * stands for engine/lockfree/calls/pop.c take_from 9b6264df
 * stands for engine/lockfree/calls/pop.c walk_down 2cabf39b
 * stands for engine/lockfree/calls/pop.c take_plain c3f0fdae
 * stands for engine/lockfree/calls/pop.c take_other 069ee53b
 * stands for engine/lockfree/moves/transfer.c transfer_follow d6e2ae58
 * stands for engine/lockfree/moves/switch.h switch_announced f08d5c8b
 */
#ifdef LARGE
#define UPDATES 3
#else
#define UPDATES 2
#endif

#define CONTAINERS   4
#define ROOM         4
#define NO_REF       255

#define NEW_BAND     3      /* containers; the walk goes from the highest to the lowest */
#define UPPER_SLOT   2
#define LOWER_SLOT   1
#define Y_BAND       0

#define band_of(container) ((container + 1) / 2)

byte version = 1;       /* X's state word */
byte band = 1;
bool x_active = true;
byte reorder;
bool new_band;          /* the table has it */
byte ref[CONTAINERS * ROOM];
byte tail[CONTAINERS];
byte head[CONTAINERS];

inline publish(container, of_version)
{
    d_step {
        assert(tail[container] < ROOM);
        ref[(container) * ROOM + tail[container]] = of_version;
        tail[container]++
    }
}

inline load_word()
{
    d_step {
        v = version;
        b = band
    }
}

inline switch_band(to_band)
{
    d_step {
        ok = (x_active && version == v && band == b);
        if
        :: ok ->
            version++;
            band = to_band
        :: else
        fi
    }
}

/* r = X's VALID ref at the head of the container, v and b the word that makes it so, or NO_REF. */
inline find(container)
{
    do
    :: d_step {
        h = head[container];
        if
        :: h < tail[container] -> r = ref[(container) * ROOM + h]
        :: else -> r = NO_REF
        fi
    }
        if
        :: r == NO_REF -> break
        :: else
        fi;
        load_word();
        if
        :: r == v && x_active && b == band_of(container) -> break
        :: r == v + 1 && x_active ->
#ifndef HELPER_SILENT
            reorder++;
#endif
            switch_band(band_of(container))
        :: else ->
            d_step {
                if
                :: head[container] == h -> head[container] = h + 1
                :: else
                fi
            }
        fi
    od
}

/* Stops at X, or below the last container. */
inline walk()
{
    c = LOWER_SLOT + 1 + table;
    r = NO_REF;
    do
    :: c > Y_BAND ->
        find(c);
        if
        :: r != NO_REF -> break
        :: else -> c--
        fi
    :: else -> break
    od
}

proctype Updater()
{
    byte v, b, n, from, to;
    bool ok;
    from = LOWER_SLOT;
    do
    :: n < UPDATES ->
        n++;
        do
        :: to = NEW_BAND
        :: to = UPPER_SLOT
        :: to = LOWER_SLOT
        :: to != from && to != Y_BAND -> break
        od;
        if
        :: to == NEW_BAND -> new_band = true
        :: else
        fi;
        load_word();
        if
        :: !x_active -> break
        :: else
        fi;
        publish(to, v + 1);
#ifndef REORDER_LATE
#ifdef SAME_BAND_SILENT
        if
        :: band_of(to) != b -> reorder++
        :: else
        fi;
#else
        reorder++;
#endif
#endif
        switch_band(band_of(to));
#ifdef REORDER_LATE
        reorder++;
#endif
        from = to
    :: else -> break
    od
}

proctype Pop()
{
    byte v, b, c, h, r, seen, table;
    bool ok;
#ifdef TABLE_ONCE
    table = new_band;
#endif
    do
    :: seen = reorder;
#ifndef TABLE_ONCE
        table = new_band;
#endif
        walk();
#ifndef NO_REORDER_CHECK
        if
        :: reorder == seen ->
#else
        if
        :: true ->
#endif
            if
            :: r != NO_REF ->
                d_step {
                    ok = (x_active && version == v && band == b);
                    if
                    :: ok -> x_active = false
                    :: else
                    fi
                }
            :: else ->
                /* Y is taken, or EMPTY reported: X was ACTIVE when the call began. */
                d_step {
                    assert(!x_active);
                    ok = true
                }
            fi;
            if
            :: ok -> break
            :: else
            fi
        :: else
        fi
    od
}

proctype Scanner()
{
    byte v, b, c, h, r, table;
    bool ok;
    table = new_band;
    walk()
}

init
{
    atomic {
        publish(LOWER_SLOT, 1);
        run Updater();
        run Pop();
        run Scanner()
    }
}
