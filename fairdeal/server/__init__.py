"""The live table's server (spec/live.md), which alone needs the extra `server`.

`store` keeps what must survive a crash, `vault` seals what must stay secret there, `schema` is how
it lies in the database and `database` how that is reached.
"""
