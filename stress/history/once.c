/* What a life's own records show without any order between names. */
#include "check.h"

static void
check_end(const life_t *life, report_t *report)
{
    const record_t *popped = life->last->popped;
    report_obligation(report, RULE_ONCE);
    if (life->ended == NULL && life->pending == NULL)
        report_violation(
            report, RULE_ONCE, life->last->began, popped,
            "a pod is lost: it was neither done nor deleted, and is not there when all is quiet");
    else if (life->ended != NULL && life->pending != NULL)
        report_violation(report, RULE_ONCE, life->ended, life->pending,
                         "a pod ended, and is there when all is quiet");
    if (popped == NULL)
        return;
    if (life->ended == NULL)
        report_violation(report, RULE_ONCE, popped, life->pending,
                         "a pod was popped, and no done or fail of it is OK");
    else if (!record_is_done(life->ended) && life->returned == NULL)
        report_violation(report, RULE_TOKENS, popped, life->ended,
                         "a pod was deleted in flight, and its holder never learned of it");
}

/* A token is stale from the call on that used it. */
static void
check_stale(const record_t *record, report_t *report)
{
    const record_t *popped = record->stay != NULL ? record->stay->popped : NULL;
    if (popped == NULL || popped->token != record->token)
        return;
    report_obligation(report, RULE_TOKENS);
    if (popped->use == NULL)
        report_violation(report, RULE_TOKENS, popped, record, "a token is STALE that nobody used");
    else if (record->end < popped->use->begin)
        report_violation(report, RULE_TOKENS, record, popped->use,
                         "a token is STALE before its use");
}

void
once_check(const lives_t *lives, const book_t *book, report_t *report)
{
    for (size_t i = 0; i < lives->count; i++)
        check_end(&lives->lives[i], report);
    for (size_t i = 0; i < book->count; i++) {
        const record_t *record = book->all[i];
        if (record->status == SCHEDQ_STALE &&
            (record_uses_token(record) || record->call == OP_TOKEN_ALIVE))
            check_stale(record, report);
    }
}
