from charm.tables import Table
from charm.tasks.stats import stats_tables


def test_rows_are_labelled_with_the_number_of_views_that_was_asked_for() -> None:
    counts = dict.fromkeys(("tasks", "pairs", "rows", "index", "questions", "predictions"), 20)
    dataset = {"name": "arc1", **counts, "paper_rows": None, "fit_cells": 0.5}
    found = {"views": 10, "sources": [], "datasets": [dataset], "synthetic": [], "missing": []}
    labels = [row[0] for table in stats_tables(found) if isinstance(table, Table) for row in table.rows]
    assert "memory rows (10 views)" in labels
    assert "  the paper's" not in labels  # nothing to compare with
    found["datasets"] = [{**dataset, "paper_rows": 19}]
    labels = [row[0] for table in stats_tables(found) if isinstance(table, Table) for row in table.rows]
    assert "  the paper's" in labels
