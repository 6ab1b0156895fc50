"""Docstrings of functions say what the function does: they begin with a verb.

python -m tests.test_docstrings charm/tasks    lists the ones that do not
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

CHARM = Path(__file__).parents[1] / "charm"

VERBS = frozenset(
    re.findall(
        r"\S+",
        """
    Accept Accumulate Adapt Add Adjust Aggregate Allocate Allow Answer Append Apply Ask Assemble Assert Assign Attach
    Attend Average Begin Bind Bring Broadcast Browse Build Cache Call Cast Change Check Choose Clear Clip Close Collect
    Combine Compare Compile Compose Compute Configure Connect Continue Convert Copy Count Cover Create Crop Cut Cycle
    Deal Decide Decode Delete Derive Describe Destroy Detach Detect Discard Divide Do Download Draw Drop Embed Encode
    End Ensure Erase Escape Estimate Evaluate Expand Explain Export Extend Extract Fail Fetch Fill Filter Find Finish
    Fit Flag Flatten Flush Follow Forget Format Free Freeze Gather Generate Get Give Group Guard Guess Handle Hash Hold
    Ignore Import Improve Include Index Infer Initialise Insert Inspect Install Interleave Invert Iterate Join Judge
    Keep Label Launch Lay Learn Leave Let Limit List Load Lock Log Look Lower Make Map Mark Mask Match Mean Measure
    Merge Mix Move Multiply Name Normalise Note Number Offer Open Order Pack Pad Parse Pass Paste Pause Permute Pick
    Place Plan Plot Point Predict Prefer Prepare Print Propose Prove Publish Pull Push Put Quote Raise Rank Re-raise
    Read Rebuild Receive Recompute Record Reduce Refill Refine Refuse Register Release Remember Remove Rename Render
    Reorder Repeat Replace Reply Report Reproduce Request Require Reserve Reset Resize Resolve Restore Restrict Resume
    Retry Return Reverse Rotate Round Run Sample Save Say Scale Score Search Seed Select Send Serve Set Share Shift Show
    Shrink Shuffle Sign Simulate Skip Slice Smooth Solve Sort Split Stack Start State Stop Store Stream Strip Submit
    Subtract Sum Summarise Swap Switch Synchronise Take Test Time Tokenise Touch Trace Track Train Transform
    Translate Transpose Treat Trim Try Turn Undo Unpack Update Upload Use Validate Verify Vote Wait Walk Warm Warn Weigh
    Widen Wrap Write Yield Zero""",
    )
)


def functions(root: Path) -> Iterator[tuple[str, str]]:
    """Yield (place, docstring) of every function that has one; a property is read like a noun, so it may be one."""
    for path in sorted(root.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.FunctionDef) or any("property" in ast.unparse(d) for d in node.decorator_list):
                continue
            if text := ast.get_docstring(node):
                yield f"{path}:{node.lineno} {node.name}", text


def verbless(root: Path) -> list[tuple[str, str]]:
    return [(place, text) for place, text in functions(root) if text.split()[0].strip(".,:;") not in VERBS]


def test_docstrings_begin_with_a_verb() -> None:
    share = 1 - len(verbless(CHARM)) / len(list(functions(CHARM)))
    assert share >= 0.95, f"{share:.0%}; see python -m tests.test_docstrings charm"


if __name__ == "__main__":
    for place, text in (pair for root in sys.argv[1:] for pair in verbless(Path(root))):
        print(place, text.splitlines()[0], sep="\n    ")
