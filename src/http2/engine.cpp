// SPDX-License-Identifier: BSL-1.0
#include <http2/engine.hpp>

#include <gyre/base/check.hpp>

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <array>
#include <span>
#include <utility>
#include <vector>

namespace gyre::http2 {
namespace {

// RFC 9113, 6.9.2.
constexpr std::uint32_t window_first = 65'535;
constexpr std::size_t field_overhead = 32;
constexpr int stop_here = NGHTTP2_ERR_CALLBACK_FAILURE;
constexpr int stop_stream = NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;

error_code code_of(std::uint32_t number) noexcept { return static_cast<error_code>(number); }

std::string_view text_of(const std::uint8_t* text, std::size_t size) noexcept {
    return {reinterpret_cast<const char*>(text), size};
}

std::string_view text_of(nghttp2_rcbuf* text) noexcept {
    const nghttp2_vec at = nghttp2_rcbuf_get_buf(text);
    return text_of(at.base, at.len);
}

breach breach_of(std::uint32_t code) noexcept {
    switch (code_of(code)) {
        case error_code::none: return breach::none;
        case error_code::compression: return breach::compression;
        case error_code::flow_control: return breach::flow_control;
        case error_code::frame_size: return breach::frame_size;
        default: return breach::protocol;
    }
}

// Codes of resets that only the engine sends, for what the peer has done on a stream.
bool blames_peer(std::uint32_t code) noexcept {
    switch (code_of(code)) {
        case error_code::protocol:
        case error_code::flow_control:
        case error_code::frame_size:
        case error_code::stream_closed: return true;
        default: return false;
    }
}

}  // namespace

struct engine::field_list {
    std::vector<nghttp2_nv> all;
};

// What nghttp2 calls. Nothing throws through it: the events are noexcept.
struct engine::callbacks {
    static engine& of(void* user) noexcept { return *static_cast<engine*>(user); }
    static engine_stream* stream(nghttp2_session* in, std::int32_t id) noexcept {
        return static_cast<engine_stream*>(nghttp2_session_get_stream_user_data(in, id));
    }
    static int outcome(engine& it, breach why) noexcept { return it.note(why) ? stop_here : 0; }

    // RFC 9113, 5.1.1: numbers only grow. nghttp2 drops a head whose number was passed over, as if its stream
    // had been closed.
    static int begin_frame(nghttp2_session* in, const nghttp2_frame_hd* head, void* user) noexcept {
        engine& it = of(user);
        if (it.options_.we == role::client || head->type != NGHTTP2_HEADERS) return 0;
        const std::int32_t id = head->stream_id;
        std::int32_t& place = it.begun_[it.begun_count_ % it.begun_.size()];
        if (id > it.begun_last_) {
            it.begun_last_ = place = id;
            ++it.begun_count_;
            return 0;
        }
        const bool remembered = id > place && std::ranges::find(it.begun_, id) == it.begun_.end();
        const bool known = nghttp2_session_find_stream(in, id) != nullptr;
        return outcome(it, remembered && !known ? breach::protocol : breach::none);
    }

    // A field block begins. RFC 9113, 8.1: a request, a response or trailers.
    static int begin_headers(nghttp2_session* in, const nghttp2_frame* frame, void* user) noexcept {
        engine& it = of(user);
        engine_stream* on = stream(in, frame->hd.stream_id);
        if (frame->headers.cat == NGHTTP2_HCAT_REQUEST) {
            ++it.streams_;
            it.guard_.request_opened();
            on = it.events_.opens(frame->hd.stream_id);
            if (on == nullptr) {
                // RFC 9113, 5.1.2 and 8.7: refused, so it may be sent again.
                nghttp2_submit_rst_stream(in, NGHTTP2_FLAG_NONE, frame->hd.stream_id,
                                          NGHTTP2_REFUSED_STREAM);
                return stop_stream;
            }
            on->id = frame->hd.stream_id;
            on->known = true;
            nghttp2_session_set_stream_user_data(in, on->id, on);
        }
        if (on != nullptr) {
            on->head_bytes = on->field_count = 0;
            on->head_too_large = false;
        }
        return 0;
    }

    static int header(nghttp2_session* in, const nghttp2_frame* frame, nghttp2_rcbuf* name_of_it,
                      nghttp2_rcbuf* value_of_it, std::uint8_t, void* user) noexcept {
        engine& it = of(user);
        engine_stream* const on = stream(in, frame->hd.stream_id);
        if (on == nullptr) return 0;
        const std::string_view name = text_of(name_of_it);
        const std::string_view value = text_of(value_of_it);
        on->head_bytes += name.size() + value.size() + field_overhead;
        ++on->field_count;
        const std::size_t allowed = it.options_.head_bytes_max;
        if (on->head_bytes > allowed || on->field_count > it.options_.fields_max) {
            on->head_too_large = true;
            // A few bytes of HPACK stand for thousands: far too much is not worth its decoding.
            return outcome(it, on->head_bytes > 8 * allowed ? breach::head_size : breach::none);
        }
        it.events_.field(*on, name, value);
        return 0;
    }

    // RFC 9113, 8.2.1: malformed, not merely ignored.
    static int invalid_header(nghttp2_session* in, const nghttp2_frame* frame, nghttp2_rcbuf*,
                              nghttp2_rcbuf*, std::uint8_t, void*) noexcept {
        nghttp2_submit_rst_stream(in, NGHTTP2_FLAG_NONE, frame->hd.stream_id,
                                  NGHTTP2_PROTOCOL_ERROR);
        return stop_stream;
    }

    static int frame_came(nghttp2_session* in, const nghttp2_frame* frame, void* user) noexcept {
        engine& it = of(user);
        const bool acknowledges = (frame->hd.flags & NGHTTP2_FLAG_ACK) != 0;
        const bool last = (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
        switch (frame->hd.type) {
            case NGHTTP2_HEADERS: {
                engine_stream* const on = stream(in, frame->hd.stream_id);
                if (on == nullptr) break;
                it.events_.head_ends(*on, last);
                break;
            }
            case NGHTTP2_DATA: {
                const bool hollow = std::exchange(it.data_bytes_, 0) == 0;
                if (!last && hollow && frame->hd.length > 0) {
                    return outcome(it, it.guard_.hollow_frame(it.now_));
                }
                engine_stream* const on = stream(in, frame->hd.stream_id);
                if (on != nullptr && last) it.events_.body_ends(*on);
                break;
            }
            case NGHTTP2_SETTINGS:
                if (acknowledges) {
                    it.settings_until_ = never;
                    break;
                }
                if (!std::exchange(it.settings_came_, true)) {
                    it.preface_until_ = never;
                    it.await_acknowledgement();
                }
                it.events_.settings_came();
                break;
            case NGHTTP2_PING:
                if (acknowledges) it.events_.pong_came();
                break;
            case NGHTTP2_GOAWAY:
                it.events_.goaway_came(code_of(frame->goaway.error_code),
                                       frame->goaway.last_stream_id);
                break;
            default: break;
        }
        return 0;
    }

    static int data(nghttp2_session* in, std::uint8_t, std::int32_t id, const std::uint8_t* bytes,
                    std::size_t size, void* user) noexcept {
        engine& it = of(user);
        it.data_bytes_ += size;
        engine_stream* const on = stream(in, id);
        if (on == nullptr) {
            nghttp2_session_consume(in, id, size);
            return 0;
        }
        it.events_.data(*on, bytes_of(text_of(bytes, size)));
        return 0;
    }

    static int frame_sent(nghttp2_session* in, const nghttp2_frame* frame, void* user) noexcept {
        engine& it = of(user);
        switch (frame->hd.type) {
            case NGHTTP2_DATA: it.guard_.data_sent(); break;
            case NGHTTP2_HEADERS:
                if (engine_stream* const on = stream(in, frame->hd.stream_id)) on->head_sent = true;
                break;
            case NGHTTP2_SETTINGS:
                if ((frame->hd.flags & NGHTTP2_FLAG_ACK) == 0) {
                    it.settings_sent_ = true;
                    it.await_acknowledgement();
                }
                break;
            case NGHTTP2_RST_STREAM:
                if (engine_stream* const on = stream(in, frame->hd.stream_id)) {
                    on->reset_sent = true;
                }
                // A peer can make us open and reset streams by its errors alone.
                if (blames_peer(frame->rst_stream.error_code)) {
                    static_cast<void>(it.note(it.guard_.stream_error(it.now_)));
                } else if (frame->rst_stream.error_code == NGHTTP2_REFUSED_STREAM) {
                    static_cast<void>(it.note(it.guard_.refused_stream(it.now_)));
                }
                break;
            case NGHTTP2_GOAWAY:
                static_cast<void>(it.note(breach_of(frame->goaway.error_code)));
                break;
            default: break;
        }
        return 0;
    }

    static int stream_close(nghttp2_session* in, std::int32_t id, std::uint32_t code,
                            void* user) noexcept {
        engine& it = of(user);
        if (it.streams_ > 0) --it.streams_;
        engine_stream* const on = stream(in, id);
        if (on != nullptr) {
            nghttp2_session_set_stream_user_data(in, id, nullptr);
            on->known = false;
            it.events_.closes(*on, code_of(code));
        }
        it.events_.stream_gone();
        return 0;
    }

    static ssize_t read(nghttp2_session* in, std::int32_t id, std::uint8_t* into, std::size_t size,
                        std::uint32_t* flags, nghttp2_data_source*, void* user) noexcept {
        engine_stream* const on = stream(in, id);
        if (on == nullptr) return NGHTTP2_ERR_DEFERRED;  // Forgotten: its reset is on its way.
        const pulled got =
            of(user).events_.pull(*on, std::as_writable_bytes(std::span{into, size}));
        switch (got.then) {
            case pulled::state::more: break;
            case pulled::state::end: *flags |= NGHTTP2_DATA_FLAG_EOF; break;
            case pulled::state::end_with_trailers:
                *flags |= NGHTTP2_DATA_FLAG_EOF | NGHTTP2_DATA_FLAG_NO_END_STREAM;
                break;
            case pulled::state::later: return NGHTTP2_ERR_DEFERRED;
        }
        return static_cast<ssize_t>(got.bytes);
    }
};

engine::engine(const engine_options& options, engine_events& to) noexcept
    : options_{options},
      events_{to},
      memory_{options.memory_max},
      guard_{options.floods, options.head_bytes_max},
      scanner_{options.we == role::server},
      fields_{std::make_unique<field_list>()} {
    const bool serves = options.we == role::server;
    nghttp2_session_callbacks* calls = nullptr;
    nghttp2_option* how = nullptr;
    expects(nghttp2_session_callbacks_new(&calls) == 0 && nghttp2_option_new(&how) == 0,
            "there is memory for a connection");
    nghttp2_session_callbacks_set_on_begin_frame_callback(calls, &callbacks::begin_frame);
    nghttp2_session_callbacks_set_on_begin_headers_callback(calls, &callbacks::begin_headers);
    nghttp2_session_callbacks_set_on_header_callback2(calls, &callbacks::header);
    nghttp2_session_callbacks_set_on_invalid_header_callback2(calls, &callbacks::invalid_header);
    nghttp2_session_callbacks_set_on_frame_recv_callback(calls, &callbacks::frame_came);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(calls, &callbacks::data);
    nghttp2_session_callbacks_set_on_frame_send_callback(calls, &callbacks::frame_sent);
    nghttp2_session_callbacks_set_on_stream_close_callback(calls, &callbacks::stream_close);

    nghttp2_option_set_no_auto_window_update(how, 1);
    nghttp2_option_set_max_outbound_ack(how, options.floods.queued_frames_max);
    nghttp2_option_set_max_settings(how, options.floods.settings_per_frame_max);
    // The guard counts them. nghttp2 counts each piece in which the head of one comes.
    nghttp2_option_set_max_continuations(how, SIZE_MAX);
    constexpr std::uint64_t unlimited = std::uint64_t{1} << 40;
    nghttp2_option_set_stream_reset_rate_limit(how, unlimited, unlimited);

    nghttp2_mem memory{&memory_, &engine_memory::allocate, &engine_memory::release,
                       &engine_memory::allocate_zeros, &engine_memory::reallocate};
    const int made = serves ? nghttp2_session_server_new3(&session_, calls, this, how, &memory)
                            : nghttp2_session_client_new3(&session_, calls, this, how, &memory);
    nghttp2_option_del(how);
    nghttp2_session_callbacks_del(calls);
    expects(made == 0, "the memory of a connection is enough to begin with");

    // Closed streams stay known for a while, as many as may be open: what comes on them is an error then.
    // That nghttp2 does so hangs on the priorities of RFC 7540, which are therefore not turned off.
    std::array<nghttp2_settings_entry, 4> settings{};
    std::size_t count = 0;
    settings[count++] = {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, options.windows.stream_bytes};
    settings[count++] = {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE,
                         static_cast<std::uint32_t>(options.head_bytes_max)};
    // RFC 9113, 8.4: no caller asks for what a server pushes.
    settings[count++] = {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, serves ? options.streams_max : 0};
    if (!serves) settings[count++] = {NGHTTP2_SETTINGS_ENABLE_PUSH, 0};
    check(nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings.data(), count));
    if (options.windows.connection_bytes > window_first) {
        check(nghttp2_session_set_local_window_size(
            session_, NGHTTP2_FLAG_NONE, 0,
            static_cast<std::int32_t>(options.windows.connection_bytes)));
    }
}

engine::~engine() { nghttp2_session_del(session_); }

void engine::begin(time_point now) noexcept {
    now_ = now;
    // RFC 9113, 3.4: SETTINGS are the first frame.
    preface_until_ = deadline_after(now, options_.times.head_max);
}

// RFC 9113, 6.5.3. A peer that has not begun to speak is waited for as that.
void engine::await_acknowledgement() noexcept {
    if (!settings_sent_ || !settings_came_) return;
    settings_until_ = deadline_after(now_, options_.times.settings_max);
}

bool engine::note(breach why) noexcept {
    if (why == breach::none) return false;
    if (why_ == breach::none) why_ = why;
    return true;
}

// What nghttp2 returned.
void engine::check(long result) noexcept {
    if (result >= 0) return;
    switch (result) {
        case NGHTTP2_ERR_NOMEM: static_cast<void>(note(breach::memory)); break;
        case NGHTTP2_ERR_BAD_CLIENT_MAGIC: static_cast<void>(note(breach::preface)); break;
        case NGHTTP2_ERR_FLOODED: static_cast<void>(note(breach::output_queue)); break;
        case NGHTTP2_ERR_TOO_MANY_CONTINUATIONS:
            static_cast<void>(note(breach::continuations));
            break;
        default: static_cast<void>(note(breach::protocol)); break;
    }
}

// Judges the frames that begin in `bytes`, and notes when a field block has to end.
void engine::scan(const_buffer bytes) noexcept {
    frame_head head;
    bool block = in_head_;
    while (scanner_.next(bytes, head)) {
        block = head.type == NGHTTP2_HEADERS || head.type == NGHTTP2_CONTINUATION;
        if (note(guard_.frame(head.type, head.flags, head.length, now_))) return;
    }
    if (scanner_.is_foreign()) static_cast<void>(note(breach::preface));
    in_head_ = block && !scanner_.between_frames();
    if (!in_head_ && !guard_.in_block()) block_until_ = never;
    else if (block_until_ == never) {
        block_until_ = deadline_after(now_, options_.times.head_max);
    }
}

void engine::receive(const_buffer bytes, time_point now) noexcept {
    now_ = now;
    if (why_ != breach::none) return;
    scan(bytes);
    if (why_ != breach::none) return give_up(why_);
    const ssize_t taken = nghttp2_session_mem_recv(
        session_, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    check(taken);
    if (nghttp2_session_get_outbound_queue_size(session_) > options_.floods.queued_frames_max) {
        static_cast<void>(note(breach::output_queue));
    }
    if (why_ != breach::none) give_up(why_);
}

bool engine::produce(std::string& to, std::size_t bytes_max, time_point now) noexcept {
    now_ = now;
    bool any = false;
    while (to.size() < bytes_max) {
        const std::uint8_t* bytes = nullptr;
        const ssize_t size = nghttp2_session_mem_send(session_, &bytes);
        if (size < 0) {
            check(size);
            break;
        }
        if (size == 0) break;
        to.append(text_of(bytes, static_cast<std::size_t>(size)));
        any = true;
    }
    if (why_ != breach::none) give_up(why_);
    return any;
}

// RFC 9113, 5.4.1.
void engine::give_up(breach why) noexcept {
    static_cast<void>(note(why));
    if (gave_up_) return;
    gave_up_ = true;
    nghttp2_session_terminate_session(session_, static_cast<std::uint32_t>(code_for(why_)));
}

time_point engine::deadline() const noexcept {
    return std::min({preface_until_, block_until_, settings_until_});
}

void engine::expire(time_point now) noexcept {
    now_ = now;
    if (now >= preface_until_ || now >= block_until_) give_up(breach::head_too_slow);
    else if (now >= settings_until_) give_up(breach::settings_too_slow);
}

bool engine::is_held_by_peer(const engine_stream& it) const noexcept {
    return nghttp2_session_get_remote_window_size(session_) <= 0 ||
           nghttp2_session_get_stream_remote_window_size(session_, it.id) <= 0;
}

bool engine::wants_write() const noexcept { return nghttp2_session_want_write(session_) != 0; }

std::uint32_t engine::peers_streams_max() const noexcept {
    return nghttp2_session_get_remote_settings(session_, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS);
}

void engine::add(std::string_view name, std::string_view value) noexcept {
    nghttp2_nv it{};
    // nghttp2 copies both, and makes the name lower-case.
    it.name = const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(name.data()));
    it.namelen = name.size();
    it.value = const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(value.data()));
    it.valuelen = value.size();
    it.flags = NGHTTP2_NV_FLAG_NONE;
    // RFC 7541, 7.1.3: what is secret is not worth a place in a table that others' texts are compared with.
    if (name == "authorization" || name == "set-cookie" || name == "cookie") {
        it.flags = NGHTTP2_NV_FLAG_NO_INDEX;
    }
    fields_->all.push_back(it);
}

void engine::send_response(engine_stream& on, bool last) noexcept {
    nghttp2_data_provider body{{.ptr = nullptr}, &callbacks::read};
    check(nghttp2_submit_response(session_, on.id, fields_->all.data(), fields_->all.size(),
                                  last ? nullptr : &body));
    fields_->all.clear();
}

void engine::send_interim(engine_stream& on) noexcept {
    check(nghttp2_submit_headers(session_, NGHTTP2_FLAG_NONE, on.id, nullptr, fields_->all.data(),
                                 fields_->all.size(), nullptr));
    fields_->all.clear();
}

void engine::send_trailers(engine_stream& on) noexcept {
    check(nghttp2_submit_trailer(session_, on.id, fields_->all.data(), fields_->all.size()));
    fields_->all.clear();
}

bool engine::send_request(engine_stream& on, bool last) noexcept {
    nghttp2_data_provider body{{.ptr = nullptr}, &callbacks::read};
    const std::int32_t id = nghttp2_submit_request(
        session_, nullptr, fields_->all.data(), fields_->all.size(), last ? nullptr : &body, &on);
    fields_->all.clear();
    if (id < 0) {
        if (id == NGHTTP2_ERR_NOMEM) check(id);
        return false;
    }
    on.id = id;
    on.known = true;
    ++streams_;
    guard_.request_done();
    return true;
}

void engine::resume(engine_stream& on) noexcept {
    if (on.known) nghttp2_session_resume_data(session_, on.id);
}

void engine::reset(engine_stream& on, error_code code) noexcept {
    if (!on.known) return;
    nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, on.id, static_cast<std::uint32_t>(code));
}

void engine::consume(std::int32_t id, std::size_t bytes) noexcept {
    check(nghttp2_session_consume(session_, id, bytes));
}

void engine::consume_for_connection(std::size_t bytes) noexcept {
    if (bytes > 0) check(nghttp2_session_consume_connection(session_, bytes));
}

void engine::forget(engine_stream& on) noexcept {
    if (!on.known) return;
    on.known = false;
    nghttp2_session_set_stream_user_data(session_, on.id, nullptr);
}

void engine::ping() noexcept { nghttp2_submit_ping(session_, NGHTTP2_FLAG_NONE, nullptr); }

// RFC 9113, 6.8.
void engine::announce_goaway() noexcept {
    nghttp2_submit_shutdown_notice(session_);
    ping();
}

void engine::goaway(error_code code) noexcept {
    nghttp2_submit_goaway(session_, NGHTTP2_FLAG_NONE,
                          nghttp2_session_get_last_proc_stream_id(session_),
                          static_cast<std::uint32_t>(code), nullptr, 0);
}

}  // namespace gyre::http2
