"""`python -m charm`, and so `torchrun -m charm`."""

from charm.cli import main

if __name__ == "__main__":
    main()
