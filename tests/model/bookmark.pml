/*
 * Bookmarks (engine/platform: epoch; engine/lockfree: lane): a reading in several sections.
 *
 * A chain of segments, as in chain.pml. A reader reads it in parts, a section each: it goes on at the segment behind its
 * bookmark, or from `first` past what it has read. Where it comes to a segment it leaves a bookmark at the one before, and
 * looks whether that is deleted. Two deleters delete segments, or replace them by copies, unlink them, take their bookmarks
 * away, and retire them. What is retired is freed when the reader's section of that time is over. Any thread may stand still,
 * for any time or for ever.
 *
 * Claims
 *   the reader touches nothing that was freed                                                    touch
 *   it meets each pod that lives all the time, and none twice                                    Reader
 *
 * Planted bugs
 *   -DNO_LOOK       the reader does not look whether the segment of its bookmark is deleted
 *   -DLOOK_FIRST    it looks before it leaves the bookmark
 *   -DNO_UNMARK     the retirer leaves bookmarks where they are
 *   -DRETIRE_FIRST  it takes them away when the segment is retired already
 *   -DUNMARK_FIRST  it takes them away before it deletes
 *   -DFOLLOW_GONE   the reader goes on behind a bookmark whose segment is deleted
 *
 * Not modelled: the deleters' own sections, consumers, what chain.pml shows of the chain, and owners: that no bookmark is left
 * behind the last segment, where more is put, is shown by tests/unit/test_candidates.c. Memory is sequentially
 * consistent: the bookmark is left by an exchange, the deletion and the unlinking are exchanges too.
 *
 * Bounds: four segments, the last one stays; one reader, two sections, WIDE: three; two deleters, a segment each. LARGE: three
 * deletions and three sections.
 *
 * stands for engine/platform/epoch.h epoch_bookmark a7f7d7ac
 * stands for engine/platform/epoch.h epoch_bookmarked 33a4a31f
 * stands for engine/platform/epoch.h epoch_unmark f25774a1
 * stands for engine/platform/epoch.c epoch_unmark_all 9a14ab4d
 * stands for engine/lockfree/refs/lane.c retire_segment 6e11967a
 * stands for engine/lockfree/refs/lane.c lane_bookmark 8b39ba31
 * stands for engine/lockfree/refs/lane.c go_to_bookmark d245dbd1
 * stands for engine/lockfree/refs/lane.c lane_read_again 315786b1
 */
#if defined(WIDE) || defined(LARGE)
#define SECTIONS 3
#else
#define SECTIONS 2
#endif
#define SEGMENTS 4
#define NODES    9

byte next[NODES];
bool gone[NODES];
byte number[NODES];
bool retired[NODES];
byte waits[NODES]; /* the section that it is retired in; 0: the reader was outside */
bool dead[NODES];  /* by number */
byte first = 1, oldest = 1, fresh = 5, bookmark;
byte section, sections; /* the reader's; 0: outside */

#define FREED(s) (retired[s] && (waits[s] == 0 || waits[s] != section))

inline touch(s)
{
    assert(!FREED(s))
}

inline look_again()
{
    if
    :: gone[before] -> bookmark = 0; marked = false
    :: else -> marked = true
    fi
}

proctype Reader()
{
    byte at, before, behind, done;
    bool deleted, marked;
    bool met[NODES];

    do
    :: atomic { sections < SECTIONS -> sections++; section = sections };
        before = 0;
        at = 0;
        if
        :: marked && bookmark != 0 ->
            d_step { /* the word does not change back: as if it were one access with the load */
                at = bookmark
            };
            if
            :: at != 0 ->
                atomic {
                    touch(at);
                    deleted = gone[at];
                    behind = next[at]
                };
#ifdef FOLLOW_GONE
                deleted = false;
#endif
                if
                :: deleted -> at = 0
                :: else -> before = at; at = behind
                fi
            :: else
            fi
        :: else
        fi;
        if
        :: at == 0 -> at = first
        :: else
        fi;
        marked = false;
        do
        :: atomic {
                at != 0 ->
                touch(at);
                deleted = gone[at];
                behind = next[at]
            };
            if
            :: deleted || number[at] <= done -> before = at; at = behind
            :: else ->
                if
                :: before != 0 ->
#ifdef LOOK_FIRST
                    atomic { look_again(); at = at };
                    if
                    :: marked -> bookmark = before
                    :: else
                    fi
#else
                    bookmark = before;
#ifdef NO_LOOK
                    marked = true
#else
                    atomic { touch(before); look_again() }
#endif
#endif
                :: else
                fi;
                if
                :: sections < SECTIONS -> break
                :: true ->
                    assert(!met[number[at]]);
                    met[number[at]] = true;
                    done = number[at];
                    atomic { touch(at); before = at; at = next[at] }
                fi
            fi
        :: at == 0 ->
            d_step {
                at = 1;
                do
                :: at <= SEGMENTS -> assert(met[at] || dead[at]); at++
                :: else -> break
                od
            };
            goto ended
        od;
        section = 0
    :: sections == SECTIONS -> break
    od;
ended:
    section = 0
}

inline unmark(s)
{
    atomic {
        if
        :: bookmark == s -> bookmark = 0
        :: else
        fi
    }
}

inline retire(s)
{
#if !defined(NO_UNMARK) && !defined(RETIRE_FIRST) && !defined(UNMARK_FIRST)
    unmark(s);
#endif
    d_step {
        retired[s] = true;
        waits[s] = section
    };
#ifdef RETIRE_FIRST
    unmark(s)
#endif
}

proctype Deleter()
{
    byte at, before, old;

    at = first;
    do
    :: atomic { next[at] != 0 && next[next[at]] != 0 -> before = at; at = next[at] }
    :: break
    od;
#ifdef UNMARK_FIRST
    unmark(at);
#endif
    atomic {
        if
        :: gone[at] || next[at] == 0
        :: !gone[at] && next[at] != 0 -> gone[at] = true; dead[number[at]] = true
        :: !gone[at] && next[at] != 0 ->
            next[fresh] = next[at];
            number[fresh] = number[at];
            next[at] = fresh;
            gone[at] = true;
            fresh++
        fi
    };
    if
    :: !gone[at] -> goto ended
    :: else
    fi;
    if
    :: before == 0 ->
        atomic {
            if
            :: first == at -> first = next[at]
            :: else -> goto ended
            fi
        };
        old = oldest;
        do
        :: old != first ->
            atomic {
                if
                :: oldest == old -> oldest = next[old]
                :: else -> old = 0
                fi
            };
            if
            :: old != 0 -> retire(old)
            :: else
            fi;
            old = oldest
        :: old == first -> break
        od
    :: else ->
        atomic {
            if
            :: !gone[before] && next[before] == at -> next[before] = next[at]
            :: else -> goto ended
            fi
        };
        retire(at)
    fi;
ended:
    skip
}

init
{
    d_step {
        next[1] = 2;
        next[2] = 3;
        next[3] = 4;
        number[1] = 1;
        number[2] = 2;
        number[3] = 3;
        number[4] = 4
    };
    atomic {
        run Reader();
        run Deleter();
        run Deleter();
#ifdef LARGE
        run Deleter()
#endif
    }
}
