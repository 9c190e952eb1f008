// SPDX-License-Identifier: BSL-1.0
//
// The audit trail as a file: one JSON object per line, appended and never taken back.
//
// A line is handed to the kernel before the next thing happens, so a facility that ends in any way has
// written all that it did; whether the disk has it is the kernel's. A restart appends. Where writing fails,
// the exchange goes on: that it did is said once, and counted.
#pragma once

#include <exchange/net/application/audit_trail.hpp>

#include <cstdint>
#include <cstdio>
#include <string>

namespace exchange {

/// A command in words, with all its fields: {"command":"set_phase","instrument":1,"phase":"halted"}.
[[nodiscard]] std::string describe(const command& what);

class audit_file final : public audit_trail {
public:
    /// @param  life  Which run of the facility it is about.
    explicit audit_file(std::string life) : life_{std::move(life)} {}
    audit_file(const audit_file&) = delete;
    audit_file& operator=(const audit_file&) = delete;
    ~audit_file();

    /// Opens a file, or makes one that only its owner can read.
    ///
    /// @return  Whether it can be written to.
    [[nodiscard]] bool open(const std::string& path);

    void record(const audit_entry& entry) noexcept override;

    /// Lines that could not be written.
    [[nodiscard]] std::uint64_t lost() const noexcept { return lost_; }

private:
    [[nodiscard]] bool end_torn_line() noexcept;
    void note_loss() noexcept;

    std::string life_;
    std::string path_;
    std::FILE* file_ = nullptr;
    std::uint64_t lost_ = 0;
    bool torn_ = false;  // The last line could not be written as a whole.
};

}  // namespace exchange
