# SPDX-License-Identifier: BSL-1.0
#
# AsyncAPI's own parser reads our description of the JSON protocol: is it one?
"""Lets npm's @asyncapi/parser read what exchange/schema/asyncapi.py writes, and a copy with a mistake, which
it has to find.

Ends with 77, which ctest takes for skipped, if the parser cannot be had.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tests" / "judges"), str(ROOT / "exchange" / "schema")]

import asyncapi  # noqa: E402
import toolbox  # noqa: E402

SKIPPED = 77
SCRIPT = """
const { Parser } = require("@asyncapi/parser");
new Parser().parse(require("fs").readFileSync(process.argv[1], "utf8")).then(({ document, diagnostics }) => {
    const bad = diagnostics.filter((each) => each.severity <= 1);
    bad.slice(0, 20).forEach((each) => console.log(`${each.path.join("/")}: ${each.message}`));
    if (document) console.log(`${document.operations().all().length} operations, ` +
                              `${document.allMessages().all().length} messages`);
    process.exit(document && bad.length === 0 ? 0 : 1);
});
"""


def judged(folder: Path, document: Path) -> tuple[int, str]:
    done = subprocess.run(
        ["node", "-e", SCRIPT, str(document)], cwd=folder, text=True, capture_output=True, timeout=300
    )
    return done.returncode, done.stdout + done.stderr


def main() -> int:
    try:
        folder = toolbox.get("asyncapi")
    except toolbox.Missing as reason:
        print(f"asyncapi judge: {reason}")
        return SKIPPED
    with tempfile.TemporaryDirectory() as place:
        document = Path(place) / "asyncapi.json"
        asyncapi.main([str(document)])
        status, said = judged(folder, document)
        print(said)
        wrong = json.loads(document.read_text(encoding="utf-8"))
        wrong["channels"]["order_entry"]["messages"]["login"] = {"$ref": "#/components/messages/nowhere"}
        broken = Path(place) / "broken.json"
        broken.write_text(json.dumps(wrong), encoding="utf-8")
        if judged(folder, broken)[0] == 0:
            print("the judge takes anything: a reference to nowhere was not found")
            return 1
    return status


if __name__ == "__main__":
    sys.exit(main())
