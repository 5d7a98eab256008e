"""A pytest plugin that shuffles the tests; the variable ORDER is the seed."""

import os
import random


def pytest_collection_modifyitems(items):
    random.Random(int(os.environ["ORDER"])).shuffle(items)
