// SPDX-License-Identifier: BSL-1.0
//
// All headers of the library but those of `interop/`, for programs that would rather not choose.
//
// Each header stands alone; including only what is used compiles faster.
#pragma once

#include <gyre/base/buffer.hpp>
#include <gyre/base/check.hpp>
#include <gyre/base/error.hpp>
#include <gyre/base/result.hpp>
#include <gyre/base/time.hpp>
#include <gyre/coro/launch.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/coro/task_dump.hpp>
#include <gyre/io/acceptor.hpp>
#include <gyre/io/backoff.hpp>
#include <gyre/io/connect_to.hpp>
#include <gyre/io/descriptor.hpp>
#include <gyre/io/endpoint.hpp>
#include <gyre/io/file.hpp>
#include <gyre/io/file_system.hpp>
#include <gyre/io/file_watch.hpp>
#include <gyre/io/inherited_descriptors.hpp>
#include <gyre/io/ip_address.hpp>
#include <gyre/io/ip_network.hpp>
#include <gyre/io/pipe.hpp>
#include <gyre/io/process.hpp>
#include <gyre/io/resolver.hpp>
#include <gyre/io/run.hpp>
#include <gyre/io/serve.hpp>
#include <gyre/io/serve_pool.hpp>
#include <gyre/io/signals.hpp>
#include <gyre/io/socket_options.hpp>
#include <gyre/io/stream_socket.hpp>
#include <gyre/io/udp_socket.hpp>
#include <gyre/runtime/call.hpp>
#include <gyre/runtime/io_context.hpp>
#include <gyre/runtime/io_pool.hpp>
#include <gyre/runtime/remote_task.hpp>
#include <gyre/runtime/sharded.hpp>
#include <gyre/stream/algorithms.hpp>
#include <gyre/stream/buffered.hpp>
#include <gyre/stream/concepts.hpp>
#include <gyre/stream/memory_pipe.hpp>
#include <gyre/sync/channel.hpp>
#include <gyre/sync/child.hpp>
#include <gyre/sync/condition.hpp>
#include <gyre/sync/deadline.hpp>
#include <gyre/sync/debounce.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/sync/generator.hpp>
#include <gyre/sync/interval.hpp>
#include <gyre/sync/mutex.hpp>
#include <gyre/sync/rate_limiter.hpp>
#include <gyre/sync/semaphore.hpp>
#include <gyre/sync/sleep.hpp>
#include <gyre/sync/strand.hpp>
#include <gyre/sync/task_group.hpp>
#include <gyre/sync/task_set.hpp>
#include <gyre/sync/timeout.hpp>
#include <gyre/sync/when_all.hpp>
#include <gyre/sync/when_any.hpp>
