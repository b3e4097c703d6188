/* The tables of scenarios/, one per theme. */
#include "scenarios.h"

#include <string.h>

static const struct scenario *const tables[] = {
    pop_scenarios,       update_scenarios, told_scenarios,  delete_scenarios,    band_scenarios,
    bin_scenarios,       index_scenarios,  sleep_scenarios, life_scenarios,      upkeep_scenarios,
    event_scenarios,     gate_scenarios,   time_scenarios,  host_scenarios,      registry_scenarios,
    mixed_scenarios,     late_scenarios,   guess_scenarios, host_gate_scenarios, preempt_scenarios,
    no_memory_scenarios, epoch_scenarios,  wait_scenarios,  line_scenarios,      planted_scenarios,
    hold_scenarios,      label_scenarios,  bank_scenarios,  toy_scenarios,       group_scenarios,
    class_scenarios,     family_scenarios};

#define TABLES (sizeof tables / sizeof tables[0])

const struct scenario *
scenario_find(const char *name)
{
    for (size_t i = 0; i < TABLES; i++) {
        for (const struct scenario *scenario = tables[i]; scenario->name != NULL; scenario++) {
            if (strcmp(scenario->name, name) == 0) {
                return scenario;
            }
        }
    }
    return NULL;
}

const struct scenario *
scenario_next(const struct scenario *scenario)
{
    bool found = scenario == NULL;

    for (size_t i = 0; i < TABLES; i++) {
        for (const struct scenario *next = tables[i]; next->name != NULL; next++) {
            if (found && !next->hidden) {
                return next;
            }
            found = found || next == scenario;
        }
    }
    return NULL;
}
