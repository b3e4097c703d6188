/*
 * Reads a vector file: a version line, the source, the configuration, plugins, operations with
 * their results and states, metrics, `end`, in this order.
 */
#include "script.h"

#include "callbacks.h"
#include "report.h"

#include <stdlib.h>
#include <string.h>

#define obstack_chunk_alloc malloc
#define obstack_chunk_free free

#define TIME_MS_MAX (INT64_C(365) * 86400 * 1000)

static const struct release releases[] = {
    {"v1.12.", SCHEDQ_PRESET_KUBE_1_12, false, false},
    {"v1.26.", SCHEDQ_PRESET_KUBE_1_26, false, false},
    {"v1.34.", SCHEDQ_PRESET_KUBE_1_34, true, false},
    {"v1.37.", SCHEDQ_PRESET_KUBE_1_37, true, true},
};

enum stage { NOTHING, VERSION, SOURCE, CONFIG, PLUGIN, OPERATION, METRIC, END };

struct reader {
    struct script *script;
    char *rest;
    unsigned line;
    enum stage stage;
    struct head_line **next_head;
    struct plugin_line **next_plugin;
    struct step **next_step;
    struct metric_line **next_metric;
};

static bool
malformed(const struct reader *reader, const char *expected)
{
    report(reader->script->file, reader->line, "expected %s", expected);
    return false;
}

static char *
next_line(struct reader *reader)
{
    char *line = reader->rest;
    char *end;

    reader->line++;
    if (*line == '\0') {
        return NULL;
    }
    end = strchr(line, '\n');
    if (end == NULL) {
        reader->rest = line + strlen(line);
    } else {
        *end = '\0';
        reader->rest = end + 1;
    }
    return line;
}

static bool
read_version(struct reader *reader, const struct fields *fields)
{
    if (fields->count != 2 || strcmp(fields->item[1], "1") != 0) {
        return malformed(reader, "\"schedq-vector 1\"");
    }
    return true;
}

static bool
read_source(struct reader *reader, const struct fields *fields)
{
    bool known = fields->count >= 3 && strcmp(fields->item[1], "kube-scheduler") == 0;

    for (size_t i = 0; known && i < sizeof releases / sizeof releases[0]; i++) {
        if (strncmp(fields->item[2], releases[i].version, strlen(releases[i].version)) == 0) {
            reader->script->release = &releases[i];
            return true;
        }
    }
    return malformed(reader, "\"source kube-scheduler VERSION ...\" with a version v1.12.*, "
                             "v1.26.*, v1.34.* or v1.37.*");
}

static bool
read_config_pair(struct reader *reader, const struct fields *fields, const char *key,
                 const char *value)
{
    struct config_line *config = &reader->script->config;

    if (strcmp(key, "requeue") == 0) {
        config->requeue = value;
        return strcmp(value, "hints") == 0 || strcmp(value, "move-cycle") == 0 ||
               malformed(reader, "requeue=hints or requeue=move-cycle");
    }
    if (strcmp(key, "pop-from-backoff") == 0) {
        return parse_number(fields, key, value, 0, 1, &config->pop_from_backoff);
    }
    if (strcmp(key, "initial-backoff-ms") == 0) {
        return parse_number(fields, key, value, 0, TIME_MS_MAX, &config->initial_backoff_ms);
    }
    if (strcmp(key, "max-backoff-ms") == 0) {
        return parse_number(fields, key, value, 0, TIME_MS_MAX, &config->max_backoff_ms);
    }
    if (strcmp(key, "max-unschedulable-ms") == 0) {
        return parse_number(fields, key, value, 0, TIME_MS_MAX, &config->max_unschedulable_ms);
    }
    if (strcmp(key, "groups") == 0) {
        return parse_number(fields, key, value, 0, 1, &config->groups);
    }
    if (strcmp(key, "composite") == 0) {
        return parse_number(fields, key, value, 0, 1, &config->composite);
    }
    report(fields->file, fields->line,
           "config has no key \"%s\", expected requeue, pop-from-backoff, "
           "initial-backoff-ms, max-backoff-ms, max-unschedulable-ms, groups or composite",
           key);
    return false;
}

static bool
read_config(struct reader *reader, const struct fields *fields)
{
    reader->script->config.line = reader->line;
    for (size_t i = 1; i < fields->count; i++) {
        const char *value = field_value(fields->item[i]);
        if (value == NULL) {
            return malformed(reader, "\"config key=value ...\"");
        }
        if (!read_config_pair(reader, fields, fields->item[i], value)) {
            return false;
        }
    }
    return true;
}

static bool
read_interest(struct reader *reader, const struct fields *fields, char *field,
              struct interest_text *interest)
{
    const char *hint = field_value(field);

    if (hint != NULL && (interest->hint = hint_named(hint)) == NULL) {
        return malformed(
            reader, "a hint always, never, error, parity, fits, grew, mine, mygroup or mindown "
                    "after '='");
    }
    return parse_event(fields, field, &interest->event);
}

/* preenqueue, preenqueue=G and profile=X have no ':' before their '=', an event has one. */
static bool
read_plugin_field(struct reader *reader, const struct fields *fields, char *field,
                  struct plugin_line *plugin)
{
    const char *value;

    if (strchr(field, ':') != NULL) {
        return read_interest(reader, fields, field, &plugin->interests[plugin->interest_count++]);
    }
    value = field_value(field);
    if (strcmp(field, "preenqueue") == 0 && value != NULL && strcmp(value, "gang") == 0) {
        plugin->gang = true;
        return true;
    }
    if (strcmp(field, "preenqueue") == 0) {
        return parse_number(fields, field, value == NULL ? "1" : value, 1, INT32_MAX,
                            &plugin->gate);
    }
    if (strcmp(field, "profile") == 0 && value != NULL && value[0] != '\0') {
        plugin->profile = value;
        return true;
    }
    return malformed(
        reader,
        "\"plugin NAME [profile=X] [preenqueue[=G|=gang]] RESOURCE:ACTION|ACTION[=HINT] ...\"");
}

static bool
read_plugin(struct reader *reader, const struct fields *fields)
{
    struct plugin_line *plugin = keep(fields->memory, 1, sizeof *plugin);

    if (fields->count < 2) {
        return malformed(reader, "a plugin's name");
    }
    plugin->line = reader->line;
    plugin->name = fields->item[1];
    plugin->profile = "default-scheduler";
    plugin->interests = keep(fields->memory, fields->count, sizeof *plugin->interests);
    for (size_t i = 2; i < fields->count; i++) {
        if (!read_plugin_field(reader, fields, fields->item[i], plugin)) {
            return false;
        }
    }
    *reader->next_plugin = plugin;
    reader->next_plugin = &plugin->next;
    return true;
}

/* upstream=N is what upstream's own gauge had drifted to: not compared. */
static bool
read_metric(struct reader *reader, const struct fields *fields)
{
    struct metric_line *metric = keep(fields->memory, 1, sizeof *metric);
    struct number value = {0};

    metric->line = reader->line;
    metric->labels.item = keep(fields->memory, fields->count, sizeof *metric->labels.item);
    for (size_t i = 2; i < fields->count; i++) {
        char *field = fields->item[i];
        if (strncmp(field, "upstream=", strlen("upstream=")) == 0) {
            continue;
        }
        if (strchr(field, '=') != NULL) {
            metric->labels.item[metric->labels.count++] = field;
        } else if (value.given) {
            return malformed(reader, "one value in a metric");
        } else if (!parse_number(fields, "the metric's value", field, 0, INT64_MAX, &value)) {
            return false;
        }
    }
    if (!value.given) {
        return malformed(reader, "\"metric NAME label=value ... VALUE\"");
    }
    metric->name = fields->item[1];
    metric->value = value.value;
    *reader->next_metric = metric;
    reader->next_metric = &metric->next;
    return true;
}

static bool
read_end(struct reader *reader, const struct fields *fields)
{
    reader->script->end_line = reader->line;
    return fields->count == 1 || malformed(reader, "\"end\" alone");
}

/* An operation has three lines: itself, its result and the state after it. */
static bool
read_operation(struct reader *reader, char *line)
{
    struct script *script = reader->script;
    struct step *step = keep(&script->memory, 1, sizeof *step);

    if (!operation_parse(&step->operation, script->file, reader->line, line, &script->memory)) {
        return false;
    }
    line = next_line(reader);
    if (line == NULL || strncmp(line, "> ", 2) != 0) {
        return malformed(reader, "the operation's result, \"> ...\"");
    }
    step->operation.result = line + 2;
    line = next_line(reader);
    if (line == NULL || strncmp(line, "= ", 2) != 0) {
        return malformed(reader, "the state after the operation, \"= ...\"");
    }
    step->operation.state = line + 2;
    *reader->next_step = step;
    reader->next_step = &step->next;
    return true;
}

static const struct record {
    const char *word;
    enum stage stage;
    bool once;
    bool (*read)(struct reader *reader, const struct fields *fields);
} records[] = {
    {"schedq-vector", VERSION, true, read_version}, {"source", SOURCE, true, read_source},
    {"config", CONFIG, true, read_config},          {"plugin", PLUGIN, false, read_plugin},
    {"metric", METRIC, false, read_metric},         {"end", END, true, read_end},
};

/* Records stand in the order of the stages; the first two are never left out. */
static bool
enter(struct reader *reader, enum stage stage, bool once)
{
    if (reader->stage < VERSION && stage != VERSION) {
        return malformed(reader, "\"schedq-vector 1\"");
    }
    if (reader->stage < SOURCE && stage > SOURCE) {
        return malformed(reader, "\"source kube-scheduler VERSION ...\"");
    }
    if (reader->stage > stage || (once && reader->stage == stage)) {
        return malformed(
            reader, "the order schedq-vector, source, config, plugin, operations, metric, end");
    }
    reader->stage = stage;
    return true;
}

static void
keep_head(struct reader *reader, const char *text)
{
    struct head_line *line = keep(&reader->script->memory, 1, sizeof *line);

    line->text = text;
    *reader->next_head = line;
    reader->next_head = &line->next;
}

static bool
read_line(struct reader *reader, char *line)
{
    struct script *script = reader->script;
    struct fields fields = {.file = script->file, .line = reader->line, .memory = &script->memory};
    const char *text;

    if (line[0] >= '0' && line[0] <= '9') {
        return enter(reader, OPERATION, false) && read_operation(reader, line);
    }
    text = keep_text(&script->memory, line);
    if (!fields_split(&fields, line)) {
        return false;
    }
    for (size_t i = 0; i < sizeof records / sizeof records[0]; i++) {
        if (strcmp(records[i].word, fields.item[0]) == 0) {
            if (records[i].stage == SOURCE || records[i].stage == CONFIG ||
                records[i].stage == PLUGIN) {
                keep_head(reader, text);
            }
            return enter(reader, records[i].stage, records[i].once) &&
                   records[i].read(reader, &fields);
        }
    }
    return malformed(
        reader, "schedq-vector, source, config, plugin, metric, end, or a time and an operation");
}

static bool
read_lines(struct script *script)
{
    struct reader reader = {
        .script = script,
        .rest = script->text,
        .next_head = &script->head,
        .next_plugin = &script->plugins,
        .next_step = &script->steps,
        .next_metric = &script->metrics,
    };
    char *line;

    while ((line = next_line(&reader)) != NULL) {
        if (!read_line(&reader, line)) {
            return false;
        }
    }
    return reader.stage == END || malformed(&reader, "\"end\": the file is cut off");
}

/* Times of a clock that never goes back. */
static bool
check_times(const struct script *script)
{
    int64_t last_ms = 0;

    for (const struct step *step = script->steps; step != NULL; step = step->next) {
        if (step->operation.time_ms < last_ms) {
            report(script->file, step->operation.line,
                   "expected a time that is not before the operation above");
            return false;
        }
        last_ms = step->operation.time_ms;
    }
    return true;
}

bool
script_read(struct script *script, const char *file, char *text)
{
    *script = (struct script){.file = file, .text = text};
    obstack_init(&script->memory);
    return read_lines(script) && check_times(script);
}

void
script_free(struct script *script)
{
    obstack_free(&script->memory, NULL);
}
