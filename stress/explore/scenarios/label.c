/* Calls on all pods of a label, against what happens to single ones. */
#include "cluster.h"
#include "scenarios.h"
#include "world.h"

/* Labels of one bucket, or of two. */
enum { JOB = 1, OTHER = 2, THIRD = 3 };

static void
two_of_a_job(struct actor *actor)
{
    (void)actor_add_labelled(actor, 0, 3, JOB);
    (void)actor_add_labelled(actor, 1, 2, JOB);
}

static void
one_in_flight(struct actor *actor)
{
    two_of_a_job(actor);
    (void)actor_pop(actor);
}

static void
cancel(struct actor *actor)
{
    actor_cancel_label(actor, JOB);
}

static void
add_and_cancel(struct actor *actor)
{
    (void)actor_add_labelled(actor, 4, 1, JOB);
    actor_cancel_label(actor, JOB);
}

static void
add_to_the_job(struct actor *actor)
{
    (void)actor_add_labelled(actor, 2, 1, JOB);
    (void)actor_add_labelled(actor, 3, 4, JOB);
}

static void
add_to_others(struct actor *actor)
{
    (void)actor_add_labelled(actor, 2, 1, OTHER);
    (void)actor_add_labelled(actor, 3, 4, THIRD);
    (void)actor_add_labelled(actor, 5, 4, OTHER);
}

static void
add_unlabelled(struct actor *actor)
{
    (void)actor_delete(actor, 0);
    (void)actor_add(actor, 0, 1);
    (void)actor_add(actor, 1, 1); /* EXISTS, perhaps: the record is the next one's */
}

static void
add_again(struct actor *actor)
{
    (void)actor_delete(actor, 0);
    (void)actor_add_labelled(actor, 0, 1, JOB);
}

static void
fail_it(struct actor *actor)
{
    (void)actor_fail(actor, PLAIN);
}

static void
consume_2(struct actor *actor)
{
    actor_consume(actor, 2);
}

static void
raise_0(struct actor *actor)
{
    (void)actor_update(actor, 0, 5);
    (void)actor_update(actor, 1, 1);
}

#define LABEL(title, text, ...) SLEEPING(title, text, cluster_use_without_gates, __VA_ARGS__)

const struct scenario label_scenarios[] = {
    LABEL("label_add", "a label is cancelled while pods of it are added", two_of_a_job, cancel,
          add_to_the_job, consume_2),
    LABEL("label_two", "two add to a label and cancel it", two_of_a_job, add_and_cancel,
          add_and_cancel, add_to_the_job),
    LABEL("label_others", "a label is cancelled while others are added beside it", two_of_a_job,
          add_and_cancel, add_to_others, add_to_others),
    LABEL("label_pop", "a label is cancelled against pops", two_of_a_job, cancel, consume_2,
          consume_2),
    LABEL("label_flight", "the same, with one in flight, which fails", one_in_flight, fail_it,
          cancel, consume_2),
    LABEL("label_readd", "a pod of the label is deleted, and comes again without one", two_of_a_job,
          cancel, add_unlabelled, consume_2),
    LABEL("label_again", "the same, with the label", two_of_a_job, cancel, add_again, consume_2),
    LABEL("label_update", "a label is cancelled while its pods are updated", two_of_a_job, cancel,
          raise_0, raise_0),
    {.name = NULL},
};
