# SPDX-License-Identifier: BSL-1.0
"""gyre for Conan 2, on the system's libraries: the core, and each component whose option is True."""

import re
from pathlib import Path
from typing import ClassVar

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load
from conan.tools.system.package_manager import Apt

# What each is built on, as Debian names it, which others it needs, and what is linked.
COMPONENTS = {
    "tls": (["libssl-dev"], [], ["ssl", "crypto"]),
    "http": (["node-llhttp", "zlib1g-dev", "libzstd-dev", "pkg-config"], [], ["z", "zstd"]),
    "http2": (["libnghttp2-dev"], ["http"], ["nghttp2"]),
    "websocket": ([], ["http"], ["z"]),
    "web": ([], ["tls", "http"], []),
}


class Gyre(ConanFile):
    name = "gyre"
    license = "BSL-1.0"
    description = "Coroutine-native I/O for C++20 on Linux"
    package_type = "static-library"
    settings = "os", "arch", "compiler", "build_type"
    options: ClassVar = {each: [True, False] for each in ("fPIC", *COMPONENTS)}
    default_options: ClassVar = {"fPIC": True, **dict.fromkeys(COMPONENTS, False)}

    @property
    def project(self):
        return Path(self.recipe_folder).parents[1]

    @property
    def chosen(self):
        """The components that were asked for, and what those need: options cannot be changed any more."""
        asked = {each for each in COMPONENTS if self.options.get_safe(each)}
        for each in tuple(asked):
            asked.update(COMPONENTS[each][1])
        return [each for each in COMPONENTS if each in asked]

    def set_version(self):
        text = load(self, self.project / "CMakeLists.txt")
        self.version = re.search(r"^project\(gyre VERSION (\S+)", text, re.MULTILINE)[1]

    def export_sources(self):
        for pattern in ("CMakeLists.txt", "LICENSE", "cmake/*", "include/*", "modules/*", "src/*"):
            copy(self, pattern, self.project, self.export_sources_folder)

    def validate(self):
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration("gyre is for Linux")
        check_min_cppstd(self, 20)

    def layout(self):
        cmake_layout(self)

    def system_requirements(self):
        Apt(self).install(sum((COMPONENTS[each][0] for each in self.chosen), ["libc-ares-dev"]))

    def generate(self):
        toolchain = CMakeToolchain(self)
        for each in ("TESTS", "EXAMPLES", "EXCHANGE"):
            toolchain.cache_variables[f"GYRE_BUILD_{each}"] = False
        for each in COMPONENTS:
            toolchain.cache_variables[f"GYRE_WITH_{each.upper()}"] = each in self.chosen
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, Path(self.package_folder) / "licenses")
        CMake(self).install()

    def package_info(self):
        # find_package(gyre) reads the configuration that gyre installs itself, and no other.
        self.cpp_info.set_property("cmake_find_mode", "none")
        core = self.cpp_info.components["gyre"]
        core.builddirs = ["lib/cmake/gyre"]
        core.set_property("pkg_config_name", "gyre")
        core.libs = ["gyre"]
        core.system_libs = ["cares", "pthread"]
        for each in self.chosen:
            _, needs, system = COMPONENTS[each]
            if each == "web" and "http2" in self.chosen:
                needs = ["http2", *needs]
            part = self.cpp_info.components[each]
            part.set_property("pkg_config_name", f"gyre-{each}")
            part.libs = [f"gyre-{each}"]
            part.system_libs = system
            part.requires = ["gyre", *needs]
