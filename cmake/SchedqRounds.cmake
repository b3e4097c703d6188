# How often random tests try. A preset with a sanitizer says less than 100 %: what it looks for shows in any round,
# and the dev build tries in full. tests/run --long has all of them in full.
#
#   schedq_rounds(VARIABLE FULL)   that share of FULL, and at least 1
#
# C tests learn it from the environment (tests/support/rounds.h; schedq_add_test). With less than 100 % tests are left
# out that do what another test does with the same code of the library, and those of a tool's own judgement, which
# meets no other code under a sanitizer: SCHEDQ_TEST_ALL is off.
set(SCHEDQ_TEST_ROUNDS 100 CACHE STRING "How much of their rounds random tests make, in percent: 10 to 100")
if(NOT SCHEDQ_TEST_ROUNDS MATCHES "^([1-9][0-9]|100)$")
    message(FATAL_ERROR "SCHEDQ_TEST_ROUNDS is \"${SCHEDQ_TEST_ROUNDS}\": legal are 10 to 100")
endif()
set(SCHEDQ_TEST_ALL ON)
if(SCHEDQ_TEST_ROUNDS LESS 100)
    set(SCHEDQ_TEST_ALL OFF)
endif()

function(schedq_rounds variable full)
    math(EXPR rounds "${full} * ${SCHEDQ_TEST_ROUNDS} / 100")
    if(rounds LESS 1)
        set(rounds 1)
    endif()
    set(${variable} ${rounds} PARENT_SCOPE)
endfunction()
