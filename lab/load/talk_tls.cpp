// SPDX-License-Identifier: BSL-1.0
//
// Clients of TLS, on OpenSSL's own functions and memory, so that no library that is measured is both ends.
// Profiles: `full`, a connection and a handshake for each exchange; `resumed`, the same with a session of
// before; `bulk`, many exchanges on connections that stay. servers/web.hpp says what is asked.
//
// All servers get the same choice: TLS 1.3, AES with 128 bits, X25519. That a session was resumed, or was
// not, is looked at.
#include <lab/load/talk.hpp>

#include <lab/kit/fail.hpp>
#include <lab/servers/web.hpp>

#include <openssl/ssl.h>

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace lab {
namespace {

constexpr std::size_t space_bytes = 64 * 1024;

template <auto function>
struct with {
    template <class T>
    void operator()(T* it) const noexcept {
        function(it);
    }
};
using owned_settings = std::unique_ptr<SSL_CTX, with<SSL_CTX_free>>;
using owned_connection = std::unique_ptr<SSL, with<SSL_free>>;
using owned_session = std::unique_ptr<SSL_SESSION, with<SSL_SESSION_free>>;

class client {
public:
    explicit client(SSL_CTX* settings) : settings_{settings}, on_{space_bytes} {}

    gyre::task<> open(const gyre::endpoint& server, bool resumes) {
        co_await on_.connect(server);
        tls_.reset(SSL_new(settings_));
        input_ = BIO_new(BIO_s_mem());
        output_ = BIO_new(BIO_s_mem());
        SSL_set_bio(tls_.get(), input_, output_);  // Which owns them now.
        const bool asks = resumes && session_ != nullptr;
        if (asks) SSL_set_session(tls_.get(), session_.get());
        for (;;) {
            const int done = SSL_connect(tls_.get());
            co_await flush();
            if (done == 1) break;
            require(SSL_get_error(tls_.get(), done) == SSL_ERROR_WANT_READ,
                    "load: a handshake failed");
            static_cast<void>(co_await fill(false));
        }
        require((SSL_session_reused(tls_.get()) == 1) == asks,
                asks ? "load: a session was not resumed" : "load: a session was resumed");
    }

    gyre::task<> ask(const std::string& request) {
        require(SSL_write(tls_.get(), request.data(), static_cast<int>(request.size())) > 0,
                "load: SSL_write");
        co_await flush();
    }

    // Fails unless the answer has this content.
    gyre::task<> expect(const std::string& content) {
        std::string head;
        answer_head of;
        while (of.length == 0) {
            const std::string_view part = co_await receive();
            head += part;
            of = head_of(head);
        }
        require(of.status == 200 && of.content_length == content.size(), "load: another answer");
        std::string_view rest{content};
        compare(rest, std::string_view{head}.substr(of.length));
        while (!rest.empty()) {
            const std::string_view part = co_await receive();
            compare(rest, part);
        }
    }

    // After the last answer. The session for the next time has come with it.
    gyre::task<> end(bool keeps_session) {
        if (keeps_session) session_.reset(SSL_get1_session(tls_.get()));
        while (SSL_read(tls_.get(), plain_.data(), 1) <= 0 &&
               (SSL_get_shutdown(tls_.get()) & SSL_RECEIVED_SHUTDOWN) == 0) {
            const bool more = co_await fill(true);
            if (!more) break;
        }
        SSL_shutdown(tls_.get());
        tls_.reset();
        on_.close();
    }

private:
    static void compare(std::string_view& rest, std::string_view part) {
        require(rest.substr(0, part.size()) == part, "load: an answer is wrong");
        rest.remove_prefix(part.size());
    }

    // Until the next call.
    gyre::task<std::string_view> receive() {
        for (;;) {
            const int size = SSL_read(tls_.get(), plain_.data(), static_cast<int>(plain_.size()));
            if (size > 0) co_return std::string_view{plain_.data(), static_cast<std::size_t>(size)};
            require(SSL_get_error(tls_.get(), size) == SSL_ERROR_WANT_READ, "load: SSL_read");
            static_cast<void>(co_await fill(false));
        }
    }

    gyre::task<> flush() {
        char* from = nullptr;
        const long size = BIO_get_mem_data(output_, &from);
        if (size <= 0) co_return;
        co_await on_.send({from, static_cast<std::size_t>(size)});
        static_cast<void>(BIO_reset(output_));
    }

    gyre::task<bool> fill(bool may_end) {
        const bool more = co_await on_.receive(may_end);
        if (!more) co_return false;
        const std::string_view arrived = on_.unread();
        require(BIO_write(input_, arrived.data(), static_cast<int>(arrived.size())) ==
                    static_cast<int>(arrived.size()),
                "load: BIO_write");
        on_.use(arrived.size());
        co_return true;
    }

    SSL_CTX* settings_;
    wire on_;
    owned_connection tls_;
    owned_session session_;
    BIO* input_ = nullptr;   // Of `tls_`.
    BIO* output_ = nullptr;  // The same.
    std::array<char, 16 * 1024> plain_{};
};

class tls_talk final : public talk {
public:
    tls_talk(const talk_case& what, const gyre::endpoint& server)
        : what_{what}, server_{server}, settings_{SSL_CTX_new(TLS_client_method())} {
        require(settings_ != nullptr, "load: SSL_CTX_new");
        SSL_CTX* const of = settings_.get();
        require(SSL_CTX_set_min_proto_version(of, TLS1_3_VERSION) == 1 &&
                    SSL_CTX_set_ciphersuites(of, "TLS_AES_128_GCM_SHA256") == 1 &&
                    SSL_CTX_set1_groups_list(of, "X25519") == 1,
                "load: settings of TLS");
        SSL_CTX_set_verify(of, SSL_VERIFY_NONE, nullptr);  // The certificate is the run's own.
        SSL_CTX_set_session_cache_mode(of, SSL_SESS_CACHE_OFF);
        const bool known =
            what.profile == "full" || what.profile == "resumed" || what.profile == "bulk";
        require(known, "load: no such profile");
        for (std::size_t i = 0; i < what.connections; ++i) {
            clients_.push_back(std::make_unique<client>(of));
        }
        content_ = servers::content_of(what.bytes);
        const bool closes = what.profile != "bulk";
        request_ = "GET /bytes/" + std::to_string(what.bytes) + " HTTP/1.1\r\nHost: 127.0.0.1\r\n" +
                   (closes ? "Connection: close\r\n\r\n" : "\r\n");
    }

    gyre::task<> open() override {
        if (what_.profile == "full") co_return;
        for (const auto& each : clients_) {
            co_await each->open(server_, false);
            if (what_.profile == "bulk") continue;
            co_await exchange(*each);
            co_await each->end(true);
        }
    }

    gyre::task<> play(phase& during) override {
        std::vector<gyre::task<>> all;
        for (const auto& each : clients_) {
            all.push_back(what_.profile == "bulk" ? asks(*each, during)
                                                  : shakes_hands(*each, during));
        }
        static_cast<void>(co_await gyre::when_all(std::move(all)));
    }

private:
    gyre::task<> exchange(client& with) {
        co_await with.ask(request_);
        co_await with.expect(content_);
    }

    gyre::task<> asks(client& with, phase& during) {
        while (!during.over()) {
            const auto since = phase::clock::now();
            co_await exchange(with);
            during.note(1, content_.size(), since);
        }
    }

    gyre::task<> shakes_hands(client& with, phase& during) {
        const bool resumes = what_.profile == "resumed";
        while (!during.over()) {
            const auto since = phase::clock::now();
            co_await with.open(server_, resumes);
            during.note_connection();
            co_await exchange(with);
            co_await with.end(resumes);
            during.note(1, content_.size(), since);
        }
    }

    const talk_case what_;
    const gyre::endpoint server_;
    const owned_settings settings_;
    std::vector<std::unique_ptr<client>> clients_;
    std::string content_;
    std::string request_;
};

}  // namespace

std::unique_ptr<talk> talk_tls(const talk_case& what, gyre::endpoint server) {
    return std::make_unique<tls_talk>(what, server);
}

}  // namespace lab
