/*
 * A group of pods that are tried together: joins, pops, a deletion, and ticks (engine/lockfree; docs/DESIGN.md, Groups).
 *
 * One group with a quorum of two, and three members. The group's record is a word of version and place, IDLE at first,
 * and refs in a band. A member is a hint and a word. Beside the record are `waiting`, a count that is not too small,
 * `changes`, raised behind what may complete the group, and `refuted`, what `changes` was before a reading that found too
 * few. Who joins, or brings the record IDLE, says so in a note of its own meanwhile; a tick that finds one reads the
 * members. Each member joins once; a consumer pops, and another consumer, or the pop at the end, may meet what it
 * left. With DELETE one member is deleted; with BACK the consumer's members fail, and are aside again before it hands the
 * record back; with TWO two consumers run, with LARGE a third member joins. With GATES members have to be asked about:
 * all before the record is READY, one that joins a READY record by its joiner, and who is unasked yet by a pop that reads
 * it.
 *
 * Claims
 *   a pop returns two members or more, each its own alone (returned)
 *   a member that waits comes into a flight only by the record's holder (take_members)
 *   a pop that returns nothing keeps nothing (holds_none)
 *   GATES: a pop takes no member that nobody asked about since it came (take_members)
 *   wherever threads stop, if the record is not in a flight, and as many members are aside as the quorum wants, a pop
 *     behind a tick takes them (Drain, from every state)
 *
 * Planted bugs
 *   -DCHANGE_FIRST     `changes` is raised before the member's commit: a reading in between refutes it for ever
 *   -DREAD_LATE        a pop reads `changes` behind the hints: it refutes a join that it did not see
 *   -DNO_SECOND_LOOK   who switches the record to IDLE does not look again
 *   -DCOUNT_LATE       `waiting` is raised behind the commit: another's look finds it too small, the own one `changes` refuted
 *   -DNO_JOIN_NOTE     a joiner does not say that it joins: who stops behind the commit strands all
 *   -DNO_ASIDE_NOTE    who switches the record to IDLE does not say so: who stops behind that strands all
 *   -DNO_CLAIM         a pop takes members before it has the record: two have one each
 *   -DKEEPS            a pop that found too few keeps what it took
 *   -DALONE            a pop returns what there is
 *   -DUNASKED          a pop takes whoever is aside: it may come before the joiner asks
 *   -DSKIPS            a pop leaves out who is unasked, and says that there are too few: it refutes a join for ever
 *
 * Bounds: one group that is declared; each join once. Any number may stop anywhere. How its number leads to the record is
 * not modelled (gather_find.h, KNOWN GROUPS; schedq-explore --scenario group_renamed).
 *
 * stands for engine/lockfree/moves/gather_record.c complete_once 208fb67e
 * stands for engine/lockfree/moves/gather_record.c bring_out cbaed0aa
 * stands for engine/lockfree/moves/gather_record.c gather_make_idle 39f9efe2
 * stands for engine/lockfree/moves/gather_join.c gather_announce ab159b57
 * stands for engine/lockfree/moves/gather_join.c gather_joined c5884942
 * stands for engine/lockfree/moves/gather_join.c join_top 280316b2
 * stands for engine/lockfree/moves/gather_join.c tell_root 170d25da
 * stands for engine/lockfree/moves/gather_join.c gather_left 1ff2cd28
 * stands for engine/lockfree/moves/gather_join.c gather_look_after db17c449
 * stands for engine/lockfree/moves/gather_join.c gather_ask_newcomers 4327742a
 * stands for engine/lockfree/moves/gather_gate.c note_gate 58e916dc
 * stands for engine/lockfree/calls/group_pop.c take_record b6e0926c
 * stands for engine/lockfree/calls/group_pop.c take_members fa5a60c8
 * stands for engine/lockfree/calls/group_pop.c leave_idle 4a6e1270
 * stands for engine/lockfree/calls/pop.c pop_take_member b80769ea
 * stands for engine/lockfree/calls/pop.c pop_give_back eea5aa98
 */
#define QUORUM  2
#define MEMBERS 3
#define ROOM    32

#define IDLE  0
#define READY 1
#define CYCLE 2

#define NONE 0
#define HANGS 1 /* a member that is aside */
#define FLIES 2
#define DEAD 3

byte version = 1;
byte place; /* IDLE */
bool described; /* since it is IDLE */
bool band[ROOM];
byte member[MEMBERS];
bool hint[MEMBERS];
bool passed[MEMBERS]; /* since it is aside */
byte owner[MEMBERS]; /* of a flight */
byte waiting, changes, refuted = 255;
byte holder; /* of the record */
bool notes[6];
bool halted;

#ifdef GATES
inline ask(m)
{
    if
    :: d_step { hint[m] && member[m] == HANGS; passed[m] = true }
    :: d_step { !(hint[m] && member[m] == HANGS) }
    fi
}

/* Who asks all reads them one by one. */
inline ask_all()
{
    j = 0;
    do
    :: j < MEMBERS -> ask(j); j++
    :: else -> break
    od;
    j = 0
}
#endif

inline complete()
{
    do
    :: d_step { v = version; p = place };
        if
        :: p != IDLE -> break
        :: else
        fi;
        w = waiting;
        c = changes;
        if
        :: w < QUORUM || c == refuted -> break
        :: else
        fi;
        assert(v + 1 < ROOM);
        /* it begins to wait: described, once; then published, and switched */
        if
        :: d_step { version == v && place == p && !described; version = v + 1; described = true }
        :: d_step { version == v && place == p && described } ->
#ifdef GATES
            ask_all();
#endif
            band[v + 1] = true;
            if
            :: d_step { version == v && place == p; version = v + 1; place = READY } -> break
            :: d_step { !(version == v && place == p) }
            fi
        :: d_step { !(version == v && place == p) }
        fi
    od
}

/* The record, which is the caller's, or READY at v, goes IDLE. */
inline make_idle(from, me)
{
#ifndef NO_ASIDE_NOTE
    notes[me] = true;
#endif
    if
    :: d_step { version == v && place == from; version = v + 1; place = IDLE; holder = 0; described = false }
#ifndef NO_SECOND_LOOK
        ; complete()
#endif
    :: d_step { !(version == v && place == from) }
    fi;
    notes[me] = false
}

proctype Join(byte i; byte me) provided (!halted)
{
    byte v, p, w, c, j;
    hint[i] = true;
#ifndef COUNT_LATE
    waiting++;
#endif
#ifndef NO_JOIN_NOTE
    notes[me] = true;
#endif
#ifdef CHANGE_FIRST
    changes++;
#endif
    member[i] = HANGS;
#ifndef CHANGE_FIRST
    changes++;
#endif
#ifdef GATES
    if
    :: place == READY -> ask(i)
    :: place != READY -> complete()
    fi;
#else
    complete();
#endif
#ifdef COUNT_LATE
    waiting++;
#endif
    notes[me] = false
}

#ifdef GATES
#define HAS_PASSED(m) assert(passed[m])
#ifdef UNASKED
#define MAY_TAKE(m) (member[m] == HANGS)
#else
#define MAY_TAKE(m) (member[m] == HANGS && passed[m])
#endif
#else
#define HAS_PASSED(m) skip
#define MAY_TAKE(m) (member[m] == HANGS)
#endif

inline take_members(me)
{
    i = 0;
    taken = 0;
    do
    :: i < MEMBERS ->
        if
        :: hint[i] ->
            if
            :: d_step { MAY_TAKE(i); assert(holder == me); HAS_PASSED(i); member[i] = FLIES; owner[i] = me } ->
                waiting--;
                taken++
            :: d_step { !MAY_TAKE(i) }
            fi
        :: else
        fi;
        i++
    :: else -> break
    od;
    i = 0
}

/* A flight ends without success: the member is aside again. */
inline give_back(me)
{
    i = 0;
    do
    :: i < MEMBERS ->
        if
        :: member[i] == FLIES && owner[i] == me ->
            waiting++;
            d_step { member[i] = HANGS; passed[i] = false; owner[i] = 0 };
            changes++
        :: else
        fi;
        i++
    :: else -> break
    od;
    i = 0
}

inline end_members(me)
{
    i = 0;
    do
    :: i < MEMBERS ->
        if
        :: d_step { member[i] == FLIES && owner[i] == me; member[i] = DEAD; owner[i] = 0 }
        :: d_step { !(member[i] == FLIES && owner[i] == me) }
        fi;
        i++
    :: else -> break
    od;
    i = 0
}

/* Its own, and as many as it counted. */
inline returned(me)
{
    d_step {
        i = 0;
        mine = 0;
        do
        :: i < MEMBERS ->
            if
            :: member[i] == FLIES && owner[i] == me -> mine++
            :: else
            fi;
            i++
        :: else -> break
        od;
        i = 0;
        assert(mine == taken);
        assert(mine >= QUORUM)
    }
}

/* What it took it gave back. */
inline holds_none(me)
{
    d_step {
        i = 0;
        do
        :: i < MEMBERS -> assert(!(member[i] == FLIES && owner[i] == me)); i++
        :: else -> break
        od;
        i = 0
    }
}

inline pop_once(me)
{
    got = false;
again:
    do
    :: d_step { v = version; p = place };
        if
        :: p == IDLE && band[v + 1] -> /* FUTURE: helped */
            if
            :: d_step { version == v && place == p; version = v + 1; place = READY }
            :: d_step { !(version == v && place == p) }
            fi
        :: p == READY && band[v] ->
#ifdef NO_CLAIM
            c = changes;
            seen = c;
            take_members(me);
#endif
#ifdef GATES
            seen = changes;
            unasked = false;
            i = 0;
            do
            :: i < MEMBERS -> unasked = unasked || (hint[i] && member[i] == HANGS && !passed[i]); i++
            :: else -> break
            od;
            i = 0;
#ifndef UNASKED
#ifndef SKIPS
            if
            :: unasked -> ask_all(); goto again
            :: else
            fi;
#endif
#endif
#endif
            if
            :: d_step { version == v && place == READY; version = v + 1; place = CYCLE; holder = me } ->
                v = v + 1;
                got = true;
                break
            :: d_step { !(version == v && place == READY) }
            fi
        :: else -> break
        fi
    od;
    if
    :: got ->
#ifndef NO_CLAIM
#ifndef GATES
        seen = changes;
#endif
        take_members(me);
#endif
#ifdef READ_LATE
        seen = changes;
#endif
        if
#ifdef ALONE
        :: taken > 0 ->
#else
        :: taken >= QUORUM ->
#endif
            returned(me)
        :: else ->
            got = false;
#ifndef KEEPS
            /* nothing has changed by it */
            i = 0;
            do
            :: i < MEMBERS ->
                if
                :: member[i] == FLIES && owner[i] == me ->
                    waiting++;
                    d_step { member[i] = HANGS; passed[i] = false; owner[i] = 0 }
                :: else
                fi;
                i++
            :: else -> break
            od;
            i = 0;
#endif
            refuted = seen;
            holds_none(me);
            make_idle(CYCLE, me)
        fi
    :: else
    fi
}

proctype Consumer(byte me) provided (!halted)
{
    byte v, p, w, c, i, j, taken, mine, seen;
    bool got, unasked;
    pop_once(me);
    if
    :: got ->
#ifdef BACK
        give_back(me);
#else
        end_members(me);
#endif
        make_idle(CYCLE, me)
    :: else
    fi
}

proctype Delete(byte m; byte me) provided (!halted)
{
    byte v, p, w, c, j;
    if
    :: d_step { member[m] == HANGS; member[m] = DEAD } ->
        waiting--;
        d_step { v = version; p = place };
        if
        :: p == READY && waiting < QUORUM -> make_idle(READY, me)
        :: else
        fi
    :: d_step { member[m] != HANGS }
    fi
}

/* From every state: all stop; a tick, then a pop. */
proctype Drain()
{
    byte v, p, w, c, i, j, taken, mine, seen, aside;
    bool got, unasked;
    halted = true;
    d_step {
        aside = 0;
        i = 0;
        do
        :: i < MEMBERS ->
            if
            :: hint[i] && member[i] == HANGS -> aside++
            :: else
            fi;
            i++
        :: else -> break
        od;
        i = 0
    };
    if
    :: aside >= QUORUM && (notes[0] || notes[1] || notes[2] || notes[3] || notes[4] || notes[5]) ->
        changes++;
        complete()
    :: else
    fi;
    if
    :: place != CYCLE ->
        pop_once(5);
        assert(aside < QUORUM || got)
    :: else
    fi
}

init {
    atomic {
        run Join(0, 0);
        run Join(1, 1);
#ifdef LARGE
        run Join(2, 2);
#endif
        run Consumer(3);
#ifdef TWO
        run Consumer(4);
#endif
#ifdef DELETE
        run Delete(0, 2);
#endif
        run Drain()
    }
}
