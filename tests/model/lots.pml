/*
 * Making lots (engine/lockfree: lots).
 *
 * `order` has the lots in the order of their making, each cell goes from 0 to a lot once, in turn; `table` finds them by
 * key, by open addressing: here all keys meet in cell 0. Lots with numbers below `indexed` are in the table. Who looks a
 * key up reads `indexed`, then the table; if the key is not there, he claims the cell of that number with a lot of his
 * own, or takes the one that is there; puts it into the table, if it is not there; raises `indexed`; and begins again if the
 * key is another. Beyond MAX lots he gets the catch-all. An iteration walks `order` to the first 0.
 *
 * Claims
 *   who gets a lot gets that of his key, and the same as everybody else (get)
 *   the catch-all only if there are MAX lots (get)
 *   an iteration meets each lot that somebody had got before it began (Iterator)
 *   no lot is twice in the table (Observer)
 *
 * Planted bugs
 *   -DNUMBER_LATE   `indexed` is read behind the table: a lot of the key may have come in between
 *   -DRAISE_FIRST   `indexed` is raised before the lot is in the table
 *   -DNO_HELP       who finds the cell taken raises `indexed` and leaves the table to its maker
 *   -DTABLE_FIRST   a lot goes into the table, then into `order`, where another one may be
 *   -DTWICE         who puts a lot into the table does not look whether it is there
 *   -DANY_KEY       who finds the cell taken takes its lot, whatever the key
 *
 * Bounds: three who look up the keys 1, 1, 2 (--large: and 3), 2 lots, one iteration. Each may stop anywhere.
 */
#ifdef LARGE
#define GETTERS 4
#else
#define GETTERS 3
#endif
#define MAX       2
#define CELLS     4
#define CATCH_ALL 9

byte order[MAX + 1];    /* of lots; a lot is named by its maker, from 1 */
byte table[CELLS];
byte indexed;
byte key_of[GETTERS + 1];
byte got[4];            /* ghost: by key, the lot that somebody got */

inline put_into_table(lot)
{
    i = 0;
    do
    :: i < CELLS ->
        d_step {
            found = table[i];
            if
            :: found == 0 -> table[i] = lot
            :: else
            fi
        }
        if
#ifdef TWICE
        :: found == 0 -> break
        :: else -> i++
#else
        :: found == 0 || found == lot -> break
        :: else -> i++
#endif
        fi
    :: else -> break
    od;
    i = 0;
    found = 0
}

inline look_up()
{
    i = 0;
    do
    :: i < CELLS ->
        lot = table[i];
        if
        :: lot == 0 -> break
        :: lot != 0 && key_of[lot] == key -> break
        :: else -> i++
        fi
    :: else -> lot = 0; break
    od;
    i = 0
}

inline raise()
{
    d_step {
        if
        :: indexed == n -> indexed = n + 1
        :: else
        fi
    }
}

inline claim()
{
    d_step {
        if
        :: order[n] == 0 -> order[n] = me
        :: else
        fi;
        lot = order[n]
    }
}

proctype Getter(byte me; byte key)
{
    byte n, lot, i, found;
    key_of[me] = key;
    do
    :: true ->
#ifndef NUMBER_LATE
        n = indexed;
        look_up();
#else
        look_up();
        n = indexed;
#endif
        if
        :: lot != 0 -> break
        :: lot == 0 && n == MAX -> lot = CATCH_ALL; break
        :: else
        fi;
#ifdef TABLE_FIRST
        if
        :: order[n] == 0 -> put_into_table(me)
        :: else
        fi;
#endif
        claim();
#ifdef RAISE_FIRST
        raise();
#endif
#ifdef NO_HELP
        if
        :: lot == me -> put_into_table(lot)
        :: else
        fi;
#else
        put_into_table(lot);
#endif
        raise();
#ifdef ANY_KEY
        break
#else
        if
        :: key_of[lot] == key -> break
        :: else
        fi
#endif
    od;
    skip;
    d_step {
        if
        :: lot == CATCH_ALL -> assert(order[MAX - 1] != 0)
        :: else ->
            assert(key_of[lot] == key);
            assert(got[key] == 0 || got[key] == lot);
            got[key] = lot
        fi
    }
}

proctype Iterator()
{
    byte before[4];
    byte n, lot, met;
    d_step {
        for (n : 1 .. 3) {
            before[n] = got[n]
        }
        n = 0
    }
    do
    :: n < MAX ->
        lot = order[n];
        if
        :: lot == 0 -> break
        :: else -> met = met | (1 << lot); n++
        fi
    :: else -> break
    od;
    skip;
    d_step {
        for (n : 1 .. 3) {
            assert(before[n] == 0 || (met >> before[n]) % 2 == 1)
        }
    }
}

proctype Observer()
{
    byte i, j;
end:
    do
    :: d_step {
            for (i : 0 .. CELLS - 2) {
                for (j : i + 1 .. CELLS - 1) {
                    assert(table[i] == 0 || table[i] != table[j])
                }
            }
            i = 0;
            j = 0
        }
    od
}

init
{
    atomic {
        run Getter(1, 1);
        run Getter(2, 1);
        run Getter(3, 2);
#ifdef LARGE
        run Getter(4, 3);
#endif
        run Iterator();
        run Observer()
    }
}
