/*
 * A descriptor that other threads make readable, for hosts that wait in poll and the like.
 */
#ifndef SCHEDQ_PLATFORM_DESCRIPTOR_H
#define SCHEDQ_PLATFORM_DESCRIPTOR_H

/** Not readable. Negative: the system has none to give. */
int descriptor_open(void);

void descriptor_close(int descriptor);

/** Makes it readable, until it is cleared. */
void descriptor_set(int descriptor);

void descriptor_clear(int descriptor);

#endif
