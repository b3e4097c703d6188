# Tests that end if they are stuck, on a machine as crowded as it may be.
#
#   schedq_add_test(NAME [WORKING_DIRECTORY DIRECTORY] COMMAND PROGRAM ARGUMENT...)
#
# is add_test, but the command runs under schedq-patience: it may use twenty minutes of
# processor time and may sleep for two minutes, in all. Time that it waits for a processor does not count. ctest's own limit, by the wall clock, is far
# away: it ends what schedq-patience cannot see. No argument holds a semicolon.
set(SCHEDQ_BACKSTOP_SECONDS 7200)

add_executable(schedq-patience ${PROJECT_SOURCE_DIR}/tests/patient.c ${PROJECT_SOURCE_DIR}/tests/support/patience.c)
target_include_directories(schedq-patience PRIVATE ${PROJECT_SOURCE_DIR}/tests ${PROJECT_SOURCE_DIR}/include)
target_link_libraries(schedq-patience PRIVATE schedq_warnings)

function(schedq_add_test name)
    cmake_parse_arguments(test "" "WORKING_DIRECTORY" "" ${ARGN})
    set(command ${test_UNPARSED_ARGUMENTS})
    list(POP_FRONT command word program)
    if(NOT word STREQUAL "COMMAND")
        message(FATAL_ERROR "schedq_add_test(${name}): \"${word}\" is there, legal is COMMAND")
    endif()
    if(TARGET ${program})
        set(program $<TARGET_FILE:${program}>)
    endif()
    if(NOT test_WORKING_DIRECTORY)
        set(test_WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
    endif()
    add_test(NAME ${name} COMMAND schedq-patience ${program} ${command}
        WORKING_DIRECTORY ${test_WORKING_DIRECTORY})
    set_tests_properties(${name} PROPERTIES TIMEOUT ${SCHEDQ_BACKSTOP_SECONDS}
        ENVIRONMENT SCHEDQ_TEST_ROUNDS=${SCHEDQ_TEST_ROUNDS})
endfunction()
