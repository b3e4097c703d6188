/*
 * The summary of a leaf of the band table, its replacement, and bands that leave (engine/lockfree: band, bin).
 *
 * One priority, of which all pods are. A leaf names its band and has a bit and a version; a copy begins with the bit
 * set. A band's word is CLEAR, SETTING, SET, CLEARING, LEAVING or RETIRED, with a version. Producers keep the band that
 * they find (LEAVING becomes CLEAR), or put a new one into the table, publish, and mark: CLEAR and LEAVING become
 * SETTING, then the bit is set and the version raised in the leaf that the table names, until the table stays the same,
 * then SETTING becomes SET. Consumers look where the bit is set, clear a word in two phases, and take the bit of a word
 * that rests by a CAS that expects the version which they read before the word. A leaver makes CLEAR LEAVING and, if no
 * other leaver waits already, notes that word and waits for all sections; then, if there is a pod, it marks the bin,
 * else it makes exactly that word RETIRED; it waits again for a word that began to leave later. What is RETIRED leaves
 * the table, and is freed after another grace period.
 *
 * Not modelled: tables of more than one leaf, lanes and runs (bin.pml, chain.pml), ids, what a move publishes, store
 * buffers. Each step is sequentially consistent, but for a producer's load of the table, which may come before that of
 * the word.
 *
 * Claims
 *   once add has returned, and the pod is not taken, the table names its band, the word is SET or CLEARING, and the bit
 *     of the leaf is set (Observer, in every state)
 *   no band with a pod that was published is RETIRED (Observer)
 *   a producer never marks a band that is RETIRED; no section uses a band that is freed
 *   a band has one wait at a time: none begins for one that is RETIRED
 *   at the end no band is LEAVING: each that began to leave was waited for (init)
 *
 * Who takes part
 *   (none)         2 producers, a consumer with 2 tries, a copier of the leaf
 *   -DLEAVE        2 producers, which may die after they published, a leaver
 *   -DREST         a producer, a consumer with 2 tries, a leaver
 *   -DLEAVERS      a producer, which may die after it published, 2 leavers
 *   -DLARGE        2 producers, a consumer with 2 tries, a copier, 2 leavers
 *
 * Planted bugs
 *   -DNO_VERSION   a consumer takes the bit whatever the version is
 *   -DWORD_FIRST   a consumer reads the version after the word
 *   -DNOTE_LATE    SET first, then the bit: another producer finds SET and returns
 *   -DTRUST        a producer that meets SETTING leaves the bit to the one that began
 *   -DNO_AGAIN     a producer does not look at the table again after it set the bit
 *   -DCOPY_BIT     a copy begins with the bit that its leaf has
 *   -DNO_GRACE     RETIRED without waiting for sections
 *   -DNO_KEEP      a producer uses a band that is LEAVING as it is
 *   -DANY_WORD     any LEAVING becomes RETIRED, also a later one
 *   -DNO_SCAN      no scan before RETIRED (with LEAVE)
 *   -DNOTED_LATE   a leaver reads the noted word when it waits no more
 *   -DWAITS_LATE   a leaver looks at the word, then waits no more: a band that begins to leave in between is forgotten
 *   -DWAIT_TWICE   a leaver waits although another one does
 *
 * stands for engine/lockfree/refs/band.c band_keep 2d5162f3
 * stands for engine/lockfree/refs/band.c leaf_note 10d2890d
 * stands for engine/lockfree/refs/band.c band_note dd824ce0
 * stands for engine/lockfree/refs/band.c replace 2f511822
 * stands for engine/lockfree/refs/band.c wait_for_calls 83873d7d
 * stands for engine/lockfree/refs/band.c leave 13c06862
 * stands for engine/lockfree/refs/band.c retire 040008fb
 * stands for engine/lockfree/refs/band.c bands_rest f49bd37a
 * stands for engine/lockfree/refs/band.c bands_get 27c5b096
 * stands for engine/lockfree/refs/bin.h bin_mark eb36b167
 * stands for engine/lockfree/refs/bin.c word_to_set 55d8fe5d
 * stands for engine/lockfree/refs/bin.c bin_mark_from b3799803
 * stands for engine/lockfree/refs/bin.c begin_clearing 0878a077
 * stands for engine/lockfree/calls/pop.c walk_down 1c25b9eb
 * stands for engine/lockfree/calls/pop.c pass_resting 0ce1c0e6
 */
#if defined(LARGE)
#define TRIES 2
#define COPIES 1
#define LEAVES_BEGUN 2
#define PRODUCERS 2
#elif defined(LEAVERS)
#define TRIES 0
#define COPIES 0
#define LEAVES_BEGUN 2
#define PRODUCERS 1
#elif defined(REST)
#define TRIES 2
#define COPIES 0
#define LEAVES_BEGUN 1
#define PRODUCERS 1
#elif defined(LEAVE)
#define TRIES 0
#define COPIES 0
#define LEAVES_BEGUN 1
#define PRODUCERS 2
#else
#define TRIES 2
#define COPIES 1
#define LEAVES_BEGUN 0
#define PRODUCERS 2
#endif

#define PODS     2
#define ACTORS   5       /* 2 producers, the consumer, 2 leavers */
#define BANDS    4
#define LEAVES   7
#define NONE     7

#define CLEAR    0
#define SETTING  1
#define SET      2
#define CLEARING 3
#define LEAVING  4
#define RETIRED  5

byte table;                 /* the leaf that it names */
byte leaf_band[LEAVES];
bool shown[LEAVES];
byte version[LEAVES];
byte leaves = 1;            /* that were ever made */
byte bands = 1;

byte word[BANDS];
byte word_version[BANDS];
bool ref[BANDS * PODS];
bool freed[BANDS];
bool waits[BANDS];
byte leaving[BANDS];          /* the version of the word that is waited for */

bool published[PODS], added[PODS], taken[PODS];
byte band[PODS];

byte section[ACTORS];       /* 0: outside; else its number */
byte sections[ACTORS];      /* how many began */

inline enter(actor)
{
    d_step {
        sections[actor]++;
        section[actor] = sections[actor]
    }
}

inline read_word(b)
{
    d_step {
        assert(!freed[b]);
        w = word[b];
        v = word_version[b]
    }
}

inline cas_word(b, to)
{
    d_step {
        assert(!freed[b]);
        ok = (word[b] == w && word_version[b] == v);
        if
        :: ok ->
            word[b] = to;
            word_version[b]++;
            w = to;
            v = word_version[b]
        :: else
        fi
    }
}

/* A copy that names b, if the table still is t. */
inline replace(t, b, all)
{
    d_step {
        ok = (table == t);
        if
        :: ok ->
            assert(leaves < LEAVES);
            leaf_band[leaves] = b;
            shown[leaves] = all;
            version[leaves] = 0;
            table = leaves;
            leaves++
        :: else
        fi
    }
}

/* t is the table as it was at some moment before. */
inline note(b)
{
    do
    :: leaf_band[t] != b -> break
    :: else ->
        d_step {
            shown[t] = true;
            version[t]++
        };
#ifdef NO_AGAIN
        break
#else
        if
        :: table == t -> break
        :: else -> t = table
        fi
#endif
    od;
    t = 0
}

/* The table may be loaded before the word: nothing orders the two loads. */
inline mark(b)
{
    do
    :: t = table;
        read_word(b);
        if
        :: w == SET -> break
        :: w == RETIRED -> assert(false)
        :: w == CLEARING ->
            cas_word(b, SET);
            if
            :: ok -> break
            :: else
            fi
#ifdef NOTE_LATE
        :: w == CLEAR || w == LEAVING ->
            cas_word(b, SET);
            if
            :: ok ->
                note(b);
                break
            :: else
            fi
        :: w == SETTING -> assert(false)
#else
        :: w == CLEAR || w == LEAVING ->
            cas_word(b, SETTING);
            if
            :: ok ->
                note(b);
                cas_word(b, SET)
            :: else
            fi
        :: w == SETTING ->
#ifndef TRUST
            note(b);
#endif
            cas_word(b, SET)
#endif
        fi
    od
}

proctype Producer(byte pod)
{
    byte t, mine, w, v;
    bool ok;
    enter(pod);
    do
    :: d_step {
            t = table;
            mine = leaf_band[t] /* a leaf does not change */
        };
        if
        :: mine == NONE -> w = RETIRED
        :: else -> read_word(mine)
        fi;
        if
        :: w == RETIRED ->
            atomic {
                mine = bands;
                replace(t, mine, true);
                if
                :: ok ->
                    assert(bands < BANDS);
                    bands++;
                    break
                :: else
                fi
            }
#ifndef NO_KEEP
        :: w == LEAVING ->
            cas_word(mine, CLEAR);
            if
            :: ok -> break
            :: else
            fi
        :: w != RETIRED && w != LEAVING -> break
#else
        :: w != RETIRED -> break
#endif
        fi
    od;
    atomic {
        assert(!freed[mine]);
        band[pod] = mine;
        ref[mine * PODS + pod] = true;
        published[pod] = true;
        t = 0;
        w = 0;
        v = 0;
        ok = false
    };
    if
#if defined(LEAVE) || defined(LEAVERS)
    :: section[pod] = 0 /* it stops for ever, and its slot is adopted */
#endif
    :: skip;
    mark(mine);
    added[pod] = true;
    d_step {
        section[pod] = 0;
        mine = 0;
        w = 0;
        v = 0;
        ok = false
    }
    fi
}

inline scan(b)
{
    d_step {
        assert(!freed[b]);
        found = false;
        if
        :: ref[b * PODS] && published[0] && band[0] == b && !taken[0] ->
            found = true;
            pod = 0
        :: else
        fi
    };
    d_step {
        if
        :: !found && ref[b * PODS + 1] && published[1] && band[1] == b && !taken[1] ->
            found = true;
            pod = 1
        :: else
        fi
    }
}

proctype Consumer()
{
    byte n, t, u, b, w, v, pod;
    bool ok, found;
    do
    :: n < TRIES ->
        d_step {
            n++;
            sections[2]++;
            section[2] = sections[2]
        };
        d_step {
            t = table;
            b = leaf_band[t]
        };
        if
        :: b == NONE || !shown[t] -> skip
        :: else ->
#ifdef WORD_FIRST
            read_word(b);
            u = version[t];
#else
            u = version[t];
            read_word(b);
#endif
            if
            :: w == CLEAR || w == LEAVING || w == RETIRED ->
                d_step {
                    if
#ifdef NO_VERSION
                    :: true -> shown[t] = false
#else
                    :: version[t] == u -> shown[t] = false
                    :: else
#endif
                    fi
                }
            :: else ->
                scan(b);
                if
                :: found -> taken[pod] = true
                :: !found && w == SETTING ->
#ifndef TRUST
                    t = table;
                    note(b);
#endif
                    cas_word(b, SET)
                :: !found && w == SET ->
                    cas_word(b, CLEARING);
                    if
                    :: ok ->
                        scan(b);
                        if
                        :: !found -> cas_word(b, CLEAR)
                        :: else
                        fi
                    :: else
                    fi
                :: !found && w == CLEARING -> cas_word(b, CLEAR)
                fi
            fi
        fi;
        d_step {
            section[2] = 0;
            t = 0;
            u = 0;
            b = 0;
            w = 0;
            v = 0;
            pod = 0;
            ok = false;
            found = false
        }
    :: else -> break
    od
}

proctype Replacer()
{
    byte t;
    bool ok, all;
    d_step {
        t = table;
#ifdef COPY_BIT
        all = shown[t]
#else
        all = true
#endif
    };
    atomic {
        replace(t, leaf_band[t], all);
        t = 0;
        ok = false;
        all = false
    }
}

/* Waits until each section that is there now has ended; the caller is outside of any. */
inline grace()
{
    d_step {
        s0 = section[0];
        s1 = section[1];
        s2 = section[2];
        s3 = section[3];
        s4 = section[4]
    };
    atomic {
        (s0 == 0 || section[0] != s0) && (s1 == 0 || section[1] != s1) && (s2 == 0 || section[2] != s2) &&
            (s3 == 0 || section[3] != s3) && (s4 == 0 || section[4] != s4);
        s0 = 0;
        s1 = 0;
        s2 = 0;
        s3 = 0;
        s4 = 0
    }
}

/* leave, wait_for_calls, band_is_ripe, retire, drop_row. */
proctype Leaver(byte me)
{
    byte t, b, w, v, s0, s1, s2, s3, s4, pod, noted;
    bool ok, found;
    enter(me);
    d_step {
        t = table;
        b = leaf_band[t]
    };
    if
    :: b == NONE -> goto done
    :: else -> read_word(b)
    fi;
    if
    :: w != CLEAR -> goto done
    :: else -> cas_word(b, LEAVING)
    fi;
    if
    :: !ok -> goto done
    :: else
    fi;
again:
    atomic {
        ok = !waits[b];
#ifdef WAIT_TWICE
        ok = true;
#endif
        if
        :: ok ->
            assert(word[b] != RETIRED);
            waits[b] = true;
            leaving[b] = v
        :: else -> goto done
        fi
    };
    section[me] = 0;
#ifndef NO_GRACE
    grace();
#endif
    enter(me);
    /* A word has the version that is noted only while it is LEAVING. */
    noted = leaving[b];
#ifdef WAITS_LATE
    read_word(b);
    waits[b] = false;
#else
    waits[b] = false;
    read_word(b);
#endif
#ifdef ANY_WORD
    if
    :: w == LEAVING -> noted = v
    :: else
    fi;
#endif
#ifdef NOTED_LATE
    noted = leaving[b];
#endif
    if
    :: v != noted && w == LEAVING -> goto again
    :: v != noted && w != LEAVING -> goto done
    :: v == noted -> noted = 0
    fi;
#ifndef NO_SCAN
    scan(b);
    if
    :: found ->
        mark(b);
        goto done
    :: else
    fi;
#endif
    cas_word(b, RETIRED);
    if
    :: !ok -> goto done
    :: else
    fi;
    do
    :: t = table;
        if
        :: leaf_band[t] != b -> break
        :: else -> replace(t, NONE, false)
        fi
    od;
    section[me] = 0;
    grace();
    freed[b] = true;
done: skip;
    d_step {
        t = 0;
        b = 0;
        w = 0;
        v = 0;
        pod = 0;
        noted = 0;
        ok = false;
        found = false;
        section[me] = 0
    }
}

proctype Observer()
{
    byte p;
end:
    do
    :: d_step {
        for (p : 0 .. PODS - 1) {
            if
            :: published[p] && !taken[p] -> assert(word[band[p]] != RETIRED)
            :: else
            fi;
            if
            :: added[p] && !taken[p] ->
                assert(leaf_band[table] == band[p]);
                assert(word[band[p]] == SET || word[band[p]] == CLEARING);
                assert(shown[table])
            :: else
            fi
        }
        p = 0
    }
    od
}

init
{
    byte b;
    atomic {
        shown[0] = true;
        run Observer(); /* first: a process ends only after those that began later */
        run Producer(0);
#if PRODUCERS > 1
        run Producer(1);
#endif
#if TRIES > 0
        run Consumer();
#endif
#if COPIES > 0
        run Replacer();
#endif
#if LEAVES_BEGUN > 0
        run Leaver(3);
#endif
#if LEAVES_BEGUN > 1
        run Leaver(4);
#endif
        skip
    };
    (_nr_pr == 2); /* this one and the Observer */
    d_step {
        b = 0;
        do
        :: b < BANDS ->
            assert(word[b] != LEAVING);
            b++
        :: else -> break
        od;
        b = 0
    }
}
