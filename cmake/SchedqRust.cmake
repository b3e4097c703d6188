# The Rust crates as Debian has crates: sources in share/cargo/registry, which cargo takes for a registry of its own. Tests stay
# behind, and what only they need.
set(schedq_crates ${CMAKE_INSTALL_DATAROOTDIR}/cargo/registry)

foreach(crate schedq schedq-sys)
    set(from ${PROJECT_SOURCE_DIR}/bindings/rust/${crate})
    set(to ${PROJECT_BINARY_DIR}/rust/${crate}-${PROJECT_VERSION})
    file(READ ${from}/Cargo.toml manifest)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${from}/Cargo.toml)
    # Its neighbour has a version in the name of its folder there.
    string(REPLACE "path = \"../schedq-sys\"" "path = \"../schedq-sys-${PROJECT_VERSION}\"" manifest "${manifest}")
    string(REGEX REPLACE "\\[dev-dependencies\\]\n([^[\n][^\n]*\n)*" "" manifest "${manifest}")
    string(REGEX REPLACE "\\[\\[test\\]\\]\n([^[\n][^\n]*\n)*" "" manifest "${manifest}")
    file(WRITE ${to}/Cargo.toml "${manifest}")
    # cargo wants sums of a registry's files, but of no file in particular.
    file(WRITE ${to}/.cargo-checksum.json "{\"package\":null,\"files\":{}}\n")
    install(DIRECTORY ${to} DESTINATION ${schedq_crates} COMPONENT rust)
    install(DIRECTORY ${from}/ DESTINATION ${schedq_crates}/${crate}-${PROJECT_VERSION} COMPONENT rust
        PATTERN Cargo.toml EXCLUDE
        PATTERN tests EXCLUDE)
endforeach()
install(FILES ${PROJECT_SOURCE_DIR}/docs/RUST.md DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/librust-schedq-dev COMPONENT rust)
