/* What scenarios do with the thread that a queue starts (schedq_run). */
#ifndef EXPLORE_PLATFORM_H
#define EXPLORE_PLATFORM_H

/** Becomes that thread, until it ends. */
void platform_run_thread(void);

#endif
