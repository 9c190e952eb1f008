# SPDX-License-Identifier: BSL-1.0
#
# How test programs of the library and of the exchange become tests of ctest: which sources this build
# has a use for, and on which backends they run.
gyre_find_packages(lacks "The build of tests" doctest)
if(lacks)
    message(FATAL_ERROR "${lacks}")
endif()
find_package(doctest REQUIRED)
include(/usr/lib/cmake/doctest/doctest.cmake OPTIONAL RESULT_VARIABLE doctest_cmake)
if(NOT doctest_cmake)
    include(doctest)
endif()

# An assertion is one call of a function then, which compiles faster. What an expression throws ends its test.
target_compile_definitions(doctest::doctest INTERFACE DOCTEST_CONFIG_SUPER_FAST_ASSERTS)

# What a test program ends with whose tests have all skipped themselves: tests/support/skip.hpp.
set(skipped_status 77)

# What `./dev ci` leaves to `./dev ci --full`, because another build of the everyday run tests it already.
option(GYRE_TEST_FULL "Test everything in this build, whatever others test as well" OFF)
option(GYRE_TEST_FUSED_EXAMPLES "Run the examples hundreds of times, with each operation failing in turn" OFF)
set(GYRE_TEST_BACKENDS "" CACHE STRING
    "Backends that tests run on unless the environment names some; empty: all. The laws run on all.")

# gyre_useful_tests(LIST [THREADS]): takes out of a list of sources what this build cannot run, and what it
# would run in vain. THREADS: all of them have several threads, though the sources do not say so.
function(gyre_useful_tests list)
    cmake_parse_arguments(PARSE_ARGV 1 arg "THREADS" "" "")
    set(sources ${${list}})
    list(FILTER sources EXCLUDE REGEX "libfuzzer\\.cpp$")  # Has a main of its own.
    if(NOT GYRE_EXCEPTIONS)
        list(FILTER sources EXCLUDE REGEX "exception_test\\.cpp$")
    endif()
    if(NOT GYRE_WITH_ASIO)
        list(FILTER sources EXCLUDE REGEX "/asio[a-z_]*_test\\.cpp$")
    endif()
    if(GYRE_SANITIZE)
        list(FILTER sources EXCLUDE REGEX "allocations_test\\.cpp$")  # It replaces malloc, as they do.
    endif()
    if(GYRE_SANITIZE AND NOT GYRE_TEST_FULL)
        # It explores a model's orders, in one thread and without a pointer to lose.
        list(FILTER sources EXCLUDE REGEX "/parking_test\\.cpp$")
    endif()
    if((GYRE_SANITIZE MATCHES thread OR NOT GYRE_EXCEPTIONS) AND NOT GYRE_TEST_FULL)
        # Two presets refuse each call in each way, on every backend.
        list(FILTER sources EXCLUDE REGEX "/refused_calls_test\\.cpp$")
    endif()
    if(GYRE_SANITIZE MATCHES thread AND NOT GYRE_TEST_FULL AND NOT arg_THREADS)
        # The thread sanitizer has nothing to see in a test of one thread.
        foreach(source IN LISTS sources)
            file(STRINGS ${source} threads LIMIT_COUNT 1
                REGEX "thread|io_pool|pools\\.hpp|blocking\\(|net/waiting_laws|pending_work|_facility")
            if(source MATCHES "_test\\.cpp$" AND NOT threads)
                list(REMOVE_ITEM sources ${source})
            endif()
        endforeach()
    endif()
    set(${list} ${sources} PARENT_SCOPE)
endfunction()

# gyre_discover_tests(TARGET PREFIX [ALL_BACKENDS] [PROPERTIES ...]): each test case of a program by itself.
function(gyre_discover_tests target prefix)
    cmake_parse_arguments(PARSE_ARGV 2 arg "ALL_BACKENDS" "" "PROPERTIES")
    set(properties TIMEOUT 300 SKIP_RETURN_CODE ${skipped_status})
    if(GYRE_TEST_BACKENDS AND NOT arg_ALL_BACKENDS AND NOT GYRE_TEST_FULL)
        list(APPEND properties ENVIRONMENT "GYRE_TEST_BACKENDS_DEFAULT=${GYRE_TEST_BACKENDS}")
    endif()
    doctest_discover_tests(${target} TEST_PREFIX "${prefix}: " PROPERTIES ${properties} ${arg_PROPERTIES})
endfunction()

# gyre_name_place(TARGET MACRO PATH): a macro of a test program's sources that names PATH, a file, a folder or
# a target, from the folder that the program changes to when it starts, its own. An absolute path would make
# its objects differ from those of another clone.
function(gyre_name_place target macro path)
    if(TARGET ${path})
        get_target_property(folder ${path} BINARY_DIR)
        set(path ${folder}/${path})
    endif()
    get_target_property(home ${target} BINARY_DIR)
    file(RELATIVE_PATH relative ${home} ${path})
    target_compile_definitions(${target} PRIVATE ${macro}="./${relative}")
endfunction()
