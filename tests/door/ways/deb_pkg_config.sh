# SPDX-License-Identifier: BSL-1.0
apt-get -q update
apt-get -q -y install --no-install-recommends ./deb/libgyre*.deb
mkdir program
"$CXX" -std=c++20 server/server.cpp -o program/server $(pkg-config --cflags --libs gyre)
