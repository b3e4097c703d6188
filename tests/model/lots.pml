/*
 * Lots that are made, found, read and given back (engine/lockfree: lots).
 *
 * One group of cells, one key, one plugin. Parkers look up by_key for a lot, open one that is EMPTY or LEAVING, or make one: take
 * a cell, count the lot, set its bit in by_plugin, put the lot there, set its bit in by_key, and look up again, because another may
 * have been made. They publish, and look at the stamp. A looker makes an OPEN lot without pods EMPTY, by a mark, and one that is
 * EMPTY LEAVING, by another mark that it draws then. A mark raises `now`, and a section has what `now` was when it began. Whoever looks when all sections of before
 * a LEAVING lot's mark are over makes it GONE if it still has no pod, else OPEN; one that is GONE loses its bits, is counted off,
 * loses its cell and its bit in `taken`, and is freed after another wait. An event stamps, then, if any lot is counted, reads the
 * lots that by_plugin names; it
 * leaves its section inside of a lot, and looks afterwards whether that lot is there still.
 *
 * Not modelled: more than one group, plugin or key, lanes (chain.pml), stale refs in the way, the switch (park.pml).
 * Each step is sequentially consistent.
 *
 * Claims
 *   no lot with a pod that was published is GONE (Observer, in every state)
 *   the event meets each pod whose parker did not see the stamp (Observer)
 *   no section uses a lot that is freed; no cell has two lots
 *   at the end each lot that is not GONE is in a cell, with its bits, and counted (init)
 *
 * Who takes part: 2 parkers of one key, a looker, an event, a pod that was there and goes. Each may stop anywhere.
 *   -DLOOKERS      1 parker, 2 lookers, no event
 *   -DLARGE        1 parker, 2 lookers, and the event
 *
 * stands for engine/lockfree/refs/lots.c find_lot 544e3ded
 * stands for engine/lockfree/refs/lots.h lot_keep 1a68c4a2
 * stands for engine/lockfree/refs/lots.c claim_cell 3902dcf9
 * stands for engine/lockfree/refs/lots.c lot_make a71f247a
 * stands for engine/lockfree/refs/lots.c lots_look eaa462ee
 * stands for engine/lockfree/refs/lots.c lot_unmake caba6a0e
 * stands for engine/lockfree/refs/lots.c end_wait 76c89f90
 * stands for engine/lockfree/refs/lots.c lots_next caab06ea
 * stands for engine/lockfree/refs/lots.c lots_again d6a9f2eb
 *
 * Planted bugs
 *   -DNO_KEEP      a parker uses a lot that is EMPTY or LEAVING as it is
 *   -DNO_GRACE     GONE without waiting for sections
 *   -DNO_SCAN      GONE without another look for pods
 *   -DANY_STATE    a lot that was opened meanwhile becomes GONE too
 *   -DOLD_MARK     a lot is LEAVING by the mark that was drawn before it was EMPTY
 *   -DSAME_EMPTY   EMPTY has no mark of its own: one looker's mark, drawn before, is another's (with LOOKERS)
 *   -DFREE_AT_ONCE the memory does not wait
 *   -DCELL_FIRST   the cell before by_plugin: a parker that read by_key when another lot was there finds one that no
 *                  event finds
 *   -DCOUNT_LATE   a lot is counted behind its bit in by_key
 *   -DTAKEN_FIRST  `taken` is given back before the bits: the next lot's bits are cleared
 *   -DTRUST        the event goes on in its lot without looking whether that is there
 *   -DREAD_FIRST   the event reads by_plugin before it stamps
 */
#if defined(LOOKERS) || defined(LARGE)
#define PARKERS 1
#define LOOKERS_N 2
#define TIMES 2
#else
#define PARKERS 2
#define LOOKERS_N 1
#define TIMES 2
#endif

#define CELLS  2
#define PODS   3            /* those of the parkers, and one that was there */
#define OLD    2
#define LOTS   5            /* lots are numbered from 1 */
#define ACTORS 5            /* 2 parkers, 2 lookers, the event */
#define EVENT  4

#define OPEN    0
#define EMPTY   1
#define LEAVING 2
#define GONE    3

byte cell[CELLS];
byte taken = 1, by_key = 1, by_plugin = 1;   /* of cells, as bits */
byte counted = 1;           /* lots */

byte phase[LOTS];
byte mark[LOTS];            /* with the phase: one word */
bool freed[LOTS];
bool ref[LOTS * PODS];
bool live[PODS];
byte made = 2;              /* numbers of lots that were given out */

bool stamp, event_over;
bool published[PODS], parked[PODS], seen[PODS], met[PODS];
byte lot_of[PODS];

byte now = 1;
byte section[ACTORS];       /* 0: outside; else what `now` was when it began */

#define is_over(actor, number) (section[actor] == 0 || section[actor] >= (number))
#define passed(number) (is_over(0, number) && is_over(1, number) && is_over(2, number) && is_over(3, number) && is_over(4, number))

inline enter(actor)
{
    section[actor] = now
}

inline draw()
{
    d_step {
        now++;
        drawn = now
    }
}

/* Waits until each section that is there now has ended; the caller is outside of any. */
inline grace()
{
    draw();
    atomic {
        passed(drawn);
        drawn = 0
    }
}

/* lot: that of the key, kept; 0: none. */
inline find()
{
    bits = by_key;
    c = 0;
    lot = 0;
    do
    :: c == CELLS -> break
    :: c < CELLS && !((bits >> c) & 1) -> c++
    :: c < CELLS && ((bits >> c) & 1) ->
        lot = cell[c];
        if
        :: lot == 0 -> c++
        :: else ->
            d_step {
                assert(!freed[lot]);
                p = phase[lot]
            };
            if
#ifndef NO_KEEP
            :: p == EMPTY || p == LEAVING ->
                d_step {
                    assert(!freed[lot]);
                    p = phase[lot];
                    if
                    :: p == EMPTY || p == LEAVING ->
                        phase[lot] = OPEN;
                        mark[lot] = 0
                    :: else
                    fi
                }
            :: p == OPEN || p == GONE -> skip
#else
            :: true -> skip
#endif
            fi;
            if
            :: p != GONE -> break
            :: else ->
                lot = 0;
                c++
            fi
        fi
    od;
    skip;
    d_step {
        bits = 0;
        c = 0;
        p = 0
    }
}

/* mine: a cell; CELLS: none is free. */
inline claim()
{
    d_step {
        if
        :: !(taken & 1) ->
            taken = taken | 1;
            mine = 0
        :: (taken & 1) && !(taken & 2) ->
            taken = taken | 2;
            mine = 1
        :: else -> mine = CELLS
        fi
    }
}

proctype Parker(byte me)
{
    byte bits, c, lot, p, mine;
    enter(me);
    find();
    if
    :: lot != 0 -> skip
    :: else ->
        claim();
        if
        :: mine == CELLS -> goto over /* it waits in the catch-all */
        :: else
        fi;
        d_step {
            assert(made < LOTS && cell[mine] == 0);
            lot = made;
            made++
        };
#ifndef COUNT_LATE
        counted++;
#endif
#ifdef CELL_FIRST
        cell[mine] = lot;
        by_plugin = by_plugin | (1 << mine);
#else
        by_plugin = by_plugin | (1 << mine);
        cell[mine] = lot;
#endif
        by_key = by_key | (1 << mine);
#ifdef COUNT_LATE
        counted++;
#endif
        find();
        assert(lot != 0)
    fi;
    d_step {
        assert(!freed[lot]);
        lot_of[me] = lot;
        live[me] = true;
        ref[lot * PODS + me] = true;
        published[me] = true
    };
    seen[me] = stamp;
    parked[me] = true;
over: skip;
    d_step {
        section[me] = 0;
        lot = 0;
        mine = 0
    }
}

proctype Goer()
{
    live[OLD] = false
}

inline look_for_pods()
{
    d_step {
        assert(!freed[lot]);
        bare = !(ref[lot * PODS] && live[0]) && !(ref[lot * PODS + 1] && live[1]) &&
            !(ref[lot * PODS + 2] && live[2])
    }
}

/* From what was seen, {p, m}, to another; that is what was seen then. */
inline swing(phase_to, mark_to)
{
    d_step {
        assert(!freed[lot]);
        ok = (phase[lot] == p && mark[lot] == m);
        if
        :: ok ->
            phase[lot] = phase_to;
            mark[lot] = mark_to;
            p = phase_to;
            m = mark_to
        :: else
        fi
    }
}

inline unmake()
{
#ifdef TAKEN_FIRST
    d_step {
        cell[c] = 0;
        taken = taken - (1 << c)
    };
#endif
    by_key = by_key & (3 - (1 << c));
    by_plugin = by_plugin & (3 - (1 << c));
    counted--;
#ifndef TAKEN_FIRST
    cell[c] = 0;
    taken = taken - (1 << c);
#endif
    section[me] = 0;
#ifndef FREE_AT_ONCE
    grace();
#endif
    freed[lot] = true
}

proctype Looker(byte me)
{
    byte n, c, lot, p, m, drawn;
    bool bare, ok;
    do
    :: n == TIMES -> break
    :: n < TIMES ->
        n++;
        enter(me);
        if
        :: c = 0
        :: c = 1
        fi;
        lot = cell[c];
        if
        :: lot == 0 -> goto next
        :: else
        fi;
        d_step {
            assert(!freed[lot]);
            p = phase[lot];
            m = mark[lot]
        };
        if
        :: p == OPEN ->
            look_for_pods();
            if
            :: bare ->
#ifndef SAME_EMPTY
                draw();
#endif
                swing(EMPTY, drawn)
            :: else
            fi
        :: else
        fi;
        if
        :: p == EMPTY ->
#ifdef OLD_MARK
            drawn = m;
#else
            draw();
#endif
            swing(LEAVING, drawn)
        :: else
        fi;
        if
#ifdef NO_GRACE
        :: p == LEAVING ->
#else
        :: p == LEAVING && passed(m) ->
#endif
            look_for_pods();
#ifdef NO_SCAN
            bare = true;
#endif
            if
            :: !bare -> swing(OPEN, 0)
            :: else ->
#ifdef ANY_STATE
                d_step {
                    p = phase[lot];
                    m = mark[lot]
                };
#endif
                swing(GONE, 0);
                if
                :: ok -> unmake()
                :: else
                fi
            fi
        :: else
        fi;
next: skip;
        d_step {
            section[me] = 0;
            c = 0;
            lot = 0;
            p = 0;
            m = 0;
            drawn = 0;
            bare = false;
            ok = false
        }
    od
}

inline read(pod)
{
    d_step {
        assert(!freed[lot]);
        if
        :: ref[lot * PODS + pod] -> met[pod] = true
        :: else
        fi
    }
}

proctype Event()
{
    byte bits, c, lot;
    enter(EVENT);
#ifdef READ_FIRST
    bits = by_plugin;
    stamp = true;
#else
    stamp = true;
    if
    :: counted == 0 -> skip
    :: else -> bits = by_plugin
    fi;
#endif
    do
    :: c == CELLS -> break
    :: c < CELLS && !((bits >> c) & 1) -> c++
    :: c < CELLS && ((bits >> c) & 1) ->
        lot = cell[c];
        if
        :: lot == 0 -> goto next
        :: else
        fi;
        read(0);
        section[EVENT] = 0;
        enter(EVENT);
#ifndef TRUST
        if
        :: cell[c] != lot -> goto next
        :: else
        fi;
#endif
        read(1);
next:   c++
    od;
    skip;
    d_step {
        event_over = true;
        section[EVENT] = 0;
        bits = 0;
        c = 0;
        lot = 0
    }
}

proctype Observer()
{
    byte i;
end:
    do
    :: d_step {
            for (i : 0 .. PODS - 1) {
                assert(!published[i] || !live[i] || phase[lot_of[i]] != GONE);
                assert(!event_over || !parked[i] || seen[i] || met[i])
            }
            i = 0
        }
    od
}

init
{
    byte c;
    atomic {
        cell[0] = 1;
        ref[PODS + OLD] = true;
        live[OLD] = true;
        published[OLD] = true;
        lot_of[OLD] = 1;
        run Observer(); /* first: a process ends only after those that began later */
        run Parker(0);
#if PARKERS > 1
        run Parker(1);
#endif
        run Looker(2);
#if LOOKERS_N > 1
        run Looker(3);
#endif
#ifndef LOOKERS
        run Event();
#endif
        run Goer()
    };
    (_nr_pr == 2); /* this one and the Observer */
    d_step {
        for (c : 0 .. CELLS - 1) {
            assert(((taken >> c) & 1) == (cell[c] != 0));
            assert(counted == (cell[0] != 0) + (cell[1] != 0));
            assert(cell[c] == 0 || (((by_key >> c) & 1) && ((by_plugin >> c) & 1) && phase[cell[c]] != GONE))
        };
        c = 0
    }
}
