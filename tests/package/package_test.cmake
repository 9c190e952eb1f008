# SPDX-License-Identifier: BSL-1.0
#
# Installs the project to a prefix of its own, then builds and runs the stranger's programs against it: by the
# compiler of the package and, if OTHER_COMPILER names one, by that, and with objects of both in one program.
# COMPONENTS, separated by commas, are those that this build has beside the core; SHARED tells whether it has
# shared libraries, too; LAUNCHER is a command before each compilation.
string(REPLACE "," ";" components "${COMPONENTS}")
set(says_tls "record of type 22, no TLS\n")
set(says_http "200: hello, stranger\n")
set(says_http2 "200: hello, stranger\n200: hello, neighbour\n")
set(says_websocket "1000 back, closed\n")
set(says_shared "64 bytes held, 0 left, a loop runs\n")
set(says_test "noon\n")
set(says_web "200: hello from /there\n")

function(run)
    execute_process(COMMAND ${ARGN} TIMEOUT 300
        RESULT_VARIABLE result OUTPUT_VARIABLE said ERROR_VARIABLE said)
    if(NOT result EQUAL 0)
        message(FATAL_ERROR "${ARGN}\nends with ${result}\n${said}")
    endif()
    set(said "${said}" PARENT_SCOPE)
endfunction()

# check_components(DIRECTORY): runs the program of each component.
function(check_components directory)
    foreach(component IN LISTS components)
        run(${WORK_DIR}/${directory}/with_${component})
        if(NOT said STREQUAL says_${component})
            message(FATAL_ERROR "${directory}: with_${component} says '${said}'")
        endif()
    endforeach()
endfunction()

# check_stranger(DIRECTORY ARGUMENTS...): builds it there, with these arguments to cmake, and runs it.
function(check_stranger directory)
    run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR} -B ${WORK_DIR}/${directory} -G ${GENERATOR}
        -DCMAKE_CXX_FLAGS=${FLAGS} -DCMAKE_PREFIX_PATH=${WORK_DIR}/prefix ${ARGN})
    run(${CMAKE_COMMAND} --build ${WORK_DIR}/${directory} --parallel 2)
    run(${WORK_DIR}/${directory}/stranger)
    if(NOT said STREQUAL "the answer is 42, the sum 200000\n")
        message(FATAL_ERROR "${directory}: the program says '${said}'")
    endif()
endfunction()

# ask_for(KINDS...): a project that asks for each in turn; sets `result` and `said`.
function(ask_for)
    execute_process(COMMAND ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/kinds -B ${WORK_DIR}/kinds --fresh
            -G ${GENERATOR} ${own} -DCMAKE_PREFIX_PATH=${WORK_DIR}/prefix "-DKINDS=${ARGN}"
            -DSOURCES=${sources}
        RESULT_VARIABLE result OUTPUT_VARIABLE said ERROR_VARIABLE said)
    string(REGEX REPLACE "[ \n]+" " " said "${said}")  # CMake breaks lines.
    set(result "${result}" PARENT_SCOPE)
    set(said "${said}" PARENT_SCOPE)
endfunction()

set(ENV{CMAKE_CXX_COMPILER_LAUNCHER} "${LAUNCHER}")  # The same programs are built in each clone.
file(REMOVE_RECURSE ${WORK_DIR})
run(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${WORK_DIR}/prefix)
set(all -DCOMPONENTS=${COMPONENTS})
set(own -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_EXE_LINKER_FLAGS=${LINK_FLAGS})
if(OTHER_COMPILER)
    check_stranger(own ${own} ${all}
        -DPLANTED_DEFECT=${SOURCE_DIR}/tests/toolchain/planted/frame_after_end.cpp)
    execute_process(COMMAND ${WORK_DIR}/own/watched OUTPUT_VARIABLE said ERROR_VARIABLE said)
    if(NOT said MATCHES "heap-use-after-free")
        message(FATAL_ERROR "a frame that is read after its end goes unnoticed: ${said}")
    endif()
    set(other -DCMAKE_CXX_COMPILER=${OTHER_COMPILER})
    check_components(own)
    check_stranger(other ${other} ${all})
    check_components(other)
    check_stranger(own_beside_other ${own} -DNEIGHBOUR=${WORK_DIR}/other/libneighbour.a)
    check_stranger(other_beside_own ${other} -DNEIGHBOUR=${WORK_DIR}/own/libneighbour.a)
else()
    check_stranger(own ${own} ${all})
    check_components(own)
endif()

# The shared library, by one compiler; a program of the other one, which hides what it can; and an object of
# the first in it. Then the same by pkg-config, and a program without exceptions, which must not link.
if(SHARED AND OTHER_COMPILER)
    check_stranger(shared ${other} -DCMAKE_CXX_FLAGS=-fvisibility=hidden -DCOMPONENTS=shared,test
        -DNEIGHBOUR=${WORK_DIR}/own/libneighbour.a)
    set(components shared test)
    check_components(shared)

    file(GLOB_RECURSE library ${WORK_DIR}/prefix/libgyre.so)
    run(nm -DC --defined-only ${library})
    string(REGEX MATCHALL "[^\n]+" symbols "${said}")
    list(LENGTH symbols count)
    list(FILTER symbols EXCLUDE REGEX "^[0-9a-f]+ . (gyre::|[a-zA-Z ]* for gyre::)")
    if(symbols OR count LESS 100)
        message(FATAL_ERROR "of ${count} symbols, libgyre.so exports these for others: ${symbols}")
    endif()

    get_filename_component(libraries ${library} DIRECTORY)
    set(ENV{PKG_CONFIG_PATH} ${libraries}/pkgconfig)
    run(pkg-config --cflags --libs gyre)
    separate_arguments(found UNIX_COMMAND "${said}")
    set(by_hand ${OTHER_COMPILER} -std=c++20 ${CMAKE_CURRENT_LIST_DIR}/with_shared.cpp -o ${WORK_DIR}/by_hand
        -Wl,-rpath,${libraries} ${found})
    run(${by_hand})
    run(${WORK_DIR}/by_hand)
    if(NOT said STREQUAL says_shared)
        message(FATAL_ERROR "by pkg-config: the program says '${said}'")
    endif()
    execute_process(COMMAND ${by_hand} -fno-exceptions
        RESULT_VARIABLE result OUTPUT_VARIABLE said ERROR_VARIABLE said)
    if(result EQUAL 0 OR NOT said MATCHES "built_without_exceptions")
        message(FATAL_ERROR "a program without exceptions links with libgyre.so: ${said}")
    endif()

    # Plug-ins of both compilers, whose own copies of what headers keep would be apart.
    set(plugin ${CMAKE_CURRENT_LIST_DIR}/plugin.cpp -std=c++20 -O2 -fPIC -shared
        -Wl,-rpath,${libraries} ${found})
    run(${COMPILER} ${plugin} -o ${WORK_DIR}/own_plugin.so)
    run(${OTHER_COMPILER} ${plugin} -o ${WORK_DIR}/other_plugin.so)
    run(${OTHER_COMPILER} -std=c++20 ${CMAKE_CURRENT_LIST_DIR}/plugin_host.cpp -pthread
        -o ${WORK_DIR}/plugin_host)
    foreach(order "own;other" "other;own")
        list(TRANSFORM order REPLACE "(.+)" "${WORK_DIR}/\\1_plugin.so")
        run(${WORK_DIR}/plugin_host ${order})
        if(NOT said STREQUAL "3 3 3 3 ")
            message(FATAL_ERROR "${order}: they receive '${said}' bytes")
        endif()
    endforeach()

    # A project takes one kind; what it asks for twice may differ in components.
    foreach(kinds "static;shared" "shared;static")
        ask_for(${kinds})
        list(GET kinds 0 first)
        if(result EQUAL 0 OR NOT said MATCHES "uses gyre's ${first} libraries")
            message(FATAL_ERROR "both kinds in one project, ${kinds}: ${said}")
        endif()
    endforeach()
    foreach(kinds "static;test" "shared;shared+test")
        ask_for(${kinds})
        if(NOT result EQUAL 0)
            message(FATAL_ERROR "one kind, asked for twice, ${kinds}: ${said}")
        endif()
    endforeach()

    # Nor does it matter to others who look for gyre that a project has it from sources.
    set(sources ${SOURCE_DIR})
    ask_for(static)
    if(NOT result EQUAL 0)
        message(FATAL_ERROR "gyre from sources is not found: ${said}")
    endif()
    ask_for(shared)
    if(result EQUAL 0 OR NOT said MATCHES "uses gyre's static libraries")
        message(FATAL_ERROR "gyre from sources, and shared: ${said}")
    endif()
endif()

# A component that there is not is missed when it is asked for, not when it is linked.
execute_process(COMMAND ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR} -B ${WORK_DIR}/nonsense -G ${GENERATOR}
        -DCMAKE_PREFIX_PATH=${WORK_DIR}/prefix ${own} -DCOMPONENTS=nonsense
    RESULT_VARIABLE result OUTPUT_VARIABLE said ERROR_VARIABLE said)
if(result EQUAL 0 OR NOT said MATCHES "gyre::nonsense is not part of this build")
    message(FATAL_ERROR "a component that there is not is found: ${said}")
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
