// SPDX-License-Identifier: BSL-1.0
#include <gyre/web/static_files.hpp>

#include <gyre/http/fields.hpp>

#include <array>
#include <utility>

namespace gyre::web {

std::string_view content_type_of(std::string_view name) noexcept {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 41> known{{
        {"html", "text/html; charset=utf-8"},
        {"htm", "text/html; charset=utf-8"},
        {"css", "text/css; charset=utf-8"},
        {"js", "text/javascript; charset=utf-8"},
        {"mjs", "text/javascript; charset=utf-8"},
        {"json", "application/json"},
        {"map", "application/json"},
        {"txt", "text/plain; charset=utf-8"},
        {"md", "text/markdown; charset=utf-8"},
        {"csv", "text/csv; charset=utf-8"},
        {"xml", "application/xml"},
        {"webmanifest", "application/manifest+json"},
        {"wasm", "application/wasm"},
        {"pdf", "application/pdf"},
        {"svg", "image/svg+xml"},
        {"png", "image/png"},
        {"jpg", "image/jpeg"},
        {"jpeg", "image/jpeg"},
        {"gif", "image/gif"},
        {"webp", "image/webp"},
        {"avif", "image/avif"},
        {"ico", "image/vnd.microsoft.icon"},
        {"bmp", "image/bmp"},
        {"woff", "font/woff"},
        {"woff2", "font/woff2"},
        {"ttf", "font/ttf"},
        {"otf", "font/otf"},
        {"mp3", "audio/mpeg"},
        {"ogg", "audio/ogg"},
        {"opus", "audio/ogg"},
        {"wav", "audio/wav"},
        {"flac", "audio/flac"},
        {"mp4", "video/mp4"},
        {"webm", "video/webm"},
        {"mov", "video/quicktime"},
        {"zip", "application/zip"},
        {"gz", "application/gzip"},
        {"zst", "application/zstd"},
        {"tar", "application/x-tar"},
        {"ics", "text/calendar; charset=utf-8"},
        {"rtf", "application/rtf"},
    }};
    const std::size_t dot = name.rfind('.');
    if (dot != std::string_view::npos) {
        const std::string_view ending = name.substr(dot + 1);
        for (const auto& [text, type] : known) {
            if (http::equal_without_case(ending, text)) return type;
        }
    }
    return "application/octet-stream";
}

}  // namespace gyre::web
