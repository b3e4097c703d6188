# What `cmake --install` puts where, by component:
#
#   runtime      the shared libraries
#   development  headers, static libraries, a CMake package with a component for each library, pkg-config files; licences, documents,
#                examples; manual pages of the headers, if they are made (SchedqManual.cmake)
#   tools        the programs for users, if they are built, their manual pages, the shell's completion of their options, and the script of
#                schedq-replay --report
#
# The packages find the prefix from their own place, so that an installed tree may be moved (pkg-config: but for /usr). The target
# `uninstall` removes what the last `cmake --install` of all components wrote.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/schedq)
set(schedq_documents ${CMAKE_INSTALL_DATAROOTDIR}/doc/schedq)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/schedq DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
foreach(library schedq schedq_preemption schedq_evictor)
    install(TARGETS ${library} ${library}_shared EXPORT ${library}Targets
        LIBRARY COMPONENT runtime NAMELINK_COMPONENT development
        ARCHIVE COMPONENT development)
    install(EXPORT ${library}Targets NAMESPACE schedq:: DESTINATION ${package_dir} COMPONENT development)
endforeach()

# Before 1.0 every minor version may change the API.
set(compatibility SameMajorVersion)
if(PROJECT_VERSION_MAJOR EQUAL 0)
    set(compatibility SameMinorVersion)
endif()
write_basic_package_version_file(${PROJECT_BINARY_DIR}/schedqConfigVersion.cmake COMPATIBILITY ${compatibility})
configure_package_config_file(
    ${CMAKE_CURRENT_LIST_DIR}/schedqConfig.cmake.in ${PROJECT_BINARY_DIR}/schedqConfig.cmake
    INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
install(FILES
    ${PROJECT_BINARY_DIR}/schedqConfig.cmake ${PROJECT_BINARY_DIR}/schedqConfigVersion.cmake
    ${CMAKE_CURRENT_LIST_DIR}/FindCk.cmake
    DESTINATION ${package_dir} COMPONENT development)

file(RELATIVE_PATH schedq_pc_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" schedq_pc_prefix ${schedq_pc_prefix})
set(schedq_pc_prefix "\${pcfiledir}/${schedq_pc_prefix}")
if(CMAKE_INSTALL_PREFIX STREQUAL "/usr")
    set(schedq_pc_prefix /usr) # so that pkg-config knows the system's directories, and passes none of them
endif()
set(schedq_private "-lck -pthread -lm")

# NAME DESCRIPTION REQUIRED-PACKAGES PRIVATE-LIBRARIES
function(schedq_pkg_config pc_name pc_description pc_requires pc_private)
    configure_file(${PROJECT_SOURCE_DIR}/cmake/schedq.pc.in ${PROJECT_BINARY_DIR}/${pc_name}.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/${pc_name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
endfunction()
schedq_pkg_config(schedq "${PROJECT_DESCRIPTION}" "" "${schedq_private}")
schedq_pkg_config(schedq-preemption "Which running pods have to go for a pod that fits nowhere" "" "")
schedq_pkg_config(schedq-evictor "Carries out decisions of schedq-preemption" "schedq schedq-preemption" "")

set(licences ${PROJECT_SOURCE_DIR}/LICENSE)
if(SCHEDQ_ALLOCATOR STREQUAL "jemalloc")
    list(APPEND licences ${PROJECT_SOURCE_DIR}/LICENSE.jemalloc)
endif()
install(FILES ${licences} ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md
    DESTINATION ${schedq_documents} COMPONENT development)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION ${schedq_documents} COMPONENT development
    PATTERN Doxyfile EXCLUDE) # it is for the sources
install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples DESTINATION ${schedq_documents} COMPONENT development
    PATTERN CMakeLists.txt EXCLUDE)

set(schedq_tools)
foreach(tool schedq-replay schedq-trace schedq-bench schedq-conform schedq-top)
    if(TARGET ${tool})
        list(APPEND schedq_tools ${tool})
    endif()
endforeach()
if(schedq_tools)
    install(TARGETS ${schedq_tools} COMPONENT tools)
    foreach(tool IN LISTS schedq_tools)
        install(FILES ${PROJECT_SOURCE_DIR}/cmake/completion.bash RENAME ${tool}
            DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/bash-completion/completions COMPONENT tools)
    endforeach()
endif()
# schedq-replay --report looks for its script beside the bin that it is in.
if(TARGET schedq-replay)
    set(schedq_report ${CMAKE_INSTALL_DATAROOTDIR}/schedq/report)
    file(WRITE ${PROJECT_BINARY_DIR}/report/VERSION "${PROJECT_VERSION}\n")
    foreach(module bench_part markup plots replay_part version whole_file)
        install(FILES ${PROJECT_SOURCE_DIR}/bench/report/${module}.py DESTINATION ${schedq_report} COMPONENT tools)
    endforeach()
    install(FILES ${PROJECT_BINARY_DIR}/report/VERSION DESTINATION ${schedq_report} COMPONENT tools)
    install(PROGRAMS ${PROJECT_SOURCE_DIR}/bench/report/page DESTINATION ${schedq_report} COMPONENT tools)
endif()

add_custom_target(uninstall
    COMMAND ${CMAKE_COMMAND} -DMANIFEST=${PROJECT_BINARY_DIR}/install_manifest.txt -P ${CMAKE_CURRENT_LIST_DIR}/uninstall.cmake
    VERBATIM)
