/*
 * The text by which metrics name an event.
 *
 * kube >= 1.32 composes resource and action ("NodeAdd"); a set of actions that is not one bit, All
 * or Update has no action text. Earlier releases have fixed names ("NodeTaintChange"); a
 * combination they do not know is composed as well.
 *
 * Why a pod moved is a label too, by number: that of an event, or one of what is no event.
 */
#ifndef SCHEDQ_POLICY_LABEL_H
#define SCHEDQ_POLICY_LABEL_H

#include "policy/match.h"

#include <stdbool.h>
#include <stddef.h>

/** Labels of what is no event of the cluster; labels of events follow. */
enum {
    LABEL_POD_ADD,
    LABEL_POD_UPDATE,
    LABEL_FAILURE,
    LABEL_BACKOFF_COMPLETE,
    LABEL_POP_FROM_BACKOFF,
    LABEL_FORCE_ACTIVATE,
    LABEL_LEFTOVER,
    LABEL_FIRST_EVENT
};

/**
 * Does a host that makes a pod active for this reason judge an event? Else a call or time makes it
 * active.
 */
static inline bool
label_is_verdict(uint32_t label)
{
    return label != LABEL_FORCE_ACTIVATE && label != LABEL_BACKOFF_COMPLETE;
}

/**
 * Writes the default label of an event, with a NUL, cut to `size`. `resource` is the name behind
 * kind.resource.
 */
void label_compose(char *text, size_t size, const char *resource, struct event_kind kind,
                   uint8_t kube_minor);

#endif
