/*
 * The two summaries above bands, the table that is replaced, and rows that leave it (engine/lockfree: band, summary).
 *
 * One priority, of which all pods are. A table names a leaf and has a summary of it, a bit and a version; a leaf names a
 * band and has a summary of that: a bit, a version, and how it is: PLAIN, DOUBTED (the bit is about to be taken) or ASLEEP
 * (no bit is set, and the table's may be taken). Copies begin PLAIN with all bits set. Producers take the band that
 * the table names, put one there if there is none, and wake a leaf that is leaving by a copy that is not. Then they
 * publish, and mark: a PLAIN bit that is set is left alone; DOUBTED becomes PLAIN; of a leaf that is ASLEEP the table's
 * bit is set first and its version raised. Consumers look where both bits are set. One that finds nothing takes the bit in
 * two phases, with a scan between them; where no bit is set, it puts the leaf to sleep, also if it sleeps already, and
 * takes the table's bit by a CAS that expects the version which it read before that. A leaver copies the leaf as
 * leaving, draws a mark, waits for all sections that began before, and if the leaf still is leaving by that copy, and no pod is in the band, replaces the
 * table by one without it; the band is freed after another grace period.
 *
 * Not modelled: leaves of more than one row and tables of more than one leaf (a doubt that covers several rows is
 * dropped for all of them), lanes and runs (bin.pml, chain.pml), ids, what a move publishes, store buffers. Each step is
 * sequentially consistent, but the two words of a summary are read one after the other.
 *
 * Claims
 *   once add has returned, and the pod is not taken, the table names its band, both bits are set, and the leaf does not
 *     sleep (Observer, in every state)
 *   a producer finds the band that it published in, in the table, when it marks it (mark)
 *   no section uses a band that is freed
 *
 * Who takes part
 *   (none)         2 producers, a consumer with 2 tries
 *   -DTWO          a producer, 2 consumers with a try each and one of them with 2
 *   -DCOPIES       2 producers, a consumer with 2 tries, a copier of the leaf and one of the table alone
 *   -DLEAVE        2 producers, which may die after they published, a leaver
 *   -DLEAVERS      a producer, which may die, a consumer with a try, 2 leavers
 *   -DLARGE        2 producers, 2 consumers, a copier, 2 leavers
 *
 * Planted bugs
 *   -DONE_PHASE    a consumer takes the bit without doubting it first
 *   -DNO_VERSION   a consumer takes a bit that is doubted, perhaps by another one (with TWO)
 *   -DSCAN_EARLY   a consumer scans before it doubts, and not after it
 *   -DBIT_FIRST    a producer reads the bit before it reads whether it is doubted
 *   -DTRUST        a producer leaves a doubted bit alone
 *   -DWAKE_FIRST   a producer wakes the leaf, then sets the table's bit
 *   -DANY_VERSION  a consumer takes the table's bit whatever the version is
 *   -DVERSION_LATE a consumer reads the table's version when the leaf sleeps
 *   -DSLEEP_ONCE   a consumer takes the table's bit of a leaf that sleeps already, without another exchange (with TWO)
 *   -DOLD_TABLE    a producer sets the bit of the table that it read before it saw the leaf asleep (with COPIES)
 *   -DCOPY_BIT     a copy of a leaf begins with the bit that it has (with COPIES)
 *   -DCOPY_TOP     a copy of a table begins with the bit that it has (with COPIES)
 *   -DNO_GRACE     the band leaves without waiting for sections (with LEAVE)
 *   -DOLD_MARK     the mark is drawn before the leaf is leaving (with LEAVE)
 *   -DNO_WAKE      a producer uses a leaf that is leaving as it is (with LEAVE)
 *   -DNO_SCAN      no scan before the band leaves (with LEAVE)
 *   -DANY_LEAVING  a leaver does not ask whether it is by its own copy that the leaf is leaving (with LEAVERS)
 *
 * stands for engine/lockfree/refs/summary.h summary_shows e29b5683
 * stands for engine/lockfree/refs/summary.h summary_see 6bfa8393
 * stands for engine/lockfree/refs/summary.h summary_set 9c27a7b2
 * stands for engine/lockfree/refs/summary.h summary_note 9b296903
 * stands for engine/lockfree/refs/summary.h summary_doubt 7e1f27c2
 * stands for engine/lockfree/refs/summary.h summary_clear 4a2e22a4
 * stands for engine/lockfree/refs/summary.h summary_sleep 7b2e9fa5
 * stands for engine/lockfree/refs/summary.h summary_take 92853b51
 * stands for engine/lockfree/refs/band.h band_mark 5714234c
 * stands for engine/lockfree/refs/band.c band_mark_slowly b64c25ce
 * stands for engine/lockfree/refs/band.c bands_clear 0fdf92c7
 * stands for engine/lockfree/refs/band.c bands_rest 5f5e3ba8
 * stands for engine/lockfree/refs/band.c cut_rows c3f7ce9e
 * stands for engine/lockfree/refs/band.c replace 6bf38415
 * stands for engine/lockfree/refs/band.c wait_for d4de2536
 * stands for engine/lockfree/refs/band.c retire_table 38c8e205
 * stands for engine/lockfree/refs/band.c get_slowly 5c8dc914
 * stands for engine/lockfree/refs/band.c bands_look_up e08af57c
 * stands for engine/lockfree/refs/band.c end_leaving 9450a7d8
 * stands for engine/lockfree/calls/pop.c walk_on 5cd29e1b
 * stands for engine/lockfree/calls/pop.c walk_down 2cabf39b
 */
#if defined(LARGE)
#define PRODUCERS 2
#define TRIES 2
#define TRIES_TOO 1
#define COPIERS 1
#define LEAVERS_BEGUN 2
#elif defined(LEAVERS)
#define PRODUCERS 1
#define TRIES 1
#define TRIES_TOO 0
#define COPIERS 0
#define LEAVERS_BEGUN 2
#elif defined(LEAVE)
#define PRODUCERS 2
#define TRIES 0
#define TRIES_TOO 0
#define COPIERS 0
#define LEAVERS_BEGUN 1
#elif defined(COPIES)
#define PRODUCERS 2
#define TRIES 2
#define TRIES_TOO 0
#define COPIERS 2
#define LEAVERS_BEGUN 0
#elif defined(TWO)
#define PRODUCERS 1
#define TRIES 2
#define TRIES_TOO 1
#define COPIERS 0
#define LEAVERS_BEGUN 0
#else
#define PRODUCERS 2
#define TRIES 2
#define TRIES_TOO 0
#define COPIERS 0
#define LEAVERS_BEGUN 0
#endif

#define PODS    2
#define ACTORS  6       /* 2 producers, 2 consumers, 2 leavers */
#define BANDS   4
#define LEAVES  9
#define TABLES  9
#define NONE    15

#define PLAIN   0
#define DOUBTED 1
#define ASLEEP  2

byte table;             /* that is named */
byte tables = 1;        /* that were ever made, and so on */
byte leaves = 1;
byte bands = 1;

byte table_leaf[TABLES];
bool top[TABLES];
byte top_version[TABLES];

byte leaf_band[LEAVES];
byte leaving[LEAVES];   /* 0: no; else the number of the copy that began it */
bool shown[LEAVES];
byte how[LEAVES];
byte version[LEAVES];
byte leavings;

bool ref[BANDS * PODS];
bool freed[BANDS];

bool published[PODS], added[PODS], taken[PODS];
byte band[PODS];

byte section[ACTORS];   /* 0: outside; else its number */
byte sections[ACTORS];  /* how many began */

inline enter(actor)
{
    d_step {
        sections[actor]++;
        section[actor] = sections[actor]
    }
}

/* A table with a copy of its leaf, which names b, if the table still is t. */
inline replace(t, b, begun, set)
{
    d_step {
        ok = (table == t);
        if
        :: ok ->
            assert(leaves < LEAVES && tables < TABLES);
            leaf_band[leaves] = b;
            leaving[leaves] = begun;
            shown[leaves] = set;
            table_leaf[tables] = leaves;
            top[tables] = true;
            table = tables;
            leaves++;
            tables++
        :: else
        fi
    }
}

/* The caller has published, and passed a fence. */
inline mark(b)
{
    do
    :: t = table;
        d_step {
            l = table_leaf[t];
            assert(leaf_band[l] == b && !freed[b])
        };
#ifdef BIT_FIRST
        set = shown[l];
        d_step {
            h = how[l];
            v = version[l]
        };
#else
        d_step {
            h = how[l];
            v = version[l]
        };
        set = shown[l];
#endif
        if
#ifdef TRUST
        :: h != ASLEEP && set -> break
#else
        :: h == PLAIN && set -> break
#endif
        :: else
        fi;
        if
        :: h == ASLEEP ->
#ifndef WAKE_FIRST
#ifndef OLD_TABLE
            t = table;
#endif
            if
            :: table_leaf[t] != l -> goto again
            :: else
            fi;
            d_step {
                top[t] = true;
                top_version[t]++
            }
#endif
        :: else
        fi;
        d_step {
            ok = (how[l] == h && version[l] == v && shown[l] == set);
            if
            :: ok ->
                shown[l] = true;
                if
                :: h != PLAIN ->
                    how[l] = PLAIN;
                    version[l]++
                :: else
                fi
            :: else
            fi
        };
        if
        :: ok ->
#ifdef WAKE_FIRST
            t = table;
            d_step {
                top[t] = true;
                top_version[t]++
            };
#endif
            break
        :: else
        fi;
again: skip
    od;
    t = 0 /* a loop does not end in front of a d_step */
}

proctype Producer(byte pod)
{
    byte t, l, h, v, mine;
    bool ok, set;
    enter(pod);
    do
    :: d_step {
            t = table;
            l = table_leaf[t];
            mine = leaf_band[l] /* a leaf does not change */
        };
        if
        :: mine == NONE ->
            atomic {
                mine = bands;
                replace(t, mine, 0, true);
                if
                :: ok ->
                    assert(bands < BANDS);
                    bands++;
                    break
                :: else
                fi
            }
#ifndef NO_WAKE
        :: mine != NONE && leaving[l] ->
            replace(t, mine, 0, true);
            if
            :: ok -> break
            :: else
            fi
        :: mine != NONE && !leaving[l] -> break
#else
        :: mine != NONE -> break
#endif
        fi
    od;
    atomic {
        assert(!freed[mine]);
        band[pod] = mine;
        ref[mine * PODS + pod] = true;
        published[pod] = true;
        t = 0;
        l = 0;
        ok = false
    };
    if
#if defined(LEAVE) || defined(LEAVERS)
    :: section[pod] = 0 /* it stops for ever, and its slot is adopted */
#endif
    :: skip;
        mark(mine);
        d_step {
            added[pod] = true;
            section[pod] = 0;
            mine = 0;
            t = 0;
            l = 0;
            h = 0;
            v = 0;
            ok = false;
            set = false
        }
    fi
}

inline scan(b)
{
    d_step {
        assert(!freed[b]);
        found = false;
        if
        :: ref[b * PODS] && !taken[0] ->
            found = true;
            pod = 0
        :: else
        fi
    };
    d_step {
        if
        :: !found && ref[b * PODS + 1] && !taken[1] ->
            found = true;
            pod = 1
        :: else
        fi
    }
}

/* Nothing was found in the band: doubt, look again, take the bit. */
inline take_bit(l, b)
{
#ifdef ONE_PHASE
    shown[l] = false;
#else
    d_step {
        ok = shown[l] && how[l] != ASLEEP;
        if
        :: ok ->
            how[l] = DOUBTED;
            version[l]++;
            v = version[l]
        :: else
        fi
    };
    if
    :: ok ->
#ifndef SCAN_EARLY
        scan(b);
#endif
        d_step {
            if
#ifdef NO_VERSION
            :: !found && how[l] == DOUBTED ->
#else
            :: !found && how[l] == DOUBTED && version[l] == v ->
#endif
                shown[l] = false;
                how[l] = PLAIN
            :: else
            fi
        }
    :: else
    fi;
#endif
}

inline put_to_sleep(t, l)
{
    d_step {
        ok = !shown[l];
        if
#ifdef SLEEP_ONCE
        :: ok && how[l] != ASLEEP ->
#else
        :: ok ->
#endif
            how[l] = ASLEEP;
            version[l]++
        :: else
        fi
    };
#ifdef VERSION_LATE
    u = top_version[t];
#endif
    d_step {
        if
#ifdef ANY_VERSION
        :: ok -> top[t] = false
#else
        :: ok && top_version[t] == u -> top[t] = false
#endif
        :: else
        fi
    }
}

proctype Consumer(byte me; byte tries)
{
    byte t, l, u, b, v, pod;
    bool ok, found;
    do
    :: tries > 0 ->
        d_step {
            tries--;
            sections[me]++;
            section[me] = sections[me]
        };
        d_step {
            t = table;
            l = table_leaf[t];
            b = leaf_band[l];
            u = top_version[t];
            found = (b != NONE && top[t])
        };
        if
        :: !found -> skip
        :: else ->
            if
            :: shown[l] ->
                scan(b);
                if
                :: found -> taken[pod] = true
                :: else -> take_bit(l, b)
                fi
            :: else -> put_to_sleep(t, l)
            fi
        fi;
        d_step {
            section[me] = 0;
            t = 0;
            l = 0;
            u = 0;
            b = 0;
            v = 0;
            pod = 0;
            ok = false;
            found = false
        }
    :: else -> break
    od
}

/* Another priority comes: to this leaf, or to another one. */
proctype Copier(bool leaf_too)
{
    byte t, l;
    bool ok, set;
    d_step {
        t = table;
        l = table_leaf[t];
        set = true
    };
    if
    :: leaf_too ->
#ifdef COPY_BIT
        set = shown[l];
#endif
        replace(t, leaf_band[l], leaving[l], set)
    :: else ->
#ifdef COPY_TOP
        set = top[t];
#endif
        d_step {
            if
            :: table == t ->
                assert(tables < TABLES);
                table_leaf[tables] = l;
                top[tables] = set;
                table = tables;
                tables++
            :: else
            fi
        }
    fi
}

/* The sections that are there now. */
inline draw_mark()
{
    d_step {
        s0 = section[0];
        s1 = section[1];
        s2 = section[2];
        s3 = section[3];
        s4 = section[4];
        s5 = section[5]
    }
}

/* Waits until they have ended; the caller is outside of any. */
inline pass()
{
    atomic {
        (s0 == 0 || section[0] != s0) && (s1 == 0 || section[1] != s1) && (s2 == 0 || section[2] != s2) &&
            (s3 == 0 || section[3] != s3) && (s4 == 0 || section[4] != s4) && (s5 == 0 || section[5] != s5);
        s0 = 0;
        s1 = 0;
        s2 = 0;
        s3 = 0;
        s4 = 0;
        s5 = 0
    }
}

proctype Leaver(byte me)
{
    byte t, l, b, s0, s1, s2, s3, s4, s5, pod, begun;
    bool ok, found;
    enter(me);
    d_step {
        leavings++;
        begun = leavings;
        t = table;
        b = leaf_band[table_leaf[t]]
    };
    if
    :: b == NONE -> goto done
    :: else -> scan(b)
    fi;
    if
    :: found -> goto done
    :: else ->
#ifdef OLD_MARK
        draw_mark();
#endif
        replace(t, b, begun, true)
    fi;
    if
    :: !ok -> goto done
    :: else
    fi;
#ifndef OLD_MARK
    draw_mark();
#endif
    section[me] = 0;
#ifndef NO_GRACE
    pass();
#endif
    enter(me);
    d_step {
        t = table;
        l = table_leaf[t];
        b = leaf_band[l];
#ifdef ANY_LEAVING
        ok = leaving[l] != 0 && b != NONE
#else
        ok = leaving[l] == begun && b != NONE
#endif
    };
    if
    :: !ok -> goto done
    :: else
    fi;
#ifdef NO_SCAN
    found = false;
#else
    scan(b);
#endif
    if
    :: found -> replace(t, b, 0, true) /* it stays; a copy begins with the bit of a pod that its producer left unmarked */
    :: else ->
        replace(t, NONE, 0, true);
        if
        :: ok ->
            section[me] = 0;
            draw_mark();
            pass();
            freed[b] = true
        :: else
        fi
    fi;
done: skip;
    d_step {
        s0 = 0;
        s1 = 0;
        s2 = 0;
        s3 = 0;
        s4 = 0;
        s5 = 0;
        t = 0;
        l = 0;
        b = 0;
        pod = 0;
        begun = 0;
        ok = false;
        found = false;
        section[me] = 0
    }
}

proctype Observer()
{
    byte p, l;
end:
    do
    :: d_step {
        l = table_leaf[table];
        for (p : 0 .. PODS - 1) {
            if
            :: added[p] && !taken[p] ->
                assert(leaf_band[l] == band[p]);
                assert(shown[l] && how[l] != ASLEEP);
                assert(top[table])
            :: else
            fi
        }
        p = 0;
        l = 0
    }
    od
}

init
{
    atomic {
        shown[0] = true;
        top[0] = true;
        run Observer(); /* first: a process ends only after those that began later */
        run Producer(0);
#if PRODUCERS > 1
        run Producer(1);
#endif
#if TRIES > 0
        run Consumer(2, TRIES);
#endif
#if TRIES_TOO > 0
        run Consumer(3, TRIES_TOO);
#endif
#if COPIERS > 0
        run Copier(true);
#endif
#if COPIERS > 1
        run Copier(false);
#endif
#if LEAVERS_BEGUN > 0
        run Leaver(4);
#endif
#if LEAVERS_BEGUN > 1
        run Leaver(5);
#endif
        skip
    }
}
