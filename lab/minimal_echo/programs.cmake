# SPDX-License-Identifier: BSL-1.0
#
# The programs of the suite `cost`: one per contender, all doing the same, each as its users write it. And who
# takes part, and what loads and watches them.

# minimal_echo(<name> [<library>...])
#
# Builds lab_minimal_<name> from minimal_echo/<name>.cpp. Nothing of the lab is linked, so that nothing is in
# it but what it needs.
function(minimal_echo name)
    lab_program(minimal_${name} SOURCES minimal_echo/${name}.cpp LIBRARIES ${ARGN})
    target_include_directories(lab_minimal_${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/..)
endfunction()

# cost(<contender> <family> <program> IDENTITY <library> <version> <backend>
#      [CASES <pattern>] [ARGUMENTS <argument>...])
#
# run.py starts cost.py, and that the program.
function(cost name family program)
    cmake_parse_arguments(PARSE_ARGV 3 arg "" "CASES" "IDENTITY;ARGUMENTS")
    lab_contender(${name} FAMILY ${family} SUITES cost CASES ${arg_CASES}
        COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/cost.py --folder ${CMAKE_CURRENT_BINARY_DIR}
            --program lab_minimal_${program} --identity ${arg_IDENTITY} ${arg_ARGUMENTS})
endfunction()

lab_program(steady_load SOURCES steady_load.cpp LIBRARIES lab_driver)
add_library(lab_allocation_counter MODULE allocation_counter.cpp)
target_include_directories(lab_allocation_counter PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/..)
lab_warnings(lab_allocation_counter)
add_dependencies(lab lab_allocation_counter)

# What depends on the program alone is measured once, though it is two contenders.
set(of_a_loop "[is]*")  # idle_connections and steady_state
foreach(reads IN ITEMS "" _leases)
    minimal_echo(gyre${reads} gyre::gyre)
    cost(gyre_uring${reads} gyre gyre${reads} IDENTITY gyre ${PROJECT_VERSION} io_uring
        ARGUMENTS --backend uring)
    cost(gyre_epoll${reads} gyre gyre${reads} IDENTITY gyre ${PROJECT_VERSION} epoll
        CASES ${of_a_loop} ARGUMENTS --backend epoll)
endforeach()

set(asio Boost.Asio ${Boost_VERSION_MAJOR}.${Boost_VERSION_MINOR})
foreach(style IN ITEMS callback coroutine)
    minimal_echo(asio_${style} Boost::headers Threads::Threads)
    cost(asio_${style} asio asio_${style} IDENTITY ${asio} epoll)
endforeach()
if(LAB_LIBURING)
    foreach(style IN ITEMS callback coroutine)
        set(program minimal_asio_${style}_uring)
        lab_program(${program} SOURCES minimal_echo/asio_${style}.cpp
            LIBRARIES Boost::headers Threads::Threads ${LAB_LIBURING})
        target_compile_definitions(lab_${program}
            PRIVATE BOOST_ASIO_HAS_IO_URING BOOST_ASIO_DISABLE_EPOLL)
        cost(asio_${style}_uring asio asio_${style}_uring IDENTITY ${asio} io_uring)
    endforeach()
endif()
if(TARGET Boost::context)
    minimal_echo(asio_spawn Boost::headers Boost::context Threads::Threads)
    cost(asio_spawn asio asio_spawn IDENTITY ${asio} epoll)
endif()

# libuv is a peer that users may lack; then its row says so.
find_path(LAB_UV_HEADERS uv.h)
find_library(LAB_UV uv)
if(LAB_UV AND LAB_UV_HEADERS)
    file(STRINGS ${LAB_UV_HEADERS}/uv/version.h uv_version REGEX "UV_VERSION_(MAJOR|MINOR|PATCH) +[0-9]")
    list(TRANSFORM uv_version REPLACE ".* " "")
    list(JOIN uv_version "." uv_version)
    minimal_echo(libuv ${LAB_UV})
    cost(libuv libuv libuv IDENTITY libuv ${uv_version} epoll)
else()
    cost(libuv libuv libuv IDENTITY libuv - epoll
        ARGUMENTS --lacking "libuv was not there when this was built (Debian package libuv1-dev)")
endif()

minimal_echo(raw_epoll)
cost(raw_epoll floor raw_epoll IDENTITY none - epoll)
if(LAB_LIBURING)
    minimal_echo(raw_uring ${LAB_LIBURING})
    cost(raw_uring floor raw_uring IDENTITY none - io_uring)
endif()

if(GYRE_BUILD_TESTS AND TARGET gyre::gyre)
    add_test(NAME lab.minimal_echo
        COMMAND /usr/bin/python3 ${CMAKE_CURRENT_SOURCE_DIR}/minimal_echo/programs_test.py
            ${CMAKE_CURRENT_BINARY_DIR})
endif()
