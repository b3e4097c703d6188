/*
 * Nominations (engine/lockfree: nominator).
 *
 * A description carries {node, number}; numbers are drawn, and those of a life only grow. The hints of a bucket are an
 * immutable array, replaced by one CAS; here it is a set of numbers, and a number says of which life and node its hint
 * is. Whoever nominates draws, inserts, and installs the description by a CAS on the life's word and the description as he
 * read them; if that has a larger number, he draws again. An insertion copies the hints but those that nobody will need:
 * each is judged by looks at the word, the description and the word again.
 *
 * A record with two lives. A nominates life 1 to node 1. B nominates it to node 1, too, and then to none. An owner ends
 * life 1, inserts the nomination with which life 2 begins, and begins it. A reader reads node 1. With AWAY there is no
 * owner, and B nominates to node 2, which has the same bucket, then to 1, then to none.
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
 *   -DSTORE          the array is stored without comparing
 *   -DREAD_ONCE      a reader does not look whether the array was replaced
 *   -DNO_FORGET      a reader keeps a pod's older nomination when he meets the newer one
 *   -DUNJUDGED       a reader takes hints for nominations
 *
 * Bounds: 6 numbers; who would draw more stops. One reading. (--large: B as with AWAY, and the owner, too.)
 */
#define NUMBERS   6

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
byte bucket;            /* bit n - 1: the hint of number n */
byte bucket_version;

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

inline insert()
{
    do
    :: d_step {
            old = bucket;
            seen = bucket_version;
            copy = 0;
            i = 1
        }
        do
        :: i <= NUMBERS && (old >> (i - 1)) % 2 == 1 ->
            judge(i);
            d_step {
                if
#ifdef DROP_PENDING
                :: verdict == NOMINATED -> copy = copy | (1 << (i - 1))
#else
                :: verdict != OVER -> copy = copy | (1 << (i - 1))
#endif
                :: else
                fi;
                verdict = OVER;
                l = 0; a = false; m = 0; k = 0;
                i++
            }
        :: i <= NUMBERS && (old >> (i - 1)) % 2 == 0 -> i++
        :: i > NUMBERS -> break
        od;
        skip;
        d_step {
            ok = false;
            if
#ifdef STORE
            :: true ->
#else
            :: bucket_version == seen ->
#endif
                bucket = copy | (1 << (n - 1));
                bucket_version++;
                ok = true
#ifndef STORE
            :: else
#endif
            fi;
            old = 0; seen = 0; copy = 0; i = 0
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
    byte n, old, seen, copy, i, l, m, k, verdict;
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
    byte n, old, seen, copy, i, l, m, k, verdict;
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

proctype Reader()
{
    byte old, seen, i, l, m, k, verdict;
    byte got[3];
    bool a, done;
    d_step {
        reading = true;
        stood[1] = is_now(1);
        stood[2] = is_now(2);
        ever[1] = stood[1];
        ever[2] = stood[2];
        old = bucket;
        seen = bucket_version;
        i = 1
    }
    do
    :: i <= NUMBERS && (old >> (i - 1)) % 2 == 1 && node_of[i] == 1 ->
#ifdef UNJUDGED
        verdict = NOMINATED;
#else
        judge(i);
#endif
        d_step {
            if
            :: verdict == NOMINATED ->
#ifdef NO_FORGET
                got[life_of[i]]++
#else
                got[life_of[i]] = 1
#endif
            :: else
            fi;
            verdict = OVER;
            l = 0; a = false; m = 0; k = 0;
            i++
        }
    :: i <= NUMBERS && !((old >> (i - 1)) % 2 == 1 && node_of[i] == 1) -> i++
    :: i > NUMBERS ->
        d_step {
#ifdef READ_ONCE
            done = true;
#else
            done = seen == bucket_version;
#endif
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
                old = bucket;
                seen = bucket_version;
                got[1] = 0;
                got[2] = 0
            fi;
            i = 1
        }
        if
        :: done -> break
        :: else
        fi
    od;
    skip
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
#else
        run Nominator(31);
#endif
#ifndef AWAY
        run Owner();
#endif
        run Reader();
        run Observer()
    }
}
