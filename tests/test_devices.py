import subprocess
import sys

import pytest

FAULTS = """
import resource, torch
from charm.devices import keep_freed_memory
keep_freed_memory()
for round in range(23):
    if round == 20:  # the heap grows for up to nine rounds, as its layout happens to be
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    torch.ones(2**24)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux's C library keeps memory")
def test_freed_memory_is_used_again_without_asking_the_system() -> None:
    """Three tensors of 64 MB after others that were freed: without this, each of their pages is new."""
    ran = subprocess.run([sys.executable, "-c", FAULTS], capture_output=True, text=True, check=True)
    assert int(ran.stdout) < 3 * 64 // 2  # not even pages of 2 MB
