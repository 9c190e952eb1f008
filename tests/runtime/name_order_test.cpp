// SPDX-License-Identifier: BSL-1.0
//
// What src/runtime/name_order.hpp promises; programs/name_settings.py compares it with glibc.
#include <runtime/name_order.hpp>

#include <support/harness.hpp>

#include <string>
#include <string_view>

using namespace gyre;
using namespace gyre::testing;

namespace {

// "files[S] dns[SNU]": each source, and after which of its ends the search is over.
std::string shown(std::string_view text) {
    std::string made;
    for (const name_source& each : read_name_order(text)) {
        if (!made.empty()) made += ' ';
        switch (each.from) {
            case name_source::kind::files: made += "files"; break;
            case name_source::kind::dns: made += "dns"; break;
            case name_source::kind::unknown: made += '?'; break;
        }
        made += '[';
        if (each.ends_after(name_status::success)) made += 'S';
        if (each.ends_after(name_status::not_found)) made += 'N';
        if (each.ends_after(name_status::unavailable)) made += 'U';
        made += ']';
    }
    return made;
}

}  // namespace

TEST_CASE("without a line for hosts, files come before name servers") {
    CHECK(shown("") == "files[S] dns[S]");
    CHECK(shown("passwd: files\n# hosts: dns\nHOSTS: dns\nhosts2: dns") == "files[S] dns[S]");
}

TEST_CASE("sources are asked in the order of the last line for hosts") {
    CHECK(shown("hosts: dns files\n") == "dns[S] files[S]");
    CHECK(shown(" hosts :dns") == "dns[S]");
    CHECK(shown("hosts: files\nhosts:\tdns\r\n") == "dns[S]");
    CHECK(shown("hosts:") == "");
    CHECK(shown("hosts: Files dns # files") == "?[S] dns[S] ?[S] files[S]");
}

TEST_CASE("actions say after which ends the search is over") {
    CHECK(shown("hosts: files mdns4_minimal [NOTFOUND=return] dns") == "files[S] ?[SN] dns[S]");
    CHECK(shown("hosts: dns[!unavail=RETURN]files") == "dns[SN] files[S]");
    CHECK(shown("hosts: dns [ NOTFOUND = return UNAVAIL=return SUCCESS=continue ] files") ==
          "dns[NU] files[S]");
    CHECK(shown("hosts: dns [TRYAGAIN=return] files") == "dns[S] files[S]");
    CHECK(shown("hosts: files [SUCCESS=merge] dns") == "files[S] dns[S]");
}

TEST_CASE("what makes no sense ends the line") {
    CHECK(shown("hosts: dns [NOTFOUND=nonsense] files") == "dns[S]");
    CHECK(shown("hosts: dns [NOTFOUND=return files") == "dns[SN]");
    CHECK(shown("hosts: dns [NOTFOUND") == "dns[S]");
    CHECK(shown("hosts: [NOTFOUND=return] dns") == "");
    CHECK(shown("hosts: dns [") == "dns[S]");
}

TEST_CASE("systemd-resolved is asked as a name server where no other is named") {
    CHECK(shown("hosts: files resolve") == "files[S] dns[S]");
    CHECK(shown("hosts: files resolve [!UNAVAIL=return] dns") == "files[S] ?[SN] dns[S]");
}
