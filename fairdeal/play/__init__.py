"""A person's or a bot's client of a live table (spec/live.md).

`player` is the table's stream without I/O, `records` the folder with the key and what was said,
`connection` the way to the server, `terminal` and `draw` what a person sees and types.
"""
