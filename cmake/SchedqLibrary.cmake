# A library of this project, in both forms.
#
#   schedq_library(NAME EXPORT_NAME OBJECTS [FILE...])
#
# NAME, schedq::EXPORT_NAME                 static: one object, in which everything but the public API is local
# NAME_shared, schedq::EXPORT_NAME_shared   shared: the same object
#
# of the objects of the target OBJECTS, and object FILEs. An archive knows no visibility: heap_push or text_add would meet
# the embedder's own. So the objects become one, in which only the public names are global. The compiler is asked to link
# it: after -flto its objects hold no code yet.
#
# An optimized library is compiled as one unit: gcc optimizes over all files when it makes the one object, which an embedder
# links like any other. Where tests and tools are built, which link the files' objects as they are, these hold code as well
# (-ffat-lto-objects).
set(schedq_one_object_options -r -nostdlib)
set(schedq_one_unit FALSE)
if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
    list(APPEND schedq_one_object_options -flinker-output=nolto-rel)
    if(NOT SCHEDQ_SANITIZE AND NOT SCHEDQ_COVERAGE)
        set(schedq_one_unit $<CONFIG:Release,RelWithDebInfo,MinSizeRel>)
        list(APPEND schedq_one_object_options $<${schedq_one_unit}:-flto=auto>)
    endif()
elseif(CMAKE_INTERPROCEDURAL_OPTIMIZATION OR CMAKE_C_FLAGS MATCHES "-flto")
    list(APPEND schedq_one_object_options -flto)
endif()
# The version of the names, see schedq.map.in. Before 1.0 every minor version may change the ABI.
set(schedq_abi schedq_${PROJECT_VERSION_MAJOR})
if(PROJECT_VERSION_MAJOR EQUAL 0)
    string(APPEND schedq_abi .${PROJECT_VERSION_MINOR})
endif()
set(schedq_names ${PROJECT_BINARY_DIR}/schedq.map)
configure_file(${CMAKE_CURRENT_LIST_DIR}/schedq.map.in ${schedq_names} @ONLY)

# What all objects of the libraries are compiled with, and know.
function(schedq_library_objects name)
    set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/engine)
    target_link_libraries(${name} PRIVATE schedq_warnings)
    if(schedq_one_unit)
        target_compile_options(${name} PRIVATE $<${schedq_one_unit}:-flto=auto>)
        if(SCHEDQ_BUILD_TESTS OR SCHEDQ_BUILD_BENCH)
            target_compile_options(${name} PRIVATE $<${schedq_one_unit}:-ffat-lto-objects>)
        endif()
    endif()
    if(SCHEDQ_COVERAGE)
        # Atomic counters: the tests with threads would drive others below zero, which gcovr refuses to read.
        target_compile_options(${name} PRIVATE --coverage -fprofile-update=atomic)
    endif()
endfunction()

function(schedq_library name export_name objects)
    set(one_object ${CMAKE_CURRENT_BINARY_DIR}/${name}.o)
    add_custom_command(
        OUTPUT ${one_object}
        COMMAND ${CMAKE_C_COMPILER} ${schedq_one_object_options} -o ${one_object}.all $<TARGET_OBJECTS:${objects}> ${ARGN}
        COMMAND ${CMAKE_OBJCOPY} --localize-hidden --wildcard --keep-global-symbol=schedq_*
                ${one_object}.all ${one_object}
        DEPENDS ${objects} $<TARGET_OBJECTS:${objects}> ${ARGN}
        COMMAND_EXPAND_LISTS
        VERBATIM)
    # Both forms wait for it; without a target of its own, both would make it, perhaps at once.
    add_custom_target(${name}_object DEPENDS ${one_object})
    add_library(${name} STATIC ${one_object})
    add_library(${name}_shared SHARED ${one_object})
    string(REPLACE "_" "-" output_name ${name})
    set_target_properties(${name} PROPERTIES OUTPUT_NAME ${output_name} EXPORT_NAME ${export_name})
    set_target_properties(${name}_shared PROPERTIES
        OUTPUT_NAME ${output_name}
        EXPORT_NAME ${export_name}_shared
        VERSION ${PROJECT_VERSION}
        SOVERSION ${PROJECT_VERSION_MAJOR}
        LINK_DEPENDS ${schedq_names})
    target_link_options(${name}_shared PRIVATE LINKER:--version-script=${schedq_names})
    foreach(form "" _shared)
        add_library(schedq::${export_name}${form} ALIAS ${name}${form})
        add_dependencies(${name}${form} ${name}_object)
        set_target_properties(${name}${form} PROPERTIES LINKER_LANGUAGE C)
        target_include_directories(${name}${form} PUBLIC
            $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
            $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
        # Whatever links what is counted brings the run time of gcov.
        if(SCHEDQ_COVERAGE)
            target_link_options(${name}${form} PUBLIC --coverage)
        endif()
    endforeach()
    # The functions of these back ends are in the programs of stress/explore and bench/cost.
    if(SCHEDQ_ATOMICS MATCHES "^(controlled|counting)$")
        set_target_properties(${name}_shared PROPERTIES EXCLUDE_FROM_ALL ON)
    endif()
    # A sanitized library leaves the runtime's symbols to the program.
    if(NOT SCHEDQ_SANITIZE)
        target_link_options(${name}_shared PRIVATE LINKER:--no-undefined)
    endif()
endfunction()
