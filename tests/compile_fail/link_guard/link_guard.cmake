# SPDX-License-Identifier: BSL-1.0
#
# Links a PROGRAM and a LIBRARY, each built `with` or `without` exceptions and with flags of its own. Two of a
# kind must link; a mixture must not, and the linker must name the symbol that says what is wrong.
set(flags_with -fexceptions)
set(flags_without -fno-exceptions)
set(compile ${COMPILER} -std=c++20 ${FLAGS} -I${SOURCE_DIR}/include)

function(run)
    execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE said ERROR_VARIABLE said)
    if(NOT result EQUAL 0)
        message(FATAL_ERROR "${ARGN}\n${said}")
    endif()
endfunction()

file(REMOVE_RECURSE ${WORK_DIR})
file(MAKE_DIRECTORY ${WORK_DIR})
run(${compile} ${flags_${LIBRARY}} ${LIBRARY_FLAGS}
    -c ${SOURCE_DIR}/src/base/build.cpp -o ${WORK_DIR}/build.o)
run(${AR} rcs ${WORK_DIR}/libguard.a ${WORK_DIR}/build.o)
run(${compile} ${flags_${PROGRAM}} ${PROGRAM_FLAGS}
    -c ${CMAKE_CURRENT_LIST_DIR}/main.cpp -o ${WORK_DIR}/main.o)

execute_process(
    COMMAND ${COMPILER} ${FLAGS} ${LINK_FLAGS} ${WORK_DIR}/main.o ${WORK_DIR}/libguard.a
        -o ${WORK_DIR}/program
    RESULT_VARIABLE result OUTPUT_VARIABLE said ERROR_VARIABLE said)

set(wanted "gyre::v[0-9]+_[0-9]+::built_${PROGRAM}_exceptions")
if(PROGRAM_FLAGS)
    string(REPLACE "::built" "_with_checked_containers::built" wanted "${wanted}")
endif()
if(PROGRAM STREQUAL LIBRARY AND "${PROGRAM_FLAGS}" STREQUAL "${LIBRARY_FLAGS}")
    if(NOT result EQUAL 0)
        message(FATAL_ERROR "two of a kind do not link\n${said}")
    endif()
    run(${WORK_DIR}/program)
elseif(result EQUAL 0)
    message(FATAL_ERROR "a program ${PROGRAM} exceptions ${PROGRAM_FLAGS} links with a library ${LIBRARY}")
elseif(NOT said MATCHES "${wanted}")
    message(FATAL_ERROR "the linker does not name ${wanted}\n${said}")
endif()
