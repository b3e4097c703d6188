/*
 * The bin: mark with a two-phase clear, joined with lane rebuild, compaction and merge of runs (engine/lockfree:
 * bin, summary).
 *
 * A bin has a word {version, CLEAR | SET | CLEARING}, which stands for its bit in a summary (CLEARING: it is set and
 * doubted), a lane whose owner may replace its segment, and run slots. A
 * producer publishes pod X in its lane, passes a full fence, loads the word, and sets it unless it is SET. The
 * publishing store sits in a store buffer until it drains by itself, or at the fence or the next locked access.
 * A compactor copies live refs from the lane to the upper run slot and from there to the lower one, each time copy
 * first, then empty the source. Consumers take X or report the bin empty: word CLEAR, or SET -> CLEARING, another scan, CLEARING
 * -> CLEAR, each from the word read before the scan. A scan reads the lane, then the run slots from the upper to the
 * lower.
 *
 * With REBUILD the owner of the lane rebuilds it before and after that push, a new segment with the live refs and one
 * publishing store, and there is no compactor. With REPORTER there is none either: the producer's fence is the access
 * that tells the index that X is published, and a reporter who finds X there marks the bin before he tells a caller.
 *
 * With BANK the lane is in a bank. The producer links the bank, unless another worker of it has; tells scans of it, by a
 * word that they read behind the bin's own lanes; makes the lane; and publishes. The other worker may stop between
 * linking and telling. A scan that is told goes on into the bank, then to the run slots. There is no compactor.
 *
 * Claims
 *   no consumer reports empty while X was ACTIVE, and its add had returned or a caller was told of it, during the
 *   whole call (Consumer)
 *   once add has returned or a caller was told, and X is ACTIVE, the word is not CLEAR and a container holds X
 *   (Observer, in every state)
 *
 * Planted bugs
 *   -DONE_PHASE    SET -> CLEAR after one empty scan
 *   -DUPWARDS      the scan reads the run slots from the lower to the upper, then the lane
 *   -DNO_FENCE     no fence between the publishing store and the load of the word
 *   -DEMPTY_FIRST  the merge empties the upper slot before the lower one has the copy
 *   -DTOLD_UNMARKED  with REPORTER: he tells of X and leaves the mark to the producer, who may have stopped
 *   -DWORD_LATE    the consumer clears from the word that it reads after the scan
 *   -DTOLD_LATE    with BANK: scans are told of the bank when X is published and marked
 *   -DLINKER_TELLS with BANK: only who linked the bank tells scans of it
 *
 * Bounds: one pod, one producer, one compactor with MERGES rounds, two consumers with TRIES calls each.
 *
 * stands for engine/lockfree/refs/bin.c put_merged 419bdbca
 * stands for engine/lockfree/refs/bin.c bin_compare c81a9b82
 * stands for engine/lockfree/refs/bin.c scan_banks 0051f592
 * stands for engine/lockfree/refs/bank.c bank_find ced6388f
 * stands for engine/lockfree/refs/bank.c bank_prepare 0b5e0750
 * stands for engine/lockfree/refs/bin.h bin_first b66baaf7
 * stands for engine/lockfree/refs/bin.c scan_runs 95718820
 * stands for engine/lockfree/refs/bin.h bin_mark 02930f2f
 * stands for engine/lockfree/refs/bin.c bin_first_live 1ac950c3
 * stands for engine/lockfree/refs/summary.h summary_shows e29b5683
 * stands for engine/lockfree/refs/summary.h summary_set 9c27a7b2
 * stands for engine/lockfree/refs/summary.h summary_doubt 7e1f27c2
 * stands for engine/lockfree/refs/summary.h summary_clear 4a2e22a4
 * stands for engine/lockfree/refs/band.c bands_clear 0fdf92c7
 * stands for engine/lockfree/refs/lane.c go_on_in 9cf0e1ad
 * stands for engine/lockfree/moves/settle.c settle_told 975fed23
 */
#ifdef LARGE
#define MERGES 3
#define TRIES  3
#else
#define MERGES 2
#define TRIES  2
#endif

#define CLEAR       0
#define SET         1
#define CLEARING    2

#define UPPER       1
#define LOWER       2

byte word_version;
byte word = SET;
byte segment;           /* of the lane: the current one */
bool lane[2];           /* segment holds X */
bool slot[3];           /* run slot holds X: UPPER, LOWER */
bool active_x = true;   /* X's state word */
bool findable;          /* the index says that X is published */
bool added;             /* X's add has returned, or a caller was told of X */
bool buffered;          /* the publishing store is in the store buffer, bound for segment 'bound' */
byte bound;
#ifdef BANK
bool linked;            /* the bank is behind the bin */
bool told;              /* scans know that there is one */
bool made;              /* the lane is in the bank */
#endif

inline drain_buffer()
{
    if
    :: buffered ->
        lane[bound] = true;
        buffered = false
    :: else
    fi
}

inline read_word()
{
    d_step {
        v = word_version;
        w = word
    }
}

inline cas_word(to)
{
    d_step {
        ok = (word_version == v && word == w);
        if
        :: ok ->
            word_version++;
            word = to
        :: else
        fi
    }
}

/* X taken: nothing that follows can break a claim, so the processes end. */
#define over (!active_x)

/* Only the owner of the lane writes its segment. He sees his own buffered store. */
inline rebuild()
{
    d_step {
        drain_buffer();
        lane[1 - segment] = lane[segment] && active_x
    }
    segment = 1 - segment
}

inline set_word()
{
    do
    :: read_word();
        if
        :: w == SET -> break
        :: else ->
            d_step {
                drain_buffer();
                ok = (word_version == v && word == w);
                if
                :: ok ->
                    word_version++;
                    word = SET
                :: else
                fi
            }
        fi;
        if
        :: ok -> break
        :: else
        fi
    od
}

#ifdef BANK
/* The other worker of the bank; it stops. */
proctype Linker()
{
    d_step {
        !linked ->
        linked = true
    }
    if
    :: told = true
    :: true
    fi
}

inline make_lane()
{
    d_step {
        ok = !linked;
        linked = true
    }
#ifdef LINKER_TELLS
    if
    :: ok -> told = true
    :: else
    fi;
#endif
#if !defined(LINKER_TELLS) && !defined(TOLD_LATE)
    told = true;
#endif
    made = true
}
#endif

proctype Producer()
{
    byte v, w;
    bool ok;
#ifdef REBUILD
    rebuild();
#endif
#ifdef BANK
    make_lane();
#endif
    d_step {
        bound = segment;
        buffered = true
    }
#ifndef NO_FENCE
    d_step {
        drain_buffer()
    }
#endif
    findable = true;
    set_word();
#ifdef TOLD_LATE
    told = true;
#endif
    added = true;
#ifdef REBUILD
    rebuild()
#endif
}

proctype Reporter()
{
    byte v, w;
    bool ok;
    findable;
#ifndef TOLD_UNMARKED
    set_word();
#endif
    added = true
}

proctype StoreBuffer()
{
end:
    d_step {
        buffered ->
        drain_buffer()
    }
}

proctype Compactor()
{
    byte n, s;
    do
    :: d_step {
        n < MERGES && !over ->
        n++;
        s = segment
    }
        if
        :: lane[s] && !over ->
            slot[UPPER] = true;
            lane[s] = false
        :: else
        fi;
        if
        :: slot[UPPER] ->
#ifdef EMPTY_FIRST
            slot[UPPER] = false;
            slot[LOWER] = true
#else
            slot[LOWER] = true;
            slot[UPPER] = false
#endif
        :: else
        fi
    :: else -> break
    od
}

inline look_into_lane()
{
#ifdef BANK
    if
    :: told ->
        if
        :: made ->
            s = segment;
            found = found || lane[s]
        :: else
        fi
    :: else
    fi
#else
    s = segment;
    found = found || lane[s]
#endif
}

inline look_into_slot(container)
{
    found = found || slot[container]
}

proctype Consumer()
{
    byte v, w, s, n;
    bool ok, found, before;
    do
    :: d_step {
        n < TRIES && !over ->
        n++;
        before = added
    }
        do
        :: read_word();
            if
            :: w == CLEAR || over -> break
            :: else
            fi;
#ifdef UPWARDS
            look_into_slot(LOWER);
            look_into_slot(UPPER);
            look_into_lane();
#else
            look_into_lane();
            look_into_slot(UPPER);
            look_into_slot(LOWER);
#endif
            if
            :: found ->
                active_x = false;
                break
            :: else
            fi;
#ifdef WORD_LATE
            read_word();
#endif
            if
#ifdef ONE_PHASE
            :: w == SET -> cas_word(CLEAR)
#else
            :: w == SET -> cas_word(CLEARING)
#endif
            :: w == CLEARING -> cas_word(CLEAR)
            :: w == CLEAR -> break
            fi
        od;
        s = 0;
        d_step {
            assert(!before || over);
            v = 0;
            w = 0;
            ok = false;
            before = false
        }
    :: else -> break
    od
}

proctype Observer()
{
end:
    do
    :: d_step {
        assert(!added || !active_x || word != CLEAR);
        assert(!added || !active_x || lane[segment] || slot[UPPER] || slot[LOWER])
    }
    od
}

init
{
    atomic {
        run Producer();
        run StoreBuffer();
#ifdef REPORTER
        run Reporter();
#endif
#if !defined(REBUILD) && !defined(REPORTER) && !defined(BANK)
        run Compactor();
#endif
#ifdef BANK
        run Linker();
#endif
        run Consumer();
        run Consumer();
        run Observer()
    }
}
