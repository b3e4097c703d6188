/* CSV records by RFC 4180. */
#include "files.h"

#include "csv.h"

#include <string.h>

typedef struct reading {
    char text[512];
    input_file_t file;
    csv_reader_t reader;
    input_row_t row;
} reading_t;

static void
start(reading_t *reading, const char *text)
{
    memset(reading, 0, sizeof *reading);
    strcpy(reading->text, text);
    reading->file = (input_file_t){.path = "t.csv", .text = reading->text, .size = strlen(text)};
    csv_begin(&reading->reader, &reading->file);
}

/* The next record as "[field][field]", on the line given. */
static void
expect_record(reading_t *reading, size_t line, const char *expected)
{
    char shown[512] = "";

    assert_true(csv_next(&reading->reader, &reading->row));
    assert_false(reading->row.fault.found);
    for (size_t i = 0; i < reading->row.count; i++) {
        strcat(strcat(strcat(shown, "["), reading->row.fields[i]), "]");
    }
    assert_string_equal(shown, expected);
    assert_int_equal(reading->row.line, line);
}

static void
expect_fault(reading_t *reading, size_t line, size_t column)
{
    assert_true(csv_next(&reading->reader, &reading->row));
    assert_true(reading->row.fault.found);
    assert_int_equal(reading->row.line, line);
    assert_int_equal(reading->row.fault.column, column);
}

static void
expect_end(reading_t *reading)
{
    assert_false(csv_next(&reading->reader, &reading->row));
    input_row_free(&reading->row);
}

static void
plain_fields_are_cut_at_commas_and_line_ends(void **state)
{
    reading_t reading;
    (void)state;
    start(&reading, "a,b,c\n1,,3\r\n,\nlast,one");
    expect_record(&reading, 1, "[a][b][c]");
    expect_record(&reading, 2, "[1][][3]");
    expect_record(&reading, 3, "[][]");
    expect_record(&reading, 4, "[last][one]");
    expect_end(&reading);
}

static void
quoted_fields_may_hold_commas_quotes_and_line_ends(void **state)
{
    reading_t reading;
    (void)state;
    start(&reading, "\"a,b\",\"say \"\"hi\"\"\",\"\"\r\n\"two\nlines\",x\nz\n");
    expect_record(&reading, 1, "[a,b][say \"hi\"][]");
    expect_record(&reading, 2, "[two\nlines][x]");
    expect_record(&reading, 4, "[z]");
    expect_end(&reading);
}

static void
empty_lines_and_a_byte_order_mark_are_passed_over(void **state)
{
    reading_t reading;
    (void)state;
    start(&reading, "\xef\xbb\xbf"
                    "a,b\n\n\r\n1,2\n\n");
    expect_record(&reading, 1, "[a][b]");
    expect_record(&reading, 4, "[1][2]");
    expect_end(&reading);
}

static void
a_quote_that_is_never_closed_costs_its_line_only(void **state)
{
    reading_t reading;
    (void)state;
    start(&reading, "a,b\n1,\"open\n3,4\n");
    expect_record(&reading, 1, "[a][b]");
    expect_fault(&reading, 2, 2);
    expect_record(&reading, 3, "[3][4]");
    expect_end(&reading);
}

static void
a_quote_inside_a_plain_field_is_a_fault(void **state)
{
    reading_t reading;
    (void)state;
    start(&reading, "1,x\"y,3\n4,5,6\n");
    expect_fault(&reading, 1, 2);
    expect_record(&reading, 2, "[4][5][6]");
    expect_end(&reading);
}

static void
text_after_a_closing_quote_is_a_fault(void **state)
{
    reading_t reading;
    (void)state;
    start(&reading, "\"two\nlines\"x,3\n4,5\n");
    expect_fault(&reading, 1, 1);
    expect_record(&reading, 3, "[4][5]");
    expect_end(&reading);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_fields_are_cut_at_commas_and_line_ends),
        cmocka_unit_test(quoted_fields_may_hold_commas_quotes_and_line_ends),
        cmocka_unit_test(empty_lines_and_a_byte_order_mark_are_passed_over),
        cmocka_unit_test(a_quote_that_is_never_closed_costs_its_line_only),
        cmocka_unit_test(a_quote_inside_a_plain_field_is_a_fault),
        cmocka_unit_test(text_after_a_closing_quote_is_a_fault),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
