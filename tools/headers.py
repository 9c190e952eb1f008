# SPDX-License-Identifier: BSL-1.0
"""Declarations of the public headers, read by libclang: for tools/reference.py, module.py and inventory.py.

One reading takes seconds, so it is kept in build/headers.json until a header changes. Parameters, members and
aliases have the text of the header, without attributes and macros. Results have clang's text, because a body
may decide them.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import re
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path

KEPT = "build/headers.json"
NOISE = re.compile(r"\[\[.*?\]\]|GYRE_\w+(?:\([^)]*\))?|/\*.*?\*/|//[^\n]*", re.DOTALL)
# Of results: what says nothing, or what a comment says better.
NOT_SHOWN = re.compile(r"|void|auto( &)?|decltype\(auto\)|result(_type)?|.*\b(branch_result|guard_of)\b.*")
VALUE_CHARACTERS_MAX = 110
NOT_AWAITED = ("task", "generator")  # "A task is awaited too": no word of each.
OF_STD = {"unique_ptr": "move-only", "thread": "move-only", "atomic": "immovable", "mutex": "immovable",
          "condition_variable": "immovable", "once_flag": "immovable"}
ACCESS = re.compile(r"(?:public|protected|private):$")
NOT_PROVIDED = re.compile(r"= delete$|\{ static_assert\(sizeof\([^)]*\) == 0")  # For the compiler's message.
WRAPPERS = ("array", "optional", "pair", "tuple", "variant")  # Of std: as what is in them.


@dataclass
class Declaration:
    kind: str  # class, specialization, enumeration, value, concept, alias, constant, member, function, ...
    name: str
    line: int
    code: str = ""  # Of functions: name and parameters.
    comment: list[str] = field(default_factory=list)  # After three slashes; the next line shares it.
    beside: str = ""  # A comment in the last line.
    header: str = ""  # As `io/acceptor`.
    namespace: str = ""
    static: bool = False
    awaited: bool = False
    yields: str = ""  # Of functions: what they return or, if that is awaited, what the await yields.
    given: bool = False  # Of functions: that is decided by an argument.
    overrides: bool = False
    bases: list[str] = field(default_factory=list)
    mobility: str = ""  # Of a class: `move-only`, `immovable`, or nothing.
    members: list[Declaration] = field(default_factory=list)


def declarations(root: Path) -> list[Declaration]:
    """All that include/gyre declares in namespaces, by header and line; of classes their public members."""
    public = root / "include/gyre"
    texts = {path.relative_to(public).with_suffix("").as_posix(): path.read_text(encoding="utf-8")
             for path in sorted(public.rglob("*.hpp"))}
    key = hashlib.sha256(json.dumps([texts, Path(__file__).read_text(encoding="utf-8")]).encode()).hexdigest()
    kept = root / KEPT
    try:
        stored = json.loads(kept.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        stored = {}
    if stored.get("key") != key:
        found = Reader(root, texts).read()
        stored = {"key": key, "found": [asdict(each) for each in found]}
        kept.parent.mkdir(exist_ok=True)
        kept.write_text(json.dumps(stored), encoding="utf-8")
    return [restored(each) for each in stored["found"]]


def restored(values: dict) -> Declaration:
    return Declaration(**{**values, "members": [restored(each) for each in values["members"]]})


def plain(text: str) -> str:
    return " ".join(NOISE.sub(" ", text).split())


class Reader:
    def __init__(self, root: Path, texts: dict[str, str]) -> None:
        try:
            from clang import cindex
        except ImportError:
            sys.exit("headers: libclang is missing: ./dev setup installs python3-clang-19")
        self.kinds = cindex.CursorKind
        self.template_of = cindex.conf.lib.clang_getSpecializedCursorTemplate
        self.texts = texts
        self.lines = {header: text.split("\n") for header, text in texts.items()}
        self.bytes = {header: text.encode() for header, text in texts.items()}
        self.public = root.resolve() / "include/gyre"
        source = "".join(f"#include <gyre/{header}.hpp>\n" for header in texts)
        self.unit = cindex.Index.create().parse(
            "all.cpp", ["-std=c++20", f"-I{root.resolve() / 'include'}"], [("all.cpp", source)])
        errors = [str(each) for each in self.unit.diagnostics if each.severity >= cindex.Diagnostic.Error]
        if errors:
            sys.exit("\n".join(["headers: libclang does not understand them:", *errors[:10]]))
        self.mobilities: dict[str, tuple[str, bool]] = {}

    # -------- Places and text --------

    def header_of(self, cursor) -> str:
        file = cursor.location.file
        path = Path(file.name) if file is not None else None
        inside = path is not None and path.is_relative_to(self.public)
        return path.relative_to(self.public).with_suffix("").as_posix() if inside else ""

    def text(self, cursor, begin: int | None = None) -> str:
        begin = cursor.extent.start.offset if begin is None else begin
        return plain(self.bytes[self.header_of(cursor)][begin : cursor.extent.end.offset].decode())

    def comment_above(self, cursor) -> list[str]:
        header, line, column = self.header_of(cursor), cursor.extent.start.line, cursor.extent.start.column
        found: list[str] = []
        if NOISE.sub("", self.lines[header][line - 1][: column - 1]).strip():
            return found  # Something else is in front of it.
        while (words := self.lines[header][line - 2].strip()).startswith("//") and line > 1:
            found += [words.removeprefix("///")] if words.startswith("///") else []
            line -= 1
        return found[::-1]

    def beside(self, cursor) -> str:
        end = cursor.extent.end
        line = self.lines[self.header_of(cursor)][end.line - 1]
        match = re.search(r"  //+<? *(.+)$", line[end.column - 1 :])
        return match[1] if match is not None else ""

    # -------- Declarations --------

    def read(self) -> list[Declaration]:
        found = []
        for cursor, namespace in self.in_namespaces(self.unit.cursor, ""):
            header = self.header_of(cursor)
            made = self.declaration(cursor) if header else None
            if made is not None:
                made.header, made.namespace = header, namespace
                found.append((header, cursor.extent.start.line, cursor.extent.end.line, made))
        found.sort(key=lambda each: each[:2])
        for before, after in itertools.pairwise(found):
            if before[0] == after[0] and before[2] + 1 == after[1] and not after[3].comment:
                after[3].comment = before[3].comment
        return [each[3] for each in found]

    def in_namespaces(self, cursor, namespace: str):
        for child in cursor.get_children():
            if child.kind == self.kinds.NAMESPACE:
                inner = f"{namespace}::{child.spelling}" if namespace else child.spelling
                inside = self.header_of(child) and child.spelling
                yield from self.in_namespaces(child, inner) if inside else ()
            elif child.kind == self.kinds.LINKAGE_SPEC:
                yield from self.in_namespaces(child, namespace)
            elif namespace:
                yield child, namespace

    def declaration(self, cursor, owner: str = "") -> Declaration | None:
        kinds, kind = self.kinds, cursor.kind
        if kind == kinds.FRIEND_DECL:
            inner = next(cursor.get_children(), None)
            made = self.declaration(inner, owner) if inner is not None else None
            return made if made is not None and made.kind == "operator" else None
        name = cursor.spelling
        name = name if name.startswith("operator") else name.partition("<")[0]
        made = Declaration("", name, cursor.location.line)
        if kind in (kinds.CLASS_DECL, kinds.STRUCT_DECL, kinds.CLASS_TEMPLATE,
                    kinds.CLASS_TEMPLATE_PARTIAL_SPECIALIZATION):
            if not cursor.is_definition() or cursor.semantic_parent != cursor.lexical_parent:
                return None
            template = self.template_of(cursor)
            made.kind = "specialization" if template and template.get_definition() else "class"
            self.read_class(cursor, made)
        elif kind == kinds.ENUM_DECL:
            made.kind = "enumeration"
            made.members = self.values(cursor)
        elif kind == kinds.CONCEPT_DECL:
            made.kind = "concept"
        elif kind in (kinds.TYPE_ALIAS_DECL, kinds.TYPE_ALIAS_TEMPLATE_DECL):
            made.kind = "alias"
            made.code = plain(self.text(cursor).partition("using ")[2])
        elif kind in (kinds.VAR_DECL, kinds.UNEXPOSED_DECL, kinds.FIELD_DECL):
            if not name or (kind != kinds.FIELD_DECL and "constexpr" not in self.text(cursor)):
                return None
            made.kind = "member" if kind == kinds.FIELD_DECL else "constant"
            made.code = re.sub(r"^(?:(?:static|inline|constexpr|mutable) )+", "", self.text(cursor))
            if len(made.code) > VALUE_CHARACTERS_MAX:
                made.code = re.split(r" = |\{", made.code)[0]
        elif kind in (kinds.FUNCTION_DECL, kinds.FUNCTION_TEMPLATE, kinds.CXX_METHOD, kinds.CONSTRUCTOR,
                      kinds.CONVERSION_FUNCTION):
            if cursor.semantic_parent.spelling != owner and not name.startswith("operator") and owner:
                return None
            if not self.read_function(cursor, made, owner):
                return None
        else:
            return None
        made.comment = self.comment_above(cursor)
        made.beside = self.beside(cursor)
        return made

    def values(self, cursor) -> list[Declaration]:
        return [Declaration("value", each.spelling, each.location.line, self.text(each),
                            self.comment_above(each), self.beside(each))
                for each in cursor.get_children() if each.kind == self.kinds.ENUM_CONSTANT_DECL]

    def read_class(self, cursor, made: Declaration) -> None:
        begin, end = cursor.extent.start.offset, cursor.location.offset
        head = NOISE.sub(" ", self.bytes[self.header_of(cursor)][begin:end].decode())
        public = re.findall(r"\b(class|struct)\b", head)[-1] == "struct"
        told, sure = self.mobility(cursor)
        made.mobility = told if sure else ""
        hidden_from = self.hidden_lines(cursor)
        for child in cursor.get_children():
            if child.kind == self.kinds.CXX_BASE_SPECIFIER and child.access_specifier.name == "PUBLIC":
                made.bases.append(re.findall(r"\w+", child.spelling.partition("<")[0])[-1])
            elif child.kind == self.kinds.CXX_ACCESS_SPEC_DECL:
                public = child.access_specifier.name == "PUBLIC"
            elif public and child.location.line not in hidden_from:
                self.read_member(child, made)

    def hidden_lines(self, cursor) -> set[int]:
        """From a comment `Implementation` to the next label of access."""
        hidden: set[int] = set()
        within = False
        lines = self.lines[self.header_of(cursor)]
        for number in range(cursor.extent.start.line, cursor.extent.end.line + 1):
            words = lines[number - 1].strip()
            within = words.startswith("// Implementation") or (within and not ACCESS.match(words))
            hidden |= {number} if within else set()
        return hidden

    def read_member(self, child, made: Declaration) -> None:
        inner = self.declaration(child, made.name)
        if inner is None or inner.kind == "alias":
            return
        if inner.kind not in ("class", "enumeration"):
            made.members.append(inner)
        elif not any(self.method(child, name) for name in ("await_suspend", "get_return_object")):
            for each in inner.members:
                each.code = re.sub(rf"\b{each.name}\b", f"{inner.name}::{each.name}", each.code, count=1)
            made.members += inner.members

    # -------- Functions --------

    def read_function(self, cursor, made: Declaration, owner: str) -> bool:
        kinds = self.kinds
        name = made.name
        is_constructor = cursor.kind == kinds.CONSTRUCTOR or name == owner
        made.kind = ("operator" if name.startswith("operator") else "constructor" if is_constructor else
                     "function")
        whole = self.text(cursor)
        binds = owner and whole.startswith("template <std::size_t")  # Called by a structured binding.
        if cursor.is_default_method() or NOT_PROVIDED.search(whole) or name.startswith("_") or binds:
            return False
        parameters = [each for each in cursor.get_children() if each.kind == kinds.PARM_DECL]
        if made.kind == "constructor" and (
                not parameters or cursor.is_copy_constructor() or cursor.is_move_constructor()):
            return False
        made.code = f"{name}({', '.join(self.text(each) for each in parameters)})"
        made.static = cursor.is_static_method()
        made.overrides = any(each.kind in (kinds.CXX_OVERRIDE_ATTR, kinds.CXX_FINAL_ATTR)
                             for each in cursor.get_children())
        if made.kind != "constructor":
            made.awaited, made.yields = self.result_of(cursor)
            made.given = self.is_given(cursor, made.yields)
        return True

    def result_of(self, cursor) -> tuple[bool, str]:
        """Whether a function is awaited, and what it or the await yields."""
        result = cursor.result_type
        record, yields = self.awaited(result)
        if record is None and result.get_canonical().spelling == "auto":
            record, yields = self.awaited_in_body(cursor)
        if record is None:
            yields = result.spelling
        elif (unknown := set(self.parameters_of(record)) & set(re.findall(r"\w+", yields))):
            yields = yields if unknown <= set(re.findall(r"\w+", self.text(cursor))) else ""
        owner = cursor.lexical_parent
        if owner.kind == self.kinds.CLASS_TEMPLATE:
            yields = re.sub(rf"\b{owner.spelling}<[\w., ]*>", owner.spelling, yields)  # As inside.
        return record is not None, "" if NOT_SHOWN.fullmatch(yields) else yields

    def awaited_in_body(self, cursor, depth: int = 0):
        """Of what returns `auto`: by the first expression that it returns, or what it calls there."""
        for each in cursor.walk_preorder():
            if each.kind == self.kinds.RETURN_STMT:
                called = re.match(r"return (\w+)(?:<[^;]*>)?\(", self.text(each))
                for other in cursor.lexical_parent.get_children() if called is not None and depth < 2 else ():
                    if other.spelling == called[1] and other != cursor:
                        return self.awaited_in_body(other, depth + 1)
                for part in each.walk_preorder():
                    found = self.awaited(part.type)
                    if found[0] is None and part.kind == self.kinds.TEMPLATE_REF:
                        found = self.awaited_record(part.referenced, None)
                    if found[0] is not None:
                        return found
                break
        return None, ""

    def awaited(self, result, depth: int = 0):
        """The awaitable class of a type, and what it yields; None for tasks and for other types."""
        record = self.record_of(result)
        return (None, "") if record is None else self.awaited_record(record, result.get_canonical(), depth)

    def awaited_record(self, record, of, depth: int = 0):
        if record.spelling in NOT_AWAITED or depth > 5:
            return None, ""
        if record.spelling in ("submission", "immediate"):  # Yields what its function returns.
            function = of and of.get_template_argument_type(1 if record.spelling == "submission" else 0)
            return record, self.called(function) if function else ""
        method = self.method(record, "await_resume")
        if method is not None:
            return record, method.result_type.spelling
        converted = self.method(record, "operator co_await")
        return (None, "") if converted is None else self.awaited(converted.result_type, depth + 1)

    def called(self, of, depth: int = 0) -> str:
        """What a function object of a type returns, or the one that it holds or is derived from."""
        record = self.record_of(of)
        if record is None or depth > 3:
            return ""
        method = self.method(record, "operator()")
        if method is not None and not NOT_SHOWN.fullmatch(method.result_type.spelling):
            return method.result_type.spelling
        parts = [of.get_canonical().get_template_argument_type(at)
                 for at in range(max(0, of.get_canonical().get_num_template_arguments()))]
        parts += [each.type for each in record.get_children() if each.kind == self.kinds.CXX_BASE_SPECIFIER]
        return next(filter(None, (self.called(each, depth + 1) for each in parts)), "")

    def parameters_of(self, cursor) -> list[str]:
        return [each.spelling for each in cursor.get_children()
                if each.kind in (self.kinds.TEMPLATE_TYPE_PARAMETER, self.kinds.TEMPLATE_TEMPLATE_PARAMETER)]

    def is_given(self, cursor, yields: str) -> bool:
        parameters = [*self.parameters_of(cursor), *self.parameters_of(cursor.lexical_parent)]
        words = set(re.findall(r"\w+", yields or cursor.result_type.spelling))
        return not words.isdisjoint([*parameters, "auto", "invoke_result_t"])

    # -------- Classes --------

    def primary(self, cursor):
        template = self.template_of(cursor)
        return template if template is not None else cursor

    def record_of(self, result):
        cursor = result.get_canonical().get_pointee() if result.kind.name.endswith("REFERENCE") else result
        found = cursor.get_canonical().get_declaration()
        if found.kind in (self.kinds.CLASS_DECL, self.kinds.STRUCT_DECL, self.kinds.CLASS_TEMPLATE):
            return self.primary(found)
        return None

    def method(self, record, name: str, depth: int = 0):
        """A member function of a class or of its bases."""
        record = record.get_definition() or record
        for each in record.get_children():
            if each.spelling == name:
                return each
        for each in record.get_children():
            if each.kind == self.kinds.CXX_BASE_SPECIFIER and depth < 5:
                base = self.record_of(each.type)
                found = self.method(base, name, depth + 1) if base is not None else None
                if found is not None:
                    return found
        return None

    def mobility(self, cursor) -> tuple[str, bool]:
        """`move-only`, `immovable` or nothing, as far as declarations tell, and whether that is sure."""
        cursor = cursor.get_definition() or cursor
        key = cursor.get_usr()
        if key not in self.mobilities:
            self.mobilities[key] = "", True  # For what holds itself.
            self.mobilities[key] = self.mobility_told(cursor)
        return self.mobilities[key]

    def mobility_told(self, cursor) -> tuple[str, bool]:
        """By its constructors, else by bases and members. Not sure if only derived classes may move it."""
        kinds = self.kinds
        copies, moves, destroyed, sure = [], [], False, True
        parts = []
        for each in cursor.get_children():
            special = each.kind == kinds.DESTRUCTOR
            destroyed = destroyed or special
            if each.is_copy_constructor() or each.is_move_constructor():
                special = True
                (copies if each.is_copy_constructor() else moves).append(not each.is_deleted_method())
            elif each.kind in (kinds.FIELD_DECL, kinds.CXX_BASE_SPECIFIER):
                parts.append(self.mobility_of_type(each.type))
            sure = sure and not (special and each.access_specifier.name != "PUBLIC")
        if copies or moves:
            return "" if any(copies) else "move-only" if any(moves) else "immovable", sure
        told = strictest(parts)
        return "immovable" if told and destroyed else told, sure

    def mobility_of_type(self, of) -> str:
        canonical = of.get_canonical()
        if canonical.kind.name == "CONSTANTARRAY":
            return self.mobility_of_type(canonical.element_type)
        record = self.record_of(canonical) if not canonical.kind.name.endswith("REFERENCE") else None
        if record is None:
            return ""
        if self.header_of(record):
            return self.mobility(record)[0]
        if record.spelling in WRAPPERS:
            return strictest([self.mobility_of_type(canonical.get_template_argument_type(at))
                              for at in range(max(0, canonical.get_num_template_arguments()))])
        return OF_STD.get(record.spelling, "")


def strictest(mobilities: list[str]) -> str:
    return next((each for each in ("immovable", "move-only") if each in mobilities), "")


def is_stale(path: Path, text: str, fix: bool) -> bool:
    """True if a file has another text, which `fix` replaces."""
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return False
    if fix:
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return not fix


def run(check: Callable[[Path, bool], tuple[list[str], str]], about: str, arguments: list[str]) -> int:
    """The program: prints the findings of `check`, and what it has seen."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent, metavar="DIR")
    parser.add_argument("--fix", action="store_true", help="write what is stale")
    options = parser.parse_args(arguments)
    findings, seen = check(options.root, options.fix)
    print(*findings, f"{seen}; {len(findings)} findings", sep="\n")
    return 1 if findings else 0
