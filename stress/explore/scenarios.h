/*
 * The tables of scenarios/, each ended by an entry without a name.
 */
#ifndef EXPLORE_SCENARIOS_H
#define EXPLORE_SCENARIOS_H

#include "scenario.h"

extern const struct scenario pop_scenarios[];
extern const struct scenario update_scenarios[];
extern const struct scenario hold_scenarios[];
extern const struct scenario label_scenarios[];
extern const struct scenario group_scenarios[];
extern const struct scenario family_scenarios[];
extern const struct scenario class_scenarios[];
extern const struct scenario told_scenarios[];
extern const struct scenario delete_scenarios[];
extern const struct scenario band_scenarios[];
extern const struct scenario bin_scenarios[];
extern const struct scenario bank_scenarios[];
extern const struct scenario index_scenarios[];
extern const struct scenario sleep_scenarios[];
extern const struct scenario life_scenarios[];
extern const struct scenario upkeep_scenarios[];
extern const struct scenario no_memory_scenarios[];
extern const struct scenario mixed_scenarios[];
extern const struct scenario event_scenarios[];
extern const struct scenario gate_scenarios[];
extern const struct scenario time_scenarios[];
extern const struct scenario host_scenarios[];
extern const struct scenario registry_scenarios[];
extern const struct scenario guess_scenarios[];
extern const struct scenario host_gate_scenarios[];
extern const struct scenario preempt_scenarios[];
extern const struct scenario late_scenarios[];
extern const struct scenario line_scenarios[];
extern const struct scenario planted_scenarios[];
extern const struct scenario epoch_scenarios[];
extern const struct scenario wait_scenarios[];
extern const struct scenario toy_scenarios[];

#endif
