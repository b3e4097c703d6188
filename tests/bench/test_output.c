/* bench/common/output.h: a result replaces the last one only when it is whole. */
#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "output.h"

#define LAST "the last result"

static char directory[] = "/tmp/schedq-output-XXXXXX";
static char path[64];

static int
setup(void **state)
{
    (void)state;
    if (mkdtemp(directory) == NULL) {
        return -1;
    }
    (void)snprintf(path, sizeof path, "%s/result", directory);
    return 0;
}

static int
teardown(void **state)
{
    (void)state;
    return unlink(path) == 0 && rmdir(directory) == 0 ? 0 : -1;
}

static void
write_last(void)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_true(fputs(LAST, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void
expect(const char *file, const char *content)
{
    char text[64] = "";
    FILE *in = fopen(file, "r");

    assert_non_null(in);
    assert_true(fread(text, 1, sizeof text - 1, in) == strlen(content));
    assert_int_equal(fclose(in), 0);
    assert_string_equal(text, content);
}

static unsigned
files(void)
{
    unsigned count = 0;
    DIR *entries = opendir(directory);
    const struct dirent *entry;

    assert_non_null(entries);
    while ((entry = readdir(entries)) != NULL) {
        count += entry->d_name[0] != '.';
    }
    assert_int_equal(closedir(entries), 0);
    return count;
}

static void
a_check_changes_nothing(void **state)
{
    (void)state;
    assert_true(output_check(path));
    assert_int_equal(files(), 0);
    write_last();
    assert_true(output_check(path));
    expect(path, LAST);
    assert_int_equal(files(), 1);
}

static void
what_cannot_be_written_is_refused(void **state)
{
    (void)state;
    assert_false(output_check("/no/such/directory/file"));
    assert_false(output_check("/tmp"));
}

static void
a_result_that_is_not_whole_leaves_the_last_one(void **state)
{
    output_t output;

    (void)state;
    write_last();
    assert_true(output_begin(&output, path));
    assert_int_equal(write(output.descriptor, "new", 3), 3);
    expect(path, LAST); /* and if the process ended here, it would stay */
    assert_true(output_end(&output, false));
    expect(path, LAST);
    assert_int_equal(files(), 1);
}

static void
a_whole_result_replaces_the_last_one(void **state)
{
    output_t output;

    (void)state;
    write_last();
    assert_true(output_begin(&output, path));
    assert_int_equal(write(output.descriptor, "new", 3), 3);
    assert_true(output_end(&output, true));
    expect(path, "new");
    assert_int_equal(files(), 1);
}

static void
a_link_stays_a_link(void **state)
{
    char link_path[80];
    struct stat status;
    output_t output;

    (void)state;
    write_last();
    (void)snprintf(link_path, sizeof link_path, "%s/link", directory);
    assert_int_equal(symlink(path, link_path), 0);
    assert_true(output_begin(&output, link_path));
    assert_int_equal(write(output.descriptor, "new", 3), 3);
    assert_true(output_end(&output, true));
    expect(path, "new");
    assert_int_equal(lstat(link_path, &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    assert_int_equal(unlink(link_path), 0);
}

static void
a_device_is_written_itself(void **state)
{
    struct stat status;
    output_t output;

    (void)state;
    assert_true(output_check("/dev/null"));
    assert_true(output_begin(&output, "/dev/null"));
    assert_int_equal(write(output.descriptor, "new", 3), 3);
    assert_true(output_end(&output, true));
    assert_int_equal(stat("/dev/null", &status), 0);
    assert_true(S_ISCHR(status.st_mode));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_check_changes_nothing),
        cmocka_unit_test(what_cannot_be_written_is_refused),
        cmocka_unit_test(a_result_that_is_not_whole_leaves_the_last_one),
        cmocka_unit_test(a_whole_result_replaces_the_last_one),
        cmocka_unit_test(a_link_stays_a_link),
        cmocka_unit_test(a_device_is_written_itself),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
