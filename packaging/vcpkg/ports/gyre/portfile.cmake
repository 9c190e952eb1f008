# SPDX-License-Identifier: BSL-1.0
#
# An overlay port: it builds the checkout that it lies in. Without HTTP, which is built on llhttp's C sources;
# vcpkg's port of llhttp has none.
vcpkg_check_linkage(ONLY_STATIC_LIBRARY)
get_filename_component(SOURCE_PATH "${CURRENT_PORT_DIR}/../../../.." ABSOLUTE)
vcpkg_check_features(OUT_FEATURE_OPTIONS features FEATURES tls GYRE_WITH_TLS)
vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}"
    OPTIONS ${features} -DGYRE_WITH_HTTP=OFF
        -DGYRE_BUILD_TESTS=OFF -DGYRE_BUILD_EXAMPLES=OFF -DGYRE_BUILD_EXCHANGE=OFF)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/gyre)
vcpkg_fixup_pkgconfig()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
