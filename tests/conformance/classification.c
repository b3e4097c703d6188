/*
 * Vectors state the events of an update as upstream derived them from the two objects. The
 * library's helper is asked to derive them too.
 */
#include "classification.h"

#include <string.h>

static schedq_pod_facts_t
pod_facts(const struct pod_text *text, schedq_preset_t preset)
{
    return (schedq_pod_facts_t){
        .labels = (uint64_t)text->label.value,
        .claims = (uint64_t)text->claim.value,
        .gates = text->gate.value != 0,
        .tolerations = (uint32_t)text->tol.value,
        .target = preset == SCHEDQ_PRESET_KUBE_1_37,
        .scale_up = preset == SCHEDQ_PRESET_KUBE_1_37,
    };
}

/* The library has to say of the two objects what upstream said of them. */
bool
check_classification(schedq_preset_t preset, const struct pod_text *old, const struct pod_text *new,
                     const schedq_event_t *expected, size_t count, FILE *result)
{
    schedq_pod_facts_t old_facts = pod_facts(old, preset);
    schedq_pod_facts_t new_facts = pod_facts(new, preset);
    schedq_quantity_t old_cpu = {.resource = 1, .milli = old->cpu.value};
    schedq_quantity_t new_cpu = {.resource = 1, .milli = new->cpu.value};
    schedq_event_t events[6];
    size_t found =
        schedq_classify_pod_update(&old_facts, &old_cpu, 1, &new_facts, &new_cpu, 1, events);

    if (found == count && memcmp(events, expected, count * sizeof *events) == 0) {
        return true;
    }
    fputs("error the update is classified as events", result);
    for (size_t i = 0; i < found; i++) {
        fprintf(result, " %u", events[i]);
    }
    fputs(", the file's have the numbers", result);
    for (size_t i = 0; i < count; i++) {
        fprintf(result, " %u", expected[i]);
    }
    return false;
}
