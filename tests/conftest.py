import os

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # as the command line does, before torch is imported

pytest_plugins = ("tests.browser",)  # its fixtures: a page in a headless browser
