//! The effect of a reset on modules under test: nothing if nothing changed, everything if anything
//! did.

use crate::support;

use support::{Folder, step};
use testwright_core::System;

/// A module under test, and an action that passes only if the module is as it is right after it was
/// run.
const MODULES_WITH_STATE: [(&str, &str); 17] = [
    (
        "items = []\ndef more():\n    items.append(1)\n    return len(items)\n",
        "assert state.more() == 1",
    ),
    (
        "class A:\n    items = []\n    table = {}\n",
        "state.A.items.append(1); assert state.A.items == [1]",
    ),
    (
        "class A:\n    class B:\n        seen = {'x': {1}}\n",
        "assert state.A.B.seen['x'] == {1}; state.A.B.seen['x'].add(2)",
    ),
    (
        "class A:\n    seen = {1, 2}\n",
        "assert state.A.seen == {1, 2}; state.A.seen.remove(1); state.A.seen.add(3)",
    ),
    (
        "def more(items=[]):\n    items.append(1)\n    return len(items)\n",
        "assert state.more() == 1",
    ),
    (
        "def more(*, items={}):\n    items[len(items)] = 1\n    return len(items)\n",
        "assert state.more() == 1",
    ),
    (
        "class A:\n    def f(self):\n        return 1\n",
        "assert state.A().f() == 1; state.A.f = lambda self: 2",
    ),
    (
        "class A:\n    x = 1\nclass B(A):\n    pass\n",
        "assert not hasattr(state.B, 'y') and state.B.x == 1; state.A.y = 1; state.B.x = 2",
    ),
    (
        "class A:\n    pass\nclass B:\n    pass\nclass C(A):\n    pass\n",
        "assert state.C.__bases__ == (state.A,); state.C.__bases__ = (state.B,)",
    ),
    (
        "limit = 1\ndef get():\n    return limit\n",
        "assert state.get() == 1; state.limit = 2",
    ),
    (
        "def f():\n    f.calls = getattr(f, 'calls', 0) + 1\n    return f.calls\n",
        "assert state.f() == 1",
    ),
    (
        "def f(x=1):\n    return x\n",
        "assert state.f() == 1; state.f.__defaults__ = (2,)",
    ),
    (
        "def f():\n    return 1\ndef g():\n    return 2\n",
        "assert state.f() == 1; state.f.__code__ = state.g.__code__",
    ),
    (
        "class A:\n    @staticmethod\n    def f():\n        A.f.calls = getattr(A.f, 'calls', 0) + 1\n        return A.f.calls\n",
        "assert state.A.f() == 1",
    ),
    (
        "import functools\ncalls = [0]\n@functools.lru_cache(None)\ndef f(x):\n    calls[0] += 1\n    return calls[0]\n",
        "assert state.f(1) == 1 and state.f.cache_info().hits == 0",
    ),
    (
        "def make():\n    count = 0\n    def more():\n        nonlocal count\n        count += 1\n        return count\n    return more\nmore = make()\n",
        "assert state.more() == 1",
    ),
    (
        "class Box:\n    def __init__(self):\n        self.count = 0\nbox = Box()\n",
        "assert state.box.count == 0; state.box.count += 1",
    ),
];

#[test]
fn whatever_state_a_module_has_is_put_back() {
    for (module, action) in MODULES_WITH_STATE {
        let folder = Folder::new(&[("state.py", module)]);
        // Another action changes nothing, so that both kinds of tests alternate.
        folder.with(&format!("@import state\n{action}\npass\n"), |system| {
            for quiet in [0, 1, 0, 2, 0, 0, 30, 0] {
                for _ in 0..quiet {
                    assert_eq!(step(system, "pass"), "passed");
                    system.reset().expect("a reset");
                }
                assert_eq!(step(system, action), "passed", "{module}");
                system.reset().expect("a reset");
            }
        });
    }
}

#[test]
fn one_changed_module_takes_those_along_that_hold_its_objects() {
    let folder = Folder::new(&[
        ("parts.py", "class Part:\n    made = []\n"),
        ("whole.py", "from parts import Part\n"),
    ]);
    let text = "@import parts, whole\nassert whole.Part is parts.Part\nparts.Part.made.append(1)\n";
    folder.with(text, |system| {
        for action in [
            "parts.Part.made.append(1)",
            "assert whole.Part is parts.Part",
        ] {
            assert_eq!(step(system, action), "passed");
            system.reset().expect("a reset");
        }
    });
}

const TREE: &str = r"
'''A tree.'''
import math
from functools import reduce

LIMIT = 2 ** 4
NAMES = {'left': 0, 'right': 1}
__all__ = ['Tree']

class Node(object):
    __slots__ = ('value', 'left', 'right')
    def __init__(self, value, left=None, right=None):
        self.value, self.left, self.right = value, left, right

class Full(ValueError):
    '''No room.'''

class Tree:
    kind = 'tree'
    limit: int = LIMIT
    def __init__(self):
        self.root = None
    @property
    def size(self):
        return 0
    @size.setter
    def size(self, value):
        pass
    @staticmethod
    def of(value: int) -> 'Tree':
        return Tree()
    def __repr__(self):
        return super().__repr__()
    __str__ = __repr__

def helper(x, *, deep=False):
    return lambda: x

if __name__ == '__main__':
    helper(1)
";

#[test]
fn a_module_that_was_not_changed_keeps_its_classes() {
    let text = "\
@import tree, copy
<@
first = None
def same():
    global first
    if first is None:
        first = tree.Tree
    copy.copy(tree.Tree.of(3))
    vars(tree.helper)
    return first is tree.Tree and tree.Tree().size == 0 and tree.helper(2)() == 2
@>
assert same()
tree.NAMES['up'] = 2
assert 'up' not in tree.NAMES
";
    Folder::new(&[("tree.py", TREE)]).with(text, |system| {
        for _ in 0..3 {
            assert_eq!(step(system, "assert same()"), "passed");
            system.reset().expect("a reset");
        }
        assert_eq!(step(system, "tree.NAMES['up'] = 2"), "passed");
        system.reset().expect("a reset");
        assert_eq!(step(system, "assert 'up' not in tree.NAMES"), "passed");
        assert_ne!(step(system, "assert same()"), "passed");
    });
}
