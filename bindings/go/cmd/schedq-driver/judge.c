#include "judge.h"

#include <stddef.h>

static const struct thing *
thing(uint64_t bits)
{
    return (const struct thing *)(uintptr_t)bits;
}

static int64_t
number(uint64_t bits)
{
    return bits != 0 ? thing(bits)->number : 0;
}

static schedq_hint_t
answer(int yes)
{
    return yes ? SCHEDQ_HINT_QUEUE : SCHEDQ_HINT_SKIP;
}

schedq_hint_t
judge_always(void *ctx, uint64_t pod, uint64_t before, uint64_t after)
{
    (void)ctx, (void)pod, (void)before, (void)after;
    return SCHEDQ_HINT_QUEUE;
}

schedq_hint_t
judge_never(void *ctx, uint64_t pod, uint64_t before, uint64_t after)
{
    (void)ctx, (void)pod, (void)before, (void)after;
    return SCHEDQ_HINT_SKIP;
}

schedq_hint_t
judge_error(void *ctx, uint64_t pod, uint64_t before, uint64_t after)
{
    (void)ctx, (void)pod, (void)before, (void)after;
    return SCHEDQ_HINT_ERROR;
}

schedq_hint_t
judge_parity(void *ctx, uint64_t pod, uint64_t before, uint64_t after)
{
    (void)ctx;
    return answer((thing(pod)->name_number + number(before) + number(after)) % 2 == 0);
}

schedq_hint_t
judge_fits(void *ctx, uint64_t pod, uint64_t before, uint64_t after)
{
    (void)ctx, (void)before;
    return answer(after != 0 && number(after) >= number(pod));
}

schedq_hint_t
judge_grew(void *ctx, uint64_t pod, uint64_t before, uint64_t after)
{
    (void)ctx, (void)pod;
    return answer(after != 0 && (before == 0 || number(after) > number(before)));
}

schedq_hint_t
judge_mine(void *ctx, uint64_t pod, uint64_t before, uint64_t after)
{
    (void)ctx, (void)before;
    return answer(after != 0 && thing(after)->uid != 0 && thing(after)->uid == thing(pod)->uid);
}

static int
is_of_one_root(uint64_t pod, uint64_t after)
{
    const struct gang *own = thing(pod)->gang, *other = after != 0 ? thing(after)->gang : NULL;

    return own != NULL && other != NULL && own->root != NULL && own->root == other->root;
}

schedq_hint_t
judge_mygroup(void *ctx, uint64_t pod, uint64_t before, uint64_t after)
{
    (void)ctx, (void)before;
    return answer(is_of_one_root(pod, after));
}

schedq_hint_t
judge_mindown(void *ctx, uint64_t pod, uint64_t before, uint64_t after)
{
    (void)ctx;
    return answer(before != 0 && is_of_one_root(pod, after) &&
                  thing(after)->min < thing(before)->min);
}

int
judge_gate(void *gate, uint64_t pod)
{
    return thing(pod)->gate != *(const int64_t *)gate;
}

int
judge_gang(void *ctx, uint64_t pod)
{
    const struct thing *asked = thing(pod);

    (void)ctx;
    return asked->gang == NULL || asked->gate != 0 || asked->gang->enough;
}

int
judge_precheck(void *ctx, uint64_t pod)
{
    (void)ctx;
    return thing(pod)->name_number % 2 == 0;
}
