// SPDX-License-Identifier: BSL-1.0
//
// What a program wants from the kernel, as data.
//
// A socket fills in one of these records; submit.hpp hands it to the loop; an interpreter carries it
// out: io_uring turns it into a submission entry, epoll tries the call and waits for readiness, a
// test's script answers as it was told. Objects therefore exist once. To add an operation: a struct and an
// opcode here, one case each in src/runtime/perform.cpp and src/runtime/uring_backend.cpp
// (-Werror=switch lists what is missing), a row in tests/laws/backend_laws_test.cpp, and the object's
// method that fills it in.
#pragma once

#include <gyre/base/buffer.hpp>
#include <gyre/base/error.hpp>
#include <gyre/base/intrusive.hpp>
#include <gyre/coro/environment.hpp>
#include <gyre/runtime/process_usage.hpp>
#include <gyre/runtime/resource_limit.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

struct iovec;
struct mmsghdr;
struct msghdr;

namespace gyre {

class io_context;
class lease_pool;
struct descriptor_slot;
struct process_user;

enum class opcode : std::uint8_t {
    // Wait for the kernel; cancellable.
    receive,
    receive_scatter,
    receive_lease,
    send,
    send_gather,
    receive_batch,
    send_batch,
    accept,
    connect,
    wait_ready,
    // Answered at once by the host.
    open_socket,
    make_socket_pair,
    bind,
    listen,
    shutdown,
    set_option,
    get_option,
    set_peer,
    find_interface,
    learn_timestamping,
    remove_stale_path,
    local_address,
    remote_address,
    make_pipe,
    duplicate,
    learn_kind,
    reap_process,
    signal_process,
    disown_process,
    open_watch,
    add_watch,
    remove_watch,
    // Of a file, are carried out by the ring or by a worker; of all else, wait for the kernel.
    read,
    read_scatter,
    write,
    write_gather,
    // Of a file or of its name; carried out by the ring or by a worker.
    synchronize,
    allocate,
    resize,
    open_file,
    file_status,
    rename,
    remove,
    make_directory,
    read_link,
    list_directory,
    // Run on a worker thread.
    spawn_process,
    call
};

/// The life of a one-shot operation. It moves to the right only.
enum class operation_state : std::uint8_t {
    idle,             ///< A value: copied and moved freely.
    armed,            ///< The backend holds a pointer to it.
    cancel_posted,    ///< Armed, and a cancel from another loop is on its way: a message that
                      ///< points here, so nothing resumes until that message was consumed.
    awaiting_cancel,  ///< Complete, but the message is still on its way.
    done              ///< `result` is final and nothing points here but its awaiter.
};

/// The header of every one-shot operation. Lives in the awaiter, hence in a coroutine frame; the
/// backend borrows it from submission until completion.
struct operation : work, list_link<descriptor_slot> {
    explicit operation(opcode kind) noexcept : code{kind} {}

    /// Whether it is for a descriptor that was opened before it is begun; see submit.hpp.
    static constexpr bool needs_open = false;

    // Moves happen before submission only and carry the arguments, never the state.
    operation(operation&& other) noexcept
        : work{}, list_link<descriptor_slot>{}, code{other.code} {}

    operation* cancel_next = nullptr;  ///< Its place among cancels from other loops.
    io_context* home = nullptr;        ///< The loop that issued it and will complete it.
    const environment* env = nullptr;  ///< Of the awaiting coroutine.
    std::int32_t result = 0;           ///< What the system call would have returned, or -errno.
    std::atomic<operation_state> state = operation_state::idle;
    const opcode code;
    bool retried : 1 = false;           ///< The interpreter's own mark: its first try is over.
    bool cancel_requested : 1 = false;  ///< The backend has been asked to end it.
    bool postponed : 1 = false;         ///< The backend has not seen it; the next turn begins it.
    bool by_readiness : 1 =
        false;                   ///< The kernel was asked to tell of readiness; the call is ours.
    bool in_line : 1 = false;    ///< The backend begins it when the reader before it was served.
    bool on_worker : 1 = false;  ///< A worker has it, or will; the backend has not.
    std::uint8_t forks = 0;  ///< Of one on a worker: of its process's fork_count, the last bits.

    [[nodiscard]] bool pending() const noexcept {
        const operation_state now = state.load(std::memory_order_relaxed);
        return now == operation_state::armed || now == operation_state::cancel_posted ||
               now == operation_state::awaiting_cancel;
    }
};

static_assert(sizeof(operation) <= 64, "the header fits one cache line");

/// An operation on a descriptor.
struct descriptor_operation : operation {
    explicit descriptor_operation(opcode kind) noexcept : operation{kind} {}
    descriptor_operation(opcode kind, descriptor_slot& on) noexcept
        : operation{kind}, target{&on} {}

    static constexpr bool needs_open = true;

    descriptor_slot* target = nullptr;  // Borrowed; open from submission until completion.
};

/// A socket address of any family, out of line of the records that point to it.
struct socket_address {
    static constexpr std::size_t size_max = 112;  // sockaddr_un is the largest, at 110.

    std::uint32_t size = 0;
    alignas(8) std::byte data[size_max] = {};
};

/// Reads up to `size` bytes into `data`. Result: bytes, 0 at the end of the stream.
struct receive_operation : descriptor_operation {
    explicit receive_operation(mutable_buffer into) noexcept
        : descriptor_operation{opcode::receive}, data{into.data()}, size{into.size()} {}

    std::byte* data;
    std::size_t size;
    bool peeks = false;  // What is read stays to be read (MSG_PEEK).
};

/// Reads up to `size` bytes into a block of `pool`, taken only when there is something. Result: bytes,
/// 0 at the end of the stream; above 0 the block is in `block` and is the awaiter's.
struct lease_operation : descriptor_operation {
    lease_operation() noexcept : descriptor_operation{opcode::receive_lease} {}

    lease_pool* pool = nullptr;  // Set before submission, with the size of its blocks.
    std::size_t size = 0;
    std::byte* block = nullptr;
};

/// Writes up to `size` bytes. Result: bytes.
struct send_operation : descriptor_operation {
    explicit send_operation(const_buffer from, bool all_of_message = false) noexcept
        : descriptor_operation{opcode::send},
          data{from.data()},
          size{from.size()},
          of_message{all_of_message} {}

    const std::byte* data;
    std::size_t size;
    bool of_message;  // What is left of a message: its sender comes again for what was not sent.
};

/// Where a transfer begins that goes on from the last one; of what has no positions, always.
inline constexpr std::int64_t current_position = -1;

/// Reads up to `size` bytes from `offset` on into `data`. Result: bytes, 0 at the end.
struct read_operation : descriptor_operation {
    explicit read_operation(mutable_buffer into, std::int64_t from = current_position) noexcept
        : descriptor_operation{opcode::read}, data{into.data()}, size{into.size()}, offset{from} {}

    std::byte* data;
    std::size_t size;
    std::int64_t offset;  // Bytes from the beginning of the file, or `current_position`.
};

/// Writes up to `size` bytes to where `offset` says. Result: bytes.
struct write_operation : descriptor_operation {
    explicit write_operation(const_buffer from, std::int64_t to = current_position) noexcept
        : descriptor_operation{opcode::write},
          data{from.data()},
          offset{to},
          size{static_cast<std::uint32_t>(std::min(from.size(), size_max))} {}

    static constexpr std::size_t size_max = INT32_MAX;  // More is written in several.

    const std::byte* data;
    std::int64_t offset;
    std::uint32_t size;
    bool durable = false;  // Not over before the bytes are on the device (RWF_DSYNC); files only.
};

/// The same with several buffers. Result: bytes.
struct parts_operation : descriptor_operation {
    explicit parts_operation(opcode kind, std::int64_t at = current_position) noexcept
        : descriptor_operation{kind}, offset{at} {}

    iovec* parts = nullptr;  // Borrowed; set before submission, points into the awaiter.
    std::uint32_t count = 0;
    std::size_t size = 0;  // Bytes in all buffers together.
    std::int64_t offset;
    bool durable = false;  // As above.
};

/// Of a file: brings what was written to the device (`synchronize`; the whole file, or a range of it), has
/// room set aside (`allocate`), or sets its size (`resize`). Result: 0.
struct extent_operation : descriptor_operation {
    explicit extent_operation(opcode kind) noexcept : descriptor_operation{kind} {}

    std::int64_t offset = 0;
    std::int64_t size = 0;
    /// `synchronize`: how; `allocate`: FALLOC_FL_*.
    int mode = 0;

    static constexpr int everything = 0;  ///< fsync(2)
    static constexpr int data = 1;        ///< fdatasync(2)
    static constexpr int range = 2;       ///< sync_file_range(2), and waits for it
};

/// Of a name, looked up from the directory that is the `target`. Result: 0; of `open_file` a descriptor
/// number, close-on-exec; of `read_link` bytes; of `list_directory`, which is for the target itself, bytes,
/// 0 at the end.
struct path_operation : descriptor_operation {
    explicit path_operation(opcode kind) noexcept : descriptor_operation{kind} {}

    static constexpr bool needs_open =
        false;  // Names are looked up without an open directory, too.

    const char* path = nullptr;   // Borrowed; ends with NUL. Empty: the target itself.
    const char* other = nullptr;  // Borrowed: the new name of `rename`.
    int flags = 0;                // O_*, RENAME_*, AT_*.
    unsigned mode = 0;  // Permissions; of `list_directory` and `read_link`, bytes of `found`.
    /// Borrowed: what a struct statx, directory entries, or a link's text are written to; of `open_file`, if
    /// not null, a struct open_how, which counts in place of `flags` and `mode` (openat2(2)).
    void* found = nullptr;
};

/// The same for the target itself, which is open.
struct itself_operation : path_operation {
    explicit itself_operation(opcode kind) noexcept : path_operation{kind} { path = ""; }

    static constexpr bool needs_open = true;
};

/// Reads into, or writes from, several buffers described by `message`. Result: bytes.
struct message_operation : descriptor_operation {
    explicit message_operation(opcode kind, int how = 0) noexcept
        : descriptor_operation{kind}, flags{how} {}

    static constexpr int peeks = 0x2;  ///< MSG_PEEK: what is received stays to be received.
    static constexpr int closes_on_exec = 0x40000000;  ///< MSG_CMSG_CLOEXEC: descriptors that come.

    msghdr* message = nullptr;  // Borrowed; set before submission, points into the awaiter.
    std::size_t size = 0;       // Bytes in all buffers together.
    int flags;                  // Of a receive: as above.
};

/// Receives into, or sends, `count` datagrams described by `messages`. Result: how many it were, at least 1.
struct batch_operation : descriptor_operation {
    explicit batch_operation(opcode kind) noexcept : descriptor_operation{kind} {}

    mmsghdr* messages = nullptr;  // Borrowed; set before submission.
    std::uint32_t count = 0;
    std::size_t size = 0;  // Bytes in all of them together, if they are to be sent.
};

/// Takes the next connection. Result: its descriptor number, close-on-exec.
struct accept_operation : descriptor_operation {
    accept_operation() noexcept : descriptor_operation{opcode::accept} {}

    socket_address* peer = nullptr;  // Borrowed; filled in beside the result.
};

/// Connects. Result: 0.
struct connect_operation : descriptor_operation {
    connect_operation() noexcept : descriptor_operation{opcode::connect} {}

    static constexpr bool needs_open = false;  // It opens its own when it begins.

    const socket_address* peer = nullptr;  // Borrowed.
};

/// Waits until a read, or a write, would not block. Result: poll(2) events.
struct wait_ready_operation : descriptor_operation {
    explicit wait_ready_operation(std::uint32_t wanted) noexcept
        : descriptor_operation{opcode::wait_ready}, events{wanted} {}

    std::uint32_t events;  // poll(2) bits.
};

/// Opens a socket. Result: its descriptor number, close-on-exec.
struct open_socket_operation : operation {
    open_socket_operation(int socket_family, int socket_type, int socket_protocol = 0) noexcept
        : operation{opcode::open_socket},
          family{socket_family},
          type{socket_type},
          protocol{socket_protocol} {}

    int family;
    int type;
    int protocol;
};

/// Makes two Unix-domain sockets that are each other's peer (socketpair(2)). Result: 0, and both `numbers`
/// are set, close-on-exec.
struct make_socket_pair_operation : operation {
    explicit make_socket_pair_operation(int socket_type) noexcept
        : operation{opcode::make_socket_pair}, type{socket_type} {}

    int numbers[2] = {-1, -1};
    int type;
};

/// Makes a pipe. Result: 0, and both `numbers` are set, close-on-exec: what is written to the second is read
/// from the first.
struct make_pipe_operation : operation {
    explicit make_pipe_operation(bool blocks) noexcept
        : operation{opcode::make_pipe}, blocking{blocks} {}

    int numbers[2] = {-1, -1};
    bool blocking;  // Without O_NONBLOCK.
};

/// Opens what `number` is once more. Result: another number, at least `least`, close-on-exec.
struct duplicate_operation : operation {
    // Not 0 to 2 by itself, which the program may have closed, and may mean to open again.
    explicit duplicate_operation(int of, int from = 3) noexcept
        : operation{opcode::duplicate}, number{of}, least{from} {}

    int number;
    int least;
    bool through_exec = false;   // Only what an exec has left open; else -EBADF.
    bool terminal_anew = false;  // A terminal by its name, not to block, where that is allowed.
};

/// Binds, fixes the peer of a datagram socket (`set_peer`), or asks for an address (`local_address`,
/// `remote_address`, which fill in). Removes the file of a Unix-domain socket that nothing listens on
/// (`remove_stale_path`), else -EADDRINUSE. Result: 0.
struct address_operation : descriptor_operation {
    address_operation(opcode kind, descriptor_slot& on, socket_address& of) noexcept
        : descriptor_operation{kind, on}, address{&of} {}

    socket_address* address;  // Borrowed.
};

/// Finds out whether the descriptor is a file's, and notes it there. Result: 0.
struct learn_kind_operation : descriptor_operation {
    explicit learn_kind_operation(descriptor_slot& of) noexcept
        : descriptor_operation{opcode::learn_kind, of} {}
};

/// Listens with a queue of `number` connections, or shuts down the sides given by SHUT_*. Result: 0.
struct number_operation : descriptor_operation {
    number_operation(opcode kind, descriptor_slot& on, int value) noexcept
        : descriptor_operation{kind, on}, number{value} {}

    int number;
};

/// Sets or reads a socket option of `size` bytes at `value`. Result: 0, or the size read.
struct option_operation : descriptor_operation {
    option_operation(opcode kind, descriptor_slot& on, int option_level, int option_name, void* at,
                     std::uint32_t bytes) noexcept
        : descriptor_operation{kind, on},
          value{at},
          level{option_level},
          name{option_name},
          size{bytes} {}

    void* value;  // Borrowed.
    int level;
    int name;
    std::uint32_t size;
};

/// Finds the number of the network interface called `name`. Result: the number, above 0.
struct interface_operation : descriptor_operation {
    interface_operation(descriptor_slot& on, const char* of) noexcept
        : descriptor_operation{opcode::find_interface, on}, name{of} {}

    const char* name;  // Borrowed; ends with NUL, at most 15 bytes before it.
};

/// Finds out which times of packets the network interface called `name` tells (ETHTOOL_GET_TS_INFO).
/// Result: 0.
struct timestamping_operation : descriptor_operation {
    timestamping_operation(descriptor_slot& on, const char* of) noexcept
        : descriptor_operation{opcode::learn_timestamping, on}, name{of} {}

    const char* name;           // As above.
    std::uint32_t times = 0;    // SOF_TIMESTAMPING_*
    std::uint32_t filters = 0;  // Which packets the hardware stamps: bits 1 << HWTSTAMP_FILTER_*.
    std::int32_t clock = -1;    // N of /dev/ptpN, which it stamps by; -1: none.
};

/// For a stream of a child's that is ours, open or not.
inline constexpr int inherited_stream = -1;

/// A program to be started. All of it is borrowed.
struct program_image {
    const char* path = nullptr;
    bool searched = true;                ///< In PATH, if `path` has no slash.
    char* const* arguments = nullptr;    ///< The first is the program's name; ends with null.
    char* const* environment = nullptr;  ///< Ends with null; null for this process's own.
    const char* directory = nullptr;     ///< Null for this process's own.
    /// Numbers here that become 0, 1, 2, ... there; `inherited_stream`: as it is, even if closed.
    std::span<const int> descriptors;
    int group = -1;                      ///< Of processes: 0 for one of its own, -1 for ours.
    bool session = false;                ///< One of its own, without our terminal.
    const process_user* user = nullptr;  ///< Null for ours.
    std::span<const resource_limit> limits;
    int file_mask = -1;  ///< Of the files that it makes (umask(2)); -1 for ours.
};

/// Starts `image` in a child of its own. Result: a descriptor of the process (pidfd_open(2)), close-on-exec.
struct spawn_operation : operation {
    spawn_operation() noexcept : operation{opcode::spawn_process} {}

    const program_image* image = nullptr;       // Borrowed; set before submission.
    int id = -1;                                // Of the process, beside the result.
    activity during = activity::start_process;  // The step that has failed.
};

/// Sends signal `number` to the process that the target is the descriptor of and whose number is `process`,
/// or to the group that it leads. Result: 0.
struct signal_operation : descriptor_operation {
    enum class to : std::uint8_t { process, group };

    signal_operation(descriptor_slot& of, int id, int what, to whom) noexcept
        : descriptor_operation{opcode::signal_process, of},
          process{id},
          number{what},
          receiver{whom} {}

    int process;
    int number;
    to receiver;
};

/// Opens a watch over files (inotify_init1(2)). Result: its descriptor number, close-on-exec.
struct open_watch_operation : operation {
    open_watch_operation() noexcept : operation{opcode::open_watch} {}
};

/// Has the target, such a watch, tell of what happens to `path`, or no more of number `watch`. Result: a
/// number, or 0.
struct watch_operation : descriptor_operation {
    watch_operation(descriptor_slot& in, const char* of, std::uint32_t what) noexcept
        : descriptor_operation{opcode::add_watch, in}, path{of}, events{what} {}
    watch_operation(descriptor_slot& in, int number) noexcept
        : descriptor_operation{opcode::remove_watch, in}, watch{number} {}

    const char* path = nullptr;  // Borrowed; ends with NUL.
    std::uint32_t events = 0;    // IN_*
    int watch = -1;
};

/// Takes a descriptor of a process that has no owner any more: it is closed when the process has ended,
/// which is looked at when others are started or disowned. Result: 0.
struct disown_operation : operation {
    explicit disown_operation(int of) noexcept : operation{opcode::disown_process}, number{of} {}

    int number;  // Owned from now on.
};

/// Takes the exit status of the process that the target is the descriptor of. Result: 0; -EAGAIN while it
/// runs.
struct reap_operation : descriptor_operation {
    explicit reap_operation(descriptor_slot& of) noexcept
        : descriptor_operation{opcode::reap_process, of} {}

    int killed_group = 0;  // That it leads, and that is killed before it is reaped; 0: none.
    int code = 0;          // Of siginfo_t: CLD_EXITED, CLD_KILLED, CLD_DUMPED.
    int status = 0;        // The exit status, or the signal.
    process_usage* usage = nullptr;  // Written to if there is one.
};

/// Runs `function(argument)` on a worker thread. Result: 0, or -ECANCELED if it never began.
struct call_operation : operation {
    using callee = void (*)(void*) noexcept;

    call_operation(callee f, void* with) noexcept
        : operation{opcode::call}, function{f}, argument{with} {}

    callee function;
    void* argument;  // Borrowed.
};

static_assert(sizeof(receive_operation) <= 96 && sizeof(send_operation) <= 96 &&
                  sizeof(lease_operation) <= 96 && sizeof(message_operation) <= 96 &&
                  sizeof(accept_operation) <= 96 && sizeof(batch_operation) <= 96 &&
                  sizeof(connect_operation) <= 96 && sizeof(option_operation) <= 96 &&
                  sizeof(call_operation) <= 96 && sizeof(read_operation) <= 96 &&
                  sizeof(write_operation) <= 96,
              "an operation is paid for in every frame that awaits one");

/// Whether bytes that it writes have an order among others: two of these at once would mix theirs.
[[nodiscard]] bool writes_in_order(const operation& op) noexcept;

/// The system call's name for people: "read", "accept"; static storage.
[[nodiscard]] const char* describe(opcode code) noexcept;

/// The activity an error of this operation is reported under.
[[nodiscard]] activity activity_of(opcode code) noexcept;

/// The error of an operation that has failed, with the port if it was about an address.
/// @pre  op.result < 0.
[[nodiscard]] error failure_of(const operation& op) noexcept;

}  // namespace gyre
