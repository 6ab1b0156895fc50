"""Record docs/solving.gif from the real page: the model that comes with CHARM solves the example task of `charm view`.

python benchmarks/record_solve.py --budget 60

Needs Chromium, Playwright and Pillow.
"""

import argparse
import re
import shutil
import subprocess
import sys
import time
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

SIZE = {"width": 1180, "height": 760}
SHOWN = (944, 608)  # pixels of the recording


def record(budget: int) -> list[Image.Image]:
    """Take pictures of the page about once a second, from the example task to its answer."""
    command = [sys.executable, "-m", "charm", "view", "--no-open", "--port", "0"]
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
            page.wait_for_selector("text=then press solve")
            page.fill("[name=budget]", str(budget))
            frames.append(page.screenshot())
            page.click("button.main")
            page.wait_for_selector("progress", timeout=120_000)
            began = time.monotonic()
            while time.monotonic() - began < 2 * budget + 60:
                frames.append(page.screenshot())
                if page.locator("text=Done after").count():
                    break
                page.wait_for_timeout(800)
            browser.close()
    finally:
        server.terminate()
        server.wait()
    return [Image.open(BytesIO(frame)).convert("RGB").resize(SHOWN, Image.Resampling.LANCZOS) for frame in frames]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--budget", type=int, default=60)
    parser.add_argument("--out", type=Path, default=Path("docs/solving.gif"))
    options = parser.parse_args()
    frames = record(options.budget)
    shown = Image.new("RGB", (SHOWN[0], 3 * SHOWN[1]))  # colours of the beginning, the middle and the end
    for number, frame in enumerate((frames[0], frames[len(frames) // 2], frames[-1])):
        shown.paste(frame, (0, number * SHOWN[1]))
    colors = shown.quantize(96)
    small = [frame.quantize(palette=colors, dither=Image.Dither.NONE) for frame in frames]
    milliseconds = [2500, *([9000 // len(small)] * (len(small) - 2)), 5000]
    small[0].save(options.out, save_all=True, append_images=small[1:], duration=milliseconds, loop=0, optimize=True)
    print(f"{options.out}: {len(small)} frames, {options.out.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
