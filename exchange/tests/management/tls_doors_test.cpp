// SPDX-License-Identifier: BSL-1.0
//
// Files of certificates and keys that are in order, and each way in which they are not.
#include <exchange/management/door_security.hpp>

#include <doctest/doctest.h>

#include <support/certificates.hpp>
#include <support/scratch_directory.hpp>

#include <string>

using namespace exchange;
using gyre::testing::certificate_wish;
using gyre::testing::test_authority;

namespace {

struct tls_files {
    tls_files() {
        const gyre::tls::identity one = authority.issue(certificate_wish{"one"});
        const gyre::tls::identity other = authority.issue(certificate_wish{"other"});
        chain = write("chain.pem", one.certificates);
        key = write("key.pem", one.private_key);
        other_key = write("other_key.pem", other.private_key);
        text = write("text.pem", "not a certificate\n");
        encrypted = write("encrypted.pem", gyre::testing::encrypted_key(one, "secret"));
    }
    std::string write(const char* name, const std::string& what) const {
        return folder.put(name, what);
    }
    [[nodiscard]] static std::string wrong_of(const door_tls& how) {
        client_server_options doors;
        doors.websocket = {gyre::ipv4::loopback(), 7014};
        const auto wrong = secure_doors(how, "order_entry", doors);
        CHECK(static_cast<bool>(doors.tls) == (wrong.empty() && !how.certificates.empty()));
        return wrong.empty() ? "" : wrong.front().where + ": " + wrong.front().what;
    }

    gyre::testing::scratch_directory folder;
    test_authority authority{"authority"};
    std::string chain, key, other_key, text, encrypted;
};

}  // namespace

TEST_CASE("tls doors: without certificates nothing is secured") {
    client_server_options doors;
    CHECK(secure_doors({}, "order_entry", doors).empty());
    CHECK_FALSE(doors.tls);
}

TEST_CASE("tls doors: a chain and its key secure all doors") {
    const tls_files files;
    CHECK(tls_files::wrong_of({files.chain, files.key, tls_version::tls_1_2}).empty());
    CHECK(tls_files::wrong_of({files.chain, files.key, tls_version::tls_1_3}).empty());
}

TEST_CASE("tls doors: what is wrong with the files is said") {
    const tls_files files;
    const auto wrong = [](const std::string& certificates, const std::string& key) {
        return tls_files::wrong_of({certificates, key, tls_version::tls_1_2});
    };
    const std::string nowhere = (files.folder / "nowhere.pem");
    CHECK(wrong(nowhere, files.key) == "order_entry.tls.certificates: cannot read " + nowhere);
    CHECK(wrong(files.chain, nowhere) == "order_entry.tls.private_key: cannot read " + nowhere);
    CHECK(wrong(files.text, files.key) ==
          "order_entry.tls.certificates: expected certificates as PEM in " + files.text);
    CHECK(wrong(files.chain, files.text) ==
          "order_entry.tls.private_key: expected a private key as PEM, not encrypted, in " +
              files.text);
    CHECK(wrong(files.chain, files.encrypted) ==
          "order_entry.tls.private_key: expected a private key as PEM, not encrypted, in " +
              files.encrypted);
    CHECK(wrong(files.chain, files.other_key) ==
          "order_entry.tls.private_key: " + files.other_key +
              " is not the key of the first certificate in " + files.chain);
}
