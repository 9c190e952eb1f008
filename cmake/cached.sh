#!/bin/sh
# SPDX-License-Identifier: BSL-1.0
#
# Runs the compiler through ccache, so that clones of this project share its objects.
# Usage: cached.sh ROOT CCACHE COMPILER ARGUMENT...
#
# ccache hashes paths below ROOT as relative ones. A precompiled header names its sources by absolute paths,
# so each clone makes its own. Beside it lies the sum of its sources, by which ccache knows it.
root=$1
shift
export CCACHE_BASEDIR="${CCACHE_BASEDIR:-$root}" CCACHE_NOHASHDIR=1 CCACHE_PCH_EXTSUM=1
export CCACHE_MAXSIZE="${CCACHE_MAXSIZE:-30G}" CCACHE_SLOPPINESS=pch_defines,time_macros

header='' output='' depends='' last=''
for argument in "$@"; do
    shift
    case $last in
        -o) output=$argument ;;
        -MF) depends=$argument ;;
    esac
    case $argument in
        c++-header) header=1 ;;
        "$PWD"/*/cmake_pch.hxx) argument=${argument#"$PWD"/} ;;  # ccache leaves it as it is behind -Xclang.
    esac
    set -- "$@" "$argument"
    last=$argument
done
if [ ! "$header" ]; then exec "$@"; fi

shift
"$@" || exit
# What it was made of: the prerequisites of the rule that the compiler wrote.
sed -e 's/^[^:]*: *//' -e 's/\\$//' "$depends" | xargs cat | sed "s|$root/||g" | sha256sum >"$output.sum"
