# SPDX-License-Identifier: BSL-1.0
#
# Tests of the suite `baseline` that need no peers; those of the servers themselves are in servers.cmake.

# lab_baseline_test(<name> <source>...): baseline/<name>_test.cpp and the sources that it tests.
function(lab_baseline_test name)
    add_executable(lab_baseline_${name}_test baseline/${name}_test.cpp ${ARGN})
    target_compile_features(lab_baseline_${name}_test PRIVATE cxx_std_20)
    target_compile_definitions(lab_baseline_${name}_test
        PRIVATE DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN)
    if(NOT GYRE_EXCEPTIONS)
        target_compile_definitions(lab_baseline_${name}_test
            PRIVATE DOCTEST_CONFIG_NO_EXCEPTIONS_BUT_WITH_ALL_ASSERTS)
    endif()
    target_include_directories(lab_baseline_${name}_test PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/..)
    lab_warnings(lab_baseline_${name}_test)
    add_test(NAME lab.baseline_${name} COMMAND lab_baseline_${name}_test)
endfunction()

lab_baseline_test(requests baseline/requests.cpp)
if(GYRE_EXCEPTIONS)  # As its parser of arguments needs them.
    lab_baseline_test(seam baseline/seam.cpp load.cpp fail.cpp)
endif()
