/* Complaints of worker threads. */
#include "mailbox.h"

#include <stdio.h>

#include "expect.h"

void
mailbox_init(mailbox_t *mailbox)
{
    pthread_mutex_init(&mailbox->mutex, NULL);
    mailbox->complaints = 0;
    mailbox->first[0] = '\0';
}

void
mailbox_complain(mailbox_t *mailbox, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    pthread_mutex_lock(&mailbox->mutex);
    if (mailbox->complaints++ == 0)
        vsnprintf(mailbox->first, sizeof mailbox->first, format, arguments);
    pthread_mutex_unlock(&mailbox->mutex);
    va_end(arguments);
}

void
mailbox_assert_empty(mailbox_t *mailbox)
{
    pthread_mutex_lock(&mailbox->mutex);
    unsigned complaints = mailbox->complaints;
    pthread_mutex_unlock(&mailbox->mutex);
    if (complaints != 0) {
        print_error("%u complaints of threads, the first: %s\n", complaints, mailbox->first);
        fail();
    }
}
