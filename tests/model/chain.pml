/*
 * A lane's chain of segments (engine/lockfree: lane).
 *
 * A segment has a head, a tail, a number, and one word {next, GONE}. The owner fills the last
 * one; when it is full the owner stores its next, which was NULL: another segment, empty, or with
 * a copy of what lives and GONE. Closed segments are deleted (GONE) when nothing in them lives,
 * or replaced by a copy of what does: one CAS of the word, {successor, unmarked} -> {copy, GONE}.
 * A deleted segment is unlinked by a CAS of the word that points to it. Consumers peek from
 * `first`, claim by the pod's word, advance heads, delete what is past, and move `first`. Readers
 * walk, pass over what is deleted when they come there and over copies of what they read, delete,
 * copy, unlink, and end behind the segment that was the last. What `first` went past lies between
 * `oldest` and `first`: owner and readers move `oldest`, and retire.
 *
 * Claims
 *   a pod that a consumer peeks is the oldest ACTIVE one at the load of the tail, and EMPTY is true
 *     at that load (Consumer)
 *   a reader meets each pod that was published before it began and stays ACTIVE, and none twice
 *     (Reader)
 *   behind each change of the chain, so wherever threads stop: a consumer that comes then reaches
 *     each ACTIVE pod, a reader too; neither reaches an unlinked segment; nothing between `oldest`
 *     and `first` is retired (sound)
 *   a segment is retired once, behind its unlinking (retire); the last one is not GONE (Owner)
 *
 * Planted bugs
 *   -DNO_MARK         an empty segment is unlinked without being deleted first
 *   -DUNLINK_ANY      a segment is unlinked from one that is deleted itself
 *   -DTWO_STORES      the copy is linked by two stores: deleted, then linked
 *   -DCOPY_BESIDE     the copy's next is what stands behind the successor
 *   -DADVANCE_PLAIN   a consumer advances the head by a store
 *   -DNO_SECOND_LOOK  a consumer that finds a next does not look at the tail again
 *   -DTAIL_LATE       EMPTY by a next that was read before the tail
 *   -DOWNER_OPEN      the owner publishes in a segment before it has linked it
 *   -DLAST_LATE       the owner publishes in a segment before it has stored `last`
 *   -DREAD_DELETED    a reader reads a segment that was deleted when it came there
 *   -DEND_EARLY       a reader ends before a segment whose number is above that of the last one
 *   -DRETIRE_FIRST    what is unlinked from `first` is retired at once
 *   -DFIRST_EARLY     `first` is read before `oldest`
 *
 * Not modelled: where slots are used again (claim), consumers that go over several stale refs at
 * once because of a bound (front), the order of refs in a segment (a set of pods
 * that are ordered by themselves), heads that readers and the owner move over stale refs, the sweep
 * and its word, and what renew does to the largest segments (the owner there does to closed segments what a Reader
 * does), lane_resume, and how a
 * section defers frees, the pool behind them. A survey is one step: the pods become stale in any
 * order. Whether a segment is thin is: is one of its refs stale. Memory is sequentially consistent.
 *
 * Bounds: one owner, which publishes pod 4 behind three others, closes the segment, goes on in
 * another one and publishes pod 5 there; one consumer of one pod (-DCONSUMERS: two); none or
 * (-DREADER) one reader. -DCLOSED: no owner, three segments of four pods. -DREADERS: the same with
 * two readers and no consumer. One pod of the first three is stale at the beginning, or none, or
 * all (-DCONSUMERS, -DCLOSED); one more becomes so at any time. --large: one reader, two consumers, two segments filled.
 *
 * stands for engine/lockfree/refs/lane.h lane_peek_from eb06cdef
 * stands for engine/lockfree/refs/lane.c delete_empty 35d22dec
 * stands for engine/lockfree/refs/lane.c retire_passed 9e11aea3
 * stands for engine/lockfree/refs/lane.c unlink_segment 73cc3a91
 * stands for engine/lockfree/refs/lane.c delete_thin 8bd507ff
 * stands for engine/lockfree/refs/lane.c thin_out edc51a59
 * stands for engine/lockfree/refs/lane.c lane_beyond 7c311267
 * stands for engine/lockfree/refs/lane.c go_on_in 9cf0e1ad
 * stands for engine/lockfree/refs/lane.c renew 2085dbe9
 * stands for engine/lockfree/refs/lane.c leave_segment 83a5f463
 * stands for engine/lockfree/refs/lane.c find_next 2fefa7de
 * stands for engine/lockfree/refs/lane.c lane_read_begin 670e7ed9
 * stands for engine/lockfree/refs/lane.c lane_read_on f8e0db87
 */
#ifdef READERS
#define CLOSED
#endif
#if defined(LARGE) && !defined(CONSUMERS)
#define CONSUMERS
#define READER
#endif
#define PODS_AT_FIRST 7 /* pods 1, 2, 3, as bits */
#define NODES         12

byte next[NODES];
bool gone[NODES];
byte rest[NODES];   /* the pods from its head to its tail, as bits: the order is the bits' */
byte number[NODES];
byte first = 1, last = 2, oldest = 1, fresh = 3;
byte live = PODS_AT_FIRST; /* published and ACTIVE */
short out;                 /* ghost: unlinked, by segment */
short retired;             /* ghost */

hidden byte x, y, all, reach;

#define IN(set, s) (((set) >> (s)) & 1)
#define OLDEST_OF(pods) ((pods) & (0 - (pods)))

/* What a consumer and a reader find that come now; and that what they can reach is not retired. */
inline sound()
{
    x = first;
    y = 0;
    all = 0;
    reach = 0;
    do
    :: x != 0 ->
        assert(!IN(out, x));
        all = all | rest[x];
        if
        :: number[x] > y && !gone[x] ->
            reach = reach | rest[x];
            y = number[x]
        :: else
        fi;
        x = next[x]
    :: else -> break
    od;
    assert((live & all & reach) == live);
    x = oldest;
    do
    :: x != first && x != 0 ->
        assert(!IN(retired, x));
        x = next[x]
    :: else -> break
    od;
    assert(x != 0);
    x = 0;
    y = 0;
    all = 0;
    reach = 0
}

inline retire(s)
{
    assert(!IN(retired, s) && IN(out, s));
    retired = retired | (1 << s)
}

/* A CAS of `first` from s, which is deleted, to n. */
inline move_first(s, n)
{
    if
    :: first == s ->
        first = n;
        out = out | (1 << s);
        sound()
    :: else
    fi
}

/* A CAS of the word that points to s, which is deleted: n, its own, is frozen. ok: by this one. */
inline unlink(before, s)
{
#ifdef NO_MARK
    n = next[s];
#endif
    d_step {
#ifndef NO_MARK
        n = next[s];
#endif
        ok = false;
        if
        :: before == 0 && first == s ->
            first = n;
            ok = true
#ifdef UNLINK_ANY
        :: before != 0 && next[before] == s ->
#else
        :: before != 0 && next[before] == s && !gone[before] ->
#endif
            next[before] = n;
            ok = true
        :: else
        fi;
        if
        :: ok ->
            out = out | (1 << s);
#ifndef RETIRE_FIRST
            if
            :: before != 0 -> retire(s)
            :: else
            fi;
#else
            retire(s);
#endif
            sound()
        :: else
        fi
    }
}

/* Deletes s as it is, which is closed: n, what stands behind it. */
inline delete_empty(s)
{
    d_step {
#ifndef NO_MARK
        gone[s] = true;
        sound();
#endif
        n = next[s]
    }
}

/* A copy of s, private: `keep` is what was found to live there, n the word of s then. */
inline make_copy(s, keep, as)
{
    c = fresh;
    fresh++;
    assert(fresh <= NODES);
    rest[c] = keep;
    next[c] = n;
    number[c] = as
}

/* s was closed, its word {n, not GONE}. Deletes it, if little lives: ok. */
inline delete_thin(s)
{
    if
    :: keep == 0 ->
        delete_empty(s);
        ok = true
    :: keep != 0 && thin ->
#ifdef TWO_STORES
        d_step {
            ok = (next[s] == n && !gone[s]);
            if
            :: ok ->
                gone[s] = true;
                sound()
            :: else
            fi
        }
#endif
        d_step {
#ifndef TWO_STORES
            ok = (next[s] == n && !gone[s]);
#endif
            if
            :: ok ->
#ifdef COPY_BESIDE
                n = next[n];
#endif
                make_copy(s, keep, number[s]);
                next[s] = c;
                gone[s] = true;
                sound()
            :: else
            fi;
            c = 0
        }
    :: else -> ok = false
    fi
}

/* Retires what `first` went past. */
inline retire_passed()
{
#ifdef FIRST_EARLY
    f = first;
#endif
    o = oldest;
    do
#ifdef FIRST_EARLY
    :: o == f -> break
#else
    :: o == first -> break
#endif
    :: else ->
        d_step {
            if
            :: oldest == o ->
                assert(gone[o]);
                oldest = next[o];
                retire(o);
                sound();
                o = oldest
            :: else -> o = oldest
            fi
        }
    od;
    o = 0
}

#ifdef LARGE
#define ROUNDS 2
#else
#define ROUNDS 1
#endif

/* Fills the last segment, closes it, goes on in another one. */
proctype Owner()
{
    byte c, n, keep, s, o, f, pod = 8, rounds;
    bool ok;
    s = 2;
    do
    :: rounds < ROUNDS ->
        d_step {
            rest[s] = rest[s] | pod;
            live = live | pod;
            pod = pod << 1;
            sound()
        }
        keep = rest[s] & live;
        d_step {
            n = 0;
            ok = (keep != rest[s]);
            if
            :: !ok -> keep = 0
            :: else
            fi;
            make_copy(s, keep, number[s] + 1);
#ifdef OWNER_OPEN
            rest[c] = rest[c] | pod;
            live = live | pod;
            pod = pod << 1;
            sound();
#endif
        }
        d_step {
            assert(next[s] == 0 && !gone[s]);
            next[s] = c;
            gone[s] = ok;
            sound()
        }
#ifdef LAST_LATE
        d_step {
            rest[c] = rest[c] | pod;
            live = live | pod;
            pod = pod << 1;
            sound()
        }
#endif
        last = c;
        if
        :: ok -> unlink(0, s)
        :: else
        fi;
        if
        :: ok -> retire_passed()
        :: else
        fi;
        d_step {
            s = c;
            c = 0;
            n = 0;
            keep = 0;
            ok = false;
            rounds++
        }
    :: else -> break
    od;
    atomic {
        rest[s] = rest[s] | pod;
        live = live | pod;
        s = 0;
        pod = 0;
        rounds = 0;
        sound()
    }
}

/* One more pod becomes stale, at any time, that no consumer pops. */
proctype Deleter()
{
    if
    :: live = live & 254
    :: live = live & 253
    :: live = live & 251
    :: live = live & 247
    fi
}

proctype Consumer()
{
    byte s, n, p;
    bool ok, none;
    s = first;
    do
    ::
#ifdef TAIL_LATE
        n = next[s];
#endif
        /* lane_peek_from:A to D: the head stayed where it was, so this is at the load of the tail. */
        d_step {
            p = OLDEST_OF(rest[s]);
            none = (live == 0);
            assert(p == 0 || (live & (p - 1)) == 0)
        }
        if
        :: p != 0 ->
            d_step {
                ok = ((live & p) != 0);
                live = live & (255 - p)
            }
#ifdef ADVANCE_PLAIN
            rest[s] = rest[s] & (rest[s] - 1);
#else
            d_step {
                if
                :: OLDEST_OF(rest[s]) == p -> rest[s] = rest[s] & (255 - p)
                :: else
                fi;
                p = 0;
                sound()
            }
#endif
            if
            :: ok -> break
            :: else -> s = first
            fi
        :: else ->
#ifndef TAIL_LATE
            n = next[s];
#endif
            if
            :: n == 0 ->
                assert(none);
                break
            :: else
            fi;
#ifndef NO_SECOND_LOOK
            if
            :: rest[s] != 0
            :: else ->
#endif
                delete_empty(s);
                d_step {
                    move_first(s, n);
                    s = n;
                    n = 0
                }
#ifndef NO_SECOND_LOOK
            fi
#endif
        fi
    od;
    atomic {
        s = 0;
        n = 0;
        p = 0;
        ok = false;
        none = false
    }
}

/* Reads, and tidies as it leaves. */
proctype Reader()
{
    byte was, met, s, before, done, end, n, c, keep, o, f;
    bool ok, thin;
    d_step {
        was = live;
        end = number[last]
    }
    s = first;
    do
    :: s == 0 -> break
    :: else ->
#ifdef END_EARLY
        if
        :: number[s] > end -> break
        :: else
        fi;
#endif
        /* find_next */
#ifdef READ_DELETED
        if
        :: number[s] <= done ->
#else
        if
        :: number[s] <= done || gone[s] ->
#endif
            ok = gone[s]
        :: else ->
            d_step {
                assert((met & rest[s]) == 0);
                met = met | rest[s];
                done = number[s]
            }
            if
            :: done >= end -> break
            :: else
            fi;
            /* next_of, then survey: that the word changes in between makes the CAS fail */
            d_step {
                n = next[s];
                ok = gone[s];
                keep = rest[s] & live;
                thin = (keep != rest[s])
            }
            if
            :: n != 0 && !ok -> delete_thin(s)
            :: else
            fi;
            d_step {
                keep = 0;
                thin = false;
                n = 0
            }
        fi;
        if
        :: ok -> unlink(before, s)
        :: else
        fi;
        d_step {
            if
            :: ok
            :: else -> before = s
            fi;
            ok = false;
            n = 0;
            s = next[s]
        }
        retire_passed()
    od;
    atomic {
        assert((was & live & (255 - met)) == 0);
        was = 0;
        met = 0;
        s = 0;
        before = 0;
        done = 0;
        end = 0
    }
}

init
{
    atomic {
        rest[1] = 3;
        next[1] = 2;
        number[1] = 1;
        rest[2] = 4;
        number[2] = 2;
#ifdef CLOSED
        next[2] = 3;
        rest[3] = 8;
        number[3] = 3;
        live = 15;
        fresh = 4;
        last = 3;
#else
        run Owner();
#endif
        /* Some are stale at the beginning. */
        if
        :: live = live & 254
        :: live = live & 253
        :: live = live & 251
#if defined(CONSUMERS) || defined(CLOSED)
        :: live = live & 248
#endif
        :: skip
        fi;
#ifndef READERS
        run Consumer();
#endif
#ifdef CONSUMERS
        run Consumer();
#endif
#if defined(READER) || defined(READERS)
        run Reader();
#endif
#ifdef READERS
        run Reader();
#endif
        run Deleter()
    }
}
