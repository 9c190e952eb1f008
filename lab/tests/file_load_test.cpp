// SPDX-License-Identifier: BSL-1.0
//
// A contender of `files` that read or wrote the wrong bytes must not get a number.
#include <lab/kit/file_load.hpp>

#include <lab/tests/fails.hpp>

#include <doctest/doctest.h>

#include <unistd.h>

#include <array>
#include <cstddef>
#include <span>

namespace {

lab::files_case journal_of(std::size_t committers) {
    return {lab::files_play::group_commit, false, 4096, committers, 8 * 4096};
}

void write(int file, const lab::group_journal::batch& batch) {
    const auto size = static_cast<ssize_t>(batch.bytes.size());
    CHECK(::pwrite(file, batch.bytes.data(), batch.bytes.size(),
                   static_cast<off_t>(batch.offset)) == size);
}

}  // namespace

TEST_CASE("a block that was read from elsewhere ends the run") {
    const lab::scratch_file file{journal_of(1)};
    const lab::descriptor opened{file.open()};
    std::array<std::byte, 4096> block{};
    CHECK(::pread(opened.get(), block.data(), block.size(), 4096) == 4096);

    file.check_content(4096, block, lab::verification::every_byte);
    CHECK(fails([&] { file.check_content(0, block, lab::verification::edges); }));
    block[1000] ^= std::byte{1};
    CHECK(fails([&] { file.check_content(4096, block, lab::verification::every_byte); }));
}

TEST_CASE("a journal goes round its file, and a record that was not written ends the run") {
    const lab::files_case work = journal_of(3);
    const lab::scratch_file file{work};
    const lab::descriptor opened{file.open()};
    lab::group_journal journal{file, work};

    for (int batch = 0; batch < 5; ++batch) {
        for (int record = 0; record < 3; ++record) journal.add_record();
        const auto taken = journal.take();
        CHECK(taken.records == 3);
        CHECK(taken.offset == (batch % 2 == 0 ? 0 : 3 * 4096));
        write(opened.get(), taken);
    }
    journal.check();

    journal.add_record();
    static_cast<void>(journal.take());
    CHECK(fails([&] { journal.check(); }));
}

TEST_CASE("a pass that did not write every block ends the run") {
    lab::files_case work = journal_of(1);
    work.play = lab::files_play::writes_at;
    const lab::scratch_file file{work};
    const lab::descriptor opened{file.open()};
    lab::file_pass pass{file, work};

    for (pass.begin(); !pass.over();) {
        const std::span<const std::byte> block = pass.block();
        if (pass.offset() != 4096) {
            CHECK(::pwrite(opened.get(), block.data(), block.size(),
                           static_cast<off_t>(pass.offset())) == 4096);
        }
        pass.written(block.size());
    }

    CHECK(fails([&] { pass.check_written(); }));
    CHECK(fails([&] { pass.written(100); }));
}
