"""What a verdict and a hand look like: for people (`text`, `sheet`), for programs (`machine`).

Nothing here judges. Everything that came out of a file passes through `harmless` before it is
shown, and `screen` is the only door to the terminal.
"""
