/* memory_first.h: the first exchange wins, the memory of the others is freed. */
#include "platform/memory_first.h"

bool
memory_alloc_first(struct memory *memory, enum memory_kind kind, atomic_ptr *place, size_t bytes)
{
    if (ptr_load_acquire(place) != NULL) { /* reads from memory_alloc_first:A */
        return true;
    }
    void *own = memory_alloc(memory, kind, bytes, CACHE_LINE);

    if (own != NULL && ptr_cas_value(place, NULL, own) != NULL) { /* memory_alloc_first:A */
        memory_free(memory, kind, own, bytes);
    }
    return own != NULL;
}
