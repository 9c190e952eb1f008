// SPDX-License-Identifier: BSL-1.0
//
// Written by tools/module.py --fix: what the reference lists.
module;
#include <gyre/test/backend_laws.hpp>
#include <gyre/test/fuse.hpp>
#include <gyre/test/network.hpp>
#include <gyre/test/scripted_stream.hpp>
#include <gyre/test/world.hpp>

export module gyre.test;
import gyre;

export namespace gyre::test {
using gyre::test::backend_under_test;
using gyre::test::findings;
using gyre::test::backend_law;
using gyre::test::backend_laws;
using gyre::test::judge;
using gyre::test::errors_of;
using gyre::test::fuse;
using gyre::test::fused_loops;
using gyre::test::fuse_report;
using gyre::test::fail_each;
using gyre::test::link_options;
using gyre::test::machine_options;
using gyre::test::script;
using gyre::test::scripted_stream;
using gyre::test::world_options;
using gyre::test::ending;
using gyre::test::run_outcome;
using gyre::test::task_run;
using gyre::test::machine;
using gyre::test::world;
}  // namespace gyre::test
