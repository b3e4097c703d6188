/*
 * usage: malloc_owner LIBRARY: exit status 0 if malloc, free and their like are LIBRARY's, before
 * and after queues lived.
 *
 * LIBRARY is how the name of a shared object begins ("libc.so"), or "self": the program.
 */
#define _GNU_SOURCE
#include <schedq/schedq.h>

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *
base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash == NULL ? path : slash + 1;
}

static int
is_wanted(const char *name, const char *library)
{
    void *address = dlsym(RTLD_DEFAULT, name);
    Dl_info info;

    if (address == NULL || dladdr(address, &info) == 0) {
        printf("%s: not found\n", name);
        return 0;
    }
    const char *found = base_name(info.dli_fname);
    const char *wanted =
        strcmp(library, "self") == 0 ? base_name(program_invocation_name) : library;

    if (strncmp(found, wanted, strlen(wanted)) != 0) {
        printf("%s is of %s, not of %s\n", name, found, wanted);
        return 0;
    }
    return 1;
}

static int
all_are_wanted(const char *library)
{
    static const char *const names[] = {"malloc", "calloc",         "realloc",
                                        "free",   "posix_memalign", "aligned_alloc"};
    int good = 1;

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        good &= is_wanted(names[i], library);
    }
    /* What the program's own calls are bound to. */
    Dl_info called, found;
    void *block = malloc(100);

    good &= block != NULL && malloc_usable_size(block) >= 100;
    free(block);
    if (dladdr((void *)(size_t)malloc, &called) != 0 &&
        dladdr(dlsym(RTLD_DEFAULT, "malloc"), &found) != 0 &&
        strcmp(called.dli_fname, found.dli_fname) != 0) {
        printf("malloc is called in %s\n", called.dli_fname);
        good = 0;
    }
    return good;
}

static int
use_a_queue(uint8_t engine)
{
    schedq_config_t config = SCHEDQ_CONFIG_INIT;
    schedq_t *queue;
    schedq_worker_t *worker;
    schedq_pod_spec_t spec = SCHEDQ_POD_SPEC_INIT;

    spec.object = 1;
    config.engine = engine;
    return schedq_create(&config, &queue, NULL, 0) == SCHEDQ_OK &&
           schedq_worker_register(queue, &worker, NULL, 0) == SCHEDQ_OK &&
           schedq_add(worker, "a/b", 3, &spec, NULL) == SCHEDQ_OK &&
           schedq_worker_unregister(worker) == SCHEDQ_OK &&
           schedq_destroy_with_pods(queue, NULL, 0) == SCHEDQ_OK;
}

int
main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: malloc_owner LIBRARY\n");
        return 2;
    }
    int good = all_are_wanted(argv[1]);

    if (!use_a_queue(SCHEDQ_ENGINE_LOCKFREE) || !use_a_queue(SCHEDQ_ENGINE_MUTEX)) {
        printf("a queue does not work\n");
        good = 0;
    }
    return good && all_are_wanted(argv[1]) ? 0 : 1;
}
