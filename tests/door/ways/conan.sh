# SPDX-License-Identifier: BSL-1.0
apt-get -q update
python3 -m venv tools
tools/bin/pip -q install --no-index --find-links wheels conan
PATH=/door/tools/bin:$PATH
conan profile detect
settings=(-nr -s compiler.cppstd=20 -c tools.cmake.cmaketoolchain:generator=Ninja
    -o "gyre/*:web=True" -o "gyre/*:http2=True")  # Which need the others.
conan create gyre/packaging/conan "${settings[@]}" -c tools.system.package_manager:mode=install
conan install --requires=gyre/0.1.0 "${settings[@]}" -g CMakeToolchain -of conan
cmake -S server -B program -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_TOOLCHAIN_FILE=/door/conan/conan_toolchain.cmake "-DCOMPONENTS=tls;http;http2;web"
cmake --build program
