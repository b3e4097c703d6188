# The Python package, as Debian's Python has it: the wheel of bindings/python, unpacked. setup.py there builds a library of its own,
# with libc's malloc.
find_program(SCHEDQ_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH REQUIRED DOC "The Python whose packages are in lib/python3/dist-packages")
set(schedq_binding ${PROJECT_SOURCE_DIR}/bindings/python)
set(schedq_wheel ${PROJECT_BINARY_DIR}/python)

add_custom_target(python ALL
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${schedq_wheel}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${schedq_wheel}/unpacked
    COMMAND ${SCHEDQ_PYTHON} setup.py -q clean --all bdist_wheel --dist-dir ${schedq_wheel}
    COMMAND ${SCHEDQ_PYTHON} -m zipfile -e
            ${schedq_wheel}/schedq-${PROJECT_VERSION}-cp311-abi3-linux_${CMAKE_SYSTEM_PROCESSOR}.whl ${schedq_wheel}/unpacked
    WORKING_DIRECTORY ${schedq_binding}
    COMMENT "Making the Python package"
    VERBATIM)

# RECORD has sums of files that are stripped later.
install(DIRECTORY ${schedq_wheel}/unpacked/ DESTINATION lib/python3/dist-packages COMPONENT python PATTERN RECORD EXCLUDE)
install(DIRECTORY ${schedq_binding}/examples DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/python3-schedq COMPONENT python)
install(FILES ${PROJECT_SOURCE_DIR}/docs/PYTHON.md DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/python3-schedq COMPONENT python)
