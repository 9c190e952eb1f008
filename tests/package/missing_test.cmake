# SPDX-License-Identifier: BSL-1.0
#
# What a project is told where packages are missing that gyre is built on: by find_package(gyre), of an
# installation in a prefix of its own, and by gyre's own build. COMPONENTS are separated by commas; SHARED
# tells whether the build has shared libraries, too.
cmake_minimum_required(VERSION 3.22)
string(REPLACE "," ";" components "${COMPONENTS}")
set(OpenSSL_is "OpenSSL 3" libssl-dev)
set(ZLIB_is zlib zlib1g-dev)
set(c-ares_is c-ares libc-ares-dev)
set(llhttp_is llhttp node-llhttp)
set(PkgConfig_is pkg-config pkg-config)
set(libzstd_is zstd libzstd-dev)
set(doctest_is doctest doctest-dev)
set(libnghttp2_is "nghttp2 1.52" libnghttp2-dev)
set(by_pkg_config libzstd libnghttp2)

# configure(SOURCES HIDDEN ARGUMENTS...): sets `result` and `said`. HIDDEN are not to be found.
function(configure sources hidden)
    set(without "")
    foreach(package IN LISTS hidden)
        if(package STREQUAL "PkgConfig")
            list(APPEND without -DPKG_CONFIG_EXECUTABLE=/bin/false)
        else()
            list(APPEND without -DCMAKE_DISABLE_FIND_PACKAGE_${package}=ON)
        endif()
    endforeach()
    file(REMOVE_RECURSE ${WORK_DIR}/described)
    file(MAKE_DIRECTORY ${WORK_DIR}/described)
    foreach(package IN LISTS by_pkg_config)
        if(NOT package IN_LIST hidden)
            file(COPY ${described}/${package}.pc DESTINATION ${WORK_DIR}/described)
        endif()
    endforeach()
    set(ENV{PKG_CONFIG_LIBDIR} ${WORK_DIR}/described)
    execute_process(COMMAND ${CMAKE_COMMAND} -S ${sources} -B ${WORK_DIR}/build --fresh -G ${GENERATOR}
            -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_PREFIX_PATH=${WORK_DIR}/prefix ${without} ${ARGN}
        TIMEOUT 60 RESULT_VARIABLE result OUTPUT_VARIABLE said ERROR_VARIABLE said)
    string(REGEX REPLACE "[ \n]+" " " said "${said}")  # CMake breaks lines.
    set(result "${result}" PARENT_SCOPE)
    set(said "${said}" PARENT_SCOPE)
endfunction()

# check_named(WHO SOURCES HIDDEN ARGUMENTS...): that what is hidden is named with Debian's package before
# anything is generated, and that WHO needs it.
function(check_named who sources hidden)
    configure(${sources} "${hidden}" ${ARGN})
    list(GET hidden 0 first)
    list(GET ${first}_is 0 name)
    list(GET ${first}_is 1 debian)
    if(result EQUAL 0 OR NOT said MATCHES "${who} needs[^:]* ${name}[^:]*: not found"
            OR NOT said MATCHES "Debian packages:[^.]* ${debian}" OR said MATCHES "Generating|Generate step")
        message(SEND_ERROR "${who} without ${hidden}, ${ARGN}: ${said}")
    endif()
endfunction()

# check_found(SOURCES HIDDEN ARGUMENTS...): that a project is generated without them.
function(check_found sources hidden)
    configure(${sources} "${hidden}" ${ARGN})
    if(NOT result EQUAL 0)
        message(SEND_ERROR "without ${hidden}, ${ARGN}: ${said}")
    endif()
endfunction()

execute_process(COMMAND pkg-config --variable=pcfiledir libzstd
    OUTPUT_VARIABLE described OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
file(REMOVE_RECURSE ${WORK_DIR})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${WORK_DIR}/prefix
    OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)

# The stranger, who asks for components: each wants what it is built on, and nothing else.
set(of_protocols OpenSSL ZLIB libzstd libnghttp2)
set(tls_on OpenSSL)
set(http_on ZLIB libzstd)
set(http2_on ${http_on} libnghttp2)
set(websocket_on ${http_on})
set(web_on ${tls_on} ${http_on})
if("http2" IN_LIST components)
    list(APPEND web_on libnghttp2)
endif()
check_found(${CMAKE_CURRENT_LIST_DIR} "${of_protocols};PkgConfig" -DCOMPONENTS=test)
check_named(gyre ${CMAKE_CURRENT_LIST_DIR} c-ares)
if(SHARED)
    check_found(${CMAKE_CURRENT_LIST_DIR} "${of_protocols};PkgConfig;c-ares" -DCOMPONENTS=shared,test)
endif()
foreach(component tls http http2 websocket web)
    if(component IN_LIST components)
        set(others ${of_protocols})
        list(REMOVE_ITEM others ${${component}_on})
        check_found(${CMAKE_CURRENT_LIST_DIR} "${others}" -DCOMPONENTS=${component})
        foreach(package IN LISTS ${component}_on)
            check_named(gyre::${component} ${CMAKE_CURRENT_LIST_DIR} ${package} -DCOMPONENTS=${component})
        endforeach()
    endif()
endforeach()

# The project itself.
set(alone -DGYRE_BUILD_TESTS=OFF -DGYRE_BUILD_EXAMPLES=OFF -DGYRE_BUILD_EXCHANGE=OFF)
check_found(${SOURCE_DIR} "${of_protocols};PkgConfig;llhttp" ${alone})
check_named(gyre ${SOURCE_DIR} c-ares ${alone})
check_named(gyre::tls ${SOURCE_DIR} OpenSSL ${alone} -DGYRE_WITH_TLS=ON)
foreach(package ZLIB libzstd llhttp PkgConfig)
    check_named(gyre::http ${SOURCE_DIR} ${package} ${alone} -DGYRE_WITH_HTTP=ON)
endforeach()
check_named(gyre::http2 ${SOURCE_DIR} libnghttp2 ${alone} -DGYRE_WITH_HTTP2=ON)
check_named(gyre::http2 ${SOURCE_DIR} ZLIB ${alone} -DGYRE_WITH_HTTP2=ON)
check_named(gyre::websocket ${SOURCE_DIR} libzstd ${alone} -DGYRE_WITH_WEBSOCKET=ON)
check_named(gyre::web ${SOURCE_DIR} OpenSSL ${alone} -DGYRE_WITH_WEB=ON)
foreach(component http2 websocket web)
    string(TOUPPER ${component} option)
    configure(${SOURCE_DIR} "" ${alone} -DGYRE_WITH_HTTP=OFF -DGYRE_WITH_${option}=ON)
    if(result EQUAL 0 OR NOT said MATCHES "gyre::${component} needs gyre::http, and GYRE_WITH_HTTP is OFF")
        message(SEND_ERROR "gyre::${component} without gyre::http: ${said}")
    endif()
endforeach()
check_named("The build of tests" ${SOURCE_DIR} doctest ${alone} -DGYRE_BUILD_TESTS=ON)
