/*
 * Grace periods (engine/platform: epoch): sections, batches, barriers.
 *
 * A pointer leads to a block. A reader begins a section: it reads `now`, stores that in `inside`, reads the pointer, reads
 * the block, and ends the section: twice. Its stores wait in a buffer, and leave it in order, at any time.
 * A worker unlinks the block, which empties its own buffer, closes a
 * batch, and polls: it asks for a barrier, if none that began after the batch was closed is over and nobody asks; it looks at
 * the readers, one after the other, and frees the block if each is outside or in the batch's epoch. If not, it may look again,
 * or stop for ever. A barrier empties the buffers one after the other, and others run in between. Any thread may stand
 * still, for any time or for ever.
 *
 * With TWO there are two workers, each with a block, and one reader, which reads either.
 * With REAL a section's store empties the buffer, and there are no barriers. With JOIN reader 1 is no reader from the
 * beginning: it joins a list, which empties its buffer, and those that look read the list first. With GUEST the readers have
 * no word of their own, but share one: {number, count}, changed by exchanges.
 *
 * A mark is a batch that another thread closed later: the block stands for what a section may find as it was before the mark.
 *
 * Claim: no reader reads a block that was freed                                                       Reader
 *
 * Planted bugs
 *   -DNO_BARRIER    neither: the section's store waits in the buffer, and no barrier is asked for
 *   -DLEFT_EARLY    a section ends before the block is read
 *   -DFREED_EARLY   sections of the epoch before the batch's do not count
 *   -DSKIPS_STOPPED a reader that stopped is not looked at
 *   -DLOOK_FIRST    the readers are looked at before the barrier
 *   -DUNLINK_LATE   the batch is closed before the block is unlinked
 *   -DPOINTER_FIRST the pointer is read before `now` (a load that overtakes one)
 *   with TWO
 *   -DANY_BARRIER   a barrier that began before the batch was closed counts
 *   -DASKED_LATE    what a barrier is good for is read when it is over
 *   with JOIN
 *   -DLIST_FIRST    the list is read before the block is unlinked
 *   with GUEST
 *   -DNEWEST        one that comes while others are there raises their number to its own
 *   -DNUMBER_LATE   `now` is read behind the pointer
 *
 * Bounds: two readers, two sections each; a worker, one batch, two looks. LARGE: three sections, three looks.
 *
 * stands for engine/platform/epoch.c epoch_mark 93286e2b
 * stands for engine/platform/epoch.h epoch_enter a5793828
 * stands for engine/platform/epoch.h epoch_leave f2e230e7
 * stands for engine/platform/epoch.h epoch_guest_enter 40fb6016
 * stands for engine/platform/epoch.h epoch_guest_leave 4914e935
 * stands for engine/platform/epoch.c epoch_record_join 1eef07a3
 * stands for engine/platform/epoch.c close_batch c2b2e5b1
 * stands for engine/platform/epoch.c ask 959ffe0e
 * stands for engine/platform/epoch.c barrier_is_over 3d9e546c
 * stands for engine/platform/epoch.c is_over f37d8b84
 * stands for engine/platform/epoch.c free_waiting 04447df8
 */
#ifdef TWO
#define READERS 1
#define WORKERS 2
#else
#define READERS 2
#define WORKERS 1
#endif
#ifdef LARGE
#define SECTIONS 3
#define POLLS 3
#else
#define SECTIONS 2
#define POLLS 2
#endif
#define OUTSIDE 0
#define BUFFER 3

byte now = 1;
byte asked = 1;
bool asking;
bool linked[WORKERS] = true;
bool freed[WORKERS];
byte inside[READERS];
bool still[READERS];
bool joined; /* reader 1 */
byte guests, guests_number;

/* Stores to `inside` that have not reached memory. */
typedef buffer {
    byte stores[BUFFER];
    byte count
}
buffer buffers[READERS];

inline drain_one(r)
{
    d_step {
        inside[r] = buffers[r].stores[0];
        buffers[r].stores[0] = buffers[r].stores[1];
        buffers[r].stores[1] = buffers[r].stores[2];
        buffers[r].stores[2] = 0;
        buffers[r].count--
    }
}

inline drain(r)
{
    atomic {
        do
        :: buffers[r].count > 0 -> drain_one(r)
        :: buffers[r].count == 0 -> break
        od
    }
}

/* A full buffer lets its oldest store go. */
inline store(r, value)
{
    atomic {
        if
        :: buffers[r].count == BUFFER -> drain_one(r)
        :: else
        fi;
        buffers[r].stores[buffers[r].count] = value;
        buffers[r].count++
    }
}

/* Stores leave by themselves. */
active proctype Processors()
{
    do
    :: atomic { buffers[0].count > 0 -> drain_one(0) }
#ifndef TWO
    :: atomic { buffers[1].count > 0 -> drain_one(1) }
#endif
    od
}

#ifdef GUEST
inline enter()
{
    epoch = now;
    d_step {
        if
        :: guests == 0 -> guests_number = epoch
#ifdef NEWEST
        :: guests > 0 && epoch > guests_number -> guests_number = epoch
#endif
        :: else
        fi;
        guests++
    }
}

inline leave()
{
    guests--
}
#else
inline enter()
{
    epoch = now;
    store(r, epoch);
#ifdef REAL
    drain(r)
#endif
}

inline leave()
{
    store(r, OUTSIDE)
}
#endif

/* Of one block; which, is anybody's choice. */
inline read_pointer()
{
    if
    :: found = linked[0];
       block = 0
#ifdef TWO
    :: found = linked[1];
       block = 1
#endif
    fi
}

active [READERS] proctype Reader()
{
    byte r = _pid - 1;
    byte epoch, sections, block;
    bool found;

#ifdef JOIN
    if
    :: r == 1 -> joined = true
    :: else
    fi;
#endif
    do
    :: sections < SECTIONS ->
        sections++;
#if defined(POINTER_FIRST) || defined(NUMBER_LATE)
        read_pointer();
        enter();
#else
        enter();
        read_pointer();
#endif
#ifdef LEFT_EARLY
        leave();
#endif
#ifdef SKIPS_STOPPED
        still[r] = true;
        still[r] = false;
#endif
        d_step {
            assert(!(found && freed[block]));
            found = false;
            block = 0;
            epoch = 0
        }
#ifndef LEFT_EARLY
        leave()
#endif
    :: else -> break
    od
}

inline close_batch()
{
    d_step {
        now++;
        closed = now
    }
}

/* One thread at a time. */
inline ask()
{
    if
    :: atomic { !asking -> asking = true };
       good_for = now;
       drain(0);
#ifndef TWO
       drain(1);
#endif
#ifdef ASKED_LATE
       good_for = now;
#endif
       d_step {
           asked = good_for;
           good_for = 0;
           asking = false
       }
    :: asking
    fi
}

#if defined(REAL) || defined(NO_BARRIER)
#define BARRIER_IS_OVER true
#elif defined(ANY_BARRIER)
#define BARRIER_IS_OVER (asked > 1)
#else
#define BARRIER_IS_OVER (asked >= closed)
#endif

#ifdef FREED_EARLY
#define BEFORE(value) ((value) + 1 < closed)
#else
#define BEFORE(value) ((value) < closed)
#endif
#ifdef SKIPS_STOPPED
#define LOOKS_AT(r) (!still[r])
#else
#define LOOKS_AT(r) true
#endif
#define HOLDS(r) (LOOKS_AT(r) && inside[r] != OUTSIDE && BEFORE(inside[r]))

inline look()
{
#ifdef JOIN
#ifndef LIST_FIRST
    known = joined;
#endif
#else
    known = true;
#endif
    over = !HOLDS(0);
#ifndef TWO
    over = (over && !(known && HOLDS(1)))
#endif
#ifdef GUEST
    over = !(guests > 0 && BEFORE(guests_number))
#endif
}

active [WORKERS] proctype Worker()
{
    byte w = _pid - 1 - READERS;
    byte closed, good_for, polls;
    bool over, known;

#ifdef LIST_FIRST
    known = joined;
#endif
#ifdef UNLINK_LATE
    close_batch();
    linked[w] = false;
#else
    linked[w] = false;
    close_batch();
#endif
    do
    :: polls < POLLS ->
        polls++;
#ifdef LOOK_FIRST
        look();
#endif
        if
        :: !BARRIER_IS_OVER -> ask()
        :: else
        fi;
        if
        :: BARRIER_IS_OVER ->
#ifndef LOOK_FIRST
            look();
#endif
            if
            :: over ->
                freed[w] = true;
                break
            :: else
            fi
        :: else
        fi
    :: polls == POLLS -> break
    od
}
