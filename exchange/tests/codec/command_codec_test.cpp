// SPDX-License-Identifier: BSL-1.0
//
// What exchange/codec/command_codec.hpp promises: every command comes back, and nothing else comes in.
#include <exchange/codec/command_codec.hpp>

#include <codec/dice.hpp>
#include <codec/record_fields.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <vector>

using namespace exchange;
using namespace exchange::testing;

namespace {

using message = std::vector<std::byte>;

template <class Command>
message encoded(const Command& command) {
    message out(message_bytes(command), std::byte{0xEE});
    CHECK(encode(command, out) == out.size());
    return out;
}

/// Decodes from memory of exactly the right size, so that the sanitizer sees every byte read too far.
template <class Decode>
decode_fault exactly(std::span<const std::byte> bytes, Decode decode) {
    const std::unique_ptr<std::byte[]> copy{new std::byte[bytes.size()]};
    std::copy(bytes.begin(), bytes.end(), copy.get());
    return decode(std::span<const std::byte>{copy.get(), bytes.size()});
}

constexpr auto ignore = [](const auto&) {};

template <class Visitor>
decode_fault decode_any(std::span<const std::byte> bytes, session_id session, Visitor visitor) {
    return exactly(bytes, [&](std::span<const std::byte> exact) {
        const decode_fault fault = decode_client_command(exact, session, visitor);
        if (fault.error != decode_error::unknown_schema) return fault;
        return decode_operator_command(exact, visitor);
    });
}

template <class Command>
std::optional<Command> decoded(std::span<const std::byte> bytes, session_id session) {
    std::optional<Command> found;
    const decode_fault fault = decode_any(bytes, session, [&found]<class Found>(const Found& it) {
        if constexpr (std::is_same_v<Found, Command>) found = it;
    });
    CHECK(fault == decode_fault{});
    return found;
}

message a_cancel() {
    return encoded(
        cancel_order{session_id{7}, client_sequence{3}, {order_id{9}, client_sequence::none}});
}

decode_error error_of(std::span<const std::byte> bytes) {
    return decode_any(bytes, session_id{7}, ignore).error;
}

/// An entered order with one byte of its block replaced.
decode_fault fault_with(std::size_t offset, int value) {
    enter_order command{};
    command.client_seq = client_sequence{1};
    command.instrument = instrument_id{1};
    command.type = order_type::limit;
    command.tif = time_in_force::day;
    message bytes = encoded(command);
    bytes[sbe::header_bytes + offset] = static_cast<std::byte>(value);
    return decode_any(bytes, session_id{7}, ignore);
}

template <class Body>
void for_each_command(Body body) {
    for_each_client_command(body);
    for_each_operator_command(body);
}

}  // namespace

TEST_CASE(
    "each command has the template that its kind says, and no member that is not on the wire") {
    for_each_command([]<class Command>() {
        using reader = typename sbe::wire<Command>::reader;
        CHECK(reader::template_id == number(Command::kind));
        // A client's session comes from its connection; a product's bands are a group.
        constexpr bool of_client = requires(Command it) { it.client_seq; };
        if constexpr (fixed_size_record<Command>)
            CHECK(reader::record_fields + (of_client ? 1 : 0) == members_of<Command>());
    });
}

TEST_CASE("random commands come back as they were") {
    const std::uint64_t seed = seed_of_run();
    INFO("EXCHANGE_SEED=", seed);
    dice random{seed};
    for_each_command([&random]<class Command>() {
        for (int each = 0; each < 500; ++each) {
            const auto command = random_record<Command>(random);
            session_id session = session_id::none;
            if constexpr (requires { command.client_seq; }) session = command.session;
            const auto back = decoded<Command>(encoded(command), session);
            REQUIRE(back.has_value());
            CHECK(same_record(*back, command));
        }
    });
}

TEST_CASE("the extremes come back") {
    enter_order command{session_id{65534},
                        client_sequence{0xFFFF'FFFF'FFFF'FFFE},
                        instrument_id{4294967294},
                        order_side::sell,
                        order_type::market,
                        time_in_force::fill_or_kill,
                        execution_instruction::post_only,
                        self_trade_action::allow,
                        -price_ticks_max,
                        4294967294};

    CHECK(same_record(*decoded<enter_order>(encoded(command), command.session), command));
}

TEST_CASE("client sequences on either side of 2^32 come back, and are told when they are refused") {
    for (const std::uint64_t each : {0xFFFF'FFFFul, 0x1'0000'0000ul, 0x1'0000'0003ul}) {
        CAPTURE(each);
        const cancel_order command{
            session_id{7}, client_sequence{each}, {order_id::none, client_sequence{each - 1}}};
        const message bytes = encoded(command);

        CHECK(same_record(*decoded<cancel_order>(bytes, session_id{7}), command));
        CHECK(refusal_of(bytes, {}).client_seq == client_sequence{each});
    }
}

TEST_CASE("a message cut anywhere is refused, and says whether its header or its body is torn") {
    dice random{1};
    for_each_command([&random]<class Command>() {
        const message whole = encoded(random_record<Command>(random));
        for (std::size_t size = 0; size < whole.size(); ++size) {
            const decode_error error = error_of(std::span{whole}.first(size));
            if (size < sbe::header_bytes) CHECK(error == decode_error::header_truncated);
            else
                CHECK((error == decode_error::message_truncated ||
                       error == decode_error::group_truncated));
        }
    });
}

TEST_CASE("a byte too many is refused, inside the block as well as behind it") {
    message bytes = a_cancel();
    bytes.push_back(std::byte{0});

    CHECK(error_of(bytes) == decode_error::trailing_bytes);
    bytes[0] = static_cast<std::byte>(std::to_integer<int>(bytes[0]) + 1);
    CHECK(error_of(bytes) == decode_error::block_too_long);
}

TEST_CASE("whatever byte is changed, a message is refused or means what its bytes say") {
    dice random{2};
    for_each_command([&random]<class Command>() {
        const message whole = encoded(random_record<Command>(random));
        for (std::size_t at = 0; at < whole.size(); ++at) {
            for (int change = 1; change < 256; ++change) {
                message bytes = whole;
                bytes[at] ^= static_cast<std::byte>(change);
                // What a sender of another version means by the rest does not come back.
                const bool of_sender = at == 6 || at == 7;
                const auto compare = [&]<class Found>(const Found& found) {
                    // An empty group may claim entries of any size.
                    if (fixed_size_record<Found> && !of_sender) CHECK(encoded(found) == bytes);
                };
                static_cast<void>(decode_any(bytes, session_id{7}, compare));
            }
        }
    });
}

TEST_CASE("random bytes behind a proper header are refused or mean what they say") {
    const std::uint64_t seed = seed_of_run();
    INFO("EXCHANGE_SEED=", seed);
    dice random{seed};
    for_each_command([&random]<class Command>() {
        const message whole = encoded(random_record<Command>(random));
        for (int each = 0; each < 500; ++each) {
            message bytes = random.bytes(whole.size());
            std::copy_n(whole.begin(), sbe::header_bytes, bytes.begin());
            const auto compare = [&]<class Found>(const Found& found) {
                if (fixed_size_record<Found>) CHECK(encoded(found) == bytes);
            };
            static_cast<void>(decode_any(bytes, session_id{7}, compare));
        }
    });
}

TEST_CASE("unknown schemas, unknown messages and messages of the other side are told apart") {
    message schema = a_cancel();
    schema[4] = std::byte{77};
    message unknown = a_cancel();
    unknown[2] = std::byte{99};
    message event = a_cancel();
    event[2] = std::byte{103};  // order_cancelled, and not even long enough for one

    CHECK(decode_client_command(schema, session_id{7}, ignore).error ==
          decode_error::unknown_schema);
    CHECK(error_of(unknown) == decode_error::unknown_template);
    CHECK(error_of(event) == decode_error::block_too_short);
    std::array<std::byte, message_bytes_of<order_rejected>> whole{};
    order_entry::order_rejected_writer writer{whole};
    writer.stamp({1, 1, 1, 0, true}).session(session_id{1}).command(command_kind::enter_order);
    writer.reason(reject_reason::market_closed);
    CHECK(error_of(whole) == decode_error::unexpected_message);
}

TEST_CASE("a client cannot do what only the operator may") {
    set_phase command{instrument_id{1}, market_phase::continuous};

    CHECK(decode_client_command(encoded(command), session_id{7}, ignore).error ==
          decode_error::unknown_schema);
}

TEST_CASE("each field that is missing or out of range is named") {
    CHECK(fault_with(0, 0) == decode_fault{decode_error::field_missing, 1});
    CHECK(fault_with(8, 0) == decode_fault{decode_error::field_missing, 2});
    CHECK(fault_with(18, 0x80) == decode_fault{decode_error::field_out_of_range, 3});
    CHECK(fault_with(19, 0x80) == decode_fault{decode_error::field_missing, 3});
    CHECK(fault_with(24, 2) == decode_fault{decode_error::field_out_of_range, 5});
    CHECK(fault_with(24, 255) == decode_fault{decode_error::field_missing, 5});
    CHECK(fault_with(25, 0) == decode_fault{decode_error::field_out_of_range, 6});
    CHECK(fault_with(26, 6) == decode_fault{decode_error::field_out_of_range, 7});
    CHECK(fault_with(27, 2) == decode_fault{decode_error::field_out_of_range, 8});
    CHECK(fault_with(28, 6) == decode_fault{decode_error::field_out_of_range, 9});
    CHECK(fault_with(28, 5) == decode_fault{});
}

TEST_CASE("a number that no word has is refused in each enumeration of the operator") {
    const auto fault_of = []<class Command>(Command command, auto Command::* member, int raw) {
        if constexpr (requires { command.type; }) command.type = instrument_kind::future;
        std::apply(
            [](auto&... each) {
                const auto fill = []<class Field>(Field& field) {
                    if constexpr (!std::is_class_v<Field> && !std::is_same_v<Field, std::int64_t> &&
                                  sizeof(Field) > 1)
                        field = Field{1};
                };
                (fill(each), ...);
            },
            tied(command));
        command.*member = static_cast<std::remove_reference_t<decltype(command.*member)>>(raw);
        return decode_any(encoded(command), session_id::none, ignore);
    };
    const auto refused = [](std::uint16_t field) {
        return decode_fault{decode_error::field_out_of_range, field};
    };

    CHECK(fault_of(define_instrument{}, &define_instrument::type, 4) == refused(9));
    CHECK(fault_of(define_instrument{}, &define_instrument::lone_orders, 2) == refused(10));
    CHECK(fault_of(define_instrument{}, &define_instrument::action, 2) == refused(12));
    CHECK(fault_of(define_account{}, &define_account::self_trade, 6) == refused(8));
    CHECK(fault_of(define_account{}, &define_account::action, 2) == refused(12));
    CHECK(fault_of(define_session{}, &define_session::on_disconnect, 2) == refused(3));
    CHECK(fault_of(define_session{}, &define_session::action, 2) == refused(4));
    CHECK(fault_of(set_phase{}, &set_phase::phase, 9) == refused(2));
    CHECK(fault_of(set_account_state{}, &set_account_state::state, 4) == refused(2));
    CHECK(fault_of(retire{}, &retire::what, 0) == refused(1));
    CHECK(fault_of(retire{}, &retire::what, 5) == refused(1));

    define_product product{};
    product.product = product_id{1};
    product.action = static_cast<definition_action>(2);
    CHECK(decode_any(encoded(product), session_id::none, ignore) == refused(5));
}

TEST_CASE("a position is of an account in a market, and goes either way") {
    for (const std::int64_t each : {-position_limit, std::int64_t{0}, position_limit}) {
        const set_position command{account_id{1}, instrument_id{2}, each};
        CHECK(decoded<set_position>(encoded(command), session_id::none)->position == each);
    }
    const set_position nobody{account_id::none, instrument_id{2}, 5};
    const set_position nowhere{account_id{1}, instrument_id::none, 5};
    CHECK(decode_any(encoded(nobody), session_id::none, ignore) ==
          decode_fault{decode_error::field_missing, 1});
    CHECK(decode_any(encoded(nowhere), session_id::none, ignore) ==
          decode_fault{decode_error::field_missing, 2});
}

TEST_CASE(
    "a younger sender's longer block is read up to what is known, an older header's short one "
    "not") {
    message younger = a_cancel();
    younger.insert(younger.end(), 5, std::byte{0xAB});
    younger[0] = static_cast<std::byte>(std::to_integer<int>(younger[0]) + 5);
    younger[6] = std::byte{3};
    message shorter = a_cancel();
    shorter[0] = static_cast<std::byte>(std::to_integer<int>(shorter[0]) - 1);

    const auto command = decoded<cancel_order>(younger, session_id{7});

    REQUIRE(command.has_value());
    CHECK(command->target.id == order_id{9});
    CHECK(error_of(shorter) == decode_error::block_too_short);
}

TEST_CASE("a product with more tick bands than there is room for is refused") {
    std::array<std::byte, administration::define_product_writer::message_bytes(5)> bytes{};
    administration::define_product_writer writer{bytes, 5};
    writer.product(product_id{1}).multiplier(1).lot(1);

    CHECK(decode_operator_command(bytes, ignore) == decode_fault{decode_error::group_too_long, 4});
}

TEST_CASE("a refusal names what can still be told") {
    const message whole = a_cancel();
    const decode_fault fault{decode_error::field_out_of_range, 2};

    const message_rejected all = refusal_of(whole, fault);
    const message_rejected torn = refusal_of(std::span{whole}.first(15), fault);
    const message_rejected begun = refusal_of(std::span{whole}.first(16), fault);
    const message_rejected nothing = refusal_of(std::span{whole}.first(5), fault);

    CHECK(all.client_seq == client_sequence{3});
    CHECK(all.refused_template == 3);
    CHECK(all.refused_field == 2);
    CHECK(all.error == decode_error::field_out_of_range);
    CHECK(torn.client_seq == client_sequence::none);
    CHECK(torn.refused_template == 3);
    CHECK(begun.client_seq == client_sequence{3});
    CHECK(nothing.refused_template == 0);
    CHECK(refusal_of(encoded(end_session{session_id{5}}), fault).client_seq ==
          client_sequence::none);
}

TEST_CASE("of whatever command of a client is refused its sequence is told") {
    dice random{4};
    for_each_client_command([&random]<class Command>() {
        const auto it = random_record<Command>(random);
        CHECK(refusal_of(encoded(it), {}).client_seq == it.client_seq);
    });
}

TEST_CASE("what only takes away is a cancel: of one, of many, of a quote") {
    const auto encoded = [](const auto& it) {
        std::vector<std::byte> bytes(message_bytes(it));
        encode(it, bytes);
        return bytes;
    };
    enter_quote quote{};
    quote.client_seq = client_sequence{1};
    quote.instrument = instrument_id{1};
    CHECK(is_cancel(encoded(quote)));
    quote.ask_quantity = 1;
    CHECK_FALSE(is_cancel(encoded(quote)));
    CHECK(is_cancel(encoded(cancel_order{session_id::none, client_sequence{1}, {}})));
    CHECK(is_cancel(encoded(cancel_orders{})));
    CHECK_FALSE(is_cancel(encoded(enter_order{})));
    CHECK_FALSE(is_cancel(encoded(amend_order{})));
    CHECK_FALSE(is_cancel(encoded(end_day{})));
    CHECK_FALSE(is_cancel({}));
}
