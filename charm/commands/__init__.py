"""Commands: they parse, call the library and print, and compute nothing themselves."""
