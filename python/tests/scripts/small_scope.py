"""Tries all tests of a few steps, then extends each test that reached new coverage."""

import sut as SUT

sut = SUT.sut()
sut.disable(r"self\.p_int\[\d\] = (?!5 )")
failing, covering, visited = [], [], {}
complete = sut.exploreFromHere(
    3, stopFail=False, gatherFail=failing, gatherCover=covering, visited=visited
)
assert complete and len(visited) > 20
print("COVERING:", len(covering), "FAILING:", len(failing), "VISITED:", len(visited))
for test in covering[-2:]:
    sut.replay(test, catchUncaught=True)
    more = []
    sut.exploreFromHere(2, stopFail=False, gatherCover=more, reverse=True)
    assert all(t[: len(test)] == test for t in more)
    print("FURTHER:", len(more))
