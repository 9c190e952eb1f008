// SPDX-License-Identifier: BSL-1.0
//
// The test runner's main; apart from everything, so that doctest is compiled once. It changes to the
// program's own folder, from which tests name what was built (gyre_name_place in cmake/tests.cmake).
#include <support/skip.hpp>

#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace {

bool has_run = false;  // And not only answered a question.
unsigned tests_chosen = 0;

/// Learns how many tests there were: that, doctest tells listeners only.
struct test_counter final : doctest::IReporter {
    explicit test_counter(const doctest::ContextOptions&) noexcept {}

    void test_run_end(const doctest::TestRunStats& all) override {
        has_run = true;
        tests_chosen = all.numTestCasesPassingFilters;
    }

    void report_query(const doctest::QueryData&) override {}
    void test_run_start() override {}
    void test_case_start(const doctest::TestCaseData&) override {}
    void test_case_reenter(const doctest::TestCaseData&) override {}
    void test_case_end(const doctest::CurrentTestCaseStats&) override {}
    void test_case_exception(const doctest::TestCaseException&) override {}
    void subcase_start(const doctest::SubcaseSignature&) override {}
    void subcase_end() override {}
    void log_assert(const doctest::AssertData&) override {}
    void log_message(const doctest::MessageData&) override {}
    void test_case_skipped(const doctest::TestCaseData&) override {}
};

DOCTEST_REGISTER_LISTENER("test_counter", 1, test_counter);

}  // namespace

int gyre::testing::assertions_made() noexcept {
    return doctest::detail::g_cs->numAssertsCurrentTest_atomic;
}

int main(int count, char** arguments) {
    std::error_code failure;
    std::filesystem::current_path(
        std::filesystem::read_symlink("/proc/self/exe", failure).parent_path(), failure);
    if (failure) {
        std::fprintf(stderr, "no way to the program's folder: %s\n", failure.message().c_str());
        return EXIT_FAILURE;
    }
    doctest::Context context{count, arguments};
    const int status = context.run();
    if (has_run && tests_chosen == 0) {
        std::fputs("no test has such a name\n", stderr);
        return EXIT_FAILURE;
    }
    const auto last_check = gyre::testing::last_check;
    if (has_run && last_check != nullptr && !last_check()) return EXIT_FAILURE;
    const bool all_skipped = tests_chosen > 0 && gyre::testing::tests_skipped == tests_chosen;
    return status == 0 && all_skipped ? gyre::testing::skipped_status : status;
}
