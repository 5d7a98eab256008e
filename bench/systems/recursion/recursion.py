"""A program that only calls functions, to measure the cost of recording calls.

Prints the CPU seconds of its second half, after all one-time work, and a checksum.
"""

import json
import sys
import time


def rabbits(month):
    if month < 2:
        return month
    return rabbits(month - 1) + rabbits(month - 2)


def ways(rows, columns):
    if rows == 0 or columns == 0:
        return 1
    return ways(rows - 1, columns) + ways(rows, columns - 1)


def work():
    return rabbits(17) + ways(5, 6)


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 600
    half = rounds // 2
    checksum = sum(work() for _ in range(half))
    start = time.process_time()
    checksum += sum(work() for _ in range(half, rounds))
    print(json.dumps({"warm": time.process_time() - start, "checksum": checksum}))


if __name__ == "__main__":
    main()
