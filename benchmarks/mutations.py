"""A mutation run of the core: does a test fail when a line is wrong?

    python benchmarks/mutations.py [--jobs 2] [--only WORD]

Every entry of MUTATIONS is one mistake that somebody could make: a text that occurs exactly once under charm/, what
replaces it, and the test files that should notice. Each is applied in a temporary copy of the repository, where only
these files run. Prints one line for each mutation and the score: the share that was caught. A mutation that survives
is a hole in the tests, and ends the command with exit status 1.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

ROOT = Path(__file__).resolve().parents[1]
TIMEOUT = 900  # seconds for the tests of one mutation; an endless loop counts as caught


@dataclass(frozen=True)
class Mutation:
    mistake: str
    old: str
    new: str
    tests: tuple[str, ...]  # files, as the unique end of their path under tests/


MUTATIONS = (
    # Training.
    Mutation(
        "only the smallest canvas size is trained",
        '(keyed.key_of("side", seed), np.array([step]))[0] * ends[-1]',
        '(keyed.key_of("side", seed), np.array([step]))[0] * ends[0]',
        ("test_slots.py",),
    ),
    Mutation(
        "a resumed run repeats examples: the pending refill is dropped",
        "        taken, self._taken = self._taken, None\n",
        "        taken, self._taken = None, None\n",
        ("test_slots.py",),
    ),
    Mutation(
        "exploration ignores the seed",
        'keyed.key_of("exploration", seed, self.side)',
        'keyed.key_of("exploration", self.side)',
        ("test_slots.py",),
    ),
    Mutation(
        "damage that keeps a file's length is not noticed",
        "if not same_size or fingerprint(file) != known:",
        "if not same_size:",
        ("test_checkpoint.py",),
    ),
    Mutation(
        "a record that was edited is believed",
        "if _digest(content) != record[SEAL]:",
        "if False:",
        ("test_checkpoint.py",),
    ),
    Mutation(
        "one checkpoint too many is kept",
        "if one <= step and keep and kept == keep:",
        "if one <= step and keep and kept == keep + 1:",
        ("test_checkpoint.py",),
    ),
    Mutation(
        "a run resumes with rows bound to other tasks or views",
        "if type(self.model.schema).load(folder).instances != self.data.instances:",
        "if False:",
        ("test_resume.py",),
    ),
    Mutation(
        "votes of later steps stay after a resume",
        "self.job.forget(self.out, self.step)",
        "False",
        ("test_resume.py",),
    ),
    Mutation(
        "HRM's continue target is off by one step",
        "last = slots.steps_B[at] + 1 >= limit",
        "last = slots.steps_B[at] >= limit",
        ("test_slots.py",),
    ),
    Mutation(
        "a slot that halted keeps the number of its steps",
        "        self.steps_B.masked_fill_(halted_B, 0)\n",
        "",
        ("test_slots.py",),
    ),
    Mutation(
        "a slot that halted keeps its state",
        "self.state_SBLD.copy_(self.network.restart(self.state_SBLD, halted_B))",
        "self.state_SBLD.copy_(self.state_SBLD)",
        ("test_slots.py",),
    ),
    Mutation(
        "both random numbers of a slot are the same",
        "keyed.uniform(key, counters + 1)",
        "keyed.uniform(key, counters)",
        ("test_slots.py",),
    ),
    Mutation(
        "slots share random numbers from one step to the next",
        "counters = 2 * (step * self.stream.slots + self.numbers)",
        "counters = 2 * (step + self.numbers)",
        ("test_slots.py",),
    ),
    Mutation(
        "restored slots meet their first example again",
        '        self.turn = saved["turn"].cpu().numpy().copy()\n',
        "",
        ("test_slots.py",),
    ),
    Mutation(
        "evaluations of the step resumed from are forgotten, too",
        "if number.isdecimal() and int(number) > self.step:",
        "if number.isdecimal() and int(number) >= self.step:",
        ("test_resume.py",),
    ),
    Mutation(
        "lines of later steps stay in the metrics",
        "forget_later_lines(self.out, self.step)",
        "False",
        ("test_resume.py",),
    ),
    Mutation(
        "a resumed run averages from its raw weights",
        "averaged[name].to(device, copy=True) for name in self.dense]",
        "p.detach().clone() for p in self.dense.values()]",
        ("test_resume.py",),
    ),
    Mutation(
        "the first update of a warm-up does not move",
        "risen = min(1.0, (update + 1) / warmup) if warmup else 1.0",
        "risen = min(1.0, update / warmup) if warmup else 1.0",
        ("training/test_optimizers.py",),
    ),
    Mutation(
        "instance rows move by their gradient and not by its sign",
        "return grads_NC.sign()",
        "return grads_NC",
        ("test_row_optimizers.py",),
    ),
    Mutation(
        "a row that is read twice moves by its first gradient",
        "return ids_N, sums_NC[run_N]",
        "return ids_N, grads_NC[order_N]",
        ("test_row_optimizers.py",),
    ),
    Mutation(
        "averaged weights stay in the model",
        "        try:\n            yield\n        finally:\n            self._swap()",
        "        yield",
        ("training/test_optimizers.py",),
    ),
    # Adaptation.
    Mutation(
        "joint fine-tuning learns one task after the other",
        '"joint": Method(scopes=("full",), joint=True)',
        '"joint": Method(scopes=("full",))',
        ("test_methods.py",),
    ),
    Mutation(
        "task_lr does nothing",
        "RowAdamW([table.weight], recipe.task_lr",
        "RowAdamW([table.weight], recipe.row_lr",
        ("test_methods.py",),
    ),
    Mutation(
        "the Fisher information ignores the base's halting weight",
        "BatchSize(recipe.batch, recipe.tokens, halt_weight=base.config.halt_weight)",
        "BatchSize(recipe.batch, recipe.tokens, halt_weight=0.5)",
        ("test_methods.py",),
    ),
    Mutation(
        "importance depends on what happened to be drawn before",
        'torch.manual_seed(keyed.key_of("fisher", base.config.seed, number) >> 1)',
        "pass",
        ("test_writer_stream.py",),
    ),
    Mutation(
        "older tasks are never rehearsed",
        "return self.older is not None and self.updates % 2 == 1",
        "return False",
        ("test_writer_stream.py",),
    ),
    Mutation(
        "a resumed writer rehearses from the start again",
        "        if self.older is not None:\n            self.older.restore",
        "        if False:\n            self.older.restore",
        ("test_writer_stream.py",),
    ),
    Mutation(
        "a stream's votes of a writer are only counted",
        'order = "likelihood" if reasoner.judges else',
        'order = "votes" if reasoner.judges else',
        ("test_writer_stream.py",),
    ),
    Mutation(
        "a writer's new vectors start at the first known one",
        "base.rows.weight[:known].mean(0)",
        "base.rows.weight[:1].mean(0)",
        ("test_writer_stream.py",),
    ),
    Mutation("EWC pulls ten times too hard", "Method(strength=0.01,", "Method(strength=0.1,", ("test_methods.py",)),
    Mutation(
        "a distance is left squared",
        "torch.stack(squares).sum().sqrt()",
        "torch.stack(squares).sum()",
        ("test_methods.py",),
    ),
    Mutation(
        "all tasks of a stream share one seed",
        'keyed.key_of("adaptation", recipe.seed, seed)',
        'keyed.key_of("adaptation", recipe.seed)',
        ("test_methods.py",),
    ),
    Mutation(
        "the order of a stream depends on the order of its files",
        "fresh = sorted((task for task in tasks if task.id not in known), key=lambda task: task.id)",
        "fresh = [task for task in tasks if task.id not in known]",
        ("test_streams.py",),
    ),
    Mutation(
        "L2-SP pulls ten times too little",
        "strength=0.1, setting",
        "strength=0.01, setting",
        ("test_methods.py",),
    ),
    Mutation(
        "the Fisher information is a sum and not a mean",
        "return [total / batches for total in sums]",
        "return sums",
        ("training/test_adaptation.py",),
    ),
    Mutation(
        "instance rows learn at the rate of tasks",
        '{"lr": recipe.row_lr, "weight_decay": recipe.row_decay}',
        '{"lr": recipe.task_lr, "weight_decay": recipe.row_decay}',
        ("test_methods.py",),
    ),
    Mutation(
        "a rehearsed batch moves rows of the base",
        "self.optimizers.all[len(private_tables(self.model)) :]",
        "self.optimizers.all",
        ("training/test_adaptation.py",),
    ),
    Mutation(
        "adaptation ignores its warm-up",
        'return rate_share(update, recipe.warmup, left, "cosine")',
        'return rate_share(update, 0, left, "cosine")',
        ("test_methods.py",),
    ),
    Mutation(
        "tasks of a stream are learned with one seed",
        "seed, self.data = keyed.key_of(self.stream.ids[stage])",
        "seed, self.data = 0 * keyed.key_of(self.stream.ids[stage])",
        ("test_methods.py",),
    ),
    Mutation(
        "the halting weight of a recipe does nothing",
        "BatchSize(recipe.batch, recipe.tokens, halt_weight=recipe.halt_weight)",
        "BatchSize(recipe.batch, recipe.tokens, halt_weight=0.5)",
        ("test_methods.py",),
    ),
    # Tasks.
    Mutation(
        "repeats of evaluated and auxiliary tasks change places",
        '"evaluate": config.evaluate_repeats, "auxiliary": config.auxiliary_repeats',
        '"evaluate": config.auxiliary_repeats, "auxiliary": config.evaluate_repeats',
        ("tasks/test_dataset.py",),
    ),
    Mutation(
        "a generated pair gets a canvas for its input alone",
        "side_for[made.shapes.max(axis=1)]",
        "side_for[made.shapes[:, :2].max(axis=1)]",
        ("tasks/test_dataset.py",),
    ),
    Mutation(
        "questions are asked under the views of generated pairs, too",
        "self.instances.rows(question.task_id)[: self.config.views][:views]",
        "self.instances.rows(question.task_id)[:views]",
        ("tasks/test_dataset.py",),
    ),
    Mutation(
        "views of generated pairs ignore the seed",
        "draw_views(some, config.synthetic_view_count, config.seed + 1)",
        "draw_views(some, config.synthetic_view_count, 1)",
        ("tasks/test_dataset.py",),
    ),
    Mutation(
        "the hash of pairs ignores their shapes",
        "for part in (self.cells, self.shape):",
        "for part in (self.cells,):",
        ("test_batch.py",),
    ),
    Mutation(
        "an index with lengths that do not add up is read",
        " or int(lengths.sum()) != len(codes):",
        ":",
        ("test_instances.py",),
    ),
    Mutation(
        "indexes of equal size are equal, even with different views",
        "return self.puzzles[: len(other.puzzles)] == other.puzzles and same_rows",
        "return self.puzzles[: len(other.puzzles)] == other.puzzles and len(self) >= len(other)",
        ("test_instances.py",),
    ),
    Mutation(
        "the last permutation of the pool is never drawn",
        "pool[rng.integers(0, len(pool), _BLOCK)]",
        "pool[rng.integers(0, len(pool) - 1, _BLOCK)]",
        ("test_augment.py",),
    ),
    Mutation(
        "test outputs of evaluated tasks are loaded",
        '[task.blind() for task in tasks] if role == "evaluate" else tasks',
        "tasks",
        ("tasks/test_dataset.py",),
    ),
    Mutation(
        "test outputs of tasks in memory have a say in the views",
        "asked = tuple(task.blind() for task in tasks.evaluate)",
        "asked = tasks.evaluate",
        ("tasks/test_dataset.py",),
    ),
    Mutation(
        "a question's input is trained on where a generator draws it",
        "side_for[made.shapes.max(axis=1)] * allowed",
        "side_for[made.shapes.max(axis=1)]",
        ("tasks/test_dataset.py",),
    ),
    Mutation(
        "a question's cells in another shape are not trained on",
        "grid_bytes(made.pair(k)[0]) not in forbidden",
        "made.pair(k)[0].tobytes() not in {one[2:] for one in forbidden}",
        ("tasks/test_dataset.py",),
    ),
    Mutation(
        "generated pairs of a second task are those of the first",
        "        first += len(made)\n",
        "",
        ("tasks/test_dataset.py",),
    ),
    Mutation(
        "the pool of colours is not used",
        "return draw(task, config.views, config.seed, pool, ",
        "return draw(task, config.views, config.seed, None, ",
        ("tasks/test_dataset.py",),
    ),
    Mutation(
        "a stream ignores the seed it is given",
        "seed = self.config.seed if seed is None else seed",
        "seed = self.config.seed",
        ("tasks/test_dataset.py",),
    ),
    Mutation(
        "views of equal content get separate rows",
        "np.unique(hashes, return_index=True)[1]",
        "np.unique(codes, return_index=True)[1]",
        ("test_augment.py",),
    ),
    Mutation(
        "the original is not the first view",
        "np.sort(np.unique(hashes, return_index=True)[1])",
        "np.unique(hashes, return_index=True)[1]",
        ("test_augment.py",),
    ),
    Mutation(
        "counts of other weights are said of these",
        "len(modes) == 1 and found.weights == weights_sha256(model.state_dict())",
        "len(modes) == 1",
        ("evaluation/test_calibration.py",),
    ),
    Mutation(
        "votes that no view can cast are counted as cast",
        "voted = 0 if self.unasked & own.keys() else min(views, self.views[name])",
        "voted = 0 if self.unasked & own.keys() else views",
        ("test_solve.py",),
    ),
    Mutation(
        "a second solve without an answer erases the answers of the first",
        "        if self.replaces and not self.found:\n",
        "        if False:\n",
        ("solving/test_submission.py",),
    ),
    Mutation(
        "known views are given out in the order of their codes",
        "return rows[order[np.searchsorted(known, codes, sorter=order)]]",
        "return rows[order]",
        ("test_instances.py",),
    ),
    Mutation(
        "colours are permuted once more and not back",
        "tuple(int(c) for c in np.argsort(self.colors))",
        "self.colors",
        ("tasks/test_view.py",),
    ),
    Mutation(
        "grids never stand in the last row that is free",
        "room_down, room_right = self.side - margin",
        "room_down, room_right = self.side - 1 - margin",
        ("test_sampling.py",),
    ),
    Mutation(
        "an epoch repeats the order of the one before",
        'keyed.key_of("epoch", self.seed, int(one))',
        'keyed.key_of("epoch", self.seed)',
        ("test_sampling.py",),
    ),
    # Automata.
    Mutation(
        "a Larger-than-Life rule may have many states",
        '        if self.family == "larger" and self.states > 2:\n',
        "        if False:\n",
        ("test_rules.py",),
    ),
    Mutation(
        "the neighbourhood of a drawn rule is one cell too small",
        "size = (2 * radius + 1) ** 2 - 1 + middle",
        "size = (2 * radius + 1) ** 2 - 1",
        ("test_rules.py",),
    ),
    Mutation(
        "a torus of side 2r counts cells twice",
        "if min(height, width) < 2 * rule.radius + 1:",
        "if min(height, width) < 2 * rule.radius:",
        ("test_simulator.py",),
    ),
    Mutation("a cell never counts itself", "    if not rule.middle:\n", "    if True:\n", ("test_simulator.py",)),
    Mutation(
        "neighbours on one side are left out",
        "for shift in range(1 - radius, radius + 1):",
        "for shift in range(1 - radius, radius):",
        ("test_simulator.py",),
    ),
    Mutation(
        "a dying cell stays unchanged",
        "following = (np.arange(self.states) + 1) % self.states",
        "following = np.arange(self.states)",
        ("test_rules.py",),
    ),
    Mutation(
        "a neighbourhood that just fills the torus is not drawn",
        "if 2 * radius + 1 <= side]",
        "if 2 * radius + 1 < side]",
        ("test_rules.py",),
    ),
    # Evaluation.
    Mutation(
        "of an odd number of checkpoints the smaller half votes",
        '"half": (len(newest_first) + 1) // 2',
        '"half": len(newest_first) // 2',
        ("test_protocols.py",),
    ),
    Mutation(
        "the oldest checkpoints vote",
        "sorted(set(steps), reverse=True)",
        "sorted(set(steps))",
        ("test_protocols.py",),
    ),
    Mutation(
        "votes are ranked by confidence first",
        "np.lexsort((hashes, -odds, -weight, -support, question))",
        "np.lexsort((hashes, -weight, -support, -odds, question))",
        ("test_ranking.py",),
    ),
    Mutation(
        "likelihood does not count",
        "support = ORDERS[order](",
        'support = ORDERS["votes"](',
        ("test_ranking.py",),
    ),
    Mutation(
        "confidences are added up and not averaged",
        "return votes, weight, confidence / weight",
        "return votes, weight, confidence",
        ("test_ranking.py",),
    ),
    Mutation(
        "of equal rectangles the widest is cropped",
        "best_N = area_NS.argmax(1)",
        "best_N = area_NS.shape[1] - 1 - area_NS.flip(1).argmax(1)",
        ("test_decode.py",),
    ),
    Mutation(
        "half-written votes count as finished",
        "whole = [header for header in headers if header is not None and header.complete]",
        "whole = [header for header in headers if header is not None]",
        ("test_archive.py",),
    ),
    # Synthesis.
    Mutation(
        "one irreproducible pair passes",
        "for problem in found[:MAX_LISTED]]",
        "for problem in found[1:MAX_LISTED]]",
        ("rearc2/test_check.py",),
    ),
    Mutation(
        "a rival that raises counts as agreeing",
        "apply_rule(rival, pair.input), pair.output)\n    except Exception:\n        return False",
        "apply_rule(rival, pair.input), pair.output)\n    except Exception:\n        return True",
        ("rearc2/test_check.py",),
    ),
    Mutation(
        "a cap of as many pairs as are wanted is no cap",
        "if package.cap is not None and package.cap >= PAIRS:",
        "if package.cap is not None and package.cap > PAIRS:",
        ("rearc2/test_check.py",),
    ),
    Mutation(
        "a pair that verify refutes later passes",
        "            if not packages.same(packages.apply_rule(package.verify, before), after):",
        "            if False:",
        ("rearc2/test_check.py",),
    ),
    # Memory.
    Mutation(
        "FiLM forgets the base it scales",
        "return (1 + self.scale(context_BE)) * base_BD + self.shift(context_BE)",
        "return self.scale(context_BE) * base_BD + self.shift(context_BE)",
        ("test_composers.py",),
    ),
    Mutation(
        "scale and shift of FiLM change places",
        "return (1 + self.scale(context_BE)) * base_BD + self.shift(context_BE)",
        "return (1 + self.shift(context_BE)) * base_BD + self.scale(context_BE)",
        ("test_composers.py",),
    ),
    Mutation(
        "the gate does not read the composed vector",
        "residual_BD = self.open(composed_BD) * residual_BD",
        "residual_BD = 0.5 * residual_BD",
        ("test_cose.py",),
    ),
    Mutation(
        "the residual replaces what was composed",
        "return composed_BD + residual_BD",
        "return residual_BD",
        ("test_cose.py",),
    ),
    Mutation(
        "the blank row learns",
        "values = values.masked_fill((ids == 0).unsqueeze(-1), 0)",
        "pass",
        ("test_row_tables.py",),
    ),
    Mutation(
        "new rows are copies of old ones",
        "self.weight.new_zeros(count, columns)",
        "self.weight.data[:1].expand(count, columns)",
        ("test_row_tables.py",),
    ),
    Mutation(
        "a permutation is read in its natural order",
        "slots = F.embedding(order_BN, self.slots).flatten(1)",
        "slots = F.embedding(order_BN.sort().values, self.slots).flatten(1)",
        ("test_factors.py",),
    ),
    Mutation(
        "a sum reads its first factor alone",
        "return torch.stack([factor(key) for factor in self.factors]).sum(dim=0)",
        "return self.factors[0](key)",
        ("test_factors.py",),
    ),
    Mutation(
        "every head of a keyed table reads the same sub-key",
        "self.keys[number // self.heads]",
        "self.keys[0]",
        ("test_row_tables.py",),
    ),
    Mutation(
        "fields outside their range are read",
        "if not 0 <= value < size:",
        "if not 0 <= value <= size:",
        ("test_factors.py",),
    ),
    Mutation(
        "sparse tables are dense parameters, too",
        "return [parameter for parameter in module.parameters() if id(parameter) not in rows]",
        "return list(module.parameters())",
        ("test_cose.py",),
    ),
    # Reasoner.
    Mutation(
        "the pole of stablemax is on the wrong side",
        "torch.where(x >= 0, x + 1, 1 / (1 - x.clamp(max=0)))",
        "torch.where(x >= 0, x + 1, 1 / (1 + x.clamp(max=0)))",
        ("test_losses.py",),
    ),
    Mutation(
        "cells without a target count in the mean",
        "token_B = torch.where(wanted_BT, nll_BT, 0.0).sum(1) / cells_B",
        "token_B = nll_BT.mean(1)",
        ("test_losses.py",),
    ),
    Mutation(
        "an answer is right where any of its cells is",
        "exact_B = (right_BT | ~wanted_BT).all(1)\n    halt_B",
        "exact_B = right_BT.any(1)\n    halt_B",
        ("test_losses.py",),
    ),
    Mutation(
        "the halt head's target is inverted",
        "foreseen_B = torch.where(last_B, next_halt_B2[:, 0], next_halt_B2.amax(1))",
        "foreseen_B = torch.where(last_B, next_halt_B2.amax(1), next_halt_B2[:, 0])",
        ("test_losses.py",),
    ),
    Mutation(
        "no slot halts at the last step",
        "return (steps_B >= max_steps) | (wants_to_halt(halt, kind) & (steps_B >= minimum_B))",
        "return wants_to_halt(halt, kind) & (steps_B >= minimum_B)",
        ("test_halting.py",),
    ),
    Mutation(
        "the least minimum is one step",
        "minimum_B = 2 + (where_B * (max_steps - 1)).long()",
        "minimum_B = 1 + (where_B * max_steps).long()",
        ("test_halting.py",),
    ),
    Mutation(
        "one application more carries gradients",
        "h = f(h, x, frozen)\n    return [f(h, x, config.recurrences - frozen, cut)]",
        "h = f(h, x, frozen - 1)\n    return [f(h, x, config.recurrences - frozen + 1, cut)]",
        ("test_backbone.py",),
    ),
    Mutation(
        "a horizon that cuts through a block takes all of it",
        "return [f(h, x, config.recurrences - frozen, cut)]",
        "return [f(h, x, config.recurrences - frozen)]",
        ("test_backbone.py",),
    ),
    Mutation(
        "TRM's low state does not hear the input",
        "low = f(low, high + x, config.inner)",
        "low = f(low, high, config.inner)",
        ("test_backbone.py",),
    ),
    Mutation(
        "HRM's low state thinks once too often",
        "low = f_low(low, high + x, config.inner - last)",
        "low = f_low(low, high + x, config.inner)",
        ("test_backbone.py",),
    ),
    Mutation(
        "positions turn the wrong way round",
        "torch.cat([first * cos - second * sin, second * cos + first * sin], dim=-1).to(x.dtype)",
        "torch.cat([first * cos + second * sin, second * cos - first * sin], dim=-1).to(x.dtype)",
        ("test_layers.py",),
    ),
    Mutation(
        "a small canvas has a different stride",
        "prefix + stride * row + column",
        "prefix + side * row + column",
        ("test_layers.py",),
    ),
    Mutation(
        "the convolution looks ahead",
        "before_BLF = F.pad(now_BLF[:, :-1], (0, 0, 1, 0))",
        "before_BLF = F.pad(now_BLF[:, 1:], (0, 0, 0, 1))",
        ("test_layers.py",),
    ),
    Mutation(
        "layers are normalised before they are added",
        "x_BLD = rms_norm(x_BLD + self.attention(x_BLD, turn))",
        "x_BLD = x_BLD + rms_norm(self.attention(x_BLD, turn))",
        ("test_layers.py",),
    ),
    Mutation(
        "gradients cross refinement steps",
        "next_SBLD = torch.stack([state.detach() for state in states])",
        "next_SBLD = torch.stack(states)",
        ("test_backbone.py",),
    ),
    Mutation(
        "embeddings are not scaled",
        "(self.config.width**0.5 * torch.cat([prefix_BPD, cells_BTD], dim=1))",
        "(torch.cat([prefix_BPD, cells_BTD], dim=1))",
        ("test_backbone.py",),
    ),
    # What an audit's mutations survived: the numbers behind the ranking, and votes.
    Mutation(
        "a candidate's likelihood is the mean of probabilities",
        "logit_K = log_odds(np.nanmean(likely_KJ.astype(np.float64), axis=1))",
        "logit_K = log_odds(np.log(np.nanmean(np.exp(likely_KJ.astype(np.float64)), axis=1)))",
        ("test_judging.py",),
    ),
    Mutation(
        "a candidate is as likely as its surest judge says",
        "logit_K = log_odds(np.nanmean(likely_KJ.astype(np.float64), axis=1))",
        "logit_K = log_odds(np.nanmax(likely_KJ.astype(np.float64), axis=1))",
        ("test_judging.py",),
    ),
    Mutation(
        "likelihoods are not turned into log-odds",
        "return log_p - np.log(-np.expm1(log_p))",
        "return log_p",
        ("test_judging.py",),
    ),
    # Models that vote together.
    Mutation(
        "a model does not judge what others wrote",
        "one.judge(other.votes.candidates)",
        "one.judge(one.votes.candidates)",
        ("test_ensemble.py",),
    ),
    Mutation(
        "what a search found is judged by its finder alone",
        "            for one in self.voices:\n                one.judge(select_candidates(",
        "            for one in [finder]:\n                one.judge(select_candidates(",
        ("test_ensemble.py",),
    ),
    Mutation(
        "every seed of a model is the first",
        "make(run, replace(own, seed=seed), place)",
        "make(run, replace(own, seed=seeds[0]), place)",
        ("test_ensemble.py",),
    ),
    Mutation(
        "a search takes all of the time for votes",
        "clock, (1 - SEARCHING) * clock.left)",
        "clock, 0.0)",
        ("test_ensemble.py",),
    ),
    Mutation(
        "tasks that a model's run evaluated count as learned with their answers",
        "known -= {task.id for task in evaluated_tasks(config.data)}",
        "known -= set()",
        ("test_ensemble.py",),
    ),
    Mutation(
        "half as many views judge",
        "JUDGES = 16  #",
        "JUDGES = 8  #",
        ("test_judging.py",),
    ),
    Mutation(
        "every view judges",
        "views = min(views or JUDGES, JUDGES)",
        "views = views or JUDGES",
        ("test_judging.py",),
    ),
    Mutation(
        "the first documents validate",
        "return list(documents[:first]), list(documents[first:])",
        "return list(documents[len(documents) - first :]), list(documents[: len(documents) - first])",
        ("test_corpus.py",),
    ),
    Mutation(
        "a sequence that would fill a pack waits for the next",
        'count = int(np.searchsorted(ends, self.tokens, side="right"))',
        'count = int(np.searchsorted(ends, self.tokens, side="left"))',
        ("test_packs.py",),
    ),
    Mutation(
        "a run that is stopped amid an exam is not saved",
        "if asked and not saved:",
        "if asked and saved:",
        ("training/test_engine.py",),
    ),
    Mutation(
        "branches of a writer do not shrink with recurrences",
        "branch.weight.mul_((2 * config.layers * config.recurrences) ** -0.5)",
        "branch.weight.mul_((2 * config.layers) ** -0.5)",
        ("writer/test_network.py",),
    ),
    Mutation(
        "branches of a writer do not shrink with layers",
        "branch.weight.mul_((2 * config.layers * config.recurrences) ** -0.5)",
        "branch.weight.mul_((2 * config.recurrences) ** -0.5)",
        ("writer/test_network.py",),
    ),
    Mutation(
        "votes on a changed test input count",
        "if voted.get(question) != self.inputs.get(question):",
        "if question not in voted:",
        ("faults/test_votes.py",),
    ),
    Mutation(
        "votes on a task that is gone count, and the denominator shrinks",
        "for question in self.inputs if self.some else {**voted, **self.inputs}:",
        "for question in self.inputs:",
        ("faults/test_votes.py",),
    ),
    Mutation(
        "votes made with the memory zeroed count as real ones",
        "if header.blank != self.blank:",
        "if False:",
        ("faults/test_votes.py",),
    ),
    Mutation(
        "a resumed training does not look at its earlier votes",
        'Expected(self.asked).require_all(out / "votes")',
        "pass",
        ("faults/test_votes.py",),
    ),
    Mutation(
        "ranking does not look at what votes answer",
        "            replace(wanted, run=wanted.run or newest.run).require(folder, found)\n",
        "",
        ("faults/test_votes.py",),
    ),
    Mutation(
        "votes on other test inputs are taken for finished",
        "return (one.questions, one.inputs, one.blank) == (other.questions, other.inputs, other.blank)",
        "return (one.questions, one.blank) == (other.questions, other.blank)",
        ("test_archive.py",),
    ),
    Mutation(
        "the hash of a test input ignores its shape",
        "return hashlib.sha256(grid_bytes(grid)).hexdigest()[:16]",
        "return hashlib.sha256(grid.tobytes()).hexdigest()[:16]",
        ("tasks/test_task.py",),
    ),
    Mutation(
        "answers that are NaN are kept as votes",
        "if np.isnan(votes[depth].logit_V).any():",
        "if False:",
        ("faults/test_votes.py",),
    ),
    Mutation(
        "a model with NaN weights is loaded",
        "        require_finite(tensors, folder)\n",
        "",
        ("faults/test_votes.py",),
    ),
    Mutation(
        "tasks that a run does not evaluate are scored",
        "if unknown := set(options.tasks) - {question.task_id for question in asked}:",
        "if unknown := set[str]():",
        ("faults/test_votes.py",),
    ),
    Mutation(
        "a run is evaluated at the paper's depths, not at those it was trained for",
        'if fields.get("loops") is None:',
        "if False:",
        ("test_predict.py",),
    ),
    Mutation(
        "depths that are given are ignored",
        'if fields.get("loops") is None:',
        "if True:",
        ("test_predict.py",),
    ),
    Mutation(
        "a tie of votes is not named",
        "elif most == first:",
        "elif False:",
        ("test_solve.py",),
    ),
    Mutation(
        "less than half of the votes is not named",
        "elif first < AGREED * self.cast:",
        "elif False:",
        ("test_solve.py",),
    ),
    Mutation(
        "an answer with fewer votes than another is not named",
        "if most > first:",
        "if False:",
        ("test_solve.py",),
    ),
    Mutation(
        "half of the votes is too little",
        "elif first < AGREED * self.cast:",
        "elif first <= AGREED * self.cast:",
        ("test_solve.py",),
    ),
    Mutation(
        "a canvas's halting is called likelihood",
        "how sure the halt head is that the answer is right",
        "how probable the model finds the whole grid",
        ("test_page.py",),
    ),
    Mutation(
        "the third place is not a near miss",
        'return "solved" if rank <= SOLVED_AT else "near miss"',
        'return "solved" if rank <= SOLVED_AT + 1 else "near miss"',
        ("test_scoring.py",),
    ),
    Mutation(
        "likelihood alone ranks a writer's candidates",
        '"likelihood": lambda weight_K, confidence_K: weight_K * confidence_K,',
        '"likelihood": lambda weight_K, confidence_K: confidence_K,',
        ("test_ranking.py",),
    ),
    Mutation(
        "votes weigh twice in a writer's ranking",
        '"likelihood": lambda weight_K, confidence_K: weight_K * confidence_K,',
        '"likelihood": lambda weight_K, confidence_K: weight_K**2 * confidence_K,',
        ("test_ranking.py",),
    ),
    Mutation(
        "columns of votes may be of any size",
        "columns = read_arrays(path, COLUMNS, MOST)",
        "columns = read_arrays(path, COLUMNS, 2**60)",
        ("test_archive.py",),
    ),
    Mutation(
        "votes of an earlier format are read",
        "    if version != FORMAT:\n",
        "    if version > FORMAT:\n",
        ("test_archive.py",),
    ),
    Mutation(
        "an answer's likelihood leaves out the ends of its rows",
        'nll = torch.where(wanted, F.cross_entropy(logits, target, reduction="none"), 0.0)',
        'nll = torch.where(wanted & (target != 1), F.cross_entropy(logits, target, reduction="none"), 0.0)',
        ("test_judging.py",),
    ),
    Mutation(
        "attention of a writer adds one per cent more",
        "x = self.add(x, linear(mixed.flatten(-2), self.out.weight))",
        "x = self.add(x, 1.01 * linear(mixed.flatten(-2), self.out.weight))",
        ("test_released.py",),
    ),
    Mutation(
        "exploration never forbids to halt",
        "minimum_steps(slots.exploration_B2, slots.exploration, limit)",
        "minimum_steps(slots.exploration_B2, 0.0, limit)",
        ("test_slots.py",),
    ),
    Mutation(
        "a run keeps all of its checkpoints",
        "checkpoint.prune(self.out, self.config.keep_checkpoints, self.step)",
        "checkpoint.prune(self.out, 0, self.step)",
        ("faults/test_checkpoints.py",),
    ),
    Mutation(
        "a scheduled checkpoint waits for its exam",
        "                if saved:\n                    self.save()\n",
        "                if saved and not config.evaluates_at(self.step):\n                    self.save()\n",
        ("training/test_engine.py",),
    ),
)


def places(mutation: Mutation, root: Path = ROOT) -> list[Path]:
    """Return the files under charm/ and rearc2/workbench/ with the text, once for each time."""
    files = sorted(file for part in ("charm", "rearc2/workbench") for file in (root / part).rglob("*.py"))
    return [file for file in files for _ in range(file.read_text("utf-8").count(mutation.old))]


def files_of(mutation: Mutation, root: Path = ROOT) -> list[Path]:
    """Return the test files of a mutation; each name must fit exactly one."""
    found = []
    for name in mutation.tests:
        fits = sorted((root / "tests").rglob(name))
        if len(fits) != 1:
            raise SystemExit(f"{mutation.mistake}: {len(fits)} files under tests/ are named {name}, expected 1")
        found.append(fits[0].relative_to(root))
    return found


def run_tests(root: Path, files: Sequence[Path]) -> int:
    """Return pytest's exit status in a copy of the repository; 1 means that a test failed."""
    # No bytecode: a file changed twice in a second, to the same length, would be taken for its cached form.
    environment = {
        **os.environ,
        "PYTHONPATH": str(root),
        "PYTHONDONTWRITEBYTECODE": "1",
        "OMP_NUM_THREADS": "1",
    }
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *map(str, files)]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.run(command, cwd=root, env=environment, timeout=TIMEOUT, **quiet).returncode


def judge(mutation: Mutation, root: Path) -> str:
    """Apply a mutation in a copy of the repository, run its tests, and take it back."""
    found = places(mutation, root)
    if len(found) != 1:
        return f"text found {len(found)} times"
    file, before = found[0], found[0].read_text("utf-8")
    file.write_text(before.replace(mutation.old, mutation.new), "utf-8")
    try:
        status = run_tests(root, files_of(mutation, root))
    except subprocess.TimeoutExpired:
        return "caught"
    finally:
        file.write_text(before, "utf-8")
    return {0: "survived", 1: "caught"}.get(status, f"pytest ended with status {status}")


def copy_tree(folder: Path) -> Path:
    """Copy the working tree without what git ignores."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():  # a file may be deleted and not committed yet
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    return folder


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=1, help="mutations tried side by side")
    parser.add_argument("--only", default="", help="only mutations whose description or tests hold this text")
    options = parser.parse_args()
    chosen = [one for one in MUTATIONS if options.only in " ".join((one.mistake, *one.tests))]
    if not chosen:
        parser.error(f"no mutation holds the text {options.only!r}")
    with tempfile.TemporaryDirectory() as scratch:
        copies: SimpleQueue[Path] = SimpleQueue()
        for number in range(options.jobs):
            copies.put(copy_tree(Path(scratch, str(number))))

        def judged(mutation: Mutation) -> str:
            copy = copies.get()
            try:
                return judge(mutation, copy)
            finally:
                copies.put(copy)

        sound = copies.get()
        files = sorted({file for one in chosen for file in files_of(one, sound)})
        if run_tests(sound, files) != 0:
            raise SystemExit(f"tests fail without any mutation: {' '.join(map(str, files))}")
        copies.put(sound)
        outcomes = []
        with ThreadPoolExecutor(options.jobs) as pool:
            for mutation, outcome in zip(chosen, pool.map(judged, chosen), strict=True):
                print(f"{outcome:10} {mutation.mistake}", flush=True)
                outcomes.append(outcome)
    caught = outcomes.count("caught")
    print(f"{caught} of {len(outcomes)} mutations caught ({caught / len(outcomes):.1%})")
    return int(caught < len(outcomes))


if __name__ == "__main__":
    raise SystemExit(main())
