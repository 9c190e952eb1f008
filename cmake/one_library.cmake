# SPDX-License-Identifier: BSL-1.0
#
# Libraries of one file: libgyre of the core, and with GYRE_SHARED libgyre-NAME of each protocol. They are
# made of the objects of the layers' static libraries, so all kinds hold the same code. Each has a file for
# pkg-config.

set(gyre_core base coro sync stream runtime io)
# Each minor version may break it, until 1.0.
set(gyre_soversion ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
# The system's own folders by their names, which pkg-config leaves out; other prefixes may be moved.
if(CMAKE_INSTALL_PREFIX STREQUAL "/usr" OR IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
    set(gyre_pc_prefix ${CMAKE_INSTALL_PREFIX})
else()
    file(RELATIVE_PATH gyre_pc_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
    set(gyre_pc_prefix "\${pcfiledir}/${gyre_pc_prefix}")
endif()
foreach(each IN ITEMS INCLUDEDIR LIBDIR DATADIR)
    set(gyre_pc_${each} "${CMAKE_INSTALL_${each}}")
    if(NOT IS_ABSOLUTE "${gyre_pc_${each}}")
        set(gyre_pc_${each} "\${prefix}/${gyre_pc_${each}}")
    endif()
endforeach()

# gyre_one_library(NAME [LAYERS layers...] [OBJECTS targets...] [ON names...] [PRIVATE targets...]
#                  [MODULES modules...]): libNAME, exported as the package's shared gyre::NAME, the latter
# without `gyre-`. ON are libraries of ours that it needs, MODULES what pkg-config calls its PRIVATE ones.
function(gyre_one_library file)
    cmake_parse_arguments(library "" "" "LAYERS;OBJECTS;ON;PRIVATE;MODULES" ${ARGN})
    list(JOIN library_ON ", " pc_requires)
    list(JOIN library_MODULES ", " pc_private)
    if(GYRE_SHARED)
        string(REGEX REPLACE "^gyre-" "" name ${file})
        set(target gyre_shared_${name})
        set(objects "")
        foreach(layer IN LISTS library_LAYERS)
            list(APPEND objects $<TARGET_OBJECTS:gyre_${layer}>)
        endforeach()
        foreach(each IN LISTS library_OBJECTS)
            list(APPEND objects $<TARGET_OBJECTS:${each}>)
        endforeach()
        set(on "")
        foreach(each IN LISTS library_ON)
            string(REGEX REPLACE "^gyre-" "" each ${each})
            list(APPEND on gyre_shared_${each})
        endforeach()
        add_library(${target} SHARED ${objects})
        set_target_properties(${target} PROPERTIES
            EXPORT_NAME ${name} OUTPUT_NAME ${file} LINKER_LANGUAGE CXX
            VERSION ${PROJECT_VERSION} SOVERSION ${gyre_soversion}
            LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/gyre.map)
        if(NOT CMAKE_INSTALL_PREFIX STREQUAL "/usr")  # Where the loader does not look by itself.
            set_target_properties(${target} PROPERTIES INSTALL_RPATH "$ORIGIN")
        endif()
        target_compile_features(${target} INTERFACE cxx_std_20)
        target_include_directories(${target} INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
        target_link_options(${target} PRIVATE
            LINKER:--version-script=${PROJECT_SOURCE_DIR}/cmake/gyre.map LINKER:--no-undefined)
        target_link_libraries(${target} PUBLIC Threads::Threads ${on} PRIVATE ${library_PRIVATE})
        set(component protocols)
        if(name STREQUAL gyre)
            set(component runtime)
        endif()
        install(TARGETS ${target} EXPORT gyre-shared LIBRARY
            DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${component} NAMELINK_COMPONENT development)
    else()
        # What pkg-config asks for only with --static is always wanted by a static library.
        list(APPEND library_ON ${library_MODULES})
        list(JOIN library_ON ", " pc_requires)
        set(pc_private "")
    endif()
    configure_file(cmake/gyre.pc.in ${PROJECT_BINARY_DIR}/${file}.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/${file}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()

gyre_one_library(gyre LAYERS ${gyre_core} PRIVATE c-ares::cares MODULES libcares)
if(TARGET gyre_tls)
    gyre_one_library(gyre-tls LAYERS tls ON gyre PRIVATE OpenSSL::SSL OpenSSL::Crypto MODULES openssl)
endif()
if(TARGET gyre_http)
    gyre_one_library(gyre-http
        LAYERS http OBJECTS gyre_llhttp ON gyre PRIVATE ZLIB::ZLIB PkgConfig::libzstd MODULES zlib libzstd)
endif()
if(TARGET gyre_http2)
    gyre_one_library(gyre-http2 LAYERS http2 ON gyre-http PRIVATE PkgConfig::libnghttp2 MODULES libnghttp2)
endif()
if(TARGET gyre_websocket)
    gyre_one_library(gyre-websocket LAYERS websocket ON gyre-http PRIVATE ZLIB::ZLIB MODULES zlib)
endif()
if(TARGET gyre_web)
    set(gyre_web_on gyre-tls gyre-http)
    if(TARGET gyre_http2)
        list(PREPEND gyre_web_on gyre-http2)
    endif()
    gyre_one_library(gyre-web LAYERS web ON ${gyre_web_on})
endif()

# The core as one static library, for those who link by -lgyre; CMake's users have the layers.
set(objects "")
foreach(layer IN LISTS gyre_core)
    list(APPEND objects $<TARGET_OBJECTS:gyre_${layer}>)
endforeach()
add_library(gyre_static STATIC ${objects})
set_target_properties(gyre_static PROPERTIES OUTPUT_NAME gyre LINKER_LANGUAGE CXX)
install(TARGETS gyre_static ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})

if(GYRE_SHARED)
    install(EXPORT gyre-shared NAMESPACE gyre:: FILE gyre-shared-targets.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/gyre)
endif()
