/*
 * Workers that belong to threads (engine/api: own): a thread ends while its queue is being destroyed.
 *
 * The thread has a worker and a record of it. It ends at any time, once: it frees an orphaned record, or gives the worker back,
 * or leaves that to destroy. Destroy counts the registered workers, claims the record, and goes on if nothing is registered but
 * what it claimed; else, or because of something that is not modelled here, it gives the claim up. It tries twice.
 *
 * Claim: the worker is given back once; the record is freed once, and not touched afterwards; nothing is given back to a queue
 * that is gone; a thread that has ended has no worker registered                                             Thread, Destroy, End
 *
 * Planted bugs
 *   -DGIVES_FIRST    the thread gives the worker back before it says that it is not its own any more
 *   -DLEAVES         the thread leaves a claimed record as it is
 *   -DBLIND          destroy gives the claim up by a store
 *   -DLOOKS_LATE     destroy looks at the record after it was orphaned
 *   -DCOUNTS_NOTHING destroy goes on whatever is registered
 *
 * Bounds: one thread, one queue, two attempts.
 *
 * stands for engine/api/own.c leave 0ce2692b
 * stands for engine/api/own.c claim_all 88ad86ed
 * stands for engine/api/own.c own_claim 20adf02f
 * stands for engine/api/own.c own_disclaim fff59732
 * stands for engine/api/own.c own_take_back ab26cf52
 * stands for engine/api/own.c own_close b268fb1c
 */
mtype = { FREE, OWNED, CLAIMED, ABANDONED, ORPHAN };

mtype word = OWNED;
bool registered = true;
bool queue_gone;
bool freed;
bool thread_over, destroy_over;

inline give_back()
{
    d_step {
        assert(!queue_gone);
        assert(registered);
        registered = false
    }
}

inline free_record()
{
    d_step {
        assert(!freed);
        freed = true
    }
}

active proctype Thread()
{
    mtype seen;

    do
    :: assert(!freed);
       seen = word;
       if
       :: seen == ORPHAN -> free_record(); break
       :: seen == OWNED ->
#ifdef GIVES_FIRST
          give_back();
#endif
          if
          :: atomic { word == seen -> word = FREE };
#ifndef GIVES_FIRST
             give_back();
#endif
             break
          :: word != seen
          fi
       :: seen == CLAIMED ->
#ifdef LEAVES
          break
#else
          if
          :: atomic { word == seen -> word = ABANDONED }; break
          :: word != seen
          fi
#endif
       fi
    od;
    thread_over = true
}

active proctype Destroy()
{
    byte attempts;
    bool counted, claimed;

    do
    :: attempts < 2 ->
       attempts++;
       counted = registered;
       claimed = false;
       if
       :: atomic { word == OWNED -> word = CLAIMED }; claimed = true
       :: word != OWNED
       fi;
       if
#ifdef COUNTS_NOTHING
       :: true ->
#else
       :: claimed == counted ->
#endif
          if
          :: word == CLAIMED || word == ABANDONED -> give_back()
          :: word != CLAIMED && word != ABANDONED
          fi;
          d_step {
              assert(!registered);
              queue_gone = true
          };
          if
          :: atomic { word == CLAIMED -> word = ORPHAN };
#ifdef LOOKS_LATE
             assert(!freed)
#endif
          :: word != CLAIMED -> free_record()
          fi;
          break
       :: true ->
          assert(!freed);
#ifdef BLIND
          if
          :: claimed -> word = OWNED
          :: !claimed
          fi
#else
          if
          :: atomic { word == CLAIMED -> word = OWNED }
          :: word == ABANDONED -> give_back(); word = FREE
          :: word != CLAIMED && word != ABANDONED
          fi
#endif
       fi
    :: attempts == 2 -> break
    od;
    destroy_over = true
}

active proctype End()
{
    (thread_over && destroy_over);
    assert(!registered);
    assert(freed == queue_gone)
}
