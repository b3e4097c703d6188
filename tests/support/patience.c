/*
 * All from /proc: states of threads, and processor time in clock ticks, which is exact enough for
 * limits of seconds.
 */
#define _GNU_SOURCE /* gettid, pthread_timedjoin_np */
#include "patience.h"

#include <ctype.h>
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef struct stat_line {
    char state;
    int group;
    double cpu_seconds; /* with that of children that were waited for */
} stat_line_t;

/* "PID (NAME) STATE PARENT GROUP ...": the name may hold anything. False: it has ended. */
static bool
read_stat(const char *path, stat_line_t *line)
{
    char text[1024];
    unsigned long long user, system, child_user, child_system;
    FILE *file = fopen(path, "re");

    if (file == NULL) {
        return false;
    }
    size_t length = fread(text, 1, sizeof text - 1, file);
    (void)fclose(file);
    text[length] = '\0';
    const char *after = strrchr(text, ')');

    if (after == NULL ||
        sscanf(after + 1, " %c %*d %d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %llu %llu",
               &line->state, &line->group, &user, &system, &child_user, &child_system) != 6) {
        return false;
    }
    line->cpu_seconds =
        (double)(user + system + child_user + child_system) / (double)sysconf(_SC_CLK_TCK);
    return true;
}

/* The next entry of a directory of numbers; 0 at its end. */
static pid_t
next_number(DIR *directory)
{
    const struct dirent *entry;

    while ((entry = readdir(directory)) != NULL) {
        if (isdigit((unsigned char)entry->d_name[0])) {
            return (pid_t)atol(entry->d_name);
        }
    }
    return 0;
}

/* A thread that has ended, and is only remembered, is as good as asleep. */
static bool
is_at_rest(char state)
{
    return strchr("SIZX", state) != NULL;
}

static bool
thread_is_at_rest(pid_t process, pid_t thread)
{
    char path[64];
    stat_line_t line;

    (void)snprintf(path, sizeof path, "/proc/%ld/task/%ld/stat", (long)process, (long)thread);
    return !read_stat(path, &line) || is_at_rest(line.state);
}

bool
patience_thread_sleeps(pid_t thread)
{
    return thread_is_at_rest(getpid(), thread);
}

static bool
threads_are_at_rest(pid_t process)
{
    char path[64];
    pid_t thread;
    bool rest = true;

    (void)snprintf(path, sizeof path, "/proc/%ld/task", (long)process);
    DIR *tasks = opendir(path);

    while (tasks != NULL && rest && (thread = next_number(tasks)) != 0) {
        rest = thread == gettid() || thread_is_at_rest(process, thread);
    }
    if (tasks != NULL) {
        (void)closedir(tasks);
    }
    return rest;
}

static bool
look_at_process(const patience_t *patience, pid_t process, double *cpu_seconds)
{
    char path[64];
    stat_line_t line;

    (void)snprintf(path, sizeof path, "/proc/%ld/stat", (long)process);
    if (!read_stat(path, &line) || (patience->group != 0 && line.group != patience->group)) {
        return true;
    }
    *cpu_seconds += line.cpu_seconds;
    return threads_are_at_rest(process);
}

static bool
look_at_all(const patience_t *patience, double *cpu_seconds)
{
    pid_t process;
    bool rest = true;

    *cpu_seconds = 0;
    if (patience->group == 0) {
        return look_at_process(patience, patience->process, cpu_seconds);
    }
    DIR *processes = opendir("/proc");

    while (processes != NULL && (process = next_number(processes)) != 0) {
        rest = look_at_process(patience, process, cpu_seconds) && rest;
    }
    if (processes != NULL) {
        (void)closedir(processes);
    }
    return rest;
}

void
patience_begin(patience_t *patience, pid_t process, unsigned cpu_limit, unsigned look_limit)
{
    *patience = (patience_t){.process = process, .cpu_limit = cpu_limit, .look_limit = look_limit};
    (void)look_at_all(patience, &patience->cpu_seconds);
}

void
patience_begin_group(patience_t *patience, pid_t group, unsigned cpu_limit, unsigned look_limit)
{
    *patience = (patience_t){.group = group, .cpu_limit = cpu_limit, .look_limit = look_limit};
    (void)look_at_all(patience, &patience->cpu_seconds);
}

patience_verdict_t
patience_look(patience_t *patience, uint64_t progress)
{
    double cpu_seconds;
    bool rest = look_at_all(patience, &cpu_seconds);

    if (progress != patience->progress) {
        patience->progress = progress;
        patience->cpu_seconds = cpu_seconds;
        patience->looks = 0;
        return PATIENCE_LASTS;
    }
    patience->looks += rest;
    if (cpu_seconds - patience->cpu_seconds >= patience->cpu_limit) {
        return PATIENCE_SPINS;
    }
    return patience->looks >= patience->look_limit ? PATIENCE_SLEEPS : PATIENCE_LASTS;
}

const char *
patience_words(patience_verdict_t verdict)
{
    return verdict == PATIENCE_SPINS    ? "it runs without progress"
           : verdict == PATIENCE_SLEEPS ? "all of its threads sleep, and nothing wakes them"
                                        : "it makes progress";
}

static void
block_child_signal(int how)
{
    sigset_t signals;

    (void)sigemptyset(&signals);
    (void)sigaddset(&signals, SIGCHLD);
    (void)pthread_sigmask(how, &signals, NULL);
}

pid_t
patience_fork(void)
{
    pid_t parent = getpid();

    block_child_signal(SIG_BLOCK);
    pid_t child = fork();

    if (child == 0) {
        block_child_signal(SIG_UNBLOCK);
        if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent) {
            _exit(1);
        }
    }
    return child;
}

bool
patience_ended(pid_t child, int *status)
{
    const struct timespec pause = {.tv_nsec = PATIENCE_LOOK_NS};
    sigset_t signals;

    if (waitpid(child, status, WNOHANG) == child) {
        return true;
    }
    (void)sigemptyset(&signals);
    (void)sigaddset(&signals, SIGCHLD);
    (void)sigtimedwait(&signals, NULL, &pause);
    return waitpid(child, status, WNOHANG) == child;
}

bool
patience_joined(pthread_t thread, void **result)
{
    struct timespec limit;

    (void)clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_nsec += PATIENCE_LOOK_NS;
    if (limit.tv_nsec >= 1000000000) {
        limit.tv_sec++;
        limit.tv_nsec -= 1000000000;
    }
    return pthread_timedjoin_np(thread, result, &limit) == 0;
}
