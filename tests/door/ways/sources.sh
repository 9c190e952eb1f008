# SPDX-License-Identifier: BSL-1.0
apt-get -q update
apt-get -q -y install --no-install-recommends libc-ares-dev
cmake -S gyre -B build -G Ninja -DCMAKE_BUILD_TYPE=Release -DGYRE_BUILD_TESTS=OFF -DGYRE_BUILD_EXAMPLES=OFF \
    -DGYRE_BUILD_EXCHANGE=OFF
cmake --build build
cmake --install build --prefix /door/prefix
cmake -S server -B program -G Ninja -DCMAKE_PREFIX_PATH=/door/prefix
cmake --build program
