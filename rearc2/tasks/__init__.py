"""One file per task, found by folder scan; each can be read by itself."""
