# Finds jemalloc's position independent archive, of which the library takes a copy of its own (engine/CMakeLists.txt).
#
# Gives JEMALLOC_INCLUDE_DIR and JEMALLOC_PIC_LIBRARY. jemalloc installs both, and ships no CMake package. There is no
# target on purpose: whatever links jemalloc by name gets its malloc.
find_path(JEMALLOC_INCLUDE_DIR jemalloc/jemalloc.h)
find_library(JEMALLOC_PIC_LIBRARY NAMES libjemalloc_pic.a)
mark_as_advanced(JEMALLOC_INCLUDE_DIR JEMALLOC_PIC_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Jemalloc
    REQUIRED_VARS JEMALLOC_PIC_LIBRARY JEMALLOC_INCLUDE_DIR
    REASON_FAILURE_MESSAGE "install jemalloc's headers and libjemalloc_pic.a (Debian: libjemalloc-dev), or set SCHEDQ_ALLOCATOR=system")
