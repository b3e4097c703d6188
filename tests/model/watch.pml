/*
 * A watchdog's marks (engine/worker.h): what it names has been going on since the mark, and is no sleep.
 *
 * A call stores its thread's number into `busy` when it begins, and 0 when it ends. It may sleep: it says so in `what`, and
 * begins anew when it wakes. The watchdog reads busy, what, and busy again. If the number has no mark yet, it puts one there by
 * a compare-and-swap; if it has one, it names the call. The marks of `what` are put and taken away in the same way, where a run
 * of the caller's code is what a call is here.
 *
 * Claim: nobody but a call's own stores says that no call is inside                                   Caller
 *        what is named has neither begun nor woken since it was marked, when `what` was read          Watchdog
 *
 * Planted bugs
 *   -DPLAIN_MARK  the mark is a store
 *   -DLOOK_ONCE   busy is not read again
 *   -DNO_ANEW     a call that wakes keeps its mark
 *   -DWAKE_FIRST  it says first that it does not sleep any more
 *
 * Bounds: one worker, three calls with up to two sleeps, one watchdog, four looks. A second watchdog's marks are of another
 * time, or of the same 17 ms.
 *
 * stands for engine/worker.h worker_try_take 16724b4d
 * stands for engine/worker.h worker_give_back 5d51d451
 * stands for engine/worker.h worker_anew 29a58d0f
 * stands for engine/worker.h worker_sleeps da3f3f2e
 * stands for engine/worker.h worker_wakes 0ca94f43
 * stands for engine/worker.h worker_mark 08d7353a
 * stands for engine/api/watch.c is_overdue f0ab967f
 * stands for engine/api/watch.c look_at_worker e7dd7e56
 */
#define CALLS 3
#define SLEEPS 2
#define LOOKS 4

#define NOBODY 0
#define NUMBER 1
#define MARKED 2

byte busy = NOBODY;
bool sleeps; /* what */
byte begun;  /* ghost: how often a call began, or woke */

active proctype Caller()
{
    byte calls, naps;

    do
    :: calls < CALLS ->
       calls++;
       naps = 0;
       assert(busy == NOBODY);
       d_step { busy = NUMBER; begun++ };
       do
       :: naps < SLEEPS ->
          naps++;
          sleeps = true;
          begun++;
#ifdef WAKE_FIRST
          sleeps = false;
          busy = NUMBER
#else
#ifndef NO_ANEW
          busy = NUMBER;
#endif
          sleeps = false
#endif
       :: break
       od;
       busy = NOBODY
    :: calls == CALLS -> break
    od
}

active proctype Watchdog()
{
    byte looks, first, again, then, marked;
    bool slept;

    do
    :: looks < LOOKS ->
       looks++;
       first = busy;
       d_step { slept = sleeps; then = begun };
#ifdef LOOK_ONCE
       again = first;
#else
       again = busy;
#endif
       if
       :: first == NOBODY || slept || again != first
       :: else ->
          if
          :: first == NUMBER ->
#ifdef PLAIN_MARK
             d_step { busy = MARKED; marked = begun }
#else
             d_step {
                 if
                 :: busy == NUMBER -> busy = MARKED; marked = begun
                 :: else
                 fi
             }
#endif
          :: first == MARKED -> assert(then == marked)
          fi
       fi
    :: looks == LOOKS -> break
    od
}
