# SPDX-License-Identifier: BSL-1.0
#
# A stand-in for vcpkg, which is not to be had everywhere: runs a port's steps, release only, by functions of
# our own with vcpkg's names, on the system's libraries. That vcpkg itself takes the port, it does not show.
#
#     cmake -DPORT=... -DWORK=... -P vcpkg_stand_in.cmake
set(CURRENT_PORT_DIR ${PORT})
set(CURRENT_PACKAGES_DIR ${WORK}/packages/gyre)

function(run)
    execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()
function(vcpkg_check_linkage)
endfunction()
function(vcpkg_check_features)
    cmake_parse_arguments(arg "" "OUT_FEATURE_OPTIONS" "FEATURES" ${ARGN})
    list(POP_FRONT arg_FEATURES feature option)
    set(${arg_OUT_FEATURE_OPTIONS} -D${option}=OFF PARENT_SCOPE)
endfunction()
function(vcpkg_cmake_configure)
    cmake_parse_arguments(arg "" "SOURCE_PATH" "OPTIONS" ${ARGN})
    run(${CMAKE_COMMAND} -S ${arg_SOURCE_PATH} -B ${WORK}/build -G Ninja -DCMAKE_BUILD_TYPE=Release
        -DCMAKE_INSTALL_PREFIX=${CURRENT_PACKAGES_DIR} -DCMAKE_INSTALL_LIBDIR=lib ${arg_OPTIONS})
endfunction()
function(vcpkg_cmake_install)
    run(${CMAKE_COMMAND} --build ${WORK}/build --target install)
endfunction()
function(vcpkg_cmake_config_fixup)  # To share/gyre: one folder less below the prefix.
    cmake_parse_arguments(arg "" "CONFIG_PATH" "" ${ARGN})
    file(COPY ${CURRENT_PACKAGES_DIR}/${arg_CONFIG_PATH}/ DESTINATION ${CURRENT_PACKAGES_DIR}/share/gyre)
    file(REMOVE_RECURSE ${CURRENT_PACKAGES_DIR}/lib/cmake)
    set(targets ${CURRENT_PACKAGES_DIR}/share/gyre/gyre-targets.cmake)
    file(READ ${targets} text)
    set(up "get_filename_component(_IMPORT_PREFIX \"\${_IMPORT_PREFIX}\" PATH)\n")
    string(REPLACE "${up}${up}${up}" "${up}${up}" moved "${text}")
    if(moved STREQUAL text)
        message(FATAL_ERROR "${targets} finds its prefix in another way")
    endif()
    file(WRITE ${targets} "${moved}")
endfunction()
function(vcpkg_fixup_pkgconfig)
endfunction()
function(vcpkg_install_copyright)
    cmake_parse_arguments(arg "" "" "FILE_LIST" ${ARGN})
    file(COPY_FILE ${arg_FILE_LIST} ${CURRENT_PACKAGES_DIR}/share/gyre/copyright)
endfunction()

file(REMOVE_RECURSE ${WORK})
include(${PORT}/portfile.cmake)

# What vcpkg checks after a build.
foreach(wanted include/gyre/gyre.hpp share/gyre/gyre-config.cmake share/gyre/copyright)
    if(NOT EXISTS ${CURRENT_PACKAGES_DIR}/${wanted})
        message(FATAL_ERROR "the port installs no ${wanted}")
    endif()
endforeach()
if(EXISTS ${CURRENT_PACKAGES_DIR}/debug/include OR EXISTS ${CURRENT_PACKAGES_DIR}/lib/cmake)
    message(FATAL_ERROR "the port leaves debug/include or lib/cmake")
endif()
