# What `cmake --install` puts where: headers, the libraries, a CMake package with a component for each, pkg-config files;
# licences, documents and examples; the tools for users, if they are built.
#
# The packages find the prefix from their own place, so that an installed tree may be moved.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/schedq)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/schedq DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
foreach(library schedq schedq_preemption schedq_evictor)
    install(TARGETS ${library} ${library}_shared EXPORT ${library}Targets)
    install(EXPORT ${library}Targets NAMESPACE schedq:: DESTINATION ${package_dir})
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
    DESTINATION ${package_dir})

file(RELATIVE_PATH schedq_pc_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" schedq_pc_prefix ${schedq_pc_prefix})
set(schedq_private "-lck -pthread")
if(SCHEDQ_ALLOCATOR STREQUAL "jemalloc")
    string(APPEND schedq_private " -lm")
endif()

# NAME DESCRIPTION REQUIRED-PACKAGES PRIVATE-LIBRARIES
function(schedq_pkg_config pc_name pc_description pc_requires pc_private)
    configure_file(${PROJECT_SOURCE_DIR}/cmake/schedq.pc.in ${PROJECT_BINARY_DIR}/${pc_name}.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/${pc_name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()
schedq_pkg_config(schedq "${PROJECT_DESCRIPTION}" "" "${schedq_private}")
schedq_pkg_config(schedq-preemption "Which running pods have to go for a pod that fits nowhere" "" "")
schedq_pkg_config(schedq-evictor "Carries out decisions of schedq-preemption" "schedq schedq-preemption" "")

set(licences ${PROJECT_SOURCE_DIR}/LICENSE)
if(SCHEDQ_ALLOCATOR STREQUAL "jemalloc")
    list(APPEND licences ${PROJECT_SOURCE_DIR}/LICENSE.jemalloc)
endif()
install(FILES ${licences} ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md
    DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/schedq)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/schedq)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/schedq
    PATTERN CMakeLists.txt EXCLUDE)
foreach(tool schedq-replay schedq-trace schedq-bench schedq-conform)
    if(TARGET ${tool})
        install(TARGETS ${tool} COMPONENT tools)
    endif()
endforeach()
