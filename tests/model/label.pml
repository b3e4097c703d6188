/*
 * Labels (engine/lockfree: nominator with labels, add, label). The hints of a group's members are of the same kind: the
 * key is the group's number.
 *
 * A hint {life, record} is in a bucket from before a pod with the label exists; what becomes of it depends on the record's
 * word and life alone. One record: the word has version and place, a life is the version with which
 * it begins, one more than the free record's. LABELLED adds a pod with the label, and ends it; or its add fails behind the
 * hint, and gives the record back with that version; or behind the word, because the index has another pod of the name. PLAIN takes the record whenever it is free, adds a pod without a label, and
 * ends it. A sweeper loads the bucket, judges each hint, and replaces the bucket, if it has not changed, by those that are
 * needed: it stands for an insertion of another pod, for an end, and for a reading. The canceller loads the bucket as of one moment,
 * judges all hints, and ends those that stand; whether the bucket changes meanwhile is nothing to him. Unless no
 * adder is inside of a section by then, he asks the index first whether they exist. An adder may die before its pod exists: who
 * adopts its worker notes a death, then ends its section. The canceller looks for deaths behind that.
 *
 * Claims
 *   a pod that has the label has its hint in the bucket (Observer, in every state)
 *   the canceller reaches a pod whose add returned before it began and that lasts (Canceller)
 *   he reaches none without the label (Canceller), and none that never existed
 *
 * Planted bugs
 *   -DHINT_LATE      the pod exists, then the hint is inserted
 *   -DDROP_UNBORN    a sweep drops the hints of a life that has not begun
 *   -DSAME_LIFE      an add that fails gives the record back as it was: another pod gets the life that its hint names
 *   -DANY_LIFE       a hint stands for whoever has the record
 *   -DNO_INDEX       the canceller does not ask the index
 *   -DASK_EARLY      he looks who is inside, then at the bucket
 *   -DNO_DEATHS      he does not look for deaths
 *   -DDEATH_LATE     the section of a dead adder is ended, then the death is noted
 *   -DNO_COMPARE     the sweeper stores the bucket without comparing
 *
 * Bounds: 3 lives. Each may stop anywhere.
 *
 * stands for engine/lockfree/signals/nominator.c nominator_count_end f944f849
 * stands for engine/lockfree/signals/nominator.c nominator_read 1744d1f7
 * stands for engine/lockfree/signals/nominator.c judge_hint b1803be7
 * stands for engine/lockfree/signals/nominator.c visit_list ceab8d3d
 * stands for engine/lockfree/signals/nominator.c life_is_over a410284a
 * stands for engine/lockfree/calls/add.c refuse 208d7462
 * stands for engine/lockfree/calls/add.c enter_under f5ed3af2
 * stands for engine/lockfree/calls/add.c describe_more 45502fe8
 * stands for engine/lockfree/calls/label.c lockfree_labelled 97562f89
 * stands for engine/lockfree/calls/label.c keep_those_that_exist d95a7b7f
 * stands for engine/lockfree/calls/label.c exists c2703130
 */
#define LIVES 3

byte version;      /* of the record's word */
bool used;         /* it is a pod's, else free */
bool label;        /* of the description */
bool owned;        /* free, and an add's own */
byte bucket;       /* bit n: the hint of life n */
byte bucket_name;  /* another after each exchange */
bool known[LIVES + 2];  /* the index has it, or had it */
byte inside;            /* adders of labelled pods, from before the hint until the index has answered */
bool died;              /* an adder did, inside */
bool stands[LIVES + 2]; /* ghost: its add returned, and nobody ended it */

#define HINT(n) (1 << (n))

#ifdef NO_INDEX
#define EXISTS(n) true
#else
#define EXISTS(n) (alone || known[n])
#endif

#ifdef DROP_UNBORN
#define UNBORN(n) false
#else
#define UNBORN(n) (seen + 1 == n)
#endif
#ifdef ANY_LIFE
#define STANDS(n) (true)
#else
#define STANDS(n) (seen == n)
#endif
/* Of a free record whose next life would be n. */
#ifdef SAME_LIFE
#define FAIL(n) owned = false
#else
#define FAIL(n) atomic { version = n; owned = false }
#endif

/* What is known of life n: 0 over, 1 not yet, 2 it is there. Two looks at the word. */
inline judge(n, standing)
{
    do
    :: atomic { seen = version; seen_used = used };
       if
       :: !seen_used && UNBORN(n) -> standing = 1; break
       :: !seen_used && !UNBORN(n) -> standing = 0; break
       :: seen_used ->
          seen_label = label; /* ghost: nobody but the claims looks at it */
          if
          :: atomic { version == seen && used -> standing = (STANDS(n) -> 2 : 0) }; break
          :: else -> skip
          fi
       fi
    od
}

/* Takes the free record: its next life. */
inline take(n)
{
    atomic { !used && !owned && version + 1 <= LIVES -> owned = true; n = version + 1 }
}

inline begin(n, labelled)
{
    atomic {
        label = labelled;
        version = n;
        used = true;
        owned = false
    }
}

/* By whoever compares the word. */
inline finish(n)
{
    atomic {
        if
        :: used && version == n -> used = false; version = version + 1; stands[n] = false
        :: else
        fi
    }
}

inline insert(n)
{
    atomic { bucket = bucket | HINT(n); bucket_name++ }
}

active proctype Labelled()
{
    byte n;

    inside++;
    take(n);
#ifndef HINT_LATE
    insert(n);
#endif
    if
    :: FAIL(n); inside-- /* the add failed */
    :: begin(n, true);
#ifdef HINT_LATE
       insert(n);
#endif
       if
       :: finish(n); inside-- /* the name was taken */
#ifdef DEATH_LATE
       :: inside--; died = true
#else
       :: died = true; inside-- /* it died, and its worker was adopted */
#endif
       :: known[n] = true;
          inside--;
          atomic { if :: used && version == n -> stands[n] = true :: else fi };
          if
          :: stands[n] = false; finish(n)
          :: skip
          fi
       fi
    fi
}

proctype Again()
{
    byte n;

    inside++;
    take(n);
    insert(n);
    begin(n, true);
    known[n] = true;
    inside--;
    atomic { if :: used && version == n -> stands[n] = true :: else fi }
}

active proctype Plain()
{
    byte n;

    take(n);
    begin(n, false);
    finish(n)
}

active proctype Sweeper()
{
    byte seen_bucket, name, left, n = 1, standing, seen;
    bool seen_used, seen_label;

    atomic { seen_bucket = bucket; name = bucket_name };
    left = seen_bucket;
    do
    :: n <= LIVES && (seen_bucket & HINT(n)) ->
       judge(n, standing);
       if
       :: standing == 0 -> left = left & ~HINT(n)
       :: else
       fi;
       n++
    :: n <= LIVES && !(seen_bucket & HINT(n)) -> n++
    :: n > LIVES -> break
    od;
    atomic {
        if
#ifdef NO_COMPARE
        :: true -> bucket = left; bucket_name++
#else
        :: bucket_name == name -> bucket = left; bucket_name++
        :: else
#endif
        fi
    }
}

active proctype Canceller()
{
    byte seen_bucket, found, n, standing, seen;
    bool seen_used, seen_label, alone, must[LIVES + 2];

    atomic {
        must[1] = stands[1]; must[2] = stands[2]; must[3] = stands[3]
    };
#ifdef ASK_EARLY
    alone = inside == 0;
#endif
    atomic { seen_bucket = bucket; found = 0; n = 1 };
    do
    :: n <= LIVES && (seen_bucket & HINT(n)) ->
       judge(n, standing);
       if
       :: standing == 2 -> assert(seen_label && seen == n); found = found | HINT(n)
       :: else
       fi;
       n++
    :: n <= LIVES && !(seen_bucket & HINT(n)) -> n++
    :: n > LIVES -> break
    od;
#ifndef ASK_EARLY
    alone = inside == 0;
#endif
#ifndef NO_DEATHS
    alone = alone && !died;
#endif
    n = 1;
    do
    :: n <= LIVES ->
       assert(!must[n] || !stands[n] || (found & HINT(n)));
       if
       :: (found & HINT(n)) && EXISTS(n) -> atomic { assert(!(used && version == n) || known[n]) ; finish(n) }
       :: else
       fi;
       n++
    :: n > LIVES -> break
    od
}

active proctype Observer()
{
    end_observer: atomic { used && label && !(bucket & HINT(version)) -> assert(false) }
}

init
{
    run Again()
}
