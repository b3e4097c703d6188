/**
 * An allocator that counts, checks and, when told so, fails: every queue under test gets one.
 *
 * Each block carries a header in front of it with its size, so that a free with another size, or of
 * something that never was allocated, is seen. All of it may be used by several threads.
 */
#ifndef SCHEDQ_TESTS_SUPPORT_ACCOUNT_H
#define SCHEDQ_TESTS_SUPPORT_ACCOUNT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "schedq/schedq.h"

typedef struct account {
    atomic_uint_fast64_t bytes;       /* held now */
    atomic_uint_fast64_t blocks;      /* held now */
    atomic_uint_fast64_t allocations; /* ever, the refused ones included */
    atomic_uint_fast64_t faults;      /* frees that do not fit their allocation, odd alignments */
    /* this many succeed, the next one fails; negative: none fails */
    atomic_int_fast64_t fail_at;
    atomic_bool fail_all; /* every one fails */
} account_t;

void account_init(account_t *account);
/** The vtable that the queue's configuration takes. */
schedq_allocator_t account_allocator(account_t *account);
/** Lets `successes` allocations pass and fails the one after them. */
void account_fail_after(account_t *account, int64_t successes);
/** Ends every failure. Returns true if the planned one has happened. */
bool account_heal(account_t *account);

#endif
