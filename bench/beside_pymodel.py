"""How fast models are explored beside PyModel, and what a state takes in memory."""

import page
from measure import Failed
from models import DEPTH, MODEL, bytes_per_state, explore, pace, prepare

#: Up to how many transitions both explore, for which PyModel takes more than a minute; and in a quick run.
BESIDE, BESIDE_QUICKLY = 20_000, 1_000
#: Seconds that PyModel may take for each.
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
    """PyModel, as long as it can do what it is asked for."""

    def __init__(self, setting, folder):
        self.pymodel = setting.pymodel
        # It writes what it finds to where the model is.
        self.folder = prepare(folder / "pymodel", DEPTH)
        self.reason = None
        if not self.pymodel:
            self.reason = f"PyModel could not be compared with: {setting.why_no_pymodel}."
        self.least = self.explore(1)

    def explore(self, most):
        """What an exploration came to, or a sentence that says why there was none."""
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
    """Where an exploration ends within a state depends on the order of actions, but not after how many transitions."""
    if one.transitions != other.transitions:
        raise Failed(f"not the same work: {one.transitions} and {other.transitions} transitions")
