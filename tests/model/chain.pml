/*
 * A lane's chain of segments (engine/lockfree: lane).
 *
 * A segment has slots, a head, a tail, a number, and one word {next, gone}. The owner fills the
 * last segment; when it is full the owner links another one, empty, or with a copy of what lives,
 * which deletes the full one by the same access. A closed segment is deleted when nothing in it
 * lives, or replaced by a copy of what does, whose next is the successor: one CAS of the original's
 * word. Deleted segments are unlinked by a CAS of the word before them. Consumers peek from
 * `first`, claim by the pod's word, move heads, delete and go past what is empty. Readers walk,
 * pass over what is deleted when they come there and over copies of what they read, tidy, and end
 * in the segment that was the last.
 *
 * Claims
 *   a consumer takes no pod while an older one was ACTIVE during the whole call, and finds the lane
 *     empty only if none was (Consumer)
 *   a reader meets each pod that was published before it began and stays ACTIVE (Reader), none
 *   twice a segment is unlinked once, and nothing that was unlinked is linked again (unlink)
 *   wherever threads stop, a consumer and a reader that come then find each ACTIVE pod (Drain)
 *
 * Planted bugs
 *   -DNO_MARK         an empty segment is unlinked without being deleted first
 *   -DTWO_STORES      the copy is linked by two stores: deleted, then linked
 *   -DTWO_STORES_BACK the same, linked, then deleted
 *   -DNO_SECOND_LOOK  a consumer that finds a next does not look at the tail again
 *   -DTAIL_LATE       EMPTY by a next that was read before the tail
 *   -DOWNER_OPEN      the owner puts into a segment before it has linked it
 *   -DREAD_DELETED    a reader reads a segment that was deleted when it came there
 *   -DEND_EARLY       a reader ends before a segment whose number is above that of the last one
 *
 * Bounds: 5 pods, of which 3 are there at the beginning, 2 slots; one owner, one consumer, one
 * reader (-DREADERS: two readers and no consumer; --large: both), one deleter of up to 3 pods. Each
 * may stop anywhere. That slots are used again is left to claim, and to lane.h.
 */
#define SLOTS 2
#define PODS  5
#define NODES 12

byte next[NODES];
bool gone[NODES];
byte head[NODES];
byte tail[NODES];
byte number[NODES];
byte slot[24];          /* by segment and position */
bool out[NODES];        /* ghost: unlinked */
byte first = 1, last = 2, fresh = 3;
bool alive[6];
bool published[6];
bool halted;

#define REF(s, at) slot[(s) * SLOTS + (at)]

/* The word of s. */
inline read_next(s)
{
    d_step {
        n = next[s];
        g = gone[s]
    }
}

/* One CAS of the word before s, which was deleted: of `first`, or of the segment before it. */
inline unlink(before, s)
{
#ifndef NO_MARK
    n = next[s];
#endif
    d_step {
        ok = (before == 0 && first == s) || (before != 0 && next[before] == s && !gone[before]);
        if
        :: ok && before == 0 -> first = n
        :: ok && before != 0 -> next[before] = n
        :: else
        fi;
        if
        :: ok ->
            assert(!out[s]);
            assert(!out[n]);
            out[s] = true
        :: else
        fi
    }
}

/* Deletes s as it is: n is what stands behind it. */
inline delete_empty(s)
{
#ifdef NO_MARK
    n = next[s];
#else
    d_step {
        gone[s] = true;
        n = next[s]
    }
#endif
}

/* What lives in s, as a segment of its own: c. */
inline copy_live(s)
{
    d_step {
        c = fresh;
        fresh++;
        assert(fresh < NODES);
        number[c] = number[s];
        t = head[s];
        do
        :: t < tail[s] ->
            if
            :: alive[REF(s, t)] ->
                REF(c, tail[c]) = REF(s, t);
                tail[c]++
            :: else
            fi;
            t++
        :: else -> break
        od;
        t = 0
    }
}

inline count_live(s)
{
    d_step {
        live = 0;
        t = head[s];
        do
        :: t < tail[s] ->
            live = live + alive[REF(s, t)];
            t++
        :: else -> break
        od;
        t = 0
    }
}

/* s was closed when its word was {n, not gone}. ok: it is deleted. */
inline delete_thin(s)
{
    count_live(s);
    if
    :: live == 0 ->
        delete_empty(s);
        ok = true
    :: live > 0 && live < tail[s] - head[s] ->
        copy_live(s);
        next[c] = n;
#ifdef TWO_STORES
        d_step {
            ok = (next[s] == n && !gone[s]);
            gone[s] = true
        }
        if
        :: ok -> next[s] = c
        :: else
        fi
#else
#ifdef TWO_STORES_BACK
        d_step {
            ok = (next[s] == n && !gone[s]);
            if
            :: ok -> next[s] = c
            :: else
            fi
        }
        gone[s] = gone[s] || ok
#else
        d_step {
            ok = (next[s] == n && !gone[s]);
            if
            :: ok ->
                next[s] = c;
                gone[s] = true
            :: else
            fi
        }
#endif
#endif
    :: else -> ok = false
    fi
}

proctype Owner() provided (!halted)
{
    byte c, t, live, n;
    bool ok;
    REF(2, 1) = 4;
    tail[2] = 2;
    published[4] = true;
    count_live(2);
    if
    :: live < 2 ->
        copy_live(2);
        number[c] = number[2] + 1
    :: d_step {
           c = fresh;
           fresh++;
           number[c] = number[2] + 1
       }
       live = 2
    fi;
#ifdef OWNER_OPEN
    REF(c, tail[c]) = 5;
    tail[c] = tail[c] + 1;
    published[5] = true;
#endif
    d_step {
        next[2] = c;
        gone[2] = (live < 2)
    }
    last = c;
    if
    :: live < 2 -> unlink(0, 2)
    :: else
    fi;
#ifndef OWNER_OPEN
    REF(c, tail[c]) = 5;
    tail[c] = tail[c] + 1;
    published[5] = true
#endif
}

proctype Deleter() provided (!halted)
{
    byte p;
    for (p : 2 .. 4) {
        if
        :: alive[p] = false
        :: skip
        fi
    }
}

proctype Consumer() provided (!halted)
{
    bool was[6];
    byte s, h, t, n, p;
    bool ok, g;
    d_step {
        for (p : 1 .. PODS) {
            was[p] = published[p] && alive[p]
        }
        p = 0
    }
    s = first;
    do
    :: h = head[s];
#ifdef TAIL_LATE
        read_next(s);
#endif
        t = tail[s];
        if
        :: h != t ->
            p = REF(s, h);
            d_step {
                ok = alive[p];
                alive[p] = false
            }
            d_step {
                if
                :: head[s] == h -> head[s] = h + 1
                :: else
                fi
            }
            if
            :: ok -> break
            :: else -> s = first
            fi
        :: else ->
#ifndef TAIL_LATE
            read_next(s);
#endif
            if
            :: n == 0 ->
                p = PODS + 1;
                break
            :: else
            fi;
#ifndef NO_SECOND_LOOK
            h = head[s];
            if
            :: h != tail[s] -> skip
            :: else ->
#endif
                delete_empty(s);
                d_step {
                    ok = (first == s);
                    if
                    :: ok ->
                        assert(!out[s] && !out[n]);
                        first = n;
                        out[s] = true
                    :: else
                    fi
                }
                s = n
#ifndef NO_SECOND_LOOK
            fi
#endif
        fi
    od;
    h = 0;
    d_step {
        h = 1;
        do
        :: h < p && h <= PODS ->
            assert(!was[h] || !alive[h]);
            h++
        :: else -> break
        od
    }
}

proctype Reader() provided (!halted)
{
    bool was[6];
    bool met[6];
    byte s, before, done, end, n, t, c, live, p;
    bool ok, g, ends;
    d_step {
        for (p : 1 .. PODS) {
            was[p] = published[p] && alive[p]
        }
        p = 0
    }
    end = last;
    end = number[end];
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
        read_next(s);
        ok = false;
        if
#ifdef READ_DELETED
        :: number[s] <= done ->
#else
        :: number[s] <= done || g ->
#endif
            ok = g
        :: else ->
            d_step {
                t = head[s];
                do
                :: t < tail[s] ->
                    p = REF(s, t);
                    assert(!met[p]);
                    met[p] = true;
                    t++
                :: else -> break
                od;
                t = 0;
                p = 0;
                done = number[s];
                ends = (done >= end)
            }
            read_next(s);
            if
            :: n != 0 && !g -> delete_thin(s)
            :: else -> ok = g
            fi
        fi;
        if
        :: ok -> unlink(before, s)
        :: else
        fi;
        if
        :: ok
        :: else -> before = s
        fi;
        s = next[s];
        if
        :: ends -> break
        :: else
        fi
    od;
    p = 0;
    d_step {
        for (p : 1 .. PODS) {
            assert(!was[p] || !alive[p] || met[p])
        }
        p = 0
    }
}

/* All others stop where they are. What a consumer would find, and what a reader would. */
proctype Drain()
{
    byte s, t, p, done;
    bool found[6];
    bool met[6];
    d_step {
        halted = true;
        s = first;
        do
        :: s != 0 ->
            t = head[s];
            do
            :: t < tail[s] ->
                found[REF(s, t)] = true;
                if
                :: number[s] > done && !gone[s] -> met[REF(s, t)] = true
                :: else
                fi;
                t++
            :: else -> break
            od;
            if
            :: number[s] > done && !gone[s] -> done = number[s]
            :: else
            fi;
            s = next[s]
        :: else -> break
        od;
        for (p : 1 .. PODS) {
            assert(!published[p] || !alive[p] || (found[p] && met[p]))
        }
    }
}

init
{
    byte n;
    atomic {
        for (n : 1 .. PODS) {
            alive[n] = true;
            published[n] = (n <= 3)
        }
        REF(1, 0) = 1;
        REF(1, 1) = 2;
        tail[1] = 2;
        next[1] = 2;
        number[1] = 1;
        REF(2, 0) = 3;
        tail[2] = 1;
        number[2] = 2;
#ifndef READERS
        run Consumer();
#endif
        run Owner();
        run Reader();
#if defined(READERS) || defined(LARGE)
        run Reader();
#endif
        run Deleter();
        run Drain()
    }
}
