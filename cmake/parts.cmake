# SPDX-License-Identifier: BSL-1.0
#
# Which optional parts a build has. An option that is AUTO follows the packages whenever the project is
# configured, and the last lines of that list each part: built on what, or left out and why.

# Packages of tests, examples, exchange and lab; those of the library are in gyre-packages.cmake.
set(gyre_called_doctest "doctest" doctest-dev)
set(gyre_called_Boost "Boost 1.81" libboost1.81-dev)
set(gyre_called_nlohmann_json "nlohmann_json 3.9" nlohmann-json3-dev)
set(gyre_called_CLI11 "CLI11" libcli11-dev)
set(gyre_called_benchmark "Google Benchmark" libbenchmark-dev)
set(gyre_version_Boost 1.81)
set(gyre_version_nlohmann_json 3.9)

set_property(GLOBAL PROPERTY gyre_parts "")

# gyre_list_part(NAME LACKS PACKAGES...): a line of the summary. The part is left out because of LACKS, or, if
# that is empty, it is built on PACKAGES.
function(gyre_list_part name lacks)
    set(answer "no ")
    set(why "${lacks}")
    if(NOT lacks)
        set(answer "yes")
        set(packages "")
        foreach(package IN LISTS ARGN)
            list(GET gyre_called_${package} 0 called)
            list(GET gyre_called_${package} 1 debian)
            list(APPEND packages "${called} (${debian})")
        endforeach()
        list(JOIN packages ", " why)
    endif()
    string(LENGTH "${name}" length)
    math(EXPR missing "26 - ${length}")
    string(REPEAT " " ${missing} space)
    string(STRIP "${name}${space}${answer}  ${why}" line)
    set_property(GLOBAL APPEND PROPERTY gyre_parts "${line}")
endfunction()

# gyre_list_switch(OPTION): a line for what OPTION, which is ON or OFF, adds to the library.
function(gyre_list_switch option)
    set(lacks "")
    if(NOT ${option})
        set(lacks "${option} is OFF")
    endif()
    string(REGEX REPLACE "GYRE_(BUILD_)?" "" name ${option})
    string(TOLOWER ${name} name)
    gyre_list_part(${name} "${lacks}")
endfunction()

# gyre_choose(OPTION NAME LACKS PACKAGES...): sets OPTION, a variable of the caller, to ON or OFF, and
# OPTION_lacks to the reason for OFF. Its cache entry is what the user wants: ON, which is an error if LACKS
# says what is missing, OFF, or AUTO, the default.
function(gyre_choose option name lacks)
    set(${option} AUTO CACHE STRING "Build ${name}: ON, OFF, or AUTO, if what it needs is found")
    set_property(CACHE ${option} PROPERTY STRINGS AUTO ON OFF)
    string(TOUPPER "${${option}}" wanted)
    if(NOT ${option})
        set(lacks "${option} is OFF")
    elseif(lacks AND NOT wanted STREQUAL "AUTO")
        message(FATAL_ERROR "${lacks}")
    endif()
    set(chosen ON)
    if(lacks)
        set(chosen OFF)
    endif()
    gyre_list_part(${name} "${lacks}" ${ARGN})
    set(${option} ${chosen} PARENT_SCOPE)
    set(${option}_lacks "${lacks}" PARENT_SCOPE)
endfunction()

# gyre_print_parts(): the summary.
function(gyre_print_parts)
    get_property(lines GLOBAL PROPERTY gyre_parts)
    message(STATUS "gyre ${PROJECT_VERSION} has these parts:")
    foreach(line IN LISTS lines)
        message(STATUS "  ${line}")
    endforeach()
endfunction()
