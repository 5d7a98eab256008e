"""A breadth-first search with a list of visited states and a limited number of steps."""

import sut

sut = sut.sut()
sut.silenceCoverage()
sut.restart()
# Only a few values, or the search would not end.
sut.disable(r"self\.p_int\[\d\] = ([3-9]|1\d|20)")
sut.disable(r"self\.p_(int|list|tree)\[[1-3]\]")
visited, queue, failures = [], [sut.state()], 0
for depth in range(1, 4):
    frontier = []
    for state in queue:
        sut.backtrack(state)
        for action in sut.enabled():
            ok = sut.safely(action) and sut.check()
            if not ok:
                failures += 1
                print("FAILURE:", sut.failure()[1])
                sut.saveTest(sut.test(), f"bfs.{failures}.test")
            s_next = sut.state()
            if s_next not in visited:
                visited.append(s_next)
                frontier.append(s_next)
            assert len(sut.test()) == depth
            sut.backtrack(state)
    queue = frontier
    print("DEPTH", depth, "QUEUE", len(queue), "VISITED", len(visited))
sut.enableAll()
assert len(visited) > 20
