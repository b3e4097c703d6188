/*
 * Nominations (engine/lockfree: nominator).
 *
 * A description carries {node, number}; numbers are drawn, and those of a life only grow. The hints of a bucket are two
 * lists, fresh and old, whose heads are one pair of words; here a list is the digits of a number, its head the lowest,
 * and a digit says of which life and node its hint is. Whoever nominates draws, inserts, and installs the description by
 * a CAS on the life's word and the description as he read them; if that has a larger number, he draws again. An
 * insertion takes up to two hints off old, and copies them to fresh but if nobody will need them: each is judged by
 * looks at the word, the description and the word again. Whoever loads the pair loads old, fresh, and old again,
 * until that is what it was. A reader judges all hints, judges those again that are not installed, and finds the halves unchanged, one after the other. Then it may
 * replace both lists by what is needed of them.
 *
 * A record with two lives. A nominates life 1 to node 1. B nominates it to node 1, too, and then to none. An owner ends
 * life 1, inserts the nomination with which life 2 begins, and begins it. With READ there is a reader of node 1 instead
 * of the owner, with END one instead of B. With AWAY there is a reader and no owner, and B nominates to node 2, which
 * has the same bucket, then to 1, then to none.
 *
 * Claims
 *   a nomination that is installed in a life that lasts has its hint in the bucket (Observer, in every state)
 *   a reader gets a pod that was nominated to the node from the beginning of the reading to its end (Reader)
 *   he gets none twice, and none that was not nominated there at some moment of the reading (Reader)
 *
 * Planted bugs
 *   -DINSTALL_FIRST  the description first, then the hint
 *   -DDROP_PENDING   a copy keeps what is nominated at the moment, only
 *   -DDROP_UNBORN    a copy drops the hints of a life that has not begun
 *   -DOLD_NUMBER     who finds a larger number installs his own all the same: its hint may have been dropped
 *   -DCLEAR_ZERO     with AWAY: a nomination to no node has the number 0: numbers fall
 *   -DSTORE          the pair is stored without comparing
 *   -DHALF_COMPARED  only fresh is compared
 *   -DMOVED_APART    old is cut first, its hints are put into fresh by a second exchange
 *   -DREAD_ONCE      a reader does not look whether the pair was replaced
 *   -DREAD_FRESH     a reader looks whether fresh was replaced, only
 *   -DPENDING_ONCE   a reader does not judge again what was not installed
 *   -DSWEEP_PENDING  a reader's replacement keeps what is nominated at the moment, only
 *   -DNO_FORGET      a reader keeps a pod's older nomination when he meets the newer one
 *   -DUNJUDGED       a reader takes hints for nominations
 *
 * Labels, whose number is always 0, are another model's: label.
 *
 * Bounds: 5 numbers; who would draw more stops. One reading. (--large: A, B as with AWAY, the owner and the reader.)
 *
 * stands for engine/lockfree/signals/nominator.c bucket_load 9dc8c0e4
 * stands for engine/lockfree/signals/nominator.c judge_hint b1803be7
 * stands for engine/lockfree/signals/nominator.c plan_exchange 22de9044
 * stands for engine/lockfree/signals/nominator.c exchange_lists 27235a2f
 * stands for engine/lockfree/signals/nominator.c nominator_insert 8b42deed
 * stands for engine/lockfree/signals/nominator.c read_list bf6ace2b
 * stands for engine/lockfree/signals/nominator.c is_overtaken fe0a5f20
 * stands for engine/lockfree/signals/nominator.c is_replaced 3b5bc41b
 * stands for engine/lockfree/signals/nominator.c put_in_order 612e593c
 * stands for engine/lockfree/signals/nominator.c sweep_bucket c9f601c4
 * stands for engine/lockfree/signals/nominator.c nominator_read 1744d1f7
 * stands for engine/lockfree/moves/describe.c describe_install 743c567d
 */
#define NUMBERS   5

#define OVER      0
#define NOT_YET   1
#define NOMINATED 2

byte life = 1;
bool alive = true;
byte node;              /* the newest description's */
byte number;
byte drawn;
byte node_of[NUMBERS + 1];
byte life_of[NUMBERS + 1];
int fresh;              /* digits: numbers */
int old;
byte fresh_name;        /* address of its head: another for each that is not empty */
byte old_name;
byte names;
byte bucket;            /* ghost: bit n - 1: the hint of number n is in a list */

bool reading;           /* ghosts, by life: nominated to node 1 since the reading began; at some moment of it */
bool stood[3];
bool ever[3];

#define is_there(n) ((n) != 0 && (bucket >> ((n) - 1)) % 2 == 1)
#define is_now(l)   (alive && life == (l) && node == 1)

inline note()
{
    stood[1] = stood[1] && is_now(1);
    stood[2] = stood[2] && is_now(2);
    ever[1] = reading && (ever[1] || is_now(1));
    ever[2] = reading && (ever[2] || is_now(2))
}

/* What the hint h is: into verdict. Uses l, a, m, k. */
inline judge(h)
{
    do
    :: d_step {
            l = life;
            a = alive
        }
        if
#ifndef DROP_UNBORN
        :: l < life_of[h] -> verdict = NOT_YET; break
#else
        :: l < life_of[h] -> verdict = OVER; break
#endif
        :: l > life_of[h] || (l == life_of[h] && !a) -> verdict = OVER; break
        :: l == life_of[h] && a ->
            d_step {
                m = number;
                k = node
            }
            if
            :: life == l && alive ->
                verdict = (m < h -> NOT_YET : (m == h && k == node_of[h] -> NOMINATED : OVER));
                break
            :: else
            fi
        fi
    od;
    skip
}

/* Who stopped for want of numbers has n = 0. */
inline draw(l1, target)
{
    d_step {
        if
        :: drawn < NUMBERS ->
            drawn++;
            n = drawn;
            node_of[n] = target;
            life_of[n] = l1
        :: else -> n = 0
        fi
    }
}

/* Ghost: what the lists have. Uses i. */
inline note_bucket()
{
    bucket = 0;
    i = 0;
    do
    :: i < 8 && (fresh >> (3 * i)) % 8 != 0 ->
        bucket = bucket | (1 << ((fresh >> (3 * i)) % 8 - 1));
        i++
    :: else -> break
    od;
    i = 0;
    do
    :: i < 8 && (old >> (3 * i)) % 8 != 0 ->
        bucket = bucket | (1 << ((old >> (3 * i)) % 8 - 1));
        i++
    :: else -> break
    od;
    i = 0
}

/* The pair becomes {f, o}, in a d_step. */
inline put_pair(f, o)
{
    names++;
    fresh_name = ((f) != 0 -> names : 0);
    old_name = ((o) != 0 && (o) != old -> names : ((o) != 0 -> old_name : 0));
    fresh = f;
    old = o;
    note_bucket()
}

/* Each exchange makes old another, or both empty. */
inline load_pair()
{
    d_step {
        o = old;
        on = old_name
    }
    do
    :: d_step {
            f = fresh;
            fn = fresh_name
        }
        if
        :: old_name == on -> break
        :: else ->
            d_step {
                o = old;
                on = old_name
            }
        fi
    od;
    skip
}

inline insert()
{
    do
    :: load_pair();
        d_step {
            f = f << 3 | n;
            c = 0
        }
        do
        :: c < 2 && o != 0 ->
            judge(o % 8);
            d_step {
                if
#ifdef DROP_PENDING
                :: verdict == NOMINATED -> f = f << 3 | o % 8
#else
                :: verdict != OVER -> f = f << 3 | o % 8
#endif
                :: else
                fi;
                o = o >> 3;
                verdict = OVER;
                l = 0; a = false; m = 0; k = 0;
                c++
            }
        :: else -> break
        od;
        skip;
#ifdef MOVED_APART
        d_step {
            ok = fresh_name == fn && old_name == on;
            if
            :: ok -> on = names + 1; put_pair(fresh, o); fn = fresh_name; on = old_name
            :: else
            fi
        }
#endif
        d_step {
            if
            :: o == 0 -> o = f; f = 0
            :: else
            fi;
#ifdef STORE
            ok = true;
#elif defined(HALF_COMPARED)
            ok = fresh_name == fn;
#else
            ok = fresh_name == fn && old_name == on;
#endif
            if
            :: ok -> put_pair(f, o)
            :: else
            fi;
            f = 0; o = 0; fn = 0; on = 0; c = 0
        }
        if
        :: ok -> break
        :: else
        fi
    od;
    skip
}

/* ok: the description is installed, or the life is over; else a larger number is there. */
inline install(target)
{
    do
    :: d_step {
            a = alive && life == 1;
            m = number;
            k = node
        }
        if
        :: !a -> ok = true; break
#ifndef OLD_NUMBER
        :: a && m > n -> ok = false; break
        :: a && m < n ->
#else
        :: a ->
#endif
            d_step {
                ok = alive && life == 1 && number == m && node == k;
                if
                :: ok ->
#ifdef CLEAR_ZERO
                    number = (target == 0 -> 0 : n);
#else
                    number = n;
#endif
                    node = target;
                    note()
                :: else
                fi
            }
            if
            :: ok -> break
            :: else
            fi
        fi
    od;
    a = false; m = 0; k = 0
}

inline nominate(target)
{
    do
    :: draw(1, target);
        if
        :: n == 0 -> break
        :: else
        fi;
#ifdef INSTALL_FIRST
        install(target);
        if
        :: ok && target != 0 -> insert()
        :: else
        fi;
#else
        if
        :: target != 0 -> insert()
        :: else
        fi;
        install(target);
#endif
        if
        :: ok -> break
        :: else
        fi
    od;
    skip;
    n = 0
}

/* A nomination to each of the nodes that are the digits of the plan, the last one first; 3: to none. */
proctype Nominator(short plan)
{
    byte n, fn, on, c, i, l, m, k, verdict;
    int f, o;
    bool a, ok;
    do
    :: plan > 0 ->
        nominate(plan % 10 % 3);
        plan = plan / 10
    :: plan == 0 -> break
    od
}

proctype Owner()
{
    byte n, fn, on, c, i, l, m, k, verdict;
    int f, o;
    bool a, ok;
    d_step {
        alive = false;
        note()
    }
    draw(2, 1);
    if
    :: n != 0 ->
        insert();
        d_step {
            life = 2;
            alive = true;
            number = n;
            node = 1;
            note()
        }
    :: else
    fi
}

/* Judges the hints of the list `rest`; those of node 1 that are not installed are counted. `take`: nominated ones are got. */
inline look(take)
{
    do
    :: rest != 0 ->
#ifdef UNJUDGED
        verdict = (take -> NOMINATED : NOT_YET);
#else
        judge(rest % 8);
#endif
        d_step {
            if
            :: take && verdict == NOMINATED && node_of[rest % 8] == 1 ->
#ifdef NO_FORGET
                got[life_of[rest % 8]]++
#else
                got[life_of[rest % 8]] = 1
#endif
            :: take && verdict == NOT_YET && node_of[rest % 8] == 1 -> pending++
            :: !take && verdict == NOT_YET && node_of[rest % 8] == 1 -> pending--
            :: else
            fi;
            if
#ifdef SWEEP_PENDING
            :: take && verdict == NOMINATED -> kept = kept << 3 | rest % 8
#else
            :: take && verdict != OVER -> kept = kept << 3 | rest % 8
#endif
            :: else
            fi;
            rest = rest >> 3;
            verdict = OVER;
            l = 0; a = false; m = 0; k = 0
        }
    :: else -> break
    od;
    skip
}

proctype Reader()
{
    byte fn, on, i, l, m, k, verdict, pending;
    byte got[3];
    int f, o, rest, kept;
    bool a, done;
    d_step {
        reading = true;
        stood[1] = is_now(1);
        stood[2] = is_now(2);
        ever[1] = stood[1];
        ever[2] = stood[2]
    }
    do
    :: load_pair();
        rest = f;
        look(true);
        rest = o;
        look(true);
#ifndef PENDING_ONCE
        if
        :: pending != 0 ->
            rest = f;
            look(false);
            rest = o;
            look(false)
        :: else
        fi;
        done = pending == 0;
#else
        done = true;
#endif
#ifdef UNJUDGED
        done = true;
#endif
        if
        :: done ->
#ifndef READ_ONCE
            done = fn == fresh_name;
#ifndef READ_FRESH
            done = done && on == old_name;
#endif
#endif
        :: else
        fi;
        d_step {
            if
            :: done ->
                for (i : 1 .. 2) {
                    assert(!stood[i] || got[i] > 0);
                    assert(got[i] < 2);
                    assert(got[i] == 0 || ever[i])
                }
                reading = false;
                note()
            :: else ->
                got[1] = 0;
                got[2] = 0;
                kept = 0
            fi;
            f = 0; o = 0; pending = 0; i = 0
        }
        if
        :: done -> break
        :: else
        fi
    od;
    skip;
    d_step {
        if
        :: fn == fresh_name && on == old_name && kept != 0 -> put_pair(0, kept)
        :: else
        fi;
        kept = 0; fn = 0; on = 0
    }
}

proctype Observer()
{
end:
    do
    :: assert(!(alive && node != 0) || is_there(number))
    od
}

init
{
    atomic {
        run Nominator(1);
#if defined(AWAY) || defined(LARGE)
        run Nominator(312);
#elif !defined(END)
        run Nominator(31);
#endif
#if !defined(AWAY) && !defined(READ)
        run Owner();
#endif
#if defined(AWAY) || defined(READ) || defined(END) || defined(LARGE)
        run Reader();
#endif
        run Observer()
    }
}
