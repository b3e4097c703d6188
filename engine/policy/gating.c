/* The rules of gating.h. */
#include "policy/gating.h"

#include "platform/inside.h"
#include "platform/probe.h"

static bool
refuses(const struct gate *gate, uint64_t pod, uint64_t *calls)
{
    ++*calls;
    inside_calls(gate->what);
    probe_gate_begin(gate->what, pod);
    bool lets = gate->pre_enqueue(gate->ctx, pod) != 0;

    probe_gate_end(gate->what, lets);
    inside_calls(CALLBACK_NONE);
    return !lets;
}

uint8_t
gating_ask(const struct gate *gates, uint32_t count, uint8_t current, uint64_t pod, uint64_t *calls)
{
    for (uint32_t i = 0; i < count && current != 0; i++) {
        if (gates[i].number + 1 == current && refuses(&gates[i], pod, calls)) {
            return current;
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        if (gates[i].number + 1 != current && refuses(&gates[i], pod, calls)) {
            return (uint8_t)(gates[i].number + 1);
        }
    }
    return 0;
}

bool
gating_hears(enum gating_rule rule, bool is_wildcard, bool registered)
{
    switch (rule) {
    case GATING_ALL_EVENTS:
        return true;
    case GATING_OWN_AND_WILDCARDS:
        return is_wildcard || registered;
    case GATING_OWN_EVENTS:
        break;
    }
    return registered;
}
