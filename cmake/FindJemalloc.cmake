# Finds jemalloc, which ships no CMake package. Gives the target Jemalloc::Jemalloc.
#
# Installed beside schedqConfig.cmake, because programs that link the static library link jemalloc too.
find_path(JEMALLOC_INCLUDE_DIR jemalloc/jemalloc.h)
find_library(JEMALLOC_LIBRARY jemalloc)
mark_as_advanced(JEMALLOC_INCLUDE_DIR JEMALLOC_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Jemalloc REQUIRED_VARS JEMALLOC_LIBRARY JEMALLOC_INCLUDE_DIR)

if(Jemalloc_FOUND AND NOT TARGET Jemalloc::Jemalloc)
    add_library(Jemalloc::Jemalloc UNKNOWN IMPORTED)
    set_target_properties(Jemalloc::Jemalloc PROPERTIES
        IMPORTED_LOCATION "${JEMALLOC_LIBRARY}"
        INTERFACE_INCLUDE_DIRECTORIES "${JEMALLOC_INCLUDE_DIR}")
endif()
