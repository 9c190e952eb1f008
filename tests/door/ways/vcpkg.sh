# SPDX-License-Identifier: BSL-1.0
apt-get -q update
apt-get -q -y install --no-install-recommends libc-ares-dev
cmake -DPORT=/door/gyre/packaging/vcpkg/ports/gyre -DWORK=/door/vcpkg -P vcpkg_stand_in.cmake
cmake -S server -B program -G Ninja -DCMAKE_PREFIX_PATH=/door/vcpkg/packages/gyre
cmake --build program
