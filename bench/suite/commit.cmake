# cmake -DSOURCE=DIRECTORY -DHEADER=FILE -P commit.cmake: writes SCHEDQ_COMMIT, the commit that is being built.
#
# Runs in every build; the file is touched only when the commit changes. "unknown" without git or outside a repository.
find_program(GIT git)
set(commit unknown)
if(GIT)
    execute_process(COMMAND ${GIT} -C ${SOURCE} describe --always --dirty --abbrev=12
                    OUTPUT_VARIABLE described OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE status)
    if(status EQUAL 0 AND described)
        set(commit ${described})
    endif()
endif()
file(CONFIGURE OUTPUT ${HEADER} CONTENT "#define SCHEDQ_COMMIT \"${commit}\"\n")
