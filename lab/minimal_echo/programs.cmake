# SPDX-License-Identifier: BSL-1.0
#
# The programs of the suite `cost`: one per contender, all doing the same, each as its users write it. And
# what loads and watches them.

# minimal_echo(<name> [<library>...])
#
# Builds lab_minimal_<name> from minimal_echo/<name>.cpp. Nothing of the lab is linked, so that nothing is in
# it but what it needs.
function(minimal_echo name)
    lab_program(minimal_${name} SOURCES minimal_echo/${name}.cpp LIBRARIES ${ARGN})
    target_include_directories(lab_minimal_${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/..)
endfunction()

lab_program(steady_load SOURCES steady_load.cpp LIBRARIES lab_driver)
add_library(lab_allocation_counter MODULE allocation_counter.cpp)
target_include_directories(lab_allocation_counter PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/..)
lab_warnings(lab_allocation_counter)
add_dependencies(lab lab_allocation_counter)

foreach(reads IN ITEMS "" _leases)
    minimal_echo(gyre${reads} gyre::gyre)
endforeach()

foreach(style IN ITEMS callback coroutine)
    minimal_echo(asio_${style} Boost::headers Threads::Threads)
endforeach()
if(TARGET Boost::context)
    minimal_echo(asio_spawn Boost::headers Boost::context Threads::Threads)
endif()

find_path(LAB_UV_HEADERS uv.h)
find_library(LAB_UV uv)
if(LAB_UV AND LAB_UV_HEADERS)
    minimal_echo(libuv ${LAB_UV})
endif()

minimal_echo(raw_epoll)
if(LAB_LIBURING)
    minimal_echo(raw_uring ${LAB_LIBURING})
endif()

if(GYRE_BUILD_TESTS AND TARGET gyre::gyre)
    add_test(NAME lab.minimal_echo
        COMMAND /usr/bin/python3 ${CMAKE_CURRENT_SOURCE_DIR}/minimal_echo/programs_test.py
            ${CMAKE_CURRENT_BINARY_DIR})
endif()
