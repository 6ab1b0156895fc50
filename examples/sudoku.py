"""A fourth domain in one file: sudoku. docs/extend.md walks through it.

    python examples/sudoku.py train sudoku-4x4 --out runs/sudoku     # minutes on two CPU cores; 9x9 wants a GPU
    python examples/sudoku.py eval runs/sudoku                       # likewise report, params and view

A puzzle is a square of digits with 0 where one is to be found, and has exactly one solution. The digits of training
puzzles are renamed anew each time; no held-out puzzle is a training puzzle under other names.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import islice, takewhile
from pathlib import Path
from typing import Any, ClassVar

from charm.cli import main
from charm.config import read_run_config
from charm.devices import Place
from charm.domains import Domain, register
from charm.errors import CharmError
from charm.models.canvas.answers import refine
from charm.models.canvas.backbone import Reasoner, count_parameters
from charm.models.canvas.config import CanvasConfig
from charm.models.canvas.training import refinement_loss
from charm.runs import checkpoint
from charm.runs.config import EngineConfig
from charm.tables import Table
from charm.training.engine import Exam, Job, LogEntry, train

import numpy as np
import torch
from torch import Tensor

Board = list[int]  # row by row; 0 is empty


def solutions(board: Board, box: int, rng: random.Random | None = None) -> Iterator[Board]:
    """All ways to fill the board; in random order if asked for. The cell with the fewest choices is filled first."""
    side = box * box
    best: tuple[int, list[int]] | None = None
    for cell in (number for number, digit in enumerate(board) if not digit):
        row, column = divmod(cell, side)
        corner = row // box * box * side + column // box * box
        seen = {*board[row * side : (row + 1) * side], *board[column::side]}
        seen |= {board[corner + down * side + right] for down in range(box) for right in range(box)}
        choices = [digit for digit in range(1, side + 1) if digit not in seen]
        if best is None or len(choices) < len(best[1]):
            best = cell, choices
    if best is None:
        yield board
        return
    cell, choices = best
    for digit in rng.sample(choices, len(choices)) if rng else choices:
        yield from solutions([*board[:cell], digit, *board[cell + 1 :]], box, rng)


def make_puzzle(box: int, rng: random.Random, givens: int = 0) -> tuple[Board, Board]:
    """A puzzle and its solution. Digits go, in random order, while the solution stays the only one."""
    solution = next(solutions([0] * box**4, box, rng))
    puzzle = list(solution)
    for cell in rng.sample(range(box**4), box**4):
        without = [*puzzle[:cell], 0, *puzzle[cell + 1 :]]
        if sum(map(bool, puzzle)) > givens and len(list(islice(solutions(without, box), 2))) == 1:
            puzzle = without
    # Named by first appearance, so that renaming digits gives no new puzzle.
    names = {digit: number for number, digit in enumerate(dict.fromkeys((0, *puzzle, *solution)))}
    return [names[digit] for digit in puzzle], [names[digit] for digit in solution]


@dataclass(frozen=True, kw_only=True)
class SudokuConfig(EngineConfig):
    domain: ClassVar[str] = "sudoku"
    reasoner: CanvasConfig = field(default_factory=CanvasConfig)
    box: int = 2
    """Rows and columns of a box; a board has its square."""
    givens: int = 0
    """Digits that a puzzle keeps at least; 0 is as few as have one solution."""
    puzzles: int = 2000
    """Puzzles to learn from."""
    held_out: int = 500
    """Other ones, to be solved."""
    batch: int = 64
    """Puzzles in an update."""
    lr: float = 4e-3
    """Learning rate of AdamW, which falls to zero as a cosine."""


def boards(config: SudokuConfig) -> tuple[np.ndarray, np.ndarray]:
    """Training and held-out puzzles with their solutions [N, 2, cells]; all are different."""
    rng, wanted = random.Random(config.seed), config.puzzles + config.held_out
    found: dict[tuple[int, ...], Board] = {}
    tries = (make_puzzle(config.box, rng, config.givens) for _ in range(20 * wanted))
    for puzzle, solution in takewhile(lambda _: len(found) < wanted, tries):
        found[tuple(puzzle)] = solution
    if len(found) < wanted:
        raise CharmError(f"there seem to be fewer than {wanted} different puzzles of this kind")
    pairs = np.array(list(found.items()))
    return pairs[: config.puzzles], pairs[config.puzzles :]


class SudokuJob(Job):
    def __init__(self, config: SudokuConfig, place: Place) -> None:
        self.config, self.place = config, place
        self.side, self.steps = config.box**2, config.reasoner.refinement_steps
        self.learned, self.held_out = boards(config)
        self.manifest, self.work = {"seed": config.seed}, (config.batch, "puzzles")
        self.model = Reasoner(config.reasoner, config.seed).to(place.device)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), config.lr, betas=(0.9, 0.95))

    def update(self, step: int) -> dict[str, Tensor]:
        """All refinement steps of fresh puzzles, drawn by seed and step alone: a resumed run draws the same."""
        config = self.config
        rng = np.random.Generator(np.random.Philox(key=config.seed, counter=step))
        pairs = self.learned[rng.integers(len(self.learned), size=config.batch)]
        names = np.stack([np.append(0, 1 + rng.permutation(self.side)) for _ in pairs])
        renamed = np.take_along_axis(names[:, None], pairs, 2)
        puzzle, solution = torch.from_numpy(renamed).to(self.place.device).unbind(1)
        state, metrics = self.model.initial_state(config.batch, self.side**2), dict[str, Tensor]()
        for _ in range(self.steps):
            state, logits, halt = self.model(state, puzzle, self.no_task(config.batch), self.side)
            loss, metrics = refinement_loss(logits, halt, solution, config.batch)
            loss.backward()
        self.optimizer.param_groups[0]["lr"] = config.lr * (1 + np.cos(np.pi * step / config.steps)) / 2
        self.optimizer.step()
        self.optimizer.zero_grad()
        return {"loss": metrics["token_loss"], "exact_accuracy": metrics["exact_accuracy"]}

    def no_task(self, count: int) -> Tensor:
        """There is one task only, so there is no memory of tasks."""
        return torch.zeros(count, self.config.reasoner.width, device=self.place.device)

    def solved(self) -> float:
        """The share of held-out puzzles of which every cell is right."""
        puzzle, solution = torch.from_numpy(self.held_out).to(self.place.device).unbind(1)
        *_, (logits, _) = refine(self.model, puzzle, self.no_task(len(puzzle)), self.steps)
        return float((logits.argmax(-1) == solution).all(1).float().mean())

    def evaluate(self, exam: Exam) -> LogEntry | None:
        share = self.solved()
        return LogEntry({"solved": share}, f"{share:.1%} of {len(self.held_out)} held-out puzzles solved")

    def save(self, folder: Path) -> None:
        moments = checkpoint.optimizer_tensors([self.optimizer])
        checkpoint.write_tensors(folder / "model.safetensors", self.model.state_dict())
        checkpoint.write_tensors(folder / "optimizer.safetensors", moments)

    def restore(self, folder: Path, step: int) -> None:
        moments = checkpoint.read_tensors(folder / "optimizer.safetensors")
        self.model.load_state_dict(checkpoint.read_tensors(folder / "model.safetensors"))
        checkpoint.restore_optimizers([self.optimizer], moments)


def train_sudoku(config: SudokuConfig, out: Path, place: Place, resume: bool, say: Any) -> Any:
    if place.world > 1:
        raise CharmError("sudoku is learned by one process")
    return train(config, partial(SudokuJob, config, place), out, place, resume, say)


def evaluate(run: Path, options: Any, place: Place) -> tuple[dict[str, Any], str] | None:
    """`charm eval`: the newest checkpoint on the held-out puzzles."""
    job = SudokuJob(read_run_config(run, SudokuConfig), place)
    step, _ = checkpoint.last_good(run, print) or (0, {})
    job.restore(checkpoint.folder_of(run, step), step)
    share = job.solved()
    return {"step": step, "solved": share}, f"step {step}: {share:.1%} of {len(job.held_out)} puzzles solved"


def count(name: str, config: SudokuConfig, data_rows: bool, data: Path | None) -> tuple[dict[str, Any], Table]:
    total = count_parameters(Reasoner(config.reasoner))
    table = Table(["component", "parameters"], [["reasoner", f"{total:,}"]], f"Parameters of {name}")
    return {"preset": name, "total": total}, table


SMALL = CanvasConfig(
    width=64, heads=4, layers=1, recurrences=4, horizon=4, prefix=1, inner_multiple=32, rope="2d", rope_base=100.0,
    vocab=5, refinement_steps=2, compute_dtype="float32",
)  # fmt: skip
# For a GPU; to make its puzzles takes ten minutes.
LARGE = CanvasConfig(width=256, layers=2, recurrences=8, prefix=1, rope="2d", vocab=10, refinement_steps=4)
EASY = SudokuConfig(reasoner=SMALL, steps=800, evaluate_every=200, checkpoint_every=200)
HARD = SudokuConfig(
    reasoner=LARGE, steps=20_000, evaluate_every=1000, box=3, givens=30, puzzles=5000, batch=512, lr=1e-3
)

SUDOKU = Domain(
    name="sudoku",
    learns_from="sudoku",
    prefix="sudoku-",
    presets={"sudoku-4x4": lambda: EASY, "sudoku-9x9": lambda: HARD},
    train=train_sudoku,
    evaluate=evaluate,
    count=count,
    curves={"loss": ("Loss", False), "evaluation/solved": ("Held-out puzzles solved", True)},
)
register(SUDOKU)

if __name__ == "__main__":
    main()
