"""Record docs/solving.gif from the real page: a task is pasted into `charm view` and solved by a run.

python benchmarks/record_solve.py runs/quickstart --budget 30

Needs Chromium, Playwright and Pillow.
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
import time
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

SIZE = {"width": 860, "height": 560}
TO_RESULT = """() => {
    const heading = [...document.querySelectorAll("h2")].pop();
    window.scrollTo(0, heading.getBoundingClientRect().top + scrollY - 10);
}"""


def record(run: Path, task: Path, budget: int) -> list[Image.Image]:
    """Take pictures of the page about once a second, from the drawn task to the answer."""
    command = [sys.executable, "-m", "charm", "view", str(run), "--no-open", "--port", "0"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    address = re.search(r"http://\S+", server.stdout.readline())
    assert address is not None
    frames = []
    try:
        with sync_playwright() as play:
            browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            page = browser.new_page(viewport=SIZE)
            page.goto(f"{address[0]}#solve")
            page.click("text=Paste a task")
            page.fill("textarea", json.dumps({"mirror": json.loads(task.read_text())}))
            page.click("text=use it")
            page.wait_for_selector("textarea", state="hidden")
            frames.append(page.screenshot())
            page.fill("[name=budget]", str(budget))
            page.click("button.main")
            page.wait_for_selector(".votes", timeout=120_000)  # what comes before is the loading of torch
            began = time.monotonic()
            while time.monotonic() - began < 2 * budget + 60:
                page.evaluate(TO_RESULT)
                frames.append(page.screenshot())
                if page.locator("text=Done after").count():
                    break
                page.wait_for_timeout(800)
            browser.close()
    finally:
        server.terminate()
        server.wait()
    return [Image.open(BytesIO(frame)).convert("RGB") for frame in frames]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", type=Path)
    parser.add_argument("--task", type=Path, default=Path("examples/task.json"))
    parser.add_argument("--budget", type=int, default=30)
    parser.add_argument("--out", type=Path, default=Path("docs/solving.gif"))
    options = parser.parse_args()
    frames = record(options.run, options.task, options.budget)
    shown = Image.new("RGB", (SIZE["width"], 3 * SIZE["height"]))  # colours of the beginning, the middle and the end
    for number, frame in enumerate((frames[0], frames[len(frames) // 2], frames[-1])):
        shown.paste(frame, (0, number * SIZE["height"]))
    colors = shown.quantize(96)
    small = [frame.quantize(palette=colors, dither=Image.Dither.NONE) for frame in frames]
    milliseconds = [2500, *([9000 // len(small)] * (len(small) - 2)), 5000]
    small[0].save(options.out, save_all=True, append_images=small[1:], duration=milliseconds, loop=0, optimize=True)
    print(f"{options.out}: {len(small)} frames, {options.out.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
