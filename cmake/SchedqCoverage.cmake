# Target `coverage`: runs the tests, prints the line coverage of engine/ (gcovr), and fails below 95 %.
find_program(GCOVR gcovr REQUIRED)

add_custom_target(coverage
    # Counts of earlier runs would add up, those of an earlier build would not even match.
    COMMAND find ${PROJECT_BINARY_DIR} -name *.gcda -delete
    COMMAND ${CMAKE_CTEST_COMMAND} --output-on-failure --no-tests=error
    COMMAND ${GCOVR} --root ${PROJECT_SOURCE_DIR} --filter ${PROJECT_SOURCE_DIR}/engine/
            --fail-under-line 95 --txt - ${PROJECT_BINARY_DIR}
    WORKING_DIRECTORY ${PROJECT_BINARY_DIR}
    USES_TERMINAL VERBATIM)
