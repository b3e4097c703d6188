/*
 * The queue under test belongs to a child process, which reads requests and writes answers, a line
 * each. The protocol is in docs/CONFORMANCE.md.
 */
#ifndef CONFORM_DRIVER_H
#define CONFORM_DRIVER_H

#include "subject.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

struct driver {
    struct subject subject;
    struct subject_options options;
    struct script *script; /* the vector that is open */
    const char *command;
    pid_t process;
    FILE *requests;
    FILE *answers;
    char *line;          /* DRIVER_LINE_BYTES */
    pthread_t watch;     /* ends a driver that does not answer */
    atomic_ulong lines;  /* that it wrote, and requests that it got */
    atomic_bool waits;   /* for an answer, or for its end */
    atomic_bool over;    /* the watch is */
    bool given_up;       /* the driver was ended, and that was said */
    atomic_uint verdict; /* patience_verdict_t: why the watch ended it */
};

/** An answer has at most so many lines, and a line so many bytes: what has more never ends. */
#define DRIVER_LINES 1000000
#define DRIVER_LINE_BYTES (1 << 20)

/** Starts a shell command. Without a pipe or a process the program ends with a message. */
void driver_start(struct driver *driver, const char *command,
                  const struct subject_options *options);
/**
 * Closes its input and waits for it. Reports and returns false if its exit status is not 0, or it
 * does not end.
 */
bool driver_stop(struct driver *driver);

#endif
