# SPDX-License-Identifier: BSL-1.0
#
# Flags of our own builds: warnings, sanitizers, exceptions. Users of the package inherit none of
# them but the language standard.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

find_program(GYRE_CCACHE ccache)
if(GYRE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    set(CMAKE_CXX_COMPILER_LAUNCHER
        ${PROJECT_SOURCE_DIR}/cmake/cached.sh ${PROJECT_SOURCE_DIR} ${GYRE_CCACHE})
    set(CMAKE_C_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
endif()
# Objects name sources from the root on, so that they are the same in each clone.
file(RELATIVE_PATH gyre_root_from_build ${CMAKE_BINARY_DIR} ${PROJECT_SOURCE_DIR})
add_compile_options(-ffile-prefix-map=${PROJECT_SOURCE_DIR}/= -ffile-prefix-map=${gyre_root_from_build}=)

add_library(gyre_build_flags INTERFACE)
target_compile_options(gyre_build_flags INTERFACE -Wall -Wextra -Wpedantic)
if(GYRE_WERROR)
    target_compile_options(gyre_build_flags INTERFACE -Werror)
endif()

if(CMAKE_UNITY_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    # It takes a source that is included for a header, whose types others may see.
    target_compile_options(gyre_build_flags INTERFACE -Wno-subobject-linkage)
endif()

# Exceptions and sanitizers change the layout or the runtime of everything, so they are global.
if(NOT GYRE_EXCEPTIONS)
    add_compile_options(-fno-exceptions)
endif()
if(GYRE_SANITIZE)
    add_compile_options(-fsanitize=${GYRE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    add_link_options(-fsanitize=${GYRE_SANITIZE})
    if(GYRE_SANITIZE MATCHES undefined)
        # Its look at memory opens a pipe, so tests that run out of descriptors would fail on it.
        add_compile_options(-fno-sanitize=vptr)
    endif()
endif()
if(GYRE_COVERAGE)
    add_compile_options(-fprofile-instr-generate -fcoverage-mapping)
    add_link_options(-fprofile-instr-generate)
endif()

# g++ at -O2 takes thrice the time of -O0, and what it miscompiles shows in the library's own tests.
option(GYRE_OPTIMISE_LIBRARY_ONLY "Build the exchange and the lab at -O0 whatever the build type" OFF)
function(gyre_only_compile)
    if(GYRE_OPTIMISE_LIBRARY_ONLY AND NOT GYRE_TEST_FULL)
        add_compile_options(-O0)
    endif()
endfunction()
