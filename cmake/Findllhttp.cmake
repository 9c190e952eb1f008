# SPDX-License-Identifier: BSL-1.0
#
# Where the C sources of llhttp are, as node-llhttp of Debian ships them:
# llhttp_INCLUDE_DIR and llhttp_SOURCES.
# They become a part of gyre::http, so whoever links that needs no llhttp.
find_path(llhttp_INCLUDE_DIR llhttp.h PATHS /usr/share/include/llhttp)
find_path(llhttp_SOURCE_DIR llhttp.c PATHS /usr/share/llhttp)
mark_as_advanced(llhttp_INCLUDE_DIR llhttp_SOURCE_DIR)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(llhttp REQUIRED_VARS llhttp_SOURCE_DIR llhttp_INCLUDE_DIR)
set(llhttp_SOURCES ${llhttp_SOURCE_DIR}/api.c ${llhttp_SOURCE_DIR}/http.c ${llhttp_SOURCE_DIR}/llhttp.c)
