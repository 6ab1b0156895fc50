"""ARC's tasks as a domain: its training job and its evaluation."""
