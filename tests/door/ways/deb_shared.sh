# SPDX-License-Identifier: BSL-1.0
apt-get -q update
apt-get -q -y install --no-install-recommends ./deb/libgyre*.deb
cmake -S server -B program -G Ninja -DCOMPONENTS=shared
cmake --build program
