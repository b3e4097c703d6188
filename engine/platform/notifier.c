/* The two ways of notifier.h. */
#include "platform/notifier.h"

#include "platform/descriptor.h"
#include "platform/inside.h"

void
notifier_set_wake(struct notifier *notifier, void (*wake)(void *ctx), void *ctx)
{
    notifier->wake = wake;
    notifier->ctx = ctx;
    word_store(&notifier->used, 1);
}

int
notifier_descriptor(struct notifier *notifier)
{
    uint32_t found = word_load(&notifier->descriptor);

    if (found != 0) {
        return (int)found - 1;
    }
    int own = descriptor_open();

    if (own < 0) {
        return own;
    }
    /* first: another thread that finds the descriptor waits for it, whatever becomes of this one */
    word_store(&notifier->used, 1);
    if (__atomic_compare_exchange_n(&notifier->descriptor, &found, (uint32_t)own + 1, 0,
                                    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        return own;
    }
    descriptor_close(own);
    return (int)found - 1;
}

void
notifier_tell(const struct notifier *notifier)
{
    uint32_t descriptor = word_load(&notifier->descriptor);

    if (descriptor != 0) {
        descriptor_set((int)descriptor - 1);
    }
    if (notifier->wake != NULL) {
        inside_calls(CALLBACK_WAKE);
        notifier->wake(notifier->ctx);
        inside_calls(CALLBACK_NONE);
    }
}

void
notifier_clear(const struct notifier *notifier)
{
    uint32_t descriptor = word_load(&notifier->descriptor);

    if (descriptor != 0) {
        descriptor_clear((int)descriptor - 1);
    }
}

void
notifier_shut(struct notifier *notifier)
{
    if (notifier->descriptor != 0) {
        descriptor_close((int)notifier->descriptor - 1);
    }
}
