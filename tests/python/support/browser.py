"""Pages in Chromium, if it is installed."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from support import PATIENCE_S

NAMES = ("chromium", "chromium-headless-shell", "chromium-browser", "google-chrome")
OPTIONS = "--headless --no-sandbox --disable-gpu --hide-scrollbars --enable-logging=stderr".split()
HEIGHT = 900
# The page is shown in a frame, since a window of Chromium is never narrower than 500 pixels. Files have separate
# origins, so the result is sent as a message.
FRAME = """<!doctype html><meta charset="utf-8"><title></title>
<script>addEventListener("message", (event) => {{ document.title = event.data; }});</script>
<iframe src="{name}" style="border: 0; width: {width}px; height: {height}px"></iframe>
"""


def browser() -> str:
    """Returns the path of Chromium; skips the test if it is not installed."""
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        pytest.skip("no Chromium on this machine (Debian: apt install chromium)")
    return path


def dump(page: Path, *options: str) -> str:
    """Loads a page and returns its DOM as text. Fails on console messages: script errors and missing files."""
    profile = f"--user-data-dir={page.parent / 'profile'}"
    command = [browser(), *OPTIONS, *options, profile, "--dump-dom", page.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=True)
    messages = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    assert messages == [], "\n".join(messages)
    return done.stdout


def evaluate(page: Path, script: str, width: int = 1200, before: str = "") -> Any:
    """Runs a script at the end of a page on a screen of that width, and another one before those of the page; returns
    the value of its last line after 300 ms of the page's clock. That clock runs ahead of the frames of a busy machine,
    so a script that counts frames draws them itself."""
    lines = script.strip().splitlines()
    result = f"parent.postMessage(JSON.stringify({lines[-1]}), '*')"
    probe = "\n".join(lines[:-1]) + f"\nsetTimeout(() => {{ {result}; }}, 300);"
    inner = page.with_name("probed.html")
    text = page.read_text().replace("</body>", f"<script>\n{probe}\n</script></body>")
    inner.write_text(text.replace("<head>", f"<head><script>\n{before}\n</script>", 1))
    outer = page.with_name("frame.html")
    outer.write_text(FRAME.format(name=inner.name, width=width, height=HEIGHT))
    text = dump(outer, f"--window-size={max(width, 500) + 50},{HEIGHT + 50}", "--virtual-time-budget=2000")
    found = re.search(r"<title>(.+?)</title>", text)
    assert found, "the script did not end"
    return json.loads(unescape(found[1]))
