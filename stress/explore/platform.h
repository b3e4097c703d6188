/* What scenarios do with the thread that a queue starts (schedq_run), and with its descriptor. */
#ifndef EXPLORE_PLATFORM_H
#define EXPLORE_PLATFORM_H

/** Becomes that thread, until it ends. */
void platform_run_thread(void);

/** Waits until the queue's descriptor is readable, as poll does. */
void platform_poll(void);

#endif
