/* The counts of account.h. */
#include "account.h"

#include "names.h"

void
account_retain(void *ctx, uint64_t object)
{
    account_t *account = ctx;
    uint32_t slot = object_slot(object);

    if (slot == NAMES_MAX * OBJECT_VARIANTS) {
        account->wrong = true;
        return;
    }
    account->held[slot]++;
    account->sum++;
}

void
account_release(void *ctx, uint64_t object)
{
    account_t *account = ctx;
    uint32_t slot = object_slot(object);

    if (slot == NAMES_MAX * OBJECT_VARIANTS || account->held[slot] == 0) {
        account->wrong = true;
        return;
    }
    account->held[slot]--;
    account->sum--;
}
