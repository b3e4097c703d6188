# The target `manual`: manual pages under man/ of the build directory, made of what is there already.
#
#   man3   of the public headers, by Doxygen (docs/Doxyfile): a page for each header, function and type
#   man7   of what the headers say at their top: one page, schedq (manual_overview.awk)
#   man1   of the tools, by help2man: what --help says, and what is in manual/TOOL.h2m
find_program(DOXYGEN doxygen REQUIRED)
find_program(HELP2MAN help2man REQUIRED)
find_program(AWK awk REQUIRED)

set(schedq_manual ${PROJECT_BINARY_DIR}/man)
file(GLOB headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/schedq/*.h)

configure_file(${CMAKE_CURRENT_LIST_DIR}/manual.doxyfile.in ${PROJECT_BINARY_DIR}/manual.doxyfile @ONLY)
add_custom_command(
    OUTPUT ${schedq_manual}/man3.stamp
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${schedq_manual}/man3
    COMMAND ${DOXYGEN} ${PROJECT_BINARY_DIR}/manual.doxyfile
    COMMAND ${CMAKE_COMMAND} -DPAGES=${schedq_manual}/man3 -DAWK=${AWK} -P ${CMAKE_CURRENT_LIST_DIR}/manual_pages.cmake
    COMMAND gzip -9nr ${schedq_manual}/man3
    COMMAND ${CMAKE_COMMAND} -E touch ${schedq_manual}/man3.stamp
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
    DEPENDS ${headers} ${PROJECT_SOURCE_DIR}/docs/Doxyfile ${PROJECT_BINARY_DIR}/manual.doxyfile
        ${CMAKE_CURRENT_LIST_DIR}/manual_pages.cmake ${CMAKE_CURRENT_LIST_DIR}/manual_split.awk
    VERBATIM)
# base.h has the version, which the page begins with.
set(overview ${schedq_manual}/man7/schedq.7)
set(first ${PROJECT_SOURCE_DIR}/include/schedq/base.h)
set(others ${headers})
list(REMOVE_ITEM others ${first})
add_custom_command(
    OUTPUT ${overview}.gz
    COMMAND ${CMAKE_COMMAND} -E make_directory ${schedq_manual}/man7
    COMMAND ${AWK} -f ${CMAKE_CURRENT_LIST_DIR}/manual_overview.awk ${first} ${others} > ${overview}
    COMMAND gzip -9nf ${overview}
    DEPENDS ${headers} ${CMAKE_CURRENT_LIST_DIR}/manual_overview.awk
    VERBATIM)
set(pages ${schedq_manual}/man3.stamp ${overview}.gz)

set(of_schedq-replay "replays a cluster's trace through the queue")
set(of_schedq-trace "makes, converts and describes traces for schedq-replay")
set(of_schedq-bench "measures schedq beside a mutex and a heap")
set(of_schedq-conform "compares a queue with recorded runs of kube-scheduler")
set(of_schedq-top "shows what a running queue does")
foreach(tool IN LISTS schedq_tools)
    set(page ${schedq_manual}/man1/${tool}.1)
    add_custom_command(
        OUTPUT ${page}.gz
        COMMAND ${CMAKE_COMMAND} -E make_directory ${schedq_manual}/man1
        COMMAND ${HELP2MAN} --no-info --no-discard-stderr --name=${of_${tool}}
            --include=${CMAKE_CURRENT_LIST_DIR}/manual/${tool}.h2m --output=${page} $<TARGET_FILE:${tool}>
        COMMAND gzip -9nf ${page}
        DEPENDS ${tool} ${CMAKE_CURRENT_LIST_DIR}/manual/${tool}.h2m
        VERBATIM)
    list(APPEND pages ${page}.gz)
endforeach()
add_custom_target(manual DEPENDS ${pages})
install(DIRECTORY ${schedq_manual}/man3 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT development OPTIONAL)
install(DIRECTORY ${schedq_manual}/man7 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT development OPTIONAL)
install(DIRECTORY ${schedq_manual}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT tools OPTIONAL)
