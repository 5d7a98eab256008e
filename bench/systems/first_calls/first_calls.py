"""A program whose calls are all among the first of their function: many copies of the same parser.

Prints the CPU seconds of the parsing, without the imports, and a checksum.
"""

import importlib
import json
import sys
import time
from pathlib import Path


def copies(number):
    """Makes the modules from the file beside this one."""
    text = Path("reader.txt").read_text()
    for place in range(number):
        Path(f"reader{place}.py").write_text(text)
    importlib.invalidate_caches()
    return [importlib.import_module(f"reader{place}") for place in range(number)]


def main():
    modules = copies(int(sys.argv[1]))
    start = time.process_time()
    checksum = sum(module.work(number) for module in modules for number in range(5))
    print(json.dumps({"warm": time.process_time() - start, "checksum": checksum}))


if __name__ == "__main__":
    main()
