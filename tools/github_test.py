# SPDX-License-Identifier: BSL-1.0
"""The forms and the workflow in .github are what GitHub takes, and say what is there.

GitHub leaves out a form that has a mistake, without a word, so its rules are repeated here.
"""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
WORKFLOW = ROOT / ".github/workflows/ci.yml"
FORMS = sorted(path for path in (ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml") if path.name != "config.yml")
ELEMENTS = {"markdown", "textarea", "input", "dropdown", "checkboxes"}


def load(path):
    yaml = pytest.importorskip("yaml")
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def faults_of_element(element):
    """What GitHub would not take in an element of a form."""
    faults = []
    kind, attributes = element.get("type"), element.get("attributes", {})
    if kind not in ELEMENTS:
        faults.append(f"no such element: {kind}")
    if not attributes.get("value" if kind == "markdown" else "label"):
        faults.append("nothing to read")
    if kind == "dropdown":
        options = attributes.get("options", [])
        texts = all(isinstance(each, str) for each in options)
        if not options or not texts or len(set(options)) < len(options):
            faults.append(f"options: {options}")
    if kind != "markdown" and not re.fullmatch(r"[a-z_-]+", element.get("id", "")):
        faults.append(f"no id: {element.get('id')}")
    if set(element) - {"type", "id", "attributes", "validations"}:
        faults.append(f"unknown keys: {sorted(element)}")
    return faults


def test_the_workflow_runs_on_debian_with_what_the_project_offers():
    text = WORKFLOW.read_text(encoding="utf-8")
    assert re.search(r"^ +image: debian:12$", text, re.MULTILINE)
    assert "\t" not in text
    dev = (ROOT / "dev").read_text(encoding="utf-8")
    verbs = re.findall(r"^ +command: \./dev (\w+)", text, re.MULTILINE)
    assert verbs
    assert [verb for verb in verbs if f"\n  {verb}  " not in dev] == []


def test_the_workflow_tests_each_preset_of_ci_and_keeps_its_cache():
    workflow = load(WORKFLOW)
    job = workflow["jobs"]["ci"]
    triggers = workflow[True]  # The word `on` is a boolean to YAML 1.1; GitHub reads it as text.
    assert set(triggers) == {"push", "pull_request"}
    assert workflow["permissions"] == {"contents": "read"}
    assert job["container"]["image"] == "debian:12"
    assert job["timeout-minutes"] > 90
    dev = (ROOT / "dev").read_text(encoding="utf-8")
    presets = re.search(r"^ci_presets=\((.*)\)$", dev, re.MULTILINE).group(1).split()
    commands = [row["command"] for row in job["strategy"]["matrix"]["include"]]
    assert commands == ["./dev ci --smoke", *(f"./dev test --preset {preset}" for preset in presets)]
    assert job["steps"][-1]["run"] == "${{ matrix.command }}"
    uses = {step["uses"].split("@")[0]: step["with"] for step in job["steps"] if "uses" in step}
    assert all(re.search(r"@v\d+$", step["uses"]) for step in job["steps"] if "uses" in step)
    assert uses["actions/checkout"]["fetch-depth"] == 0
    assert uses["actions/cache"]["path"] == job["env"]["CCACHE_DIR"]


def test_there_are_forms():
    assert [path.name for path in FORMS] == ["bug.yml", "question.yml"]


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.name)
def test_a_form_is_what_github_takes(path):
    form = load(path)
    assert form["name"] and form["description"]
    assert [fault for element in form["body"] for fault in faults_of_element(element)] == []
    names = [element["id"] for element in form["body"] if "id" in element]
    labels = [element["attributes"]["label"] for element in form["body"] if "id" in element]
    assert len(set(names)) == len(names) > 0
    assert len(set(labels)) == len(labels)
    assert any(element.get("validations", {}).get("required") is True for element in form["body"])


@pytest.mark.parametrize(("element", "fault"), [
    ({"type": "text", "id": "a", "attributes": {"label": "A"}}, "no such element: text"),
    ({"type": "input", "id": "a", "attributes": {}}, "nothing to read"),
    ({"type": "input", "attributes": {"label": "A"}}, "no id: None"),
    ({"type": "dropdown", "id": "a", "attributes": {"label": "A", "options": ["b", "b"]}},
     "options: ['b', 'b']"),
    ({"type": "input", "id": "a", "attributes": {"label": "A"}, "required": True},
     "unknown keys: ['attributes', 'id', 'required', 'type']"),
])
def test_what_github_would_not_take_is_found(element, fault):
    assert faults_of_element(element) == [fault]


@pytest.mark.parametrize("path", [*FORMS, ROOT / ".github/PULL_REQUEST_TEMPLATE.md", ROOT / "SECURITY.md"],
                         ids=lambda path: path.name)
def test_the_files_that_are_named_exist(path):
    text = path.read_text(encoding="utf-8")
    named = re.findall(r"[\w./-]+\.(?:md|txt)\b", text) + re.findall(r"`((?:docs|examples)/[\w/]*)`", text)
    assert named
    assert [name for name in named if not (ROOT / name).exists()] == []
