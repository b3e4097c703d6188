/*
 * Growth of the index: one line moves into the next table while it is used (engine/lockfree/index).
 *
 * The line protocol is that of index.pml. Here a next table exists. Whoever meets the old line first moves it:
 * completes the named position, freezes the control word, inserts every living settled cell into the next line with
 * the ordinary insert (finding the pod there is success, and there is nothing to publish), marks the old line MOVED,
 * and only then does his own work in the next line. An inserter that had begun in the old line leaves its tentative
 * cell there.
 *
 * The pod that is moved may end its life under the mover, so he looks at its state word again after each scan of the
 * next line and before he takes a cell there: else a pod that is over comes back into a cell that held it, and values
 * repeat.
 *
 * Pod 1 lives in the old line. An inserter of pod 2, which has its key, and the deleter of pod 1, which inserts the
 * record's next life (pod 3, same key) at once, begin before or after the next table appears; a helper only moves the
 * line. With LOOKUP a lookup and a thread that ends pod 1 stand for the deleter and the helper. With REMOVER two
 * helpers, the inserter, the end of pod 1, and a late remover that marks a cell of the next line.
 *
 * Claims
 *   a key never lives twice (commit)
 *   nobody publishes or reports a pod that is not committed (publish, report)
 *   no cell of a living pod is overwritten (take_cell)
 *   wherever threads stop, a committed, living pod is findable in the line that counts (Observer, in every state)
 *   a lookup overlooks no pod that lived during the whole lookup (Lookup)
 *
 * Planted bugs
 *   -DTAKE_TENTATIVE    a tentative cell of a life that is over counts as free: a mover's commit names the pod put
 *                       over it
 *   -DONE_LOOK          the mover does not look at the state word again after the scan: so too, by a value that
 *                       repeats
 *   -DNO_FREEZE         the old line stays open while it is moved: a commit behind the mover's back is lost
 *   -DFREEZE_OVER_NAME  frozen although a position is named: a committed pod is lost
 *   -DNO_HELP           who meets a frozen line goes on to the next table: a living pod is not findable
 *   -DMOVED_EARLY       the line is marked MOVED before its cells are in the next one: a living pod is not findable
 *   -DSTAY              an inserter that has taken a cell commits in the old line whatever the mark says
 *   -DLOOK_AT_OLD_ONLY  with LOOKUP: a lookup does not look at the mark and stays in the old line
 *
 * Bounds: one line of 2 cells, the next of 3, 2 records, 3 lives. Any number may stop anywhere. --large: REMOVER
 * too.
 */
#define CELLS     2
#define NEXT      3
#define RECORDS   2
#define PODS      3
#define NONE      7
#define TENTATIVE 8
#define DEAD      16

#define OPEN      0
#define FROZEN    1
#define MOVED     2

#define record_of(pod)    (((pod) - 1) % RECORDS)
#define has(set, pod)     (((set) >> (pod)) & 1)
#define lives(pod)        (word[record_of(pod)] == (pod))
#define pod_of(value)     ((value) & 7)
#define over(value)       (!lives(pod_of(value)))
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

#ifdef TAKE_TENTATIVE
#define spare_cell(value) ((value) == 0 || ((value) & DEAD) || over(value))
#else
#define spare_cell(value) ((value) == 0 || ((value) & DEAD) || (!((value) & TENTATIVE) && over(value)))
#endif

/* As in index.pml: found = living settled pod with the key, which is the pod itself when a line is moved. The cell and
 * the state word of the pod in it are read in one step. */
inline scan(line)
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
            :: spare == NONE ->
                spare = i;
                spare_value = value
            :: else
            fi
        :: else ->
            if
            :: !(value & TENTATIVE) && !over(value) -> found = pod_of(value)
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
                assert(spare_value == 0 || (spare_value & DEAD) || over(spare_value));
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
            assert(!ok || i == (pod) || !has(committed, i) || !lives(i) || !lives(pod))
        }
        i = 0
    }
}

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
        :: (c_mark == OPEN || mine != NONE) && c_position != NONE -> complete(line)
#else
        :: c_mark != OPEN -> break
        :: c_mark == OPEN && c_position != NONE -> complete(line)
#endif
        :: else ->
            scan(line);
            if
            :: found -> break
            :: else
            fi;
#ifndef ONE_LOOK
            if
            :: !lives(pod) -> break
            :: else
            fi;
#endif
            if
            :: mine == NONE && spare != NONE -> take_cell(pod, line)
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
    cas_cell(line, mine, (pod) | TENTATIVE, pod);
    cas_control(line, NONE, c_mark)
}

/* Moves the old line. Whoever ends it knows that it is MOVED. */
inline move_line()
{
    do
    :: read_control(0);
        if
        :: c_mark == MOVED -> break
#ifdef NO_FREEZE
        :: c_mark != MOVED && c_position != NONE -> complete(0)
        :: c_mark != MOVED && c_position == NONE ->
#else
#ifdef FREEZE_OVER_NAME
        :: c_mark == OPEN -> cas_control(0, c_position, FROZEN)
#else
        :: c_mark == OPEN && c_position != NONE -> complete(0)
        :: c_mark == OPEN && c_position == NONE -> cas_control(0, NONE, FROZEN)
#endif
        :: c_mark == FROZEN ->
#endif
#ifdef MOVED_EARLY
            mark[0] = MOVED;
#endif
            from = 0;
            do
            :: from < CELLS ->
                d_step {
                    carried = at(0, from);
                    from++;
                    if
                    :: carried != 0 && !(carried & (TENTATIVE | DEAD)) && !over(carried) -> skip
                    :: else -> carried = 0
                    fi
                }
                if
                :: carried != 0 ->
                    place(carried, 1);
                    if
                    :: placed -> settle(carried, 1)
                    :: else
                    fi
                :: else
                fi
            :: else -> break
            od;
            from = 0;
            carried = 0;
            mark[0] = MOVED;
            break
        fi
    od
}

/* The line to work in: the old one while nothing grows, else the next one, after the old one was moved. */
inline choose_line()
{
    if
    :: !growing -> line = 0
    :: else ->
        move_line();
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
        :: c_mark != OPEN -> break
        :: else
        fi;
#endif
        do
        :: i < cells_of(line) && !found && ok ->
            d_step {
                carried = at(line, i);
                if
                :: carried == 0 || (carried & DEAD) || over(carried) -> carried = 0
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
    byte c_sequence, c_position, c_mark, value, i, mine, spare, spare_value, found, from, carried, line;
    bool ok, placed;
    insert(2)
}

proctype Deleter()
{
    byte c_sequence, c_position, c_mark, value, i, mine, spare, spare_value, found, from, carried, line;
    bool ok, placed;
    d_step {
        ok = lives(1);
        word[record_of(1)] = 0
    }
    if
    :: cas_cell(0, 0, 1, 1 | DEAD)
    :: skip
    fi;
    insert(3)
}

/* The remover of pod 1, or a helper of his, comes late and marks whatever cell of the next line the pod is in. */
proctype Remover()
{
    byte k;
    bool ok;
    !lives(1);
    select (k : 0 .. NEXT - 1);
    cas_cell(1, k, 1, 1 | DEAD)
}

proctype Lookup()
{
    byte c_sequence, c_position, c_mark, value, i, mine, spare, spare_value, found, from, carried, line;
    byte before;
    bool ok, placed;
    d_step {
        for (i : 1 .. PODS) {
            if
            :: has(committed, i) && lives(i) -> before = i
            :: else
            fi
        }
        i = 0
    }
#ifdef LOOK_AT_OLD_ONLY
    line = 0;
#else
    choose_line();
#endif
    look(line);
#ifndef LOOK_AT_OLD_ONLY
    if
    :: !found && line == 0 && c_mark != OPEN ->
        leave_old_line();
        look(line)
    :: else
    fi;
#endif
    assert(found || !before || !lives(before));
    if
    :: found -> report(found)
    :: else
    fi
}

proctype Helper()
{
    byte c_sequence, c_position, c_mark, value, i, mine, spare, spare_value, found, from, carried;
    bool ok, placed;
    growing = true;
    move_line()
}

proctype Observer()
{
    byte p, k;
    bool seen;
end:
    do
    :: d_step {
        for (p : 1 .. PODS) {
            if
            :: has(committed, p) && lives(p) ->
                seen = false;
                if
                :: mark[0] != MOVED ->
                    for (k : 0 .. CELLS - 1) {
                        seen = seen || at(0, k) == p || (at(0, k) == (p | TENTATIVE) && position[0] == k)
                    }
                :: else ->
                    for (k : 0 .. NEXT - 1) {
                        seen = seen || at(1, k) == p || (at(1, k) == (p | TENTATIVE) && position[1] == k)
                    }
                fi;
                assert(seen)
            :: else
            fi
        }
        p = 0;
        k = 0;
        seen = false
    }
    od
}

/* The next table appears; its maker stops before he moves anything. */
proctype Growth()
{
    growing = true
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
        at(0, 0) = 1;
        committed = 1 << 1;
        published = 1 << 1;
#ifdef LOOKUP
        run Inserter();
        run Lookup();
        run Killer();
        run Growth();
#else
#ifdef REMOVER
        run Inserter();
        run Helper();
        run Helper();
        run Killer();
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
