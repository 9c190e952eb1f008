# SPDX-License-Identifier: BSL-1.0
#
# What find_package(gyre) reads.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
set(gyre_module_path ${CMAKE_MODULE_PATH})
list(APPEND CMAKE_MODULE_PATH ${CMAKE_CURRENT_LIST_DIR})
find_dependency(c-ares)
set(CMAKE_MODULE_PATH ${gyre_module_path})
set(gyre_with_tls @GYRE_WITH_TLS@)
if(gyre_with_tls)
    find_dependency(OpenSSL 3.0)
endif()
include(${CMAKE_CURRENT_LIST_DIR}/gyre-targets.cmake)
