/*
 * Retirement of bands (engine/lockfree: band, charge, bin).
 *
 * The table names the object of a priority: here one priority, of which all pods are, and objects 0, 1, ... that are
 * used once. An object's word is CLEAR, SET, CLEARING or RETIRED, the last for ever. A retirer makes CLEAR RETIRED
 * and then takes the object out of the table. A producer that looked the object up before publishes there, finds
 * RETIRED, looks the priority up again, where he puts a new object for a missing or retired one, publishes the next
 * version there, switches the pod's band to it and goes on with that word. Consumers pass over what the table does
 * not name, and over CLEAR and RETIRED.
 *
 * Claims
 *   once add has returned, and the pod is ACTIVE, the table names the object of its band, the word of that object is
 *     not
 *   CLEAR or RETIRED, and a ref of its version is there (Observer, in every state)
 *   a consumer takes a pod only from an object of the pod's priority (Consumer)
 *
 * Planted bugs
 *   -DREVIVE       a producer makes RETIRED SET again: the table does not name the object
 *   -DREBIND       the retirer gives the object to another priority: the pod is popped as of that
 *   -DTABLE_FIRST  out of the table first, then RETIRED: a producer sets a word that nobody reads
 *   -DNO_SWITCH    the same version is published in the new object, the state word keeps the old band: not reachable
 *
 * Bounds: 2 producers with one pod each, RETIRERS retirers (1, with --large 2), a consumer with 2 tries.
 */
#ifdef LARGE
#define RETIRERS 2
#else
#define RETIRERS 1
#endif

#define OBJECTS   5
#define PODS      2
#define NONE      7

#define CLEAR     0
#define SET       1
#define CLEARING  2
#define RETIRED   3

byte table;                 /* object of the priority, or NONE */
byte other_table = NONE;    /* object of another priority: only with REBIND */
byte used = 1;              /* objects that were ever made */
byte word[OBJECTS];
byte word_version[OBJECTS];
byte ref[OBJECTS * PODS];   /* the version that the object holds of a pod, 0 = none */

byte version[PODS];         /* state word of a pod; 0 = not yet born */
byte band[PODS];
bool taken[PODS];
bool added[PODS];           /* ghost: add has returned */

inline read_word(object)
{
    d_step {
        w = word[object];
        v = word_version[object]
    }
}

inline cas_word(object, to)
{
    d_step {
        ok = (word[object] == w && word_version[object] == v);
        if
        :: ok ->
            word[object] = to;
            word_version[object]++
        :: else
        fi
    }
}

/* mine = the object of the priority, made if it is missing or retired. */
inline look_up()
{
    do
    :: mine = table;
        if
        :: mine == NONE -> w = RETIRED
        :: else -> w = word[mine]
        fi;
        if
        :: w != RETIRED -> break
        :: else ->
            d_step {
                if
                :: table == mine ->
                    assert(used < OBJECTS);
                    table = used;
                    used++
                :: else
                fi
            }
        fi
    od
}

inline publish(object, pod, as_version)
{
    ref[(object) * PODS + pod] = as_version
}

proctype Producer(byte pod)
{
    byte mine, w, v, s;
    bool ok;
    look_up();
    s = 1;
    d_step {
        version[pod] = s;
        band[pod] = mine
    }
    publish(mine, pod, 1);
    do
    :: read_word(mine);
        if
        :: w == SET -> break
#ifdef REVIVE
        :: w != SET -> cas_word(mine, SET)
#else
        :: w == CLEAR || w == CLEARING -> cas_word(mine, SET)
        :: w == RETIRED ->
            s = version[pod];
            look_up();
#ifdef NO_SWITCH
            publish(mine, pod, s);
#else
            publish(mine, pod, s + 1);
            d_step {
                if
                :: version[pod] == s && !taken[pod] ->
                    version[pod] = s + 1;
                    band[pod] = mine
                :: else
                fi
            }
#endif
            ok = false
#endif
        fi;
        if
        :: ok -> break
        :: else
        fi
    od;
    added[pod] = true
}

proctype Retirer()
{
    byte mine, w, v;
    bool ok;
    mine = table;
    if
    :: mine != NONE ->
#ifdef TABLE_FIRST
        d_step {
            if
            :: word[mine] == CLEAR && table == mine -> table = NONE
            :: else
            fi
        }
#endif
        read_word(mine);
        if
        :: w == CLEAR ->
            cas_word(mine, RETIRED);
            if
            :: ok ->
                d_step {
                    if
                    :: table == mine -> table = NONE
                    :: else
                    fi
                }
#ifdef REBIND
                other_table = mine;
                word[mine] = CLEAR
#endif
            :: else
            fi
        :: else
        fi
    :: else
    fi
}

/* A ref is VALID, or FUTURE and then helped; else it is passed over. */
inline take(object, pod)
{
    d_step {
        w = ref[(object) * PODS + pod];
        if
        :: w != 0 && w == version[pod] + 1 && version[pod] != 0 && !taken[pod] ->
            version[pod] = w;
            band[pod] = object
        :: else
        fi;
        if
        :: w != 0 && w == version[pod] && band[pod] == object && !taken[pod] ->
            taken[pod] = true;
            found = true;
            assert(object != other_table)
        :: else
        fi
    }
}

inline visit(object)
{
    do
    :: read_word(object);
        if
        :: w == CLEAR || w == RETIRED -> break
        :: else
        fi;
        b = w;
        found = false;
        take(object, 0);
        take(object, 1);
        if
        :: found -> break
        :: else -> w = b
        fi;
        if
        :: w == SET -> cas_word(object, CLEARING)
        :: else -> cas_word(object, CLEAR)
        fi
    od
}

proctype Consumer()
{
    byte n, mine, w, v, b;
    bool ok, found;
    do
    :: n < 2 ->
        n++;
        mine = table;
        if
        :: mine != NONE -> visit(mine)
        :: else
        fi;
        mine = other_table;
        if
        :: mine != NONE -> visit(mine)
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
            :: added[p] && !taken[p] ->
                assert(table == band[p] || other_table == band[p]);
                assert(word[band[p]] == SET || word[band[p]] == CLEARING);
                assert(ref[band[p] * PODS + p] == version[p])
            :: else
            fi
        }
        p = 0
    }
    od
}

init
{
    byte n;
    atomic {
        run Producer(0);
        run Producer(1);
        for (n : 1 .. RETIRERS) {
            run Retirer()
        }
        run Consumer();
        run Observer()
    }
}
