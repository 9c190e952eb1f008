// SPDX-License-Identifier: BSL-1.0
#include <gyre/websocket/header_lookup.hpp>

#include <support/harness.hpp>

#include <list>
#include <string>
#include <string_view>

using namespace gyre::websocket;

namespace {

struct viewed_field {
    std::string_view name;
    std::string_view value;
};

}  // namespace

TEST_CASE("header lookup: finds fields of a name in any container, whatever their case") {
    const std::list<viewed_field> fields{{"Host", "a"}, {"UPGRADE", "b"}, {"upgrade", "c"}};
    const header_lookup lookup{fields};
    CHECK(lookup.find("Upgrade").count == 2);
    CHECK(lookup.find("Upgrade").value == "b");
    CHECK(lookup.find("host").value == "a");
    CHECK(lookup.find("Origin").count == 0);

    std::string all;
    lookup.for_each("upgrade", [&all](std::string_view value) { all += value; });
    CHECK(all == "bc");
}
