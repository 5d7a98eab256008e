"""Models that are small enough to check by hand, and steppers for them."""

import runpy

MODULES = {
    # A pile of at most two numbers. A run ends where it began.
    "Pile": """\
items = []

def Push(number): items.append(number)
def PushEnabled(number): return len(items) < 2
def Pop(): return items.pop()
def PopEnabled(): return len(items) > 0
def Accepting(): return not items

state = ("items",)
actions = (Push, Pop)
enablers = {Push: (PushEnabled,), Pop: (PopEnabled,)}
domains = {Push: {"number": (1, 2)}}
cleanup = (Pop,)
""",
    "Switch": """\
is_on = False

def On():
    global is_on
    is_on = True
def OnEnabled(): return not is_on
def Off():
    global is_on
    is_on = False
def OffEnabled(): return is_on

state = ("is_on",)
actions = (On, Off)
enablers = {On: (OnEnabled,), Off: (OffEnabled,)}
""",
    # Three tokens. A refusal is a dead end, and the bug allows two tokens to be spent when one is left.
    "Talk": """\
place = "idle"
tokens = 3

def Ask():
    global place
    place = "asked"
def AskEnabled(): return place == "idle"
def Answer(word):
    global place, tokens
    place, tokens = ("idle", tokens - 1) if word == "yes" else ("stuck", tokens)
def AnswerEnabled(word): return place == "asked" and tokens > 0
def Spend():
    global tokens
    tokens -= 2
def SpendEnabled(): return place == "idle" and tokens > 0
def StateInvariant(): return tokens >= 0
def Accepting(): return place == "idle"

state = ("place", "tokens")
actions = (Ask, Answer, Spend)
enablers = {Ask: (AskEnabled,), Answer: (AnswerEnabled,), Spend: (SpendEnabled,)}
domains = {Answer: {"word": ("yes", "no")}}
""",
    # A queue of two. Its output is observed.
    "Line": """\
waiting = ()

def Put(who):
    global waiting
    waiting += (who,)
def has_room(): return len(waiting) < 2
def Got(who):
    global waiting
    waiting = waiting[1:]
def is_first(who): return waiting[:1] == (who,)
def Accepting(): return not waiting

state = ("waiting",)
actions = (Put, Got)
observables = (Got,)
enablers = {Put: (has_room,), Got: (is_first,)}
domains = {Put: {"who": ("a", "b")}}
""",
    # `Go` is nondeterministic.
    "Fork": """\
def Go(): pass
def Left(): pass
def Right(): pass

initial = "start"
accepting = ["end"]
graph = (
    ("start", (Go, (), None), "a"),
    ("start", (Go, (), None), "b"),
    ("a", (Left, (), None), "end"),
    ("b", (Right, (), None), "end"),
)
""",
    "PushPop": """\
def Push(): pass
def Pop(): pass

actions = (Push, Pop)
testSuite = [[(Push, (1,)), (Pop, (), 1)], [(Push, (2,)), (Push, (1,)), (Pop, (), 1), (Pop, (), 2)]]
""",
    "PopFirst": """\
def Push(): pass
def Pop(): pass

actions = (Push, Pop)
testSuite = [[(Pop, (), 1)]]
""",
    "TwoOnly": """\
def Push(): pass
def Pop(): pass

graph = ((0, (Push, (2,), None), 1), (1, (Pop, (), 2), 0))
initial = 0
accepting = [0]
""",
    # A pile in which a 2 replaces everything below it.
    "Forgetful": """\
items = []

def TestAction(name, arguments, expected):
    if name == "Push":
        if arguments[0] == 2:
            items.clear()  # the bug
        items.append(arguments[0])
    elif not items:
        return "the pile is empty"
    else:
        number = items.pop()
        if number != expected:
            return f"{number} was on top instead of {expected}"

def Reset(): items.clear()
""",
    "Raising": """\
def TestAction(name, arguments, expected):
    if arguments == (2,):
        ask_for(*arguments)

def ask_for(number): raise LookupError(f"no {number}")
def Reset(): pass
""",
    "Hanging": """\
import time

def TestAction(name, arguments, expected):
    if arguments == (2,):
        time.sleep(60)

def Reset(): pass
""",
    "Odd": """\
def TestAction(name, arguments, expected):
    if name == "Pop":
        return 7

def Reset(): pass
""",
    # A strategy that always chooses the last possible action.
    "Last": """\
def SelectAction(possible):
    if not possible:
        return None, None
    name, arguments, result, after, properties = possible[-1]
    return name, arguments
""",
    "RaisesAtThree": """\
number = 0

def Up():
    global number
    number += 1
    if number == 3:
        raise ValueError("three is too much")

state = ("number",)
actions = (Up,)
""",
    "Prints": """\
print("imported")
number = 0

def Up():
    global number
    number += 1
    print("up to", number)
def UpEnabled(): return number < 2

state = ("number",)
actions = (Up,)
enablers = {Up: (UpEnabled,)}
""",
    "Exits": """\
import sys

number = 0

def Up(): sys.exit(0)

state = ("number",)
actions = (Up,)
""",
    "ExitsAtOnce": "import sys\nsys.exit(0)\n",
    "Broken": "def Up(:\n",
    "NoState": "def Up(): pass\nactions = (Up,)\n",
    "Objects": """\
class Thing:
    def __init__(self): self.size = 0
    def __eq__(self, other): return self.size == other.size
    def __hash__(self): return hash(self.size)

thing = Thing()

def Grow(): thing.size += 1
def GrowEnabled(): return thing.size < 20

state = ("thing",)
actions = (Grow,)
enablers = {Grow: (GrowEnabled,)}
""",
}


def write_modules(command):
    """Writes all modules into a folder."""
    for name, text in MODULES.items():
        command.write(f"{name}.py", text)


def module(command, file):
    """Executes a written module, with the names of actions as strings."""
    found = runpy.run_path(str(command.folder / file))
    return {
        name: found[name]
        for name in ("states", "initial", "accepting", "unsafe", "frontier", "finished", "deadend", "runstarts")
        if name in found
    } | {
        "graph": [(before, (action.__name__, *rest), after) for before, (action, *rest), after in found.get("graph", ())],
        "runs": [[(action.__name__, *rest) for action, *rest in run] for run in found.get("testSuite", ())],
    }  # fmt: skip
