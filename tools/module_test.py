# SPDX-License-Identifier: BSL-1.0
"""Tests of module.py: a small project, right, and wrong in one way each."""

import module
import pytest

FILE = """\
namespace gyre {

/// An open file.
class file {};

/// Both.
[[nodiscard]] constexpr file operator|(file left, file right) noexcept;

}  // namespace gyre
"""
HTTP = """\
namespace gyre::http {

/// A request.
class request {
    /// A friend is found by its arguments.
    friend bool operator==(const request&, const request&) = default;
};

}  // namespace gyre::http
"""


@pytest.fixture
def project(tmp_path):
    files = {
        "include/gyre/io/file.hpp": FILE,
        "include/gyre/http/request.hpp": HTTP,
        "include/gyre/interop/asio.hpp": FILE.replace("file", "asio_guest"),
        "tools/not_public.toml": "",
    }
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    return tmp_path


def test_the_core_and_each_component_are_modules(project):
    files, names = module.modules_of(project)
    assert (sorted(files), names) == (["gyre.cppm", "gyre.http.cppm"], 2)
    core, http = files["gyre.cppm"], files["gyre.http.cppm"]
    assert "#include <gyre/io/file.hpp>\n\nexport module gyre;\n" in core
    assert "export namespace gyre {\nusing gyre::file;\nusing gyre::operator|;\n}  // namespace gyre" in core
    assert "using std::coroutine_traits;" in core
    assert "export module gyre.http;\nimport gyre;\n" in http
    assert "using gyre::http::request;" in http
    assert "operator" not in http and "std" not in http
    assert not any("asio" in text for text in files.values())


def test_what_is_stored_is_compared_and_written(project):
    assert len(module.check(project, fix=False)[0]) == 2
    assert module.check(project, fix=True)[0] == []
    assert module.check(project, fix=False)[0] == []

    renamed = FILE.replace("file ", "log ")
    (project / "include/gyre/io/file.hpp").write_text(renamed, encoding="utf-8")
    (project / "modules/gyre.gone.cppm").write_text("", encoding="utf-8")
    assert module.check(project, fix=False)[0] == [
        "modules/gyre.cppm: not what the reference lists; --fix writes it",
        "modules/gyre.gone.cppm: not what the reference lists; --fix writes it",
    ]
    assert module.check(project, fix=True)[0] == []
    assert not (project / "modules/gyre.gone.cppm").exists()

