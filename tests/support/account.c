/*
 * The counting allocator. What surprises: the header lies in front of the block, inside padding of
 * one alignment.
 */
#include "account.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK_MAGIC UINT64_C(0x5c4ed9b10c5eed01)
#define SPENT (-1)

typedef struct block_header {
    uint64_t magic;
    void *base;
    size_t bytes;
    size_t align;
} block_header_t;

static bool
must_fail(account_t *account)
{
    if (atomic_load(&account->fail_all))
        return true;
    int_fast64_t left = atomic_load(&account->fail_at);
    while (left >= 0) {
        if (atomic_compare_exchange_weak(&account->fail_at, &left, left - 1))
            return left == 0;
    }
    return false;
}

static void *
account_alloc(void *ctx, size_t bytes, size_t align)
{
    account_t *account = ctx;
    atomic_fetch_add(&account->allocations, 1);
    if (align == 0 || (align & (align - 1)) != 0 || align > 4096 || bytes == 0)
        atomic_fetch_add(&account->faults, 1);
    if (must_fail(account))
        return NULL;

    size_t pad = align < sizeof(block_header_t) ? sizeof(block_header_t) : align;
    size_t whole = (pad + bytes + pad - 1) / pad * pad;
    unsigned char *base = aligned_alloc(pad, whole);
    if (base == NULL)
        return NULL;
    memset(base, 0xa5, whole);
    block_header_t header = {.magic = BLOCK_MAGIC, .base = base, .bytes = bytes, .align = align};
    memcpy(base + pad - sizeof header, &header, sizeof header);
    atomic_fetch_add(&account->bytes, bytes);
    atomic_fetch_add(&account->blocks, 1);
    return base + pad;
}

static void
account_free(void *ctx, void *memory, size_t bytes)
{
    account_t *account = ctx;
    if (memory == NULL)
        return;
    block_header_t header;
    unsigned char *at = (unsigned char *)memory - sizeof header;
    memcpy(&header, at, sizeof header);
    if (header.magic != BLOCK_MAGIC || header.bytes != bytes) {
        atomic_fetch_add(&account->faults, 1);
        if (header.magic != BLOCK_MAGIC)
            return;
    }
    atomic_fetch_sub(&account->bytes, header.bytes);
    atomic_fetch_sub(&account->blocks, 1);
    memset(at, 0, sizeof header);
    memset(memory, 0x5a, header.bytes);
    free(header.base);
}

void
account_init(account_t *account)
{
    atomic_init(&account->bytes, 0);
    atomic_init(&account->blocks, 0);
    atomic_init(&account->allocations, 0);
    atomic_init(&account->faults, 0);
    atomic_init(&account->fail_at, SPENT);
    atomic_init(&account->fail_all, false);
}

schedq_allocator_t
account_allocator(account_t *account)
{
    schedq_allocator_t allocator;
    memset(&allocator, 0, sizeof allocator);
    allocator.alloc = account_alloc;
    allocator.free = account_free;
    allocator.ctx = account;
    return allocator;
}

void
account_fail_after(account_t *account, int64_t successes)
{
    atomic_store(&account->fail_at, successes);
}

bool
account_heal(account_t *account)
{
    bool happened = atomic_load(&account->fail_at) == SPENT;
    atomic_store(&account->fail_at, SPENT);
    atomic_store(&account->fail_all, false);
    return happened;
}
