"""`charm view`: browse tasks, samples and runs in a browser, and solve a task there."""

from pathlib import Path
from typing import Annotated

from tyro.conf import Positional

from charm.commands.shared import Data, Switch, flag
from charm.progress import say


def view(
    runs: Annotated[Positional[tuple[Path, ...]], flag("[RUN ...]")] = (),
    *,
    checkpoint: Annotated[tuple[Path, ...], flag("MODEL ...")] = (),
    tasks: Annotated[tuple[Path, ...], flag("PATH ...")] = (),
    port: int = 8017,
    no_open: Switch = False,
    device: str = "auto",
    data: Data = None,
) -> None:
    """Browse tasks, views, canvases, generated samples and runs that are still training; draw a task and solve it.

    Starts a small web server on this machine's loopback address, which other machines cannot reach. Ctrl-C stops it.

    Without RUN, all runs in the folder runs/ are opened, if there are any.

    Example: charm view

    Example: charm view runs/quickstart --tasks my_tasks/ --port 0

    Args:
        runs: run folders to watch; those on ARC's tasks can also solve. A submission of charm solve shows its votes.
        checkpoint: run folders or saved models to solve with, in addition to the model that comes with CHARM.
        tasks: more tasks to browse: JSON files, or folders of them.
        port: port to listen on; 0 for any free port.
        no_open: do not open a browser.
        device: device for solving: cuda, xpu, mps, cpu, or auto for the best available.
    """
    import signal
    import sys
    import webbrowser

    from charm.web.api import open_library, runs_in
    from charm.web.server import Viewer

    found = () if runs else runs_in(Path("runs"))
    library = open_library(runs, checkpoint, tasks, data, lambda text: say(f"charm: {text}"), found)
    viewer = Viewer(library, port, device)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # stop cleanly, as with Ctrl-C
    print(f"{viewer.url} (press Ctrl-C to stop)", flush=True)
    if not no_open:
        webbrowser.open(viewer.url_once())
    try:
        viewer.serve_forever()
    except KeyboardInterrupt:
        print("stopped")
    finally:
        viewer.close()
