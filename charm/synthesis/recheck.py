"""The fresh process of a check: verify stored Re-ARC2 pairs and make each again, alone and in reverse order.

python -m charm.synthesis.recheck ROOT TASK FOLDER SHA256 prints the problems as JSON.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from charm.synthesis.workbench import Package, apply_rule, describe, draw, load_package, same
from charm.tasks.pairs_file import PairBlock, read_block


def problems(package: Package, block: PairBlock) -> list[str]:
    found = []
    for number in reversed(range(len(block))):
        before, after = block.pair(number)
        index = int(block.index[number])
        try:
            if not same(apply_rule(package.verify, before), after):
                found.append(f"pair {number} (attempt {index}) is not verified in a fresh process")
            again = draw(package, 0, index)
        except Exception as error:
            found.append(
                f"pair {number} (attempt {index}) in a fresh process: {describe(error, package.path)}"
            )
            continue
        if not (same(again[0], before) and same(again[1], after)):
            found.append(f"pair {number} (attempt {index}) is different when it is made alone")
    return found


if __name__ == "__main__":
    root, task, folder, sha256 = sys.argv[1:]
    print(json.dumps(problems(load_package(task, Path(root)), read_block(Path(folder), task, sha256))))
