# SPDX-License-Identifier: BSL-1.0
"""Functions as tools/reference.py shows them: how they are called, and what they yield, awaited or not."""

import re

from inventory import NOISE

SPECIFIERS = re.compile(r"\b(?:constexpr|inline|virtual|explicit|friend) ")
UNNAMED = re.compile(r"(?<=[\w>&*]) \w+(?=,|\)| =)")  # What is left out without its parameters' names.
BY_VALUE = re.compile(r"\bconst ([^,()&]+)&(?!&)")
# A class, and what it yields when it is awaited, or what an operation that it ends does.
AWAITED = re.compile(r"^ *(?:class|struct) (\w+_awaiter|finish_\w+|\w+_parts|limited|bridged|task_on"
                     r"|remote_task|group_scope|(?:all|any)_(?:of|in))\b[^;(]*?\{"
                     r"|^ *(\S[^;(\n]*?) (?:await_resume\(|operator\(\)\()", re.MULTILINE)
FINISHES = re.compile(r"(?:class|struct) (finish_\w+)(?: final)? : (?:public )?(\S+) \{")
SUBMITTED = re.compile(r"using (\w+) = submission<\w+, (finish_\w+)>;")
# What a function without a type of its own returns: an operation, or what is awaited of the loop.
RETURNED = re.compile(r"\breturn (?:(submission<.*?>)[{(]|(?:immediate|look_awaiter)\{)")
# What it calls with the loop.
AT_ONCE = re.compile(r"\breturn immediate\{.*?\breturn (\w+)\(on\b", re.DOTALL)
NOT_SHOWN = ("", "void", "auto", "auto&", "decltype(auto)", "result", "result_type")  # Of results.


def closing(code: str, at: int) -> int:
    """Where the bracket that is open at `at` is closed."""
    depth = 0
    for place in range(at, len(code)):
        depth += (code[place] == "(") - (code[place] == ")")
        if depth == 0:
            return place
    return len(code)


def without_noise(text: str) -> str:
    """The declarations without attributes and macros, which comments may name."""
    pairs = [re.match(r"(.*?)(//.*)?$", line).groups("") for line in text.split("\n")]
    return "\n".join(re.sub(r"(class|struct) +", r"\1 ", NOISE.sub("", code)) + said for code, said in pairs)


def awaited_in(text: str) -> dict[str, str]:
    """Of each awaitable class what it yields; nothing where several have one name."""
    found: dict[str, str] = {}
    last = ""
    for match in AWAITED.finditer(text):
        if match[1]:
            last = match[1]
        elif last:
            result = SPECIFIERS.sub("", match[2]).strip()
            found[last] = result if found.get(last, result) == result else ""
            last = ""
    for name, other in [*FINISHES.findall(text), *SUBMITTED.findall(text)]:
        if (result := yielded_by(other, found)):
            found.setdefault(name, result)
    return found


def yielded_by(finish: str, awaited: dict[str, str]) -> str:
    """What an operation does that `finish` ends, `finish_more<finish_read>` as well."""
    known = (awaited.get(name, "") for name in re.findall(r"\w+", finish))
    return next((result for result in known if result not in NOT_SHOWN), "")


def result_of_body(body: str, around: str) -> tuple[str, bool]:
    """Of a function without a type of its own: what it returns, and whether that is awaited."""
    called = re.search(r"\breturn (\w+)(?:<[^;()]*>)?\(", body)
    match = RETURNED.search(body)
    if match is None and called is not None:  # Of its own class or header.
        declared = re.search(rf"\b(submission<[^;{{}}]*>) {called[1]}\(", around)
        if declared is not None:
            return declared[1], True
        others = (RETURNED.search(around[at.start() : around.find("\n\n", at.start())].partition("}\n")[0])
                  for at in re.finditer(rf"\bauto {called[1]}\(", around))
        match = next(filter(None, others), None)
    return (match[1] or "", True) if match is not None else ("", False)


def signature_of(code: str, name: str, awaited: dict[str, str], body: str = "", around: str = "") -> str:
    """Of a function: its name, what it takes, and what it yields, which its body may tell: that of an `auto`,
    or of what it calls `around` itself."""
    at = re.search(rf"\b{re.escape(name)}\s*\(", code).end() - 1
    result = SPECIFIERS.sub("", code[:at].rstrip().removesuffix(name)).strip()
    static = "static " if result.startswith("static ") else ""
    result = result.removeprefix("static ")
    is_awaited = False
    if result == "auto":
        result, is_awaited = result_of_body(body, around)
    named = re.search(r"(\w+)$", result.partition("<")[0])
    if result.startswith("submission<"):
        is_awaited, result = True, yielded_by(result.partition(", ")[2], awaited)
    elif named is not None and (named[1].endswith("_awaiter") or named[1] in awaited):
        arguments = result.endswith(">")
        is_awaited, result = True, awaited.get(named[1], "")
        words = set(re.findall(r"\b(?:[A-Z]|branch_result)\w*", result))  # Parameters of the awaitable's.
        if arguments and not words <= set(re.findall(r"\w+", code[at:])):
            result = ""
    waits = "co_await " if is_awaited else ""
    yields = "" if result in NOT_SHOWN else f" -> {result}"
    return shortened(f"{static}{waits}{name}{code[at : closing(code, at) + 1]}{yields}")


def alias_of(code: str) -> str:
    """Of `using NAME = TYPE;`: the name and the type."""
    return shortened(code.removeprefix("using ").removesuffix(";"))


def shortened(code: str) -> str:
    short = BY_VALUE.sub(r"\1", code)
    return re.sub(r"\bstd::|(?<![\w>])gyre::| (?=[),])|(?<=\() | (?= )", "", short)


def add_overload(codes: list[str], signature: str) -> None:
    """Unless one is there that differs in the names of parameters only, as for another kind of argument."""
    if UNNAMED.sub("", signature) not in (UNNAMED.sub("", code) for code in codes):
        codes.append(signature)


def declaration_at(lines: list[str], number: int) -> str:
    """Of a function, without its body, in one line."""
    code = ""
    for line in lines[number:]:
        code = f"{code} {line.partition('//')[0].strip()}".strip()
        if code.endswith(("{", "}", ";")) and code.count("(") == code.count(")"):
            break
    return code


def body_at(lines: list[str], number: int) -> str:
    """From a declaration to its end in the same column."""
    text = "\n".join(lines[number:])
    ends = [at for at in (text.find("\n}"), text.find("\n\n")) if at > 0]
    return text[: min(ends, default=len(text))]
