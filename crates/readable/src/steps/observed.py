import collections


def observations():
    """Returns the module of observations, which must exist before steppers import it."""
    try:
        return importlib.import_module("observation_queue")
    except ImportError:
        module = types.ModuleType("observation_queue")
    module.queue, module.asynch = collections.deque(), False
    ancestor = types.ModuleType("pymodel")
    ancestor.__path__, ancestor.observation_queue = [], module
    sys.modules.setdefault("pymodel", ancestor)
    sys.modules["observation_queue"] = sys.modules["pymodel.observation_queue"] = module
    return module


OBSERVATIONS = observations()
