# SPDX-License-Identifier: BSL-1.0
#
# Installs the project to a prefix of its own, then builds and runs the stranger's program against it.
function(run)
    execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE said ERROR_VARIABLE said)
    if(NOT result EQUAL 0)
        message(FATAL_ERROR "${ARGN}\n${said}")
    endif()
    set(said "${said}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK_DIR})
run(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${WORK_DIR}/prefix)
run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR} -B ${WORK_DIR}/build -G ${GENERATOR}
    -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_CXX_FLAGS=${FLAGS} -DCMAKE_EXE_LINKER_FLAGS=${LINK_FLAGS}
    -DCMAKE_PREFIX_PATH=${WORK_DIR}/prefix)
run(${CMAKE_COMMAND} --build ${WORK_DIR}/build)
run(${WORK_DIR}/build/stranger)

if(NOT said STREQUAL "the answer is 42\n")
    message(FATAL_ERROR "the program says '${said}'")
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
