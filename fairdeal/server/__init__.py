"""A live table: real seats over WebSockets, bots, and a store that survives (spec/live.md).

Nothing here is part of the protocol. What it needs beyond the core is the extra `server`.
"""
