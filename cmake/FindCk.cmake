# Finds Concurrency Kit, which ships no CMake package (and whose ck.pc carries -D__x86_64__). Gives the target Ck::Ck.
#
# Installed beside schedqConfig.cmake, because programs that link the static library link ck too.
find_path(CK_INCLUDE_DIR ck_epoch.h)
find_library(CK_LIBRARY ck)
mark_as_advanced(CK_INCLUDE_DIR CK_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Ck REQUIRED_VARS CK_LIBRARY CK_INCLUDE_DIR)

if(Ck_FOUND AND NOT TARGET Ck::Ck)
    add_library(Ck::Ck UNKNOWN IMPORTED)
    set_target_properties(Ck::Ck PROPERTIES
        IMPORTED_LOCATION "${CK_LIBRARY}"
        INTERFACE_INCLUDE_DIRECTORIES "${CK_INCLUDE_DIR}")
endif()
