/*
 * Nominations are a register of each pod: what a pop, or a look, says is what a nomination wrote
 * that no later one took the place of before, or what the pod came with. In the kube presets a
 * nomination also ends by itself, when the pod becomes active or fails: there 0 is always right.
 */
#include "check.h"

#include "cluster.h"

/* Did another nomination begin when this was over, and end before `time`? */
static bool
is_replaced(const life_t *life, uint64_t over, uint64_t time)
{
    for (const record_t *other = life->nominations; other != NULL; other = other->next_nudge) {
        if (other->begin > over && other->end < time)
            return true;
    }
    return false;
}

static bool
may_say(const record_t *look)
{
    const life_t *life = look->life;
    if (look->node == life->created->node && !is_replaced(life, life->created->end, look->begin))
        return true;
    for (const record_t *written = life->nominations; written != NULL;
         written = written->next_nudge) {
        if (written->node == look->node && written->begin <= look->end &&
            !is_replaced(life, written->end, look->begin))
            return true;
    }
    return false;
}

void
nominations_check(const book_t *book, report_t *report)
{
    for (size_t i = 0; i < book->count; i++) {
        const record_t *look = book->all[i];
        if (!look->tells_node || look->life == NULL || look->call == CALL_CARRY ||
            (look->life->nominations == NULL && look->life->created->node == 0 && look->node == 0))
            continue;
        report_obligation(report, RULE_NOMINATIONS);
        if (!may_say(look) && !(book->settings.kube && look->node == 0))
            report_violation(report, RULE_NOMINATIONS, look->life->nominations, look,
                             "a pod is said to be nominated to node %u", look->node);
    }
}

/* ---- when all is quiet ----------------------------------------------------------------------- */

typedef struct listing {
    const lives_t *lives;
    report_t *report;
    unsigned node;
    uint64_t listed;
} listing_t;

static int
visit(void *ctx, const schedq_pod_info_t *info)
{
    listing_t *listing = ctx;
    const life_t *life = map_get(&listing->lives->by_pod, info->pod.bits);
    const record_t *pending = life != NULL ? life->pending : NULL;
    listing->listed++;
    if (pending == NULL || pending->node != listing->node)
        report_violation(listing->report, RULE_NOMINATIONS, pending, NULL,
                         "pod %llx is listed at node %u, and not nominated there",
                         (unsigned long long)info->pod.bits, listing->node);
    return 1;
}

void
nominations_look(const lives_t *lives, schedq_worker_t *worker, uint64_t said, report_t *report)
{
    listing_t listing = {.lives = lives, .report = report};
    uint64_t nominated = 0;
    for (size_t i = 0; i < lives->count; i++)
        nominated += lives->lives[i].pending != NULL && lives->lives[i].pending->node != 0;
    for (listing.node = 1; listing.node <= NODES; listing.node++)
        (void)schedq_nominated_pods(worker, listing.node, visit, &listing);
    if (nominated != 0)
        report_obligation(report, RULE_NOMINATIONS);
    if (listing.listed != nominated || said != nominated)
        report_violation(report, RULE_NOMINATIONS, NULL, NULL,
                         "%llu pods are nominated, %llu are listed, the words say %llu",
                         (unsigned long long)nominated, (unsigned long long)listing.listed,
                         (unsigned long long)said);
}
