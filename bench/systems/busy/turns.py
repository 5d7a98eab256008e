"""Runs the same work in two modules in turn, with only one of them measured, and prints the ratio of their times once warm."""

import json
import statistics
import sys
import time

import busy
import busy_unmeasured

ROUNDS = int(sys.argv[1])
#: The number of rounds per turn. The first half of all rounds warms up.
BLOCK = 10


def taken(module, first):
    start = time.process_time_ns()
    for number in range(first, first + BLOCK):
        module.work(number)
    return time.process_time_ns() - start


for number in range(ROUNDS // 2):
    busy.work(number)
    busy_unmeasured.work(number)
starts = range(ROUNDS // 2, ROUNDS, BLOCK)
shares = [taken(busy, start) / taken(busy_unmeasured, start) for start in starts]
print(json.dumps({"warm": statistics.median(shares)}))
