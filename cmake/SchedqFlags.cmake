# Compiler flags of schedq's own code.
#
# Every target of this repository links `schedq_warnings`; presets turn warnings into errors
# (CMAKE_COMPILE_WARNING_AS_ERROR), an embedder's build does not. Sanitizer flags are directory-wide: a program that mixes
# instrumented and other objects reports nonsense.

add_library(schedq_warnings INTERFACE)
target_compile_options(schedq_warnings INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion
    $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes>
    $<$<COMPILE_LANGUAGE:C>:-Wmissing-prototypes>)

if(SCHEDQ_SANITIZE)
    add_compile_options(-fsanitize=${SCHEDQ_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    add_link_options(-fsanitize=${SCHEDQ_SANITIZE})
endif()
