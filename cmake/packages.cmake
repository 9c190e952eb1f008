# SPDX-License-Identifier: BSL-1.0
#
# What `cpack` makes of an installation: Debian packages.
#
#     libgyre0.1              the core's shared library
#     libgyre-protocols0.1    those of TLS, HTTP and the rest, which draw OpenSSL, zlib and others
#     libgyre-dev             headers, static libraries, CMake's and pkg-config's files
set(gyre_runtime libgyre${gyre_soversion})
set(gyre_protocols libgyre-protocols${gyre_soversion})
set(gyre_development_depends "${gyre_runtime} (= ${PROJECT_VERSION})" libc-ares-dev)
set(CPACK_COMPONENTS_ALL runtime development)
if(TARGET gyre_tls)
    list(APPEND gyre_development_depends libssl-dev)
endif()
if(TARGET gyre_http)
    list(APPEND gyre_development_depends zlib1g-dev libzstd-dev pkg-config)
endif()
if(TARGET gyre_http2)
    list(APPEND gyre_development_depends libnghttp2-dev)
endif()
if(TARGET gyre_tls OR TARGET gyre_http)
    list(APPEND CPACK_COMPONENTS_ALL protocols)
    list(APPEND gyre_development_depends "${gyre_protocols} (= ${PROJECT_VERSION})")
endif()
list(JOIN gyre_development_depends ", " CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS)

# llhttp is a part of the libraries of HTTP, so its notice goes with them.
set(gyre_copyright ${PROJECT_BINARY_DIR}/copyright)
file(READ LICENSE text)
file(WRITE ${gyre_copyright} "${text}")
if(TARGET gyre_http AND EXISTS /usr/share/doc/node-llhttp/copyright)
    file(READ /usr/share/doc/node-llhttp/copyright text)
    file(APPEND ${gyre_copyright} "\nlibgyre-http contains llhttp:\n\n${text}")
endif()
set(CPACK_PACKAGE_CONTACT "the maintainers of gyre <maintainers@gyre.invalid>")
string(TIMESTAMP text "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(WRITE ${PROJECT_BINARY_DIR}/changelog "gyre (${PROJECT_VERSION}) unstable; urgency=medium\n\n"
    "  * Built from the sources; their CHANGELOG.md tells what is new.\n\n"
    " -- ${CPACK_PACKAGE_CONTACT}  ${text}\n")
execute_process(COMMAND gzip -9nf ${PROJECT_BINARY_DIR}/changelog COMMAND_ERROR_IS_FATAL ANY)
foreach(component runtime protocols development)
    set(name libgyre-dev)
    if(NOT component STREQUAL "development")
        set(name ${gyre_${component}})
    endif()
    install(FILES ${gyre_copyright} ${PROJECT_BINARY_DIR}/changelog.gz DESTINATION share/doc/${name}
        COMPONENT ${component})
endforeach()
# The documents, in folders as here, so that their links lead somewhere.
set(documents share/doc/libgyre-dev)
install(FILES README.md DESTINATION ${documents})
install(FILES docs/reference.md docs/inventory.md docs/VERSIONING.md DESTINATION ${documents}/docs)
install(DIRECTORY docs/guide docs/decisions DESTINATION ${documents}/docs)
install(DIRECTORY examples DESTINATION ${documents})

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME gyre)
set(CPACK_PACKAGE_VENDOR gyre)
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION "The core: tasks, loops on io_uring and epoll, sockets, files.")
set(CPACK_COMPONENT_PROTOCOLS_DESCRIPTION "TLS, HTTP/1 and 2, and WebSocket, on the core.")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION
    "Headers, modules, static libraries; files for CMake and pkg-config.")
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR})
# So that packages of programs find out which of these they need, and the loader learns of new libraries.
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
file(WRITE ${PROJECT_BINARY_DIR}/triggers "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/triggers)
set(CPACK_DEBIAN_PROTOCOLS_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/triggers)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME ${gyre_runtime})
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PROTOCOLS_PACKAGE_NAME ${gyre_protocols})
set(CPACK_DEBIAN_PROTOCOLS_PACKAGE_DEPENDS "${gyre_runtime} (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_PROTOCOLS_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libgyre-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
include(CPack)
