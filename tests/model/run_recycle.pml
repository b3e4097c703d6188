/*
 * Runs recycled by generation, without a grace period (engine/lockfree: run, bin).
 *
 * A run has a generation, a head {generation, position} and refs; a run slot holds {run, generation}. Bin A has an
 * upper and a lower slot with a run each, bin B has one. A merger copies what is live in A's runs into a third run,
 * puts that over the lower slot, empties the upper slot, increments the generations of the runs that he has removed,
 * and fills them at once: one with the pods of bin B. Readers of A that are still at an old run read slot word,
 * generation, head, ref, and then generation and slot word again, before they judge the ref. They claim by the state
 * word and advance the head with a CAS that compares its generation. Behind a ref that is stale they go past those that
 * follow it and are stale, too, by one such CAS, and look at the slot no more before they judge these.
 *
 * The pods of B come there by an update: their refs are FUTURE, and whoever judges one first switches the pod into the
 * bin that he works for. With SECOND one reader less and a second merger of A: he has seen A's upper slot and its run,
 * and reads, judges and helps the run's refs one by one, each after he found the slot unchanged behind the ref; what he
 * copied he gives back. With BESIDE one reader less and a producer of A, who copies the run in the upper slot, unjudged,
 * beside a ref of his own, puts the copy into that slot by a CAS from the word that he read, and recycles the run that
 * he has replaced.
 *
 * Claims
 *   no reader reports A empty while a pod of A was ACTIVE during the whole call (Reader)
 *   nobody who works for A takes a pod of B or switches it into A (judge)
 *   wherever threads stop, a healthy reader of A and B reaches every published ACTIVE pod (Drain, from every state)
 *
 * Planted bugs
 *   -DNO_RECHECK    neither generation nor slot word are read again: a stale judgement skips a ref of the next life
 *   -DHEAD_ALONE    the CAS of the head compares the position only: a late helper skips a ref of the next life
 *   -DHELP_BEFORE_RECHECK  with SECOND: he judges and helps a ref before he looks at the slot again
 *   -DANY_WORD      with BESIDE: he puts his copy into the slot whatever the slot has by then
 *   -DPASS_UNJUDGED  behind a stale ref those that follow it are passed, too, whatever they are
 *   -DREUSE_EARLY   the upper slot is emptied, its run recycled, before the lower slot has the copy
 *   -DSKIP_CHANGED  a reader takes a slot that changed under him for an empty one
 *
 * Bounds: four runs of two refs, two pods in A, two in B, READERS readers of A (2, with SECOND or BESIDE 1, with --large
 * 3) with one pop each.
 *
 * stands for engine/lockfree/refs/run.c run_give f8394bb3
 * stands for engine/lockfree/refs/run.c run_renew 317e34fe
 * stands for engine/lockfree/refs/run.c run_put_beside 20e3757e
 * stands for engine/lockfree/refs/run.c run_peek 6038d329
 * stands for engine/lockfree/refs/run.h run_lies_behind 2b277621
 * stands for engine/lockfree/refs/run.h run_advance_by b3a0cce1
 * stands for engine/lockfree/refs/bin.c drop_run 08fcf46c
 * stands for engine/lockfree/refs/bin.c cursor_load 7402869f
 * stands for engine/lockfree/refs/bin.c merge_into 7377d045
 * stands for engine/lockfree/refs/bin.c bin_put_beside e2ad4504
 * stands for engine/lockfree/refs/bin.c put_merged 419bdbca
 * stands for engine/lockfree/refs/bin.c pass_stale_in_run 03bab22a
 * stands for engine/lockfree/refs/bin.c stale_in_run c560519e
 * stands for engine/lockfree/refs/bin.c first_of_run bd6ec5cd
 */
#if defined(LARGE)
#define READERS 3
#elif defined(SECOND) || defined(BESIDE)
#define READERS 1
#else
#define READERS 2
#endif

#define RUNS      4
#define REFS      2
#define NO_RUN    7
#define NO_REF    7
#define END       REFS

#define A_UPPER   0     /* slots */
#define A_LOWER   1
#define B_SLOT    2
#define SLOTS     3

#define bin_of(pod) ((pod) / 2)

byte generation[RUNS];
byte head_generation[RUNS];
byte head[RUNS];
byte ref[RUNS * REFS];
byte slot_run[SLOTS] = NO_RUN;
byte slot_generation[SLOTS];
bool busy[4];           /* state word of a pod: not ACTIVE any more */
bool switched[4];       /* state word of a pod: ACTIVE in its bin; else its refs are FUTURE */
bool halted;

inline advance(to)
{
    d_step {
        if
#ifdef HEAD_ALONE
        :: head[which] == at -> head[which] = to
#else
        :: head[which] == at && head_generation[which] == g -> head[which] = to
#endif
        :: else
        fi
    }
}

/* From `next` on, past refs that are stale in this bin. */
inline pass_stale(bin)
{
    do
    :: next < END ->
        d_step {
            pod = ref[which * REFS + next];
            if
#ifdef PASS_UNJUDGED
            :: true -> next++
#else
            :: busy[pod] || (switched[pod] && bin_of(pod) != (bin)) -> next++
#endif
            :: else -> pod = NO_REF
            fi
        };
        if
        :: pod == NO_REF -> break
        :: else
        fi
    :: else -> break
    od
}

inline read_slot(s)
{
    d_step {
        which = slot_run[s];
        g = slot_generation[s]
    }
}

/* A ref in a container of this bin, against the pod's state word; helps. ok = VALID. */
inline judge(bin)
{
    if
    :: !switched[pod] && !busy[pod] ->
        assert(bin_of(pod) == (bin));
        switched[pod] = true
    :: else
    fi;
    ok = (!busy[pod] && bin_of(pod) == (bin))
}

/* Takes the first live ref of the run in slot s for the given bin: pod, or NO_REF if there is none. */
inline take(s, bin)
{
    pod = NO_REF;
    do
    :: read_slot(s);
        if
        :: which == NO_RUN -> break
        :: else
        fi;
        d_step {
            at = head[which];
            head_g = head_generation[which]
        }
        if
#ifdef NO_RECHECK
        :: at >= END -> break
#else
        :: head_g == g && at >= END -> break
#endif
        :: else
        fi;
        if
        :: at < END -> pod = ref[which * REFS + at]
        :: else -> pod = NO_REF
        fi;
#ifdef NO_RECHECK
        ok = (pod != NO_REF);
        g = head_g;
#else
        ok = (pod != NO_REF && head_g == g);
#ifndef SLOT_ONLY
        ok = (ok && generation[which] == g);
#endif
#ifndef GENERATION_ONLY
        ok = (ok && slot_run[s] == which && slot_generation[s] == g);
#endif
#endif
        if
        :: ok ->
            d_step {
                judge(bin);
                if
                :: ok -> busy[pod] = true
                :: else
                fi
            }
            next = at + 1;
            if
            :: !ok -> pass_stale(bin)
            :: else
            fi;
            advance(next);
            next = 0;
            if
            :: ok -> break
            :: else
            fi
        :: else
        fi;
        pod = NO_REF;
#ifdef SKIP_CHANGED
        if
        :: slot_run[s] != which || slot_generation[s] != g -> break
        :: else
        fi
#endif
    od;
    which = 0;
    g = 0;
    at = 0;
    head_g = 0;
    ok = false
}

proctype Reader() provided (!halted)
{
    byte which, g, at, next, head_g, pod;
    bool ok, was[2];
    d_step {
        was[0] = !busy[0];
        was[1] = !busy[1]
    }
    take(A_UPPER, 0);
    if
    :: pod == NO_REF -> take(A_LOWER, 0)
    :: else
    fi;
    assert(pod != NO_REF || (!(was[0] && !busy[0]) && !(was[1] && !busy[1])))
}

inline fill(which, i, with)
{
    ref[(which) * REFS + (i)] = with
}

inline set_head(which, position)
{
    d_step {
        head[which] = position;
        head_generation[which] = generation[which]
    }
}

inline link(s, which)
{
    d_step {
        slot_run[s] = which;
        slot_generation[s] = generation[which]
    }
}

/* ok: it had run 0 still, which is his then. */
inline empty_upper()
{
    d_step {
        ok = (slot_run[A_UPPER] == 0 && slot_generation[A_UPPER] == 0);
        if
        :: ok -> slot_run[A_UPPER] = NO_RUN
        :: else
        fi
    }
}

/* Run 1 is free: it gets what is live in runs 0 and 2, each of which holds a pod twice. */
inline copy_live()
{
    n = 0;
    if
    :: !busy[0] ->
        fill(1, 0, 0);
        n = 1
    :: else
    fi;
    if
    :: !busy[1] ->
        fill(1, n, 1);
        n++
    :: else
    fi;
    if
    :: n == 1 -> fill(1, 1, ref[REFS])
    :: else
    fi;
    set_head(1, (n == 0 -> END : 0));
    link(A_LOWER, 1)
}

proctype Merger() provided (!halted)
{
    byte n;
    bool ok;
#ifndef REUSE_EARLY
    copy_live();
#endif
    empty_upper();
    if
    :: ok ->
        generation[0]++;
        fill(0, 0, 2);
        fill(0, 1, 3);
        set_head(0, 0)
    :: else
    fi;
#ifdef REUSE_EARLY
    copy_live();
#endif
    generation[2]++;
    fill(2, 0, 3);
    fill(2, 1, 2);
    set_head(2, 0);
    if
    :: ok -> link(B_SLOT, 0)
    :: else -> link(B_SLOT, 2)
    fi
}

/* The refs of run 0 are of one pod: one of them is enough. */
proctype Beside() provided (!halted)
{
    byte which, g, pod;
    bool ok;
    read_slot(A_UPPER);
    if
    :: which != NO_RUN ->
        pod = ref[which * REFS + 1];
        fill(3, 0, pod);
        fill(3, 1, 1);
        set_head(3, 0);
        d_step {
#ifdef ANY_WORD
            ok = true;
#else
            ok = (slot_run[A_UPPER] == which && slot_generation[A_UPPER] == g);
#endif
            if
            :: ok -> link(A_UPPER, 3)
            :: else
            fi
        };
        if
        :: ok ->
            generation[which]++;
            fill(which, 0, 2);
            fill(which, 1, 3);
            set_head(which, 0)
        :: else
        fi
    :: else
    fi
}

proctype Second() provided (!halted)
{
    byte which, g, at, pod;
    bool ok;
    d_step {
        read_slot(A_UPPER);
        ok = (which != NO_RUN && head_generation[which] == g);
        if
        :: ok -> at = head[which]
        :: else -> at = END
        fi
    }
    do
    :: at < END ->
        pod = ref[which * REFS + at];
#ifndef HELP_BEFORE_RECHECK
        ok = (slot_run[A_UPPER] == which && slot_generation[A_UPPER] == g);
        if
        :: !ok -> break
        :: else
        fi;
#endif
        d_step {
            judge(0);
            at++
        }
    :: else -> break
    od
}

/* All others stop where they are. */
proctype Drain()
{
    byte which, g, at, next, head_g, pod, n;
    bool ok;
    d_step {
        halted = true;
        for (n : 1 .. 2) {
            take(A_UPPER, 0);
            if
            :: pod == NO_REF -> take(A_LOWER, 0)
            :: else
            fi
        }
        for (n : 1 .. 2) {
            take(B_SLOT, 1)
        }
        assert(busy[0] && busy[1]);
        assert(slot_run[B_SLOT] == NO_RUN || (busy[2] && busy[3]))
    }
}

init
{
    byte n;
    atomic {
        fill(0, 0, 0);
        fill(0, 1, 0);
        link(A_UPPER, 0);
        fill(2, 0, 1);
        fill(2, 1, 1);
        link(A_LOWER, 2);
        switched[0] = true;
        switched[1] = true;
        for (n : 1 .. READERS) {
            run Reader()
        }
#if defined(SECOND) || defined(LARGE)
        run Second();
#endif
#ifdef BESIDE
        run Beside();
#endif
        run Merger();
        run Drain()
    }
}
