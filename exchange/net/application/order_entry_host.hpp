// SPDX-License-Identifier: BSL-1.0
//
// The order entry of an exchange without its sockets: bytes of clients in, bytes for them and the feed out.
//
// How a facility waits differs (coroutines of one library or another, callbacks); what a message means, who
// may log in, who hears what, and what becomes of slow readers does not. So that is here, once, and is
// tested without a socket. Packets come by session/order_entry_session.hpp; commands go to sequencer.hpp, and
// what they cause by event_router.hpp into streams and feed; matching_facility.hpp and
// asio/callback/facility.hpp move the bytes.
#pragma once

#include <exchange/codec/command_codec.hpp>
#include <exchange/codec/command_subject.hpp>
#include <exchange/codec/mass_quote.hpp>
#include <exchange/codec/mold_sender.hpp>
#include <exchange/net/application/audit_recorder.hpp>
#include <exchange/net/application/event_router.hpp>
#include <exchange/net/application/known_gateway.hpp>
#include <exchange/net/application/login_refusal.hpp>
#include <exchange/net/application/login_throttle.hpp>
#include <exchange/net/application/operator_table.hpp>
#include <exchange/net/application/participant_table.hpp>
#include <exchange/net/application/password_check.hpp>
#include <exchange/net/application/query_responder.hpp>
#include <exchange/net/application/sequencer.hpp>

#include <optional>
#include <span>
#include <vector>

namespace exchange {

struct order_entry_host_options {
    sequencer_options sequencing{};
    std::vector<credentials> participants{};  ///< User names and sessions differ from each other.
    std::size_t participants_max =
        0;  ///< Those that are defined later included; at least the above.
    bool (*is_secret)(const std::string&) =
        nullptr;                                ///< Can it be one? Null: whatever is not empty.
    std::vector<operator_user> operators{};     ///< User names differ, also from participants'.
    std::size_t operator_connections_max = 32;  ///< Of all of them together.
    std::vector<known_gateway> gateways{};      ///< Names differ from each other.
    password_check passwords = is_plain_password;
    std::string dummy_secret{};  ///< What the password of an unknown user is compared with.
    login_throttle_options logins{};
    audit_trail* trail = nullptr;                  ///< Borrowed, or null: nothing is kept.
    soup_stream_options stream{.session = "DAY"};  ///< Of each participant.
    /// Of all streams together; no bytes: `stream_memory_for` says how many.
    segment_pool_options stream_memory{.bytes_max = 0, .warm_bytes = std::size_t{8} << 20};
    /// Of each operator's connection: one that gives so many commands and reads no answer is ended.
    soup_stream_options operator_stream{.session = "OPERATOR",
                                        .bytes_max = std::size_t{64} << 10,
                                        .messages_max = 1024,
                                        .unread_bytes_max = std::size_t{128} << 10};
    /// A program that may be started again gives it, `stream` and `operator_stream` the name of its life:
    /// see life_name.hpp.
    mold_sender_options feed{.session = "FEED"};
    message_rate queries{.per_second_max = 100, .burst_max = 200};  ///< Of each connection.
    bool journaled = false;  ///< What commands cause leaves only once they are durable: see `seal`.
};

/// Whoever lets a command go on that takes more than one step.
class command_runner {
public:
    /// The host is busy: `resume` is to be called until it is not, with turns for others in between.
    virtual void host_is_busy() noexcept = 0;

protected:
    ~command_runner() = default;
};

/// What all streams together may take: what was said; or else what all of them may keep and, beside it,
/// what one may that does not read. A participant that finds nothing left loses its own oldest messages,
/// and is cut off if it had not got them.
[[nodiscard]] std::size_t stream_memory_for(const order_entry_host_options& options) noexcept;

/// Is told what seldom happens at a facility. Within functions of the host, which it must not call.
class host_watcher : public login_watcher {
public:
    /// It reads so slowly that what it must get is not kept any more.
    virtual void client_shed(std::string_view user, const gyre::endpoint& peer) noexcept = 0;

protected:
    ~host_watcher() = default;
};

/// How much has passed through.
struct host_counts {
    std::uint64_t commands = 0;       ///< Sequenced.
    std::uint64_t malformed = 0;      ///< Refused before they got a place in the sequence.
    std::uint64_t not_permitted = 0;  ///< As above, because of an operator's role.
    std::uint64_t answers = 0;        ///< Of the core to commands that no client gave.
    std::uint64_t logins = 0;         ///< That were right, also through gateways.
    std::uint64_t logins_refused = 0;
    std::uint64_t shed = 0;  ///< Clients that read too slowly.
};

/// Whose login it is: one of both, or none, and why.
struct known_user {
    participant* trader = nullptr;
    const operator_user* administrator = nullptr;
    login_refusal why = login_refusal::none;

    [[nodiscard]] bool none() const noexcept {
        return trader == nullptr && administrator == nullptr;
    }
};

/// Participants and what each is told, with the sequencer behind them and the feed beside.
///
/// Threads:  One at a time.
/// Cost:     Address space at construction, memory as it is needed; an operator's stream at its login.
class order_entry_host {
public:
    order_entry_host(const order_entry_host_options& options, gyre::time_point now);
    order_entry_host(const order_entry_host&) = delete;
    order_entry_host& operator=(const order_entry_host&) = delete;

    /// Carries out a command that did not come over a connection: preparation.
    template <class Command>
    void apply(const Command& what) noexcept {
        begin_own(what);
        finish_command();
    }
    void apply(const command& what) noexcept {
        std::visit([this](const auto& it) { apply(it); }, what);
    }

    /// Who takes several messages in one go says so: see the sequencer.
    void begin_turn() noexcept { sequencer_.begin_turn(); }
    void end_turn() noexcept { sequencer_.end_turn(); }

    /// Is a command under way that takes more than one step, are there quotes left of several, or does one
    /// of the exchange's own wait? Then no other can begin, and clients wait.
    [[nodiscard]] bool busy() const noexcept {
        return sequencer_.busy() || quotes_left() || !ending_.empty();
    }

    /// Carries out another step of the command that is under way, or begins what had to wait for it.
    void resume() noexcept;

    /// Carries out all that is left of it.
    void finish_command() noexcept {
        while (busy()) resume();
    }

    /// Who is told when the host becomes busy. Borrowed, or null: then it never is for long.
    void run_with(command_runner* runner) noexcept { runner_ = runner; }

    /// Who is told what seldom happens. Borrowed, or null.
    void be_watched(host_watcher* watcher) noexcept { watcher_ = watcher; }

    /// Carries out one message of `from`, or begins to. The host is not busy.
    ///
    /// @param  message  One SBE message. Borrowed during the call.
    /// @return What to answer if it is no command that this participant can give; then nothing was
    ///         sequenced, and nothing has changed.
    [[nodiscard]] std::optional<message_rejected> take(const participant& from,
                                                       std::span<const std::byte> message) noexcept;
    /// The same. What the operator's role does not permit is refused in its stream, where every answer
    /// stands in the order of commands; its stamp is empty, since nothing was sequenced.
    [[nodiscard]] std::optional<message_rejected> take(operator_session& from,
                                                       std::span<const std::byte> message) noexcept;

    /// Answers a question, which is no command: nothing is sequenced, and nothing changes. Whoever is logged
    /// in may ask, as often as `order_entry_host_options::queries` lets a connection.
    ///
    /// @param  message  One SBE message. Borrowed during the call.
    /// @param  queries_until  What the connection has asked before; at first 0: see `let_through`.
    /// @return The answer, outside of the stream, borrowed until the next call; empty if it is no question.
    [[nodiscard]] std::span<const std::byte> answer(const participant& asking,
                                                    std::span<const std::byte> message,
                                                    gyre::time_point now,
                                                    timestamp_ns& queries_until) noexcept;
    [[nodiscard]] std::span<const std::byte> answer(const operator_session& asking,
                                                    std::span<const std::byte> message,
                                                    gyre::time_point now,
                                                    timestamp_ns& queries_until) noexcept;

    /// Whose login this is; nobody's if name or password is wrong.
    [[nodiscard]] known_user find(const soup_login& login) noexcept;
    /// Is there a participant or an operator of this name, whatever the password?
    [[nodiscard]] bool knows(std::string_view name) noexcept;

    /// Who has this name, whatever the password: null if no participant has.
    [[nodiscard]] participant* find_participant(std::string_view name) noexcept {
        return participants_.find(name);
    }
    /// The gateway with this name and password, or null.
    [[nodiscard]] const known_gateway* find_gateway(std::string_view name,
                                                    std::string_view password) const noexcept;
    /// Why `find_gateway` finds none with this name.
    [[nodiscard]] login_refusal why_no_gateway(std::string_view name) const noexcept;
    /// What all streams are called.
    [[nodiscard]] const soup_session& life() const noexcept { return life_; }

    /// Whose turn it is to have its password checked, and how late a wrong one is told.
    [[nodiscard]] login_throttle& logins() noexcept { return logins_; }

    /// Notes a login that is refused.
    void note_refusal(const soup_login& login, login_refusal why,
                      const gyre::endpoint& peer) noexcept;
    /// Notes that a client is cut off since it reads too slowly.
    void note_shed(std::string_view user, const gyre::endpoint& peer) noexcept;

    /// Lets an operator in: `connection` hears what answers its commands.
    ///
    /// @param  who  Borrowed from the host.
    /// @return Null if as many operators are connected as there may be.
    [[nodiscard]] operator_session* open(const operator_user& who, order_entry_session& connection,
                                         const gyre::endpoint& peer) noexcept;

    /// An operator's connection has ended: what answers it from now on goes nowhere.
    void detach(operator_session& whose) noexcept;

    /// Makes `connection` the one that hears what `whose` is owed. The one before is sent away: a client
    /// that logs in again knows better than we do that its old connection is dead.
    void attach(participant& whose, order_entry_session& connection) noexcept;

    /// `connection` has ended. If it still was the participant's, its orders follow the session's
    /// `disconnect_policy`, once the command that is under way is through.
    void detach(participant& whose, order_entry_session& connection) noexcept;

    /// Tells the connections of all who got messages since the last call that there is output. To be
    /// called after each batch of input, before more is waited for. If the exchange is journaled, `release`
    /// does that.
    void announce() noexcept;

    /// Of an exchange that is journaled: draws a line behind what was caused until now, and lets go what
    /// stands before it. One after the other, with the journal's write in between.
    ///
    /// @return How many commands were submitted. Once these are durable, `release` may follow.
    std::uint64_t seal() noexcept;
    void release() noexcept;

    [[nodiscard]] mold_sender& feed() noexcept { return feed_; }
    [[nodiscard]] const sequencer& sequencing() const noexcept { return sequencer_; }
    /// The first partition, and the only one unless more were asked for.
    [[nodiscard]] const partition& market() const noexcept { return sequencer_.at(0); }
    /// How much has passed through.
    [[nodiscard]] host_counts counts() const noexcept {
        return {sequencer_.commands(), malformed_, not_permitted_, router_.answers(),
                logins_taken_,         refused_,   shed_};
    }
    [[nodiscard]] const segment_pool& streams() const noexcept { return participants_.streams(); }
    [[nodiscard]] const std::deque<participant>& participants() const noexcept {
        return participants_.all();
    }
    /// Places of operators, free or not.
    [[nodiscard]] const std::deque<operator_session>& operators() const noexcept {
        return operators_.places();
    }
    /// How many clients may be logged in at once.
    [[nodiscard]] std::size_t logins_max() const noexcept {
        return participants_.participants_max() + operators().size();
    }

    /// Nothing follows: streams and feed end behind what they hold, the rest of the command that is under
    /// way included. No command may be given any more.
    void end(gyre::time_point now) noexcept;
    [[nodiscard]] bool ended() const noexcept { return ended_; }

    /// Does what is due: instruments whose last day is over end, passwords that wait are checked.
    void on_timer(gyre::time_point now) noexcept;
    /// When that is wanted before the next tick; `never` if it is not.
    [[nodiscard]] gyre::time_point deadline() const noexcept { return logins_.deadline(); }

private:
    /// Begins a command of the exchange itself.
    template <class Command>
    void begin_own(const Command& what) noexcept {
        trail_.given_by_exchange();
        trail_.note_command(what);
        begin({}, what);
    }

    template <class Command>
    void give(operator_session& from, const Command& what) noexcept {
        trail_.given_by(from);
        trail_.note_command(what);
        if (may_give(from.user().role, what)) begin({session_id::none, 0, from.number()}, what);
        else refuse(from, Command::kind, subject_of(what));
    }
    void refuse(operator_session& whose, command_kind what, std::uint32_t subject) noexcept;

    /// Begins with the first of several quotes.
    void begin_quotes(const command_origin& from, const enter_quotes& what) noexcept;
    /// Gives some of those that are left.
    void quote_some() noexcept;
    [[nodiscard]] bool quotes_left() const noexcept { return next_quote_ < quotes_.count; }

    template <class Command>
    void begin(const command_origin& from, const Command& what) noexcept {
        gyre::expects(!ended_, "nothing follows the end of the day");
        static_cast<void>(sequencer_.submit(from, what));
        if (!sequencer_.busy()) [[likely]]
            return;
        wait_for_rest();
    }
    void wait_for_rest() noexcept {
        if (runner_ != nullptr) runner_->host_is_busy();
        else finish_command();
    }

    /// Changes who may log in, and answers.
    template <class Change>
    void change(operator_session& from, const Change& what) noexcept;
    [[nodiscard]] participant_outcome check(std::string_view name,
                                            const define_participant& what) noexcept;
    [[nodiscard]] participant_outcome check(std::string_view name,
                                            const remove_participant& what) noexcept;

    mold_sender feed_;
    participant_table participants_;
    operator_table operators_;
    audit_recorder trail_;
    event_router router_;
    sequencer sequencer_;
    query_responder queries_;
    std::vector<known_gateway> gateways_;
    soup_session life_;
    password_check passwords_;
    std::string dummy_secret_;
    login_throttle logins_;
    command_runner* runner_ = nullptr;
    host_watcher* watcher_ = nullptr;
    command_origin quoting_{};       // Whose several quotes are given,
    enter_quotes quotes_{};          // which these are,
    std::uint16_t next_quote_ = 0;   // and which of them comes next.
    std::deque<session_id> ending_;  // Sessions that ended while a command was under way, in order.
    std::uint64_t malformed_ = 0;
    std::uint64_t not_permitted_ = 0;
    std::uint64_t logins_taken_ = 0;
    std::uint64_t refused_ = 0;
    std::uint64_t shed_ = 0;
    bool journaled_;
    bool ended_ = false;
};

}  // namespace exchange
