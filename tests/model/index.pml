/*
 * Index line: tentative cell, commit by the control word, completion by whoever meets it (engine/lockfree/index).
 *
 * A line has a control word {sequence, named position} and CELLS cells. A cell is 0, or holds a pod, that is a record and
 * one of its lives, with the mark TENTATIVE, the mark DEAD, or none. An inserter stores its state word, takes a free cell
 * tentatively and commits with one CAS on the control word, which names the position. A thread that meets a named
 * position whose cell is TENTATIVE completes it: publishes a ref of the pod (settles it), clears TENTATIVE. The name
 * stays, and the next commit goes over it. A free cell is 0, DEAD, or of a life that is over by its state word, not
 * TENTATIVE and not named: a tentative cell belongs to the inserter that took it, and the name to the pod that was
 * committed with it. If there is no free cell but the named one, an inserter takes the name out first. A remover marks
 * the cell of its pod DEAD, TENTATIVE or not, named or not. A cell has no value twice.
 *
 * Inserters of pods 1 and 2, which have the same key, and a deleter that ends the life of one of them, found by key
 * or by a published ref, makes its cell DEAD or does not, and inserts the record's next life at once (pod + RECORDS).
 * With THREE: no deleter, and an inserter of pod 3, which has another key.
 *
 * Claims
 *   a key never lives twice (commit)
 *   nobody reports a pod that is not committed, or whose ref is not published (report)
 *   nobody publishes a pod that is not committed (publish)
 *   no cell of a committed, living pod is overwritten (take_cell)
 *   wherever threads stop, a committed, living pod is findable (Observer, in every state)
 *   a lookup overlooks no pod that lived during the whole lookup (lookup)
 *
 * Planted bugs
 *   -DCOMMIT_WITHOUT_SEQUENCE  the commit compares the position only: two pods with one key
 *   -DCLEAR_WITHOUT_LOOKING    a helper leaves TENTATIVE, and the name goes: a living pod is not findable
 *   -DSETTLE_UNCHECKED         a helper does not read the control word again after the cell: publishes an uncommitted
 *                              pod
 *   -DTAKE_UNCHECKED           an inserter does not read the control word again between cell and CAS: the name of the
 *                              pod that was there commits the one that is put over it
 *   -DEARLY_CLEAR              TENTATIVE is cleared before the ref is published: a pod without a ref is reported
 *   -DNO_LIFE                  a cell names the record without its life
 *   -DCOUNT_TENTATIVE          tentative cells count though no control word names them
 *   -DDEAD_ALIKE               DEAD is one constant: an inserter that has seen it in the cell before takes the cell
 *                              while it is named, and the name commits its pod
 *   -DTAKE_NAMED               the named cell is taken once its pod is over
 *
 * Bounds: one line of 3 cells (NARROW: 2), 3 records, 2 lives each; 2 inserters and a deleter, or 3 inserters
 * (--large: 3 and a deleter). The claims are checked in every prefix, so any number of threads may stop anywhere.
 *
 * stands for engine/lockfree/index/index.c look_around 502c3e67
 * stands for engine/lockfree/index/index_direct.h scan_home 81a4aaea
 * stands for engine/lockfree/index/index.c index_overflow_lets_in e6e269cc
 * stands for engine/lockfree/index/index.c find_stale c9f0b753
 * stands for engine/lockfree/index/index_direct.h take_cell c6029014
 * stands for engine/lockfree/index/index_direct.h commit 2ebae3df
 * stands for engine/lockfree/index/index_direct.h index_insert_directly deb618fd
 * stands for engine/lockfree/index/index.c insert_round 8d92d730
 * stands for engine/lockfree/index/index.c index_finish 6191e542
 * stands for engine/lockfree/index/index.c look_up 29215a82
 * stands for engine/lockfree/index/index.c index_find 6b274c61
 * stands for engine/lockfree/index/index.c index_remove bf582386
 * stands for engine/lockfree/index/index_direct.h index_remove_directly 6aaba1a7
 * stands for engine/lockfree/index/index_line.c index_complete cdc46820
 */
#ifdef NARROW
#define CELLS     2
#else
#define CELLS     3
#endif
#define RECORDS   3
#define PODS      6
#define NONE      7
#define TENTATIVE 8
#define DEAD      16

#define record_of(pod)    (((pod) - 1) % RECORDS)
#define key_of(pod)       ((pod) == 3 || (pod) == 5)
#define has(set, pod)     (((set) >> (pod)) & 1)
#define lives(pod)        (word[record_of(pod)] == (pod))

/* Cell values: the pod that a value names, whether that pod lives, whether the value says that there is a pod. */
#ifdef NO_LIFE
#define cell_of(pod)      (record_of(pod) + 1)
#define pod_of(value)     (word[((value) & 7) - 1])
#define over(value)       (((value) & DEAD) || pod_of(value) == 0)
#else
#define cell_of(pod)      (pod)
#define pod_of(value)     ((value) & 7)
#define over(value)       (((value) & DEAD) || !lives(pod_of(value)))
#endif
#ifdef COUNT_TENTATIVE
#define counts(value)     true
#else
#define counts(value)     (!((value) & TENTATIVE))
#endif

byte word[RECORDS];     /* state word: the pod while its life lasts, else 0 */
byte sequence;          /* control word, first half */
byte position = NONE;   /* control word, second half */
#ifdef DEAD_ALIKE
#define dead_of(pod)      DEAD
byte cell[CELLS] = DEAD;
#else
#define dead_of(pod)      (cell_of(pod) | DEAD)
byte cell[CELLS];
#endif
byte committed;         /* ghost: set of pods */
byte published;         /* pods with a ref in a lane or a run */

inline cas_cell(at, from, to)
{
    d_step {
        ok = (cell[at] == (from));
        if
        :: ok -> cell[at] = (to)
        :: else
        fi
    }
}

/* The body of every CAS on the control word. Its callers make it one step. */
inline swap_control(new_position)
{
#ifdef COMMIT_WITHOUT_SEQUENCE
    ok = (position == c_position);
#else
    ok = (position == c_position && sequence == c_sequence);
#endif
    if
    :: ok ->
        sequence++;
        position = new_position
    :: else
    fi
}

inline cas_control(new_position)
{
    d_step {
        swap_control(new_position)
    }
}

inline read_control()
{
    d_step {
        c_sequence = sequence;
        c_position = position
    }
}

/* The control word read again: is it still what read_control saw? */
inline check_control()
{
    ok = (sequence == c_sequence && position == c_position)
}

inline publish(pod)
{
    d_step {
        assert(has(committed, pod));
        published = published | (1 << (pod))
    }
}

inline report(pod)
{
    d_step {
        assert(has(committed, pod));
        assert(has(published, pod))
    }
}

/* Completes the position that c_sequence, c_position name. ok = the name was still there when the cell was read. */
inline complete()
{
    value = cell[c_position];
#ifdef SETTLE_UNCHECKED
    ok = true;
#else
    check_control();
#endif
    if
    :: ok && (value & TENTATIVE) ->
#ifndef CLEAR_WITHOUT_LOOKING
        if
        :: !over(value) -> publish(pod_of(value))
        :: else
        fi;
        cas_cell(c_position, value, value & 7);
#endif
        ok = true
    :: else
    fi
}

#ifndef TAKE_NAMED
#define may_take(i)       ((i) != c_position)
#else
#define may_take(i)       true
#endif

/* Scans the line under the control word read last, which names no tentative cell: found = living pod with the key,
 * spare = a free cell and its value. */
inline scan_for_insert(pod)
{
    found = 0;
    spare = NONE;
    i = 0;
    do
    :: i < CELLS ->
        value = cell[i];
        if
        :: (value & 7) == 0 || (!(value & TENTATIVE) && over(value)) ->
            if /* of several any; the code takes the first */
            :: may_take(i) && (spare == NONE || value != 0) ->
                spare = i;
                spare_value = value
            :: !may_take(i) || spare != NONE
            fi
        :: else ->
            if
            :: counts(value) && pod_of(value) != pod && key_of(pod_of(value)) == key_of(pod) ->
                found = pod_of(value)
            :: else
            fi
        fi;
        i++
    :: else -> break
    od;
    value = 0;
    i = 0
}

/* Takes the spare cell, if nothing was committed since the scan began. */
inline take_cell(pod)
{
#ifdef TAKE_UNCHECKED
    ok = true;
#else
    check_control();
#endif
    if
    :: ok ->
        d_step {
            ok = (cell[spare] == spare_value);
            if
            :: ok ->
                assert((spare_value & 7) == 0 || over(spare_value) ||
                       !has(committed, pod_of(spare_value)));
                cell[spare] = cell_of(pod) | TENTATIVE;
                mine = spare
            :: else
            fi
        }
    :: else
    fi;
    spare = NONE;
    spare_value = 0
}

inline commit(pod)
{
    d_step {
        swap_control(mine);
        if
        :: ok ->
            c_sequence++;
            c_position = mine;
            committed = committed | (1 << pod)
        :: else
        fi;
        for (i : 1 .. PODS) {
            assert(!ok || i == pod || !has(committed, i) || !lives(i) || key_of(i) != key_of(pod))
        }
        i = 0
    }
}

inline insert(pod)
{
    word[record_of(pod)] = pod;
    mine = NONE;
    do
    :: read_control();
        ok = true;
        if
        :: c_position != NONE ->
            complete()
        :: else
        fi;
        if
        :: ok ->
            scan_for_insert(pod);
            if
            :: found ->
                report(found);
                break
            :: else
            fi;
            if
            :: mine == NONE && spare == NONE && c_position == NONE -> break
            :: mine == NONE && spare == NONE && c_position != NONE -> cas_control(NONE)
            :: mine == NONE && spare != NONE -> take_cell(pod)
            :: else
            fi;
            if
            :: mine != NONE ->
                commit(pod);
                if
                :: ok -> break
                :: else
                fi
            :: else
            fi
        :: else
        fi
    od;
    if
    :: has(committed, pod) ->
#ifdef EARLY_CLEAR
        cas_cell(mine, cell_of(pod) | TENTATIVE, cell_of(pod));
        publish(pod)
#else
        publish(pod);
        cas_cell(mine, cell_of(pod) | TENTATIVE, cell_of(pod))
#endif
    :: else ->
        if
        :: mine != NONE -> cas_cell(mine, cell_of(pod) | TENTATIVE, dead_of(pod))
        :: else
        fi;
        word[record_of(pod)] = 0
    fi
}

/* found = a living pod with the key, or 0. A tentative cell counts if the control word, read before, names it. */
inline lookup(key)
{
    d_step {
        before = 0;
        for (i : 1 .. PODS) {
            if
            :: has(committed, i) && lives(i) && key_of(i) == key -> before = i
            :: else
            fi
        }
        i = 0
    }
    do
    :: read_control();
        found = 0;
        ok = true;
        i = 0;
        do
        :: i < CELLS && !found && ok ->
            value = cell[i];
            if
            :: (value & 7) == 0 || over(value) || key_of(pod_of(value)) != key -> skip
            :: else ->
                if
                :: !(value & TENTATIVE) -> found = pod_of(value)
                :: (value & TENTATIVE) && i == c_position ->
                    complete();
                    if
                    :: ok -> found = pod_of(value)
                    :: else
                    fi
                :: else
                fi
            fi;
            i++
        :: else -> break
        od;
        if
        :: ok -> break
        :: else
        fi
    od;
    i = 0;
    d_step {
        assert(found || !before || !lives(before));
        before = 0;
        value = 0
    }
    if
    :: found -> report(found)
    :: else
    fi
}

/* Best effort, after the end of the pod's life. */
inline remove(pod)
{
    i = 0;
    do
    :: i < CELLS ->
        value = cell[i];
        if
        :: (value & ~TENTATIVE) == cell_of(pod) -> break
        :: else -> i++
        fi
    :: else -> break
    od;
    if
    :: i < CELLS ->
        cas_cell(i, value, dead_of(pod));
        if
        :: !ok -> cas_cell(i, cell_of(pod), dead_of(pod))
        :: else
        fi
    :: else
    fi;
    value = 0;
    i = 0
}

proctype Inserter(byte pod)
{
    byte c_sequence, c_position, value, i, mine, spare, spare_value, found;
    bool ok;
    insert(pod)
}

proctype Deleter()
{
    byte c_sequence, c_position, value, i, mine, spare, spare_value, found, before;
    bool ok;
    if
    :: lookup(0)
    :: has(published, 1) -> found = 1
    :: has(published, 2) -> found = 2
    :: has(published, 3) -> found = 3
    fi;
    if
    :: found ->
        d_step {
            ok = lives(found);
            if
            :: ok -> word[record_of(found)] = 0
            :: else
            fi
        }
        if
        :: ok ->
            if
            :: remove(found)
            :: skip
            fi;
            mine = found;
            found = 0;
            before = mine + RECORDS;
            insert(before)
        :: else
        fi
    :: else
    fi
}

proctype Observer()
{
    byte p, at;
    bool seen;
end:
    do
    :: d_step {
        for (p : 1 .. PODS) {
            if
            :: has(committed, p) && lives(p) ->
                seen = false;
                for (at : 0 .. CELLS - 1) {
                    seen = seen || cell[at] == cell_of(p) ||
                           (cell[at] == (cell_of(p) | TENTATIVE) && position == at)
                }
                assert(seen)
            :: else
            fi
        }
        p = 0;
        at = 0;
        seen = false
    }
    od
}

init
{
    atomic {
        run Inserter(1);
        run Inserter(2);
#if defined(THREE) || defined(LARGE)
        run Inserter(3);
#endif
#if !defined(THREE) || defined(LARGE)
        run Deleter();
#endif
        run Observer()
    }
}
