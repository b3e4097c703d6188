/* The rows of the suite `headline`, which its figures are judged by. */
#include "headline.h"

#include <stddef.h>
#include <string.h>

const char *const headline_rows[] = {
    "lifecycle/1t/1k",
    "lifecycle/1t/100k",
    "lifecycle/1t/1M",
    "lifecycle/1t/1k/batch32",
    "lifecycle/1t/100k/batch32",
    "lifecycle/2t/100k",
    "lifecycle/4t/100k",
    "lifecycle/8t/100k",
    "lifecycle/8t/1k",
    "lifecycle/2t/100k/relaxed",
    "lifecycle/8t/100k/relaxed",
    "lifecycle/2:2",
    "lifecycle/4:4",
    "lifecycle/2:2/batch32",
    "lifecycle/4:4/batch32",
    "lifecycle/4:4/best-rival",
    "pushpop/4:4/best-rival",
    "update/moves/1k",
    "update/moves/100k",
    "update/same/100k",
    "delete-add/100k",
    "failure/parks/100k",
    "failure/backs-off/100k",
    "tick/100k",
    "event/none/1M",
    "event/10/100k",
    "event/1k/100k",
    "event/100k/100k",
    "candidates/1M",
    "apply/1M",
    "replay/pressed",
    "replay/tick",
    "replay/pop",
    "replay/add_unschedulable",
    "replay/move_all",
    "event/skips/100k",
    "tick/nothing",
    "storm/100k/event",
    "storm/100k/pop-p99.9/yielding",
    "storm/1M/pop-p99.9/yielding",
    "storm/100k/pop-p99.9",
    "storm/100k/add-p99.9",
    "storm/1M/pop-p99.9",
    "storm/10k-events/pop-p99.9",
    "storm/10k-events/add-p99.9",
    "event-to-pop/p99",
    "priorities/4096-vs-1",
    "wake/p50",
    "wake/p99",
    "memory/bytes-per-pod",
    "preemption/usual/10k",
    "preemption/worst/1k",
    "preemption/usual/130k",
    NULL,
};

bool
is_headline(const char *name)
{
    for (size_t i = 0; headline_rows[i] != NULL; i++) {
        if (strcmp(headline_rows[i], name) == 0) {
            return true;
        }
    }
    return false;
}
