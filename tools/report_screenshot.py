"""Take the picture of the HTML report for the README, docs/images/report.png, with the Chromium of this machine.

usage: python tools/report_screenshot.py [FILE]
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.render.browser import CHROMIUM, started  # noqa: E402

RECORDINGS = ROOT / "examples" / "refund" / "recordings"
SHOWN = ("good", "refund-before-identity", "claims-success-after-failure", "duplicate-refund")
CHOSEN = "NO_FALSE_SUCCESS_CLAIM"


def main() -> int:
    if CHROMIUM is None:
        print("there is no Chromium here (apt-get install chromium)", file=sys.stderr)
        return 2
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "images" / "report.png"
    with tempfile.TemporaryDirectory() as folder, started() as browser:
        file = Path(folder) / "report.html"
        traces = [str((RECORDINGS / name).relative_to(ROOT)) for name in SHOWN]
        contract = "examples/refund/dsh-refund.yaml"
        words = [sys.executable, "-m", "outstep", "check", *traces, "-c", contract, "--output", f"html={file}"]
        subprocess.run(words, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        page = browser.new_page(viewport={"width": 1280, "height": 800}, color_scheme="light")
        page.goto(file.as_uri())
        page.locator("article", has_text=CHOSEN).first.locator(".pick").click()
        page.locator("#list").evaluate("(list) => list.scrollTo(0, 0)")
        page.screenshot(path=str(target))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
