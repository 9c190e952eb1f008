# SPDX-License-Identifier: BSL-1.0
#
# The servers of the suite `baseline`, which are loaded from outside, and who takes part in it.

add_library(lab_baseline_seam STATIC baseline/requests.cpp baseline/seam.cpp)
target_link_libraries(lab_baseline_seam PUBLIC lab_driver)
lab_warnings(lab_baseline_seam)

# lab_baseline_program(<name> [<library>...])
#
# Builds lab_baseline_<name> from baseline/<name>.cpp.
function(lab_baseline_program name)
    lab_program(baseline_${name} SOURCES baseline/${name}.cpp LIBRARIES lab_baseline_seam ${ARGN})
endfunction()

lab_baseline_program(echo nlohmann_json::nlohmann_json)
lab_baseline_program(calls nlohmann_json::nlohmann_json)

# lab_baseline(<name> <family> <server> [<argument>...])
#
# run.py starts baseline.py, and that the server: it plays a case against it with a client of its choice.
function(lab_baseline name family server)
    if(name MATCHES "_sqpoll$")
        set(cases "[!w]*")  # Without wrk's: the others tell the same, and a quick run is to be quick.
    else()
        set(cases "*")
    endif()
    lab_contender(${name} FAMILY ${family} SUITES baseline CASES ${cases}
        COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/baseline.py
            --folder ${CMAKE_CURRENT_BINARY_DIR} --server lab_baseline_${server} ${ARGN})
endfunction()

if(TARGET gyre::gyre)
    lab_baseline_program(gyre gyre::gyre)
    lab_baseline(gyre_uring gyre gyre --backend io_uring)
    lab_baseline(gyre_epoll gyre gyre --backend epoll)
    lab_baseline(gyre_uring_sqpoll gyre gyre --backend io_uring_sqpoll)
endif()
foreach(style IN ITEMS callback coroutine)
    lab_baseline_program(asio_${style} Boost::headers Threads::Threads)
    target_compile_definitions(lab_baseline_asio_${style} PRIVATE LAB_ASIO_BACKEND="epoll")
    lab_baseline(asio_${style} asio asio_${style})
    if(LAB_LIBURING)
        lab_program(baseline_asio_${style}_uring SOURCES baseline/asio_${style}.cpp
            LIBRARIES lab_baseline_seam Boost::headers Threads::Threads ${LAB_LIBURING})
        target_compile_definitions(lab_baseline_asio_${style}_uring PRIVATE
            LAB_ASIO_BACKEND="io_uring" BOOST_ASIO_HAS_IO_URING BOOST_ASIO_DISABLE_EPOLL)
        lab_baseline(asio_${style}_uring asio asio_${style}_uring)
    endif()
endforeach()
lab_baseline_program(raw_uring Threads::Threads)
lab_baseline(raw_uring floor raw_uring --backend io_uring)
lab_baseline(raw_uring_sqpoll floor raw_uring --backend io_uring_sqpoll)
lab_baseline_program(raw_epoll Threads::Threads)
lab_baseline(raw_epoll floor raw_epoll)

if(GYRE_BUILD_TESTS AND TARGET gyre::gyre)
    add_test(NAME lab.baseline_servers
        COMMAND /usr/bin/python3 ${CMAKE_CURRENT_SOURCE_DIR}/baseline/servers_test.py
            ${CMAKE_CURRENT_BINARY_DIR})
endif()
