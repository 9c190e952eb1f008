#!/usr/bin/python3
# SPDX-License-Identifier: BSL-1.0
"""The project's documents as web pages, and a check of their links.

`tools/website.py [--root DIR]` checks that each relative link of the documents leads to a file, and to a
heading if it names one. `./dev docs` makes the pages: `--build DIR --mkdocs PROGRAM` copies the documents to
DIR/src and lets MkDocs make DIR/html of them. MkDocs is strict: a dead link or heading in a page ends it.

What is copied keeps its path, so links between documents stay as they are. What a document links to beside
documents becomes a page as well: a source with its text, a folder with a list of what is in it. So each link
that works in the repository works on the pages, and none leads to a place where the project is hosted.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from posixpath import basename, dirname, join, normpath, relpath
from urllib.parse import unquote

BEGINNINGS = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "SECURITY.md",
              "lab/README.md", "exchange/README.md")
FOLDERS = ("docs/", "exchange/docs/")  # All documents below are pages.
EXAMPLES = "examples/"  # And all sources below.
START = "README.md"
FOUND_FIRST = "docs/guide/"  # Where it and another page have a word that is searched for.
LISTED = ("examples", "docs/decisions")  # Folders that get a list though no document links to them.
CONFIGURATION = "docs/site"

LINK = re.compile(r"\]\(([^()\s]+)\)")
CODE_SPAN = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)")
FENCE = re.compile(r" *(```+|~~~+)")
HEADING = re.compile(r"(#{1,6}) +(.*?)(?: +#+)?$")
LIST_ITEM = re.compile(r" *(?:[-*+]|\d+\.) ")
COMMENT = re.compile(r"<!--.*-->$")
LANGUAGES = {".cpp": "cpp", ".hpp": "cpp", ".py": "python", ".json": "json", ".xml": "xml", ".toml": "toml",
             ".html": "html", ".js": "javascript", ".css": "css", ".txt": "cmake", ".cmake": "cmake"}
SOURCE_CHARACTERS_MAX = 400_000


# -------- Reading Markdown --------


def lines_of(text: str) -> Iterator[tuple[int, str, bool]]:
    """Number and text of each line, and whether it is prose, not code in a fence."""
    fence = ""
    for number, line in enumerate(text.split("\n"), 1):
        match = FENCE.match(line)
        if fence:
            yield number, line, False
            if match is not None and match[1].startswith(fence) and not line.strip(" `~"):
                fence = ""
        elif match is not None:
            fence = match[1]
            yield number, line, False
        else:
            yield number, line, True


def without_code(line: str) -> str:
    """The line with its code spans blanked; every column stays the same."""
    return CODE_SPAN.sub(lambda match: " " * len(match[0]), line)


def links_of(text: str) -> Iterator[tuple[int, str]]:
    for number, line, prose in lines_of(text):
        if prose and not line.startswith("    "):
            yield from ((number, match[1]) for match in LINK.finditer(without_code(line)))


def is_elsewhere(link: str) -> bool:
    return re.match(r"[a-z]+:", link) is not None


def slug(heading: str) -> str:
    """The anchor that GitHub and, as it is configured, MkDocs give a heading."""
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
    return re.sub(r"[^\w\- ]", "", plain).strip().lower().replace(" ", "-")


def anchors_of(text: str) -> set[str]:
    found: dict[str, int] = {}
    for _, line, prose in lines_of(text):
        if prose and (match := HEADING.match(line)) is not None:
            found[slug(match[2])] = found.get(slug(match[2]), 0) + 1
    return {name if time == 0 else f"{name}-{time}" for name, count in found.items() for time in range(count)}


def title_of(text: str) -> str:
    headings = (HEADING.match(line) for _, line, prose in lines_of(text) if prose)
    return next((match[2] for match in headings if match is not None and match[1] == "#"), "")


# -------- The pages, found by following links from the documents --------


@dataclass
class Pages:
    """Paths of the repository, and what each becomes."""

    root: Path
    files: set[str]
    documents: dict[str, str] = field(default_factory=dict)  # Path to text.
    sources: set[str] = field(default_factory=set)
    folders: set[str] = field(default_factory=set)
    findings: list[str] = field(default_factory=list)

    def follow(self) -> None:
        waiting = [path for path in sorted(self.files) if path.endswith(".md") and path.startswith(FOLDERS)]
        waiting += [path for path in BEGINNINGS if path in self.files]
        self.sources |= {path for path in self.files
                         if path.startswith(EXAMPLES) and not path.endswith(".md")}
        self.folders |= {folder for folder in LISTED if self.is_folder(folder)}
        while waiting:
            path = waiting.pop()
            if path in self.documents:
                continue
            self.documents[path] = text = (self.root / path).read_text(encoding="utf-8")
            for number, link in links_of(text):
                if is_elsewhere(link):
                    continue
                target = self.target_of(path, link)
                if not target:
                    self.findings.append(f"{path}:{number}: {link} leads nowhere")
                elif target.endswith(".md"):
                    waiting.append(target)
                elif target in self.files:
                    self.sources.add(target)
                else:
                    self.folders.add(target)
        self.check_anchors()

    def is_folder(self, path: str) -> bool:
        return any(file.startswith(f"{path}/") for file in self.files)

    def target_of(self, path: str, link: str) -> str:
        """The file or folder that a link of a document leads to; empty if there is none."""
        place = link.partition("#")[0]
        target = normpath(join(dirname(path), unquote(place))) if place else path
        if target in self.files:
            return target
        if not self.is_folder(target):
            return ""
        return f"{target}/README.md" if f"{target}/README.md" in self.files else target

    def check_anchors(self) -> None:
        anchors = {path: anchors_of(text) for path, text in self.documents.items()}
        for path, text in self.documents.items():
            for number, link in links_of(text):
                anchor = link.partition("#")[2]
                target = "" if is_elsewhere(link) else self.target_of(path, link)
                if anchor and target and anchor not in anchors.get(target, ()):
                    self.findings.append(f"{path}:{number}: {link}: {target} has no such heading")

    def page_of(self, target: str) -> str:
        """The staged document of a file or folder."""
        if target.endswith(".md"):
            return target
        return f"{target}.md" if target in self.files else f"{target}/index.md"

    def all_pages(self) -> set[str]:
        return {self.page_of(path) for path in (*self.documents, *self.sources, *self.folders)}


def project_files(root: Path) -> set[str]:
    """What git tracks or would track; without git, all."""
    if (root / ".git").exists():
        command = ["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        names = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split("\0")
        return {name for name in names if name and (root / name).is_file()}
    return {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}


def find_pages(root: Path) -> Pages:
    pages = Pages(root, project_files(root))
    pages.follow()
    return pages


# -------- Staging --------


def in_markdown(text: str) -> str:
    """What GitHub reads as a list, Python's Markdown reads so behind an empty line, and indented by four.
    Comments go: in front of a block they would become a paragraph with it. A bar in code ends no cell of a
    table there, so it needs no escape; and in a narrow column no line may end behind an indentation."""
    result: list[str] = []
    in_list = False
    for _, line, prose in lines_of(text):
        if prose and COMMENT.match(line):
            result.append("")
            continue
        if prose and LIST_ITEM.match(line) and (in_list or not line.startswith(" ")):
            if not in_list and result and result[-1]:
                result.append("")
            in_list = True
        elif prose and (HEADING.match(line) or (line[:1] not in ("", " ") and not (result and result[-1]))):
            in_list = False
        indentation = len(line) - len(line.lstrip(" "))
        if prose and line.startswith("|"):
            row = CODE_SPAN.sub(lambda code: code[0].replace("\\|", "|"), line)
            result.append(row.replace("&emsp;", "&nbsp;&nbsp;&nbsp;"))
        else:
            result.append(" " * indentation + line if in_list else line)
    return "\n".join(result)


def with_links(path: str, text: str, pages: Pages) -> str:
    """The document with links to pages, where it links to sources and folders."""

    def changed(match: re.Match) -> str:
        link = match[1]
        target = "" if is_elsewhere(link) or link.startswith("#") else pages.target_of(path, link)
        if not target:
            return match[0]
        anchor = "#" + link.partition("#")[2] if "#" in link else ""
        return f"]({relpath(pages.page_of(target), dirname(path) or '.')}{anchor})"

    result = []
    for _, line, prose in lines_of(text):
        if prose and not line.startswith("    "):
            plain, parts, at = without_code(line), [], 0
            for match in LINK.finditer(plain):
                parts += [line[at : match.start()], changed(match)]
                at = match.end()
            result.append("".join((*parts, line[at:])))
        else:
            result.append(line)
    return "\n".join(result)


def source_page(path: str, text: str, searched: bool) -> str:
    fence = "~" * max(4, *(len(run) + 1 for run in re.findall(r"~+", text)), 0)
    language = LANGUAGES.get(Path(path).suffix, "text")
    head = ["---", f"title: {json.dumps(basename(path))}", "hide: [toc]"]
    head += ["search:", "  boost: 0.2" if searched else "  exclude: true"]
    return "\n".join([*head, "---", f"# `{path}`", "", f"{fence} {language}", text.rstrip("\n"), fence, ""])


def folder_page(folder: str, pages: Pages) -> str:
    """A list of what is in a folder; what is a page is a link."""
    lines = ["---", f"title: {json.dumps(basename(folder))}", "search:", "  exclude: true", "---",
             f"# `{folder}/`", ""]
    for file in sorted(pages.files):
        if not file.startswith(f"{folder}/"):
            continue
        name = file.removeprefix(f"{folder}/")
        if file in pages.documents:
            lines.append(f"- [{title_of(pages.documents[file]) or name}]({name})")
        else:
            lines.append(f"- [`{name}`]({name}.md)" if file in pages.sources else f"- `{name}`")
    return "\n".join(lines) + "\n"


def in_sections(pages: Pages, folder: str) -> list:
    """The documents of a folder, below the headings below which its README has the first link to each."""
    index = f"{folder}/README.md"
    text = pages.documents.get(index, "")
    headings = {number: match[2] for number, line, prose in lines_of(text)
                if prose and (match := HEADING.match(line)) is not None and match[1] == "##"}
    sections: dict[str, list[str]] = {"": [index] if text else []}
    left = sorted(path for path in pages.documents if dirname(path) == folder and path != index)
    for number, link in links_of(text):
        target = "" if is_elsewhere(link) else pages.target_of(index, link)
        if target in left:
            left.remove(target)
            above = max((each for each in headings if each < number), default=0)
            sections.setdefault(headings.get(above, ""), []).append(target)
    first = sections.pop("")
    return [*first, *({heading: paths} for heading, paths in sections.items()), *left]


def navigation(pages: Pages) -> list:
    """The chapters. Their titles are those of the documents; what is not there is left out."""
    there = pages.all_pages()

    def below(folder: str, first: tuple[str, ...]) -> list[str]:
        documents = sorted(path for path in pages.documents if dirname(path) == folder)
        return list(dict.fromkeys([each for each in (*first, *documents) if each in there]))

    examples = [{path.removeprefix(EXAMPLES): pages.page_of(path)}
                for path in sorted(pages.sources) if path.startswith(EXAMPLES)]
    project = ("ARCHITECTURE.md", "CHANGELOG.md", "docs/VERSIONING.md", "SECURITY.md", "CONTRIBUTING.md",
               "docs/STYLE.md", "docs/TESTING.md", "docs/public-reports.md", "tests/judges/README.md",
               "lab/README.md", "lab/last_run.md")
    chapters = {
        "Guide": in_sections(pages, "docs/guide"),
        "Reference": [each for each in ("docs/reference.md", "docs/inventory.md") if each in there],
        "Examples": [*(["examples/index.md"] if "examples" in pages.folders else []), *examples],
        "Exchange": below("exchange/docs", ("exchange/README.md",)),
        "Decisions": below("docs/decisions", ("docs/decisions/index.md",)),
        "Project": [each for each in project if each in there],
    }
    return [{"Start": START}, *({name: entries} for name, entries in chapters.items() if entries)]


def stage(pages: Pages, build: Path) -> None:
    """Writes all pages as Markdown to `build/src`, and the configuration beside them."""
    if (build / "src").exists():
        shutil.rmtree(build / "src")
    texts = {path: in_markdown(with_links(path, text, pages)) for path, text in pages.documents.items()}
    for path in texts:
        if path.startswith(FOUND_FIRST):
            texts[path] = f"---\nsearch:\n  boost: 4\n---\n{texts[path]}"
        elif path == START:
            texts[path] = f"---\nhide: [navigation]\n---\n{texts[path]}"  # There is nothing beside it.
    for path in pages.sources:
        text = (pages.root / path).read_text(encoding="utf-8", errors="replace")[:SOURCE_CHARACTERS_MAX]
        texts[pages.page_of(path)] = source_page(path, text, path.startswith(EXAMPLES))
    for folder in pages.folders:
        texts[pages.page_of(folder)] = folder_page(folder, pages)
    for path, text in texts.items():
        (build / "src" / path).parent.mkdir(parents=True, exist_ok=True)
        (build / "src" / path).write_text(text, encoding="utf-8")
    shutil.copy(pages.root / CONFIGURATION / "site.css", build / "src")
    configuration = {
        "INHERIT": os.path.relpath(pages.root / CONFIGURATION / "mkdocs.yml", build),
        "docs_dir": "src", "site_dir": "html", "nav": navigation(pages),
    }
    # JSON is YAML.
    (build / "mkdocs.yml").write_text(json.dumps(configuration, indent=2) + "\n", encoding="utf-8")


def build_pages(pages: Pages, build: Path, mkdocs: str) -> list[str]:
    stage(pages, build)
    # With --quiet it would not count its warnings.
    ended = subprocess.run([mkdocs, "build", "--clean", "--config-file", build / "mkdocs.yml"], text=True,
                           env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}, capture_output=True)
    lines = (ended.stdout + ended.stderr).splitlines()
    said = [line for line in lines if line and not line.startswith("INFO")]
    return [*said, f"mkdocs ended with {ended.returncode}"] if ended.returncode != 0 else []


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Checks the documents' links; makes web pages of them.")
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent, metavar="DIR")
    parser.add_argument("--build", type=Path, metavar="DIR", help="make the pages there")
    parser.add_argument("--mkdocs", default="mkdocs", metavar="PROGRAM")
    options = parser.parse_args(arguments)

    pages = find_pages(options.root)
    findings = pages.findings
    links = sum(1 for text in pages.documents.values() for _ in links_of(text))
    print(f"documents: {len(pages.documents)} with {links} links; {len(findings)} findings")
    if options.build and not findings:
        findings = build_pages(pages, options.build.resolve(), options.mkdocs)
    for finding in findings:
        print(finding)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
