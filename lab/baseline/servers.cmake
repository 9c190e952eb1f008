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
lab_baseline_program(asio_callback Boost::headers Threads::Threads)
lab_baseline(asio_callback asio asio_callback)
lab_baseline_program(asio_coroutine Boost::headers Threads::Threads)
lab_baseline(asio_coroutine asio asio_coroutine)
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
