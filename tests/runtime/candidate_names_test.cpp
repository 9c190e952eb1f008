// SPDX-License-Identifier: BSL-1.0
//
// What src/runtime/candidate_names.hpp promises; programs/name_settings.py compares it with glibc.
#include <runtime/candidate_names.hpp>

#include <support/harness.hpp>

#include <string>
#include <utility>
#include <vector>

using namespace gyre;
using namespace gyre::testing;
using namespace std::string_literals;

namespace {

using strings = std::vector<std::string>;

constexpr error because(errc code) noexcept { return {code, activity::resolve}; }

struct walk {
    strings asked;
    name_verdict end;
};

// Asks for all; the n-th is answered by the n-th verdict, and those behind do not exist.
walk walk_through(candidate_names names, std::vector<name_verdict> verdicts = {}) {
    walk made;
    while (const std::string* each = names.next()) {
        const std::size_t at = made.asked.size();
        made.asked.push_back(*each);
        names.note(at < verdicts.size() ? verdicts[at]
                                        : name_verdict{because(errc::host_not_found)});
    }
    made.end = names.outcome();
    return made;
}

walk of_db(std::vector<name_verdict> verdicts) {
    return walk_through({"db", {"one.test", "two.test"}, 1, false}, std::move(verdicts));
}

walk of_www(std::vector<name_verdict> verdicts) {
    return walk_through({"www.db", {"one.test", "two.test"}, 1, false}, std::move(verdicts));
}

strings asked_for(const std::string& name, const strings& domains, int dots_min = 1) {
    return walk_through({name, domains, dots_min, false}).asked;
}

const strings all_of_db{"db.one.test", "db.two.test", "db"};
const strings all_of_www{"www.db", "www.db.one.test", "www.db.two.test"};

const name_verdict servfail{because(errc::server_failure)};
const name_verdict nothing{because(errc::host_not_found)};
const name_verdict no_data{because(errc::no_data)};
const name_verdict silence{because(errc::timed_out)};

}  // namespace

TEST_CASE("few dots: domains come first, and the name as it is last") {
    CHECK(asked_for("db", {"one.test", "two.test"}) == all_of_db);
    CHECK(asked_for("www.db", {"one.test", "two.test"}) == all_of_www);
    CHECK(asked_for("a.b", {"one.test"}, 2) == strings{"a.b.one.test", "a.b"});
    CHECK(asked_for("db", {"one.test"}, 0) == strings{"db", "db.one.test"});
    CHECK(asked_for("db.", {"one.test"}) == strings{"db."});
    CHECK(asked_for("db", {}) == strings{"db"});
}

TEST_CASE("the domain of a single dot is the name as it is, once") {
    CHECK(asked_for("db", {"."}) == strings{"db"});
    CHECK(asked_for("db", {".", "one.test"}) == strings{"db", "db.one.test"});
    CHECK(asked_for("db", {"one.test", "."}) == strings{"db.one.test", "db"});
    CHECK(asked_for("www.db", {"."}) == strings{"www.db"});
    CHECK(asked_for("db", {".one.test", "two.test."}) == all_of_db);
}

TEST_CASE("a candidate that cannot be is passed over") {
    const std::string long_domain = std::string(60, 'd') + '.' + std::string(60, 'd') + '.' +
                                    std::string(60, 'd') + '.' + std::string(60, 'd');
    const std::string label(20, 'a');

    CHECK(asked_for(label, {long_domain, "one.test"}) == strings{label + ".one.test", label});
    CHECK(asked_for("db", {std::string(64, 'd'), "a..b", "\0"s, "one.test"}) ==
          strings{"db.one.test", "db"});
    // 253 characters fit, and no more.
    CHECK(asked_for(std::string(9, 'a'), {long_domain}).size() == 2);
    CHECK(asked_for(std::string(10, 'a'), {long_domain}).size() == 1);
}

TEST_CASE("a name that cannot be is malformed, whatever the domains") {
    for (const std::string& each : {std::string(64, 'a'), "a..b"s, "."s, ".a"s}) {
        CAPTURE(each);
        const walk it = walk_through({each, {"one.test", "."}, 1, false});
        CHECK(it.asked.empty());
        CHECK(it.end.failed == errc::malformed);
    }
}

TEST_CASE("names of one label may be kept from the root") {
    CHECK(walk_through({"db", {"one.test"}, 1, true}).asked == strings{"db.one.test"});
    CHECK(walk_through({"db", {}, 1, true}).asked == strings{"db"});
    CHECK(walk_through({"a.b", {"one.test"}, 2, true}).asked == strings{"a.b.one.test", "a.b"});
}

TEST_CASE("a domain whose servers fail is passed over, and the failure outlasts a no") {
    CHECK(of_db({servfail}).asked == all_of_db);
    CHECK(of_db({servfail}).end.failed == errc::server_failure);
    CHECK(of_db({servfail, no_data}).end.failed == errc::server_failure);
    CHECK(of_www({servfail}).asked == all_of_www);
    CHECK(of_www({servfail, nothing, no_data}).end.failed == errc::server_failure);
    CHECK(of_www({nothing, servfail}).end.failed == errc::server_failure);
}

TEST_CASE("behind a time-out no other domain is asked for, but the name as it is") {
    CHECK(of_db({silence}).asked == strings{"db.one.test", "db"});
    CHECK(of_db({silence}).end.failed == errc::timed_out);
    CHECK(of_www({silence}).asked == all_of_www);
    CHECK(of_www({silence, silence}).asked == strings{"www.db", "www.db.one.test"});
}

TEST_CASE("where no server is reached, no other name is asked for") {
    const name_verdict unreached{because(errc::server_failure), true};

    CHECK(of_db({unreached}).asked == strings{"db.one.test"});
    CHECK(of_db({unreached}).end.is_unreached);
    CHECK(of_db({{because(errc::canceled)}}).asked == strings{"db.one.test"});
    CHECK(of_db({{because(errc::malformed)}}).end.failed == errc::malformed);
}

TEST_CASE("no data is reported before no such name, and the name as it is before both") {
    CHECK(of_db({no_data}).end.failed == errc::no_data);
    CHECK(of_db({nothing, no_data}).end.failed == errc::no_data);
    CHECK(of_db({}).end.failed == errc::host_not_found);
    CHECK(of_www({no_data}).end.failed == errc::no_data);
    CHECK(of_www({nothing, no_data}).end.failed == errc::host_not_found);
}
