# SPDX-License-Identifier: BSL-1.0
#
# Where c-ares is, for distributions that package it without a CMake configuration of its own: the imported
# target c-ares::cares. Installed beside gyre-config.cmake, which needs it as well.
find_path(c-ares_INCLUDE_DIR ares.h)
find_library(c-ares_LIBRARY cares)
mark_as_advanced(c-ares_INCLUDE_DIR c-ares_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(c-ares REQUIRED_VARS c-ares_LIBRARY c-ares_INCLUDE_DIR)
if(c-ares_FOUND AND NOT TARGET c-ares::cares)
    add_library(c-ares::cares UNKNOWN IMPORTED)
    set_target_properties(c-ares::cares PROPERTIES
        IMPORTED_LOCATION ${c-ares_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${c-ares_INCLUDE_DIR})
endif()
