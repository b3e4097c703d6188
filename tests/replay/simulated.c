/* The worlds of simulated.h. */
#include "simulated.h"

#include <stdlib.h>
#include <string.h>

static uint8_t engine;

void
world_choose_engine(int argc, char **argv)
{
    engine =
        argc > 1 && strcmp(argv[1], "lockfree") == 0 ? SCHEDQ_ENGINE_LOCKFREE : SCHEDQ_ENGINE_MUTEX;
}

void
world_build(world_t *world, const char *lines, const scenario_options_t *options)
{
    char text[8192];

    memset(world, 0, sizeof *world);
    snprintf(text, sizeof text, "schedq-trace 1\n%s", lines);
    load_files(&world->loaded, &(load_files_t){.trace = file_write("t.trace", text)}, false);
    assert_string_equal(world->loaded.complaints, "");
    scenario_init(&world->scenario, &world->loaded.workload,
                  options != NULL
                      ? options
                      : &(scenario_options_t){.seed = 1, .copies = 1, .nodes_fraction = 1});
    world->options = (simulate_options_t){
        .engine = engine,
        .preset = SCHEDQ_PRESET_DEFAULT,
        .preemption = SIMULATE_NO_PREEMPTION,
        .workers = 1,
        .service_ns = SERVICE_NS,
        .priority = world->priority,
    };
}

void
world_set_priority(world_t *world, const char *class, int32_t priority)
{
    const workload_labels_t *classes = &world->loaded.workload.classes;

    for (size_t i = 0; i < classes->count; i++) {
        if (strcmp(classes->names[i], class) == 0) {
            world->priority[i] = priority;
            return;
        }
    }
    fail_msg("no class %s", class);
}

void
world_run(world_t *world)
{
    bool done =
        simulate(&world->scenario, &world->options, &world->result, world->why, sizeof world->why);

    if (!done) {
        fail_msg("%s", world->why);
    }
}

void
world_tear_down(world_t *world)
{
    simulate_result_free(&world->result);
    scenario_clear(&world->scenario);
    loaded_free(&world->loaded);
}

const class_waits_t *
world_waits(const world_t *world, const char *class)
{
    const workload_labels_t *classes = &world->loaded.workload.classes;

    for (size_t i = 0; i < classes->count; i++) {
        if (strcmp(classes->names[i], class) == 0) {
            return &world->result.classes[i];
        }
    }
    fail_msg("no class %s", class);
    return NULL;
}

const char *
world_crowd(void)
{
    static char lines[8000];
    size_t length = 0;

    length += (size_t)snprintf(lines, sizeof lines, "n a 0 4000 10 1 -\nn b 30 2000 10 2 -\n");
    for (int i = 0; i < 100; i++) {
        length +=
            (size_t)snprintf(lines + length, sizeof lines - length, "p p%d %d %d %d 0 %d %d %s -\n",
                             i, i / 3, 3 + i * 7 % 40, 100 + i * 37 % 1500, i % 2,
                             i % 2 * (100 + i * 31 % 900), i % 5 == 0 ? "LS" : "BE");
    }
    snprintf(lines + length, sizeof lines - length, "end 2 100\n");
    return lines;
}

uint64_t
world_digest_of_crowd(const world_crowd_t *crowd)
{
    world_t world;
    uint64_t digest;
    scenario_options_t options = {
        .seed = crowd->seed, .copies = 3, .jitter_ns = 5 * NS_PER_SECOND, .nodes_fraction = 1};

    world_build(&world, world_crowd(), &options);
    world_set_priority(&world, "LS", 10);
    world.options.preset = crowd->preset;
    world.options.preemption = crowd->preemption;
    world.options.workers = crowd->workers;
    world_run(&world);
    assert_int_equal(world.result.pods_total, 300);
    assert_int_equal(world.result.pods_scheduled, 300);
    assert_true(world.result.first_failed > 100);
    assert_int_equal(world.result.evictions > 0, crowd->preemption != SIMULATE_NO_PREEMPTION);
    digest = world.result.digest;
    world_tear_down(&world);
    return digest;
}
