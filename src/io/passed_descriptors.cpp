// SPDX-License-Identifier: BSL-1.0
//
// Numbers in control messages, and who owns them: see include/gyre/io/passed_descriptors.hpp.
#include <gyre/io/passed_descriptors.hpp>

#include <gyre/base/check.hpp>

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace gyre {

passed_descriptors::~passed_descriptors() {
    expects(into_here_ == nullptr, "passed_descriptors outlive the receive that they are lent to");
}

handle passed_descriptors::take(std::size_t index) noexcept {
    expects(index < count_, "a descriptor that has come");
    return std::move(handles_[index]);
}

void passed_descriptors::clear() noexcept {
    for (handle& each : handles_) each.close();
    count_ = 0;
    cut_ = false;
}

void passed_descriptors::prepare_receive(message_operation& op, io_context& on) noexcept {
    static_assert(control_size == CMSG_SPACE(count_max * sizeof(int)));
    expects(into_here_ == nullptr, "passed_descriptors are lent to one receive at a time");
    into_here_ = &op;
    host_ = &on.host();
    attach_control(op, control_);
    op.flags |= message_operation::closes_on_exec;
}

// With an error, nothing has come.
void passed_descriptors::note_received(const message_operation& op) noexcept {
    if (into_here_ != &op) return;  // It was over before it began.
    into_here_ = nullptr;
    if (op.result < 0) return;
    msghdr& message = *op.message;
    cut_ = (message.msg_flags & MSG_CTRUNC) != 0;
    for (cmsghdr* it = CMSG_FIRSTHDR(&message); it != nullptr; it = CMSG_NXTHDR(&message, it)) {
        if (it->cmsg_level != SOL_SOCKET || it->cmsg_type != SCM_RIGHTS) continue;
        const std::size_t count = (it->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (std::size_t each = 0; each < count && count_ < count_max; ++each) {
            int number = -1;
            std::memcpy(&number, CMSG_DATA(it) + each * sizeof number, sizeof number);
            handles_[count_++] = handle{*host_, number};
        }
    }
}

passing_numbers::passing_numbers(std::span<const int> numbers) noexcept : count_{numbers.size()} {
    cmsghdr header{};
    header.cmsg_level = SOL_SOCKET;
    header.cmsg_type = SCM_RIGHTS;
    header.cmsg_len = CMSG_LEN(numbers.size_bytes());
    std::memcpy(control_.data(), &header, sizeof header);
    const std::size_t written = std::min(numbers.size(), passed_descriptors::count_max);
    if (written > 0)
        std::memcpy(control_.data() + CMSG_LEN(0), numbers.data(), written * sizeof(int));
}

std::int32_t passing_numbers::attach(message_operation& op) noexcept {
    if (count_ > passed_descriptors::count_max) return -EINVAL;
    if (count_ > 0) attach_control(op, std::span{control_}.first(CMSG_SPACE(count_ * sizeof(int))));
    return 0;
}

}  // namespace gyre
