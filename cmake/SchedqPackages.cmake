# Debian packages, with the preset `packages`: `cmake --build --preset packages` makes them under build/packages.
#
#   libschedq0      the shared libraries
#   libschedq-dev   what a program is built with; documents, examples, manual pages of the headers
#   schedq-tools    schedq-replay, schedq-trace, schedq-bench, schedq-conform, schedq-top
#   python3-schedq  the Python package, with a copy of the library
#   golang-schedq-dev, librust-schedq-dev   sources of the Go package and of the Rust crates, which libschedq-dev's library is linked with
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME schedq)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "") # each package has a first line of its own, below
set(CPACK_PACKAGE_CONTACT "${SCHEDQ_MAINTAINER}")
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_PACKAGING_INSTALL_PREFIX ${CMAKE_INSTALL_PREFIX})
set(CPACK_COMPONENTS_ALL runtime development tools python go rust)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

set(says "schedq decides which pod (job, task) a scheduler looks at next:
active, backing off, parked and gated pods, events that wake them,
nominations, preemption. Its lock-free engine never makes a pop wait
for the re-examination of parked pods.")

set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME libschedq${PROJECT_VERSION_MAJOR})
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION "scheduling queue without a global lock, shared libraries
${says}")
# The dynamic linker is told when the package comes and goes (debian/triggers).
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA ${CMAKE_CURRENT_LIST_DIR}/debian/triggers)

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libschedq-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libschedq${PROJECT_VERSION_MAJOR} (= ${PROJECT_VERSION}), libck-dev")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "scheduling queue without a global lock, development files
${says}
This package has headers, static libraries, CMake and pkg-config files;
documents and examples are in /usr/share/doc/schedq.")

set(CPACK_DEBIAN_TOOLS_PACKAGE_NAME schedq-tools)
set(CPACK_DEBIAN_TOOLS_PACKAGE_SECTION devel)
# Documents; what schedq-replay --report runs.
set(CPACK_DEBIAN_TOOLS_PACKAGE_SUGGESTS "libschedq-dev, python3 (>= 3.11), gnuplot-nox")
set(CPACK_COMPONENT_TOOLS_DESCRIPTION "scheduling queue without a global lock, tools
${says}
This package shows what a running queue does, replays recorded clusters,
measures the queue beside a mutex and a heap, and compares a queue with
kube-scheduler's.")

set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-schedq)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SUGGESTS libschedq-dev)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "python3 (>= 3.11), python3-cffi-backend (>= 1.15)")
# Modules are compiled when the package comes, and what was compiled goes with it.
set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA
    ${CMAKE_CURRENT_LIST_DIR}/debian/python/postinst ${CMAKE_CURRENT_LIST_DIR}/debian/python/prerm)
set(CPACK_COMPONENT_PYTHON_DESCRIPTION "scheduling queue without a global lock, Python package
${says}
This package waits without the interpreter's lock, and in asyncio.")

set(CPACK_DEBIAN_GO_PACKAGE_NAME golang-schedq-dev)
set(CPACK_DEBIAN_GO_PACKAGE_SECTION golang)
set(CPACK_DEBIAN_GO_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_GO_PACKAGE_DEPENDS "libschedq-dev (>= ${PROJECT_VERSION}), pkg-config")
set(CPACK_COMPONENT_GO_DESCRIPTION "scheduling queue without a global lock, Go package
${says}
This package has the sources of the Go package, which needs Go 1.24 or
later, and says how a program uses them.")

set(CPACK_DEBIAN_RUST_PACKAGE_NAME librust-schedq-dev)
set(CPACK_DEBIAN_RUST_PACKAGE_SECTION rust)
set(CPACK_DEBIAN_RUST_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_RUST_PACKAGE_DEPENDS "libschedq-dev (>= ${PROJECT_VERSION}), librust-pkg-config-dev")
set(CPACK_DEBIAN_RUST_PACKAGE_SUGGESTS librust-tokio-dev)
set(CPACK_COMPONENT_RUST_DESCRIPTION "scheduling queue without a global lock, Rust crates
${says}
This package has the sources of the crates schedq and schedq-sys.")

# What Debian wants in each package: its licence, and who made it when.
string(TIMESTAMP schedq_date "%a, %d %b %Y %H:%M:%S +0000" UTC)
foreach(component IN LISTS CPACK_COMPONENTS_ALL)
    string(TOUPPER ${component} variable)
    set(schedq_package ${CPACK_DEBIAN_${variable}_PACKAGE_NAME})
    set(documents ${CMAKE_INSTALL_DATAROOTDIR}/doc/${schedq_package})
    set(changelog ${PROJECT_BINARY_DIR}/debian/${schedq_package}/changelog)
    configure_file(${CMAKE_CURRENT_LIST_DIR}/debian/changelog.in ${changelog} @ONLY)
    execute_process(COMMAND gzip -9nf ${changelog} COMMAND_ERROR_IS_FATAL ANY)
    install(FILES ${CMAKE_CURRENT_LIST_DIR}/debian/copyright DESTINATION ${documents} COMPONENT ${component})
    install(FILES ${changelog}.gz DESTINATION ${documents} COMPONENT ${component})
endforeach()
# Something to run the tools on: a small cluster, and the vectors.
set(tools_examples ${CMAKE_INSTALL_DATAROOTDIR}/doc/${CPACK_DEBIAN_TOOLS_PACKAGE_NAME}/examples)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/bench/replay/example/ DESTINATION ${tools_examples} COMPONENT tools)
set(vectors ${PROJECT_BINARY_DIR}/debian/conformance.tar)
file(GLOB releases RELATIVE ${PROJECT_SOURCE_DIR}/tests/conformance ${PROJECT_SOURCE_DIR}/tests/conformance/kube-*
    ${PROJECT_SOURCE_DIR}/tests/conformance/preemption-*.*)
list(FILTER releases EXCLUDE REGEX "\\.[ch]$")
execute_process(
    COMMAND tar --create --file ${vectors} --directory ${PROJECT_SOURCE_DIR}/tests/conformance --sort=name --mtime=@0 --owner=0 --group=0
        --numeric-owner --mode=u=rwX,go=rX "--transform=s,^,conformance/," ${releases}
    COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND gzip -9nf ${vectors} COMMAND_ERROR_IS_FATAL ANY)
install(FILES ${vectors}.gz DESTINATION ${tools_examples} COMPONENT tools)
# Who looks for the documents under the package's name finds them too.
file(CREATE_LINK ../schedq ${PROJECT_BINARY_DIR}/debian/schedq SYMBOLIC)
install(FILES ${PROJECT_BINARY_DIR}/debian/schedq
    DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/${CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME} COMPONENT development)
include(CPack)

add_custom_target(packages ALL
    COMMAND ${CMAKE_CPACK_COMMAND} --config ${PROJECT_BINARY_DIR}/CPackConfig.cmake
    WORKING_DIRECTORY ${PROJECT_BINARY_DIR}
    COMMENT "Making ${PROJECT_BINARY_DIR}/packages/*.deb"
    VERBATIM)
add_dependencies(packages manual python ${schedq_tools}
    schedq schedq_shared schedq_preemption schedq_preemption_shared schedq_evictor schedq_evictor_shared)
