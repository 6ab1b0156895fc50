import subprocess
import sys

import pytest

FAULTS = """
import resource, statistics, torch
from charm.devices import keep_freed_memory
keep_freed_memory()
faults = []
for round in range(15):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    torch.ones(2**24)
    faults.append(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
print(statistics.median(faults[8:]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux's C library keeps memory")
def test_freed_memory_is_used_again_without_asking_the_system() -> None:
    """Tensors of 64 MB after others that were freed: without this, each of their pages is new.

    The median of seven: a system that reclaims pages early may have taken some back.
    """
    ran = subprocess.run([sys.executable, "-c", FAULTS], capture_output=True, text=True, check=True)
    assert int(ran.stdout) < 64 // 2  # not even pages of 2 MB
