/**
 * Where threads leave their complaints: the main thread asserts that it stayed empty.
 *
 * A cmocka assertion in another thread would jump into the main thread's stack. Only the first
 * complaint is kept.
 */
#ifndef SCHEDQ_TESTS_SUPPORT_MAILBOX_H
#define SCHEDQ_TESTS_SUPPORT_MAILBOX_H

#include <pthread.h>
#include <stdbool.h>

typedef struct mailbox {
    pthread_mutex_t mutex;
    unsigned complaints;
    char first[256];
} mailbox_t;

void mailbox_init(mailbox_t *mailbox);
/** Any thread. printf-like. */
void mailbox_complain(mailbox_t *mailbox, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/** Complains unless `good`; returns `good`. */
#define mailbox_check(mailbox, good) \
    ((good)                          \
         ? true                      \
         : (mailbox_complain((mailbox), "%s:%d: not true: %s", __FILE__, __LINE__, #good), false))
/** Main thread: fails the test with the first complaint. */
void mailbox_assert_empty(mailbox_t *mailbox);

#endif
