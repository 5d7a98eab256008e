"""Compares the exploration of models with PyModel: speed, and memory of a state."""

import page
from measure import Failed
from models import DEPTH, MODEL, bytes_per_state, explore, pace, prepare

#: The number of transitions that both explore (PyModel takes more than a minute), and the number in a quick run.
BESIDE, BESIDE_QUICKLY = 20_000, 1_000
#: The time limit for PyModel, in seconds.
LIMIT = 600


def measure(setting):
    folder = prepare(setting.work / "beside", DEPTH)
    table = page.Table(
        "Exploring a model beside PyModel",
        "A stack of three values, explored up to a number of transitions by PyModel's `pma` and by `testwright explore`, each with one process: transitions per second. For PyModel, only the exploration is timed; for Testwright, the whole command without start-up. The memory of a state in PyModel is measured: the peak memory of the process, minus the peak for a single transition, divided by the number of states. For Testwright it is its own report; another table has both.",
        ["transitions", "PyModel", "Testwright", "", "memory of a state: PyModel", "Testwright"],
    )
    peer = _Peer(setting, folder)
    most = BESIDE_QUICKLY if setting.quick else BESIDE
    own = explore(folder, most)
    own_pace = pace(folder, own, setting.repeats)
    shown = page.rate(own_pace), f"{own.bytes_per_state} B"
    theirs = peer.explore(most)
    if isinstance(theirs, str):
        mark = table.note(theirs)
        table.add(f"{most:,}", "–" + mark, shown[0], "", "", shown[1])
    else:
        same_size(own, theirs)
        their_pace = theirs.transitions / theirs.seconds
        their_memory = f"{bytes_per_state(theirs, peer.least):,.0f} B"
        ratio = page.times(own_pace / their_pace)
        table.add(f"{most:,}", page.rate(their_pace), shown[0], ratio, their_memory, shown[1])
    if setting.pymodel:
        table.note(
            f"{setting.pymodel.in_words()}; it explored once, while other chapters were measured. Alone it is up to 1.5 times as fast."
        )
    return [table]


class _Peer:
    """PyModel, or the reason why it cannot be measured."""

    def __init__(self, setting, folder):
        self.pymodel = setting.pymodel
        # PyModel writes its output to the folder of the model.
        self.folder = prepare(folder / "pymodel", DEPTH)
        self.reason = None
        if not self.pymodel:
            self.reason = f"PyModel could not be compared with: {setting.why_no_pymodel}."
        self.least = self.explore(1)

    def explore(self, most):
        """Explores the model. Returns the result, or a sentence with the reason for a failure."""
        if not self.reason:
            try:
                done = self.pymodel.explore(self.folder, MODEL, most, LIMIT)
                if done:
                    return done
                self.reason = f"PyModel took more than {LIMIT} s for {most:,} transitions."
            except Failed as failed:
                last = str(failed).strip().splitlines()[-1]
                self.reason = f"PyModel does not run: {last[:200]}."
        return self.reason


def same_size(one, other):
    """Checks that both explored the same number of transitions; the numbers of states depend on the order of actions."""
    if one.transitions != other.transitions:
        raise Failed(f"not the same work: {one.transitions} and {other.transitions} transitions")
