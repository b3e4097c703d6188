/*
 * Growth of the index: one line moves into the next table while it is used (engine/lockfree/index, index_growth).
 *
 * The line protocol is that of index.pml. Here a next table exists. Movers are no inserters: while the old line is not
 * MOVED nobody else writes its line in the next table, which is all 0 at first, and nothing becomes 0 again. A mover
 * completes the named position, freezes the control word, puts every living settled cell into the first cell of the
 * next line that is 0, unless he finds it before that, and marks the old line MOVED. A late mover finds the pod, or
 * puts one that is over into a cell that was never used. An inserter that sees the next table moves his line first and
 * then works in the next one; what he has taken in the old line stays there. Lookups and removers help nobody: they
 * read the old line until it is MOVED.
 *
 * Pod 1 and pod 4, which has another key and lives on, are in the old line. An inserter of pod 2, which has the key of
 * pod 1, and the deleter of pod 1, which inserts the record's next life (pod 3, same key) at once, begin before or
 * after the next table appears; a helper only moves the line. With LOOKUP a lookup and a thread that ends pod 1 stand
 * for the deleter. With REMOVER two helpers, the inserter, and a thread that ends pod 1 and removes it.
 *
 * Claims
 *   a key never lives twice (commit)
 *   nobody publishes or reports a pod that is not committed (publish, report)
 *   no cell of a living pod is overwritten (take_cell)
 *   nobody but movers writes the next line before the old one is MOVED (take_cell, remove)
 *   wherever threads stop, a committed, living pod is findable in the line that counts, and has one cell there
 *   (Observer, in every state)
 *   a lookup overlooks no pod that lived during the whole lookup (Lookup)
 *
 * Planted bugs
 *   -DMOVER_INSERTS     a mover inserts as anybody does: he commits a pod that ends under his hands, and its value
 *                       repeats in a cell
 *   -DREMOVE_TO_ZERO    a removed cell is 0 again: a late mover gives a living pod a second cell
 *   -DMOVE_ANYWHERE     a mover takes the first cell that is 0, also after the pod: a second cell
 *   -DNO_FREEZE         the old line stays open while it is moved: a commit behind the mover's back is lost
 *   -DFREEZE_OVER_NAME  frozen although a position is named: a committed pod is lost
 *   -DNO_HELP           an inserter goes on to the next table before his line is moved
 *   -DMOVED_EARLY       the line is marked MOVED before its cells are in the next one: a living pod is not findable
 *   -DSTAY              an inserter that has taken a cell commits in the old line whatever the mark says
 *   -DLOOK_AT_OLD_ONLY  with LOOKUP: a lookup does not look at the mark and stays in the old line
 *
 * Bounds: one line of 3 cells, the next of 4, 3 records, 4 pods. Any number may stop anywhere. --large: REMOVER too.
 *
 * stands for engine/lockfree/index/index_growth.c place_cell 5464fc96
 * stands for engine/lockfree/index/index_growth.c copy_line 2ba33860
 * stands for engine/lockfree/index/index_growth.c index_move_line 63671752
 * stands for engine/lockfree/index/index.c go_on 943ac2f7
 * stands for engine/lockfree/index/index.c find_line e41b486d
 * stands for engine/lockfree/index/index_direct.h index_insert_directly deb618fd
 * stands for engine/lockfree/index/index.c insert_round 8d92d730
 * stands for engine/lockfree/index/index.c look_up 29215a82
 * stands for engine/lockfree/index/index.c index_remove bf582386
 * stands for engine/lockfree/index/index_direct.h index_remove_directly 6aaba1a7
 */
#define CELLS     3
#define NEXT      4
#define RECORDS   3
#define PODS      4
#define NONE      7
#define TENTATIVE 8
#define DEAD      16

#define OPEN      0
#define FROZEN    1
#define MOVED     2

#define record_of(pod)    ((pod) == 4 -> 2 : ((pod) == 2 -> 1 : 0))
#define key_of(pod)       ((pod) == 4)
#define has(set, pod)     (((set) >> (pod)) & 1)
#define lives(pod)        (word[record_of(pod)] == (pod))
#define pod_of(value)     ((value) & 7)
#define over(value)       (((value) & DEAD) || !lives(pod_of(value)))
#define cells_of(line)    (CELLS + (line) * (NEXT - CELLS))
#define at(line, i)       cell[(line) * CELLS + (i)]

byte word[RECORDS];
byte sequence[2];
byte position[2] = NONE;
byte mark[2];
byte cell[CELLS + NEXT];
byte committed;         /* ghost: set of pods */
byte published;         /* pods with a ref in a lane or a run */
bool growing;           /* the old table has a next one */

inline read_control(line)
{
    d_step {
        c_sequence = sequence[line];
        c_position = position[line];
        c_mark = mark[line]
    }
}

inline check_control(line)
{
    ok = (sequence[line] == c_sequence && position[line] == c_position && mark[line] == c_mark)
}

/* The body of every CAS on a control word. Its callers make it one step. */
inline swap_control(line, new_position, new_mark)
{
    check_control(line);
    if
    :: ok ->
        sequence[line]++;
        position[line] = new_position;
        mark[line] = new_mark
    :: else
    fi
}

inline cas_control(line, new_position, new_mark)
{
    d_step {
        swap_control(line, new_position, new_mark)
    }
}

inline cas_cell(line, i, from, to)
{
    d_step {
        ok = (at(line, i) == (from));
        if
        :: ok -> at(line, i) = (to)
        :: else
        fi
    }
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

/* As in index.pml. */
inline complete(line)
{
    value = at(line, c_position);
    check_control(line);
    if
    :: ok ->
        if
        :: value & TENTATIVE ->
            if
            :: !over(value) && !has(published, pod_of(value)) -> publish(pod_of(value))
            :: else
            fi;
            cas_cell(line, c_position, value, pod_of(value))
        :: else
        fi;
        cas_control(line, NONE, c_mark);
        ok = true
    :: else
    fi;
    value = 0
}

#define spare_cell(value) ((value) == 0 || (!((value) & TENTATIVE) && over(value)))

/* As in index.pml: found = living settled pod with the key, which is the pod itself when a line is moved. The cell and
 * the state word of the pod in it are read in one step. */
inline scan(pod, line)
{
    d_step {
        found = 0;
        spare = NONE;
        i = 0
    }
    do
    :: d_step {
        i < cells_of(line) ->
        value = at(line, i);
        if
        :: spare_cell(value) ->
            if
            :: spare == NONE && i != c_position ->
                spare = i;
                spare_value = value
            :: else
            fi
        :: else ->
            if
            :: !(value & TENTATIVE) && !over(value) && key_of(pod_of(value)) == key_of(pod) -> found = pod_of(value)
            :: else
            fi
        fi;
        value = 0;
        i++
    }
    :: else -> break
    od;
    i = 0
}

inline take_cell(pod, line)
{
    check_control(line);
    if
    :: ok ->
        d_step {
            ok = (at(line, spare) == spare_value);
            if
            :: ok ->
                assert(spare_value == 0 || over(spare_value));
#ifndef MOVER_INSERTS
                assert((line) == 0 || mark[0] == MOVED);
#endif
                at(line, spare) = (pod) | TENTATIVE;
                mine = spare
            :: else
            fi
        }
    :: else
    fi;
    spare = NONE;
    spare_value = 0
}

inline commit(pod, line)
{
    d_step {
        swap_control(line, mine, c_mark);
        if
        :: ok ->
            c_sequence++;
            c_position = mine;
            committed = committed | (1 << (pod))
        :: else
        fi;
        for (i : 1 .. PODS) {
            assert(!ok || i == (pod) || !has(committed, i) || !lives(i) || !lives(pod) || key_of(i) != key_of(pod))
        }
        i = 0
    }
}

/* Does the control word name no tentative cell? */
#define clear(line)       (c_position == NONE || !(at(line, c_position) & TENTATIVE))

/* Puts the pod into the line: placed, or found = who is there, or neither: the line is no longer open. */
inline place(pod, line)
{
    mine = NONE;
    placed = false;
    found = 0;
    do
    :: read_control(line);
        if
#ifdef STAY
        :: c_mark != OPEN && mine == NONE -> break
        :: (c_mark == OPEN || mine != NONE) && !clear(line) -> complete(line)
#else
        :: c_mark != OPEN -> break
        :: c_mark == OPEN && !clear(line) -> complete(line)
#endif
        :: else ->
            scan(pod, line);
            if
            :: found -> break
            :: else
            fi;
            if
            :: mine == NONE && spare != NONE -> take_cell(pod, line)
            :: mine == NONE && spare == NONE && c_position != NONE -> complete(line)
            :: else
            fi;
            if
            :: mine != NONE ->
                commit(pod, line);
                if
                :: ok ->
                    placed = true;
                    break
                :: else
                fi
            :: else
            fi
        fi
    od;
    spare = NONE;
    spare_value = 0;
    if
    :: !placed && c_mark == OPEN && mine != NONE -> cas_cell(line, mine, (pod) | TENTATIVE, (pod) | DEAD)
    :: else
    fi
}

/* After a commit. */
inline settle(pod, line)
{
    cas_cell(line, mine, (pod) | TENTATIVE, pod)
}

/* A mover's: into the first cell that is 0, unless the pod is found before that. */
inline place_cell()
{
    to = 0;
    do
    :: to < NEXT ->
        d_step {
            placed = (at(1, to) == 0);
#ifndef MOVE_ANYWHERE
            found = (at(1, to) == carried);
#endif
            if
            :: placed -> at(1, to) = carried
            :: else
            fi
        }
        if
        :: placed || found -> break
        :: else -> to++
        fi
    :: else -> break
    od;
    to = 0;
    placed = false;
    found = 0
}

inline copy_line()
{
    from = 0;
    do
    :: from < CELLS ->
        d_step {
            carried = at(0, from);
            from++;
            if
            :: carried != 0 && !(carried & TENTATIVE) && !over(carried) -> skip
            :: else -> carried = 0
            fi
        }
        if
        :: carried != 0 ->
#ifdef MOVER_INSERTS
            place(carried, 1);
            if
            :: placed -> settle(carried, 1)
            :: else
            fi
#else
            place_cell()
#endif
        :: else
        fi
    :: else -> break
    od;
    from = 0;
    carried = 0
}

/* Moves the old line. Whoever ends it knows that it is MOVED. */
inline move_line()
{
    do
    :: read_control(0);
        if
        :: c_mark == MOVED -> break
#ifdef FREEZE_OVER_NAME
        :: c_mark == OPEN -> cas_control(0, c_position, FROZEN)
#else
        :: c_mark != MOVED && c_position != NONE -> complete(0)
#ifdef NO_FREEZE
        :: c_mark == OPEN && c_position == NONE ->
            copy_line();
            mark[0] = MOVED
#else
        :: c_mark == OPEN && c_position == NONE -> cas_control(0, NONE, FROZEN)
#endif
#endif
        :: c_mark == FROZEN ->
#ifdef MOVED_EARLY
            mark[0] = MOVED;
            copy_line()
#else
            copy_line();
#ifdef MOVER_INSERTS
            mark[0] = MOVED
#else
            cas_control(0, c_position, MOVED)
#endif
#endif
        fi
    od
}

/* The line to work in: the old one while nothing grows, else the next one, after the old one was moved. */
inline choose_line()
{
    if
    :: !growing -> line = 0
    :: else ->
#ifndef NO_HELP
        move_line();
#endif
        line = 1
    fi
}

inline leave_old_line()
{
#ifndef NO_HELP
    move_line();
#endif
    line = 1
}

inline insert(pod)
{
    word[record_of(pod)] = (pod);
    choose_line();
    place(pod, line);
    if
    :: !placed && !found ->
        leave_old_line();
        place(pod, line)
    :: else
    fi;
    if
    :: placed ->
        publish(pod);
        settle(pod, line)
    :: else ->
        report(found);
        word[record_of(pod)] = 0
    fi
}

inline look(line)
{
    do
    :: read_control(line);
        found = 0;
        ok = true;
        i = 0;
#ifndef LOOK_AT_OLD_ONLY
        if
        :: line == 0 && c_mark == MOVED ->
            line = 1;
            read_control(1)
        :: else
        fi;
#endif
        do
        :: i < cells_of(line) && !found && ok ->
            d_step {
                carried = at(line, i);
                if
                :: carried == 0 || over(carried) || key_of(pod_of(carried)) -> carried = 0
                :: (carried & TENTATIVE) && i != c_position -> carried = 0
                :: else
                fi;
                i++
            }
            if
            :: carried != 0 && (carried & TENTATIVE) -> complete(line)
            :: else
            fi;
            if
            :: carried != 0 && ok -> found = pod_of(carried)
            :: else
            fi
        :: else -> break
        od;
        if
        :: ok -> break
        :: else
        fi
    od;
    carried = 0;
    i = 0
}

proctype Inserter()
{
    byte c_sequence, c_position, c_mark, value, i, mine, spare, spare_value, found, from, to, carried, line;
    bool ok, placed;
    insert(2)
}

/* After the end of the pod's life. */
inline remove(pod)
{
    line = 0;
    read_control(0);
    if
    :: c_mark == MOVED ->
        line = 1;
        read_control(1)
    :: else
    fi;
    i = 0;
    do
    :: i < cells_of(line) ->
        value = at(line, i);
        if
        :: (value & ~TENTATIVE) == (pod) -> break
        :: else -> i++
        fi
    :: else -> break
    od;
    if
    :: i < cells_of(line) ->
        assert(line == 0 || mark[0] == MOVED);
#ifdef REMOVE_TO_ZERO
        cas_cell(line, i, value, 0)
#else
        cas_cell(line, i, value, (pod) | DEAD)
#endif
    :: else
    fi;
    value = 0;
    i = 0
}

proctype Deleter()
{
    byte c_sequence, c_position, c_mark, value, i, mine, spare, spare_value, found, from, to, carried, line;
    bool ok, placed;
    d_step {
        ok = lives(1);
        word[record_of(1)] = 0
    }
    if
    :: remove(1)
    :: skip
    fi;
    insert(3)
}

proctype Remover()
{
    byte c_sequence, c_position, c_mark, value, i, line;
    bool ok;
    word[record_of(1)] = 0;
    remove(1)
}

proctype Lookup()
{
    byte c_sequence, c_position, c_mark, value, i, mine, spare, spare_value, found, from, to, carried, line;
    byte before;
    bool ok, placed;
    d_step {
        for (i : 1 .. PODS) {
            if
            :: has(committed, i) && lives(i) && !key_of(i) -> before = i
            :: else
            fi
        }
        i = 0
    }
    line = 0;
    look(line);
    assert(found || !before || !lives(before));
    if
    :: found -> report(found)
    :: else
    fi
}

proctype Helper()
{
    byte c_sequence, c_position, c_mark, value, i, mine, spare, spare_value, found, from, to, carried;
    bool ok, placed;
    growing = true;
    move_line()
}

proctype Observer()
{
    byte p, k, seen;
end:
    do
    :: d_step {
        for (p : 1 .. PODS) {
            if
            :: has(committed, p) && lives(p) ->
                seen = 0;
                if
                :: mark[0] != MOVED ->
                    for (k : 0 .. CELLS - 1) {
                        seen = seen + (at(0, k) == p || (at(0, k) == (p | TENTATIVE) && position[0] == k))
                    }
                :: else ->
                    for (k : 0 .. NEXT - 1) {
                        seen = seen + (at(1, k) == p || (at(1, k) == (p | TENTATIVE) && position[1] == k))
                    }
                fi;
                assert(seen == 1)
            :: else
            fi
        }
        p = 0;
        k = 0;
        seen = 0
    }
    od
}

/* Ends pod 1. */
proctype Killer()
{
    word[record_of(1)] = 0
}

init
{
    atomic {
        word[0] = 1;
        word[2] = 4;
        at(0, 0) = 1;
        at(0, 1) = 4;
        committed = (1 << 1) | (1 << 4);
        published = committed;
#ifdef LOOKUP
        run Inserter();
        run Lookup();
        run Killer();
        run Helper();
#else
#ifdef REMOVER
        run Inserter();
        run Helper();
        run Helper();
        run Remover();
#else
        run Inserter();
        run Deleter();
        run Helper();
#endif
#endif
        run Observer()
    }
}
