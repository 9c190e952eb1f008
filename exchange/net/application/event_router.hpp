// SPDX-License-Identifier: BSL-1.0
//
// Where each derived message goes: to whom it concerns, to who asked, to who is told copies, to the public.
//
// event_codec.hpp writes a message into the sink that this finds for it. A sink more for all messages (a
// gateway, a standby) is another event_receiver beside this one.
#pragma once

#include <exchange/codec/mold_sender.hpp>
#include <exchange/net/application/audit_recorder.hpp>
#include <exchange/net/application/operator_table.hpp>
#include <exchange/net/application/participant_table.hpp>
#include <exchange/net/application/sequencer.hpp>

#include <cstdint>

namespace exchange {

/// Threads:  One at a time, as everything of its host.
/// Cost:     No allocation. A message is written once for each who is told; users who are told copies are
///           asked one after the other.
class event_router final : public event_receiver {
public:
    /// All is borrowed, and outlives this. `from` may be constructed later.
    event_router(const sequencer& from, participant_table& participants, operator_table& operators,
                 mold_sender& feed, audit_recorder& trail) noexcept
        : from_{from},
          participants_{participants},
          operators_{operators},
          feed_{feed},
          trail_{trail} {}

    void take(const event_batch& batch, const command_origin& origin) noexcept override;

    /// Answers of the core to commands that no client gave.
    [[nodiscard]] std::uint64_t answers() const noexcept { return answers_; }

private:
    void copy(const event_batch& batch) noexcept;
    [[nodiscard]] bool is_told(const participant& whose, session_id of) const noexcept;

    const sequencer& from_;
    participant_table& participants_;
    operator_table& operators_;
    mold_sender& feed_;
    audit_recorder& trail_;
    std::uint64_t answers_ = 0;
};

}  // namespace exchange
