# SPDX-License-Identifier: BSL-1.0
#
# What find_package(gyre) reads.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
include(${CMAKE_CURRENT_LIST_DIR}/gyre-targets.cmake)
