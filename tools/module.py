#!/usr/bin/python3
# SPDX-License-Identifier: BSL-1.0
"""modules/*.cppm, which export what the reference lists: `gyre` the core, `gyre.http` that component.

A module includes the public headers and exports their names; it declares nothing of its own. Operators at
namespace scope are exported, too. No module has the adapter to Asio, whose headers it would compile in.

    tools/module.py [--root DIR] [--fix]            --fix writes the modules
"""

import sys
from pathlib import Path

from headers import declarations, is_stale, run
from reference import public_names

FOLDER = "modules"
CORE = ("base", "coro", "sync", "runtime", "stream", "io")
COMPONENTS = ("interop", "tls", "http", "http2", "websocket", "web", "test")
NOT_IN_MODULES = "interop/asio"
# A program that waits without a header of its own needs these: its compiler looks them up by name.
OF_STD = ("coroutine_handle", "coroutine_traits", "suspend_always", "suspend_never")


def module_text(module: str, headers: list[str], exported: dict[str, dict[str, None]]) -> str:
    lines = ["// SPDX-License-Identifier: BSL-1.0", "//",
             "// Written by tools/module.py --fix: what the reference lists.", "module;"]
    lines += [f"#include <gyre/{header}.hpp>" for header in headers]
    lines += ["", f"export module {module};"]
    if module != "gyre":
        lines.append("import gyre;")
    for namespace, names in exported.items():
        lines += ["", f"export namespace {namespace} {{", *(f"using {namespace}::{name};" for name in names),
                  f"}}  // namespace {namespace}"]
    return "\n".join(lines) + "\n"


def modules_of(root: Path) -> tuple[dict[str, str], int]:
    """Text by file name, and how many names they export."""
    names = [name for name in public_names(root) if not name.header.startswith(NOT_IN_MODULES)]
    operators = [each for each in declarations(root) if each.kind == "operator"]
    files: dict[str, str] = {}
    for module, layers in {"gyre": CORE, **{f"gyre.{each}": (each,) for each in COMPONENTS}}.items():
        own = [name for name in names if name.layer in layers]
        headers = list(dict.fromkeys(name.header for name in own))
        exported: dict[str, dict[str, None]] = {"std": dict.fromkeys(OF_STD)} if module == "gyre" else {}
        for each in (*own, *(each for each in operators if each.header in headers)):
            exported.setdefault(each.namespace, {})[each.name] = None
        if own:
            files[f"{module}.cppm"] = module_text(module, headers, exported)
    return files, len(names)


def check(root: Path, fix: bool) -> tuple[list[str], str]:
    files, exported = modules_of(root)
    folder = root / FOLDER
    stale = [name for name, text in files.items() if is_stale(folder / name, text, fix)]
    for path in folder.glob("*.cppm"):
        if path.name not in files and fix:
            path.unlink()
        elif path.name not in files:
            stale.append(path.name)
    return ([f"{FOLDER}/{name}: not what the reference lists; --fix writes it" for name in stale],
            f"modules: {len(files)} with {exported} names")


if __name__ == "__main__":
    sys.exit(run(check, __doc__.splitlines()[0], sys.argv[1:]))
