// SPDX-License-Identifier: BSL-1.0
#include <gyre/websocket/masking.hpp>

#include <support/harness.hpp>
#include <websocket/bytes.hpp>

#include <bit>
#include <numeric>
#include <set>

using namespace gyre;
using namespace gyre::testing;
using namespace gyre::websocket;

namespace {

bytes numbered(std::size_t size) {
    bytes made(size);
    for (std::size_t each = 0; each < size; ++each) made[each] = static_cast<std::byte>(each * 7);
    return made;
}

}  // namespace

// RFC 6455, 5.3.
TEST_CASE("masking: each byte with the byte of the key that its place has, from any place on") {
    for (std::size_t size = 0; size < 40; ++size) {
        for (std::size_t offset = 0; offset < 6; ++offset) {
            const bytes before = numbered(size);
            bytes masked = before;
            mask(masked, test_key, offset);
            bytes copied(size);
            mask_copy(before, copied, test_key, offset);
            for (std::size_t each = 0; each < size; ++each) {
                REQUIRE(masked[each] == (before[each] ^ test_key[(offset + each) % 4]));
            }
            REQUIRE(copied == masked);
        }
    }
}

// RFC 8439, 2.3.2, with the words that differ: a counter of 64 bits and no nonce. Its A.1, test vector 1.
TEST_CASE("masking: the keys are ChaCha20's key stream") {
    masking_keys keys{masking_keys::seed{}};
    bytes stream;
    for (int each = 0; each < 4; ++each) {
        const masking_key key = keys.next();
        stream.insert(stream.end(), key.begin(), key.end());
    }
    if constexpr (std::endian::native == std::endian::little) {
        CHECK(stream == hex("76 b8 e0 ad a0 f1 3d 90 40 5d 6a e5 53 86 bd 28"));
    }
}

TEST_CASE("masking: keys of one seed are the same, of the system's they are not") {
    masking_keys one{masking_keys::seed{1, 2, 3}};
    masking_keys same{masking_keys::seed{1, 2, 3}};
    std::set<masking_key> seen;
    for (int each = 0; each < 100; ++each) {
        const masking_key key = one.next();
        CHECK(key == same.next());
        seen.insert(key);
    }
    CHECK(seen.size() == 100);
    CHECK(masking_keys::random().next() != masking_keys::random().next());
}
