"""A log of observed actions."""

from Timer import Elapsed, Start, Tick

test_suite = (
    ((Start, (1,)), (Tick, ()), (Elapsed, (0,), 0)),
    ((Start, (2,)), (Tick, ()), (Elapsed, (0,), 0)),
    ((Start, (0,)), (Elapsed, ())),
)
