# SPDX-License-Identifier: BSL-1.0
#
# Installs the project to a prefix of its own, then builds and runs the stranger's program against it: by the
# compiler of the package and, if OTHER_COMPILER names one, by that, and with objects of both in one program.
function(run)
    execute_process(COMMAND ${ARGN} TIMEOUT 120
        RESULT_VARIABLE result OUTPUT_VARIABLE said ERROR_VARIABLE said)
    if(NOT result EQUAL 0)
        message(FATAL_ERROR "${ARGN}\nends with ${result}\n${said}")
    endif()
    set(said "${said}" PARENT_SCOPE)
endfunction()

# check_stranger(DIRECTORY ARGUMENTS...): builds it there, with these arguments to cmake, and runs it.
function(check_stranger directory)
    run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR} -B ${WORK_DIR}/${directory} -G ${GENERATOR}
        -DCMAKE_CXX_FLAGS=${FLAGS} -DCMAKE_PREFIX_PATH=${WORK_DIR}/prefix ${ARGN})
    run(${CMAKE_COMMAND} --build ${WORK_DIR}/${directory})
    run(${WORK_DIR}/${directory}/stranger)
    if(NOT said STREQUAL "the answer is 42, the sum 200000\n")
        message(FATAL_ERROR "${directory}: the program says '${said}'")
    endif()
endfunction()

file(REMOVE_RECURSE ${WORK_DIR})
run(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${WORK_DIR}/prefix)
set(own -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_EXE_LINKER_FLAGS=${LINK_FLAGS})
if(OTHER_COMPILER)
    check_stranger(own ${own}
        -DPLANTED_DEFECT=${SOURCE_DIR}/tests/toolchain/planted/frame_after_end.cpp)
    execute_process(COMMAND ${WORK_DIR}/own/watched OUTPUT_VARIABLE said ERROR_VARIABLE said)
    if(NOT said MATCHES "heap-use-after-free")
        message(FATAL_ERROR "a frame that is read after its end goes unnoticed: ${said}")
    endif()
    set(other -DCMAKE_CXX_COMPILER=${OTHER_COMPILER})
    check_stranger(other ${other})
    check_stranger(own_beside_other ${own} -DNEIGHBOUR=${WORK_DIR}/other/libneighbour.a)
    check_stranger(other_beside_own ${other} -DNEIGHBOUR=${WORK_DIR}/own/libneighbour.a)
else()
    check_stranger(own ${own})
endif()

# A header that names a path of the build tree works here and nowhere else.
file(GLOB exported ${WORK_DIR}/prefix/lib*/cmake/gyre/*.cmake ${WORK_DIR}/prefix/lib*/*/cmake/gyre/*.cmake)
foreach(file IN LISTS exported)
    file(READ ${file} text)
    string(FIND "${text}" "${SOURCE_DIR}" found)
    if(NOT found EQUAL -1)
        message(FATAL_ERROR "${file} names the source tree")
    endif()
endforeach()
