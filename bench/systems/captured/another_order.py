"""A plugin for pytest: the tests in an order that the variable ORDER chooses."""

import os
import random


def pytest_collection_modifyitems(items):
    random.Random(int(os.environ["ORDER"])).shuffle(items)
