/* The queue under test is the library in this process. */
#ifndef CONFORM_LOCAL_H
#define CONFORM_LOCAL_H

#include "subject.h"
#include "world.h"

struct local {
    struct subject subject;
    struct subject_options options;
    struct world world;
};

void local_init(struct local *local, const struct subject_options *options);

#endif
