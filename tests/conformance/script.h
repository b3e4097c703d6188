/*
 * A vector: what its file says, before anything runs.
 *
 * The whole file is read and checked first, so that a malformed line is reported even if an
 * operation above it differs.
 */
#ifndef CONFORM_SCRIPT_H
#define CONFORM_SCRIPT_H

#include "fields.h"
#include "operation.h"

#include <schedq/schedq.h>

/** What the release that was recorded decides. */
struct release {
    const char *version; /* the beginning of its number */
    schedq_preset_t preset;
    /* the dialect since queueing hints: whole objects, uids, counters, nine-part states */
    bool hints;
    /* a pop tells of the leftover flush; entities are counted */
    bool entities;
};

struct config_line {
    unsigned line;
    const char *requeue; /* NULL: the preset's */
    struct number pop_from_backoff, initial_backoff_ms, max_backoff_ms, max_unschedulable_ms;
    struct number groups, composite;
};

struct interest_text {
    struct event_text event;
    schedq_hint_fn hint; /* NULL: none is named */
};

struct plugin_line {
    struct plugin_line *next;
    unsigned line;
    const char *name;
    const char *profile;
    struct number gate; /* preenqueue: whose pods it refuses */
    bool gang;          /* preenqueue=gang */
    struct interest_text *interests;
    size_t interest_count;
};

/** A line of the head as it stands in the file: source, config or plugin. */
struct head_line {
    struct head_line *next;
    const char *text;
};

struct metric_line {
    struct metric_line *next;
    unsigned line;
    const char *name;
    struct list labels; /* "key=value" each */
    int64_t value;
};

struct step {
    struct step *next;
    struct operation operation;
};

struct script {
    const char *file;
    char *text;
    struct obstack memory;
    const struct release *release;
    struct head_line *head;
    struct config_line config;
    struct plugin_line *plugins;
    struct step *steps;
    struct metric_line *metrics;
    unsigned end_line;
};

/**
 * Cuts a file's text, which has to outlive the script. False: it is malformed, which has been
 * reported. script_free in either case. */
bool script_read(struct script *script, const char *file, char *text);
void script_free(struct script *script);

#endif
