# The Go package as Debian has Go packages: sources in share/gocode/src. Tests stay behind; the examples are among the sources.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/bindings/go/ DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/gocode/src/schedq COMPONENT go
    PATTERN cmd EXCLUDE
    PATTERN *_test.go EXCLUDE)
install(FILES ${PROJECT_SOURCE_DIR}/docs/GO.md DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/golang-schedq-dev COMPONENT go)
