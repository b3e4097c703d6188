/*
 * The summary of a leaf of the band table, its replacement, and bands that leave (engine/lockfree: band, bin).
 *
 * One priority, of which all pods are. A leaf names its band and has a bit and a version; a copy begins with the bit
 * set. A band's word is CLEAR, SETTING, SET, CLEARING, LEAVING or RETIRED, with a version. Producers keep the band that
 * they find (LEAVING becomes CLEAR), or put a new one into the table, publish, and mark: CLEAR and LEAVING become
 * SETTING, then the bit is set and the version raised in the leaf that the table names, until the table stays the same,
 * then SETTING becomes SET. Consumers look where the bit is set, clear a word in two phases, and take the bit of a word
 * that rests by a CAS that expects the version which they read before the word. A leaver makes CLEAR LEAVING, waits for
 * all sections, scans, and makes exactly that word RETIRED; then the band leaves the table, and is freed after another
 * grace period.
 *
 * Claims
 *   once add has returned, and the pod is not taken, the table names its band, the word is SET or CLEARING, and the bit
 *     of the leaf is set (Observer, in every state)
 *   no band with a pod that was published is RETIRED (Observer)
 *   a producer never marks a band that is RETIRED; no section uses a band that is freed
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
 *   -DDEATH,NO_SCAN    (DEATH: a producer dies after it published) no scan before RETIRED
 *
 * Bounds: 2 producers with one pod each, a consumer with 2 tries (with --large 3), one replacement, one leaver
 * that begins twice.
 */
#ifdef LARGE
#define TRIES 3
#else
#define TRIES 2
#endif

#define PODS     2
#define ACTORS   3
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

inline note(b)
{
    do
    :: t = table;
        if
        :: leaf_band[t] != b -> break
        :: else
        fi;
        d_step {
            shown[t] = true;
            version[t]++
        }
#ifdef NO_AGAIN
        break
#else
        if
        :: table == t -> break
        :: else
        fi
#endif
    od
}

inline mark(b)
{
    do
    :: read_word(b);
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
    :: t = table;
        mine = leaf_band[t];
        if
        :: mine == NONE -> w = RETIRED
        :: else -> read_word(mine)
        fi;
        if
        :: w == RETIRED ->
            mine = bands;
            replace(t, mine, true);
            if
            :: ok ->
                d_step {
                    assert(bands < BANDS);
                    bands++
                };
                break
            :: else
            fi
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
        published[pod] = true
    };
#ifdef DEATH
    if
    :: pod == 1 -> section[pod] = 0
    :: else ->
#endif
    mark(mine);
    added[pod] = true;
    section[pod] = 0
#ifdef DEATH
    fi
#endif
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
        n++;
        enter(2);
        t = table;
        b = leaf_band[t];
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
        section[2] = 0
    :: else -> break
    od
}

proctype Replacer()
{
    byte t;
    bool ok, all;
    t = table;
#ifdef COPY_BIT
    all = shown[t];
#else
    all = true;
#endif
    replace(t, leaf_band[t], all)
}

/* Waits until each section that is there now has ended. */
inline grace()
{
    d_step {
        s0 = section[0];
        s1 = section[1];
        s2 = section[2]
    };
    (s0 == 0 || section[0] != s0);
    (s1 == 0 || section[1] != s1);
    (s2 == 0 || section[2] != s2)
}

proctype Leaver()
{
    byte n, t, b, w, v, s0, s1, s2, pod;
    bool ok, found;
    do
    :: n < 2 ->
        n++;
        b = leaf_band[table];
        if
        :: b == NONE -> break
        :: else -> read_word(b)
        fi;
        if
        :: w == CLEAR ->
            cas_word(b, LEAVING);
            if
            :: ok ->
#ifndef NO_GRACE
                grace();
#endif
                found = false;
#ifndef NO_SCAN
                scan(b);
#endif
#ifdef ANY_WORD
                v = word_version[b];
#endif
                if
                :: found && word[b] == w && word_version[b] == v -> mark(b)
                :: else ->
                    if
                    :: !found -> cas_word(b, RETIRED)
                    :: else -> ok = false
                    fi;
                    if
                    :: ok ->
                        do
                        :: t = table;
                            if
                            :: leaf_band[t] != b -> break
                            :: else -> replace(t, NONE, false)
                            fi
                        od;
                        grace();
                        freed[b] = true;
                        break
                    :: else
                    fi
                fi
            :: else
            fi
        :: else
        fi
    :: else -> break
    od
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
    atomic {
        shown[0] = true;
        run Producer(0);
        run Producer(1);
        run Consumer();
        run Replacer();
        run Leaver();
        run Observer()
    }
}
