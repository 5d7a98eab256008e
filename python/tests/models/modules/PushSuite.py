from Stack import Pop, Push

testSuite = [
    [(Push, (1,)), (Pop, (), 1)],
    [(Push, (1,), None), (Push, (2,)), (Pop, (), 2), (Pop, (), 1)],
    [],
    [(Push, (2,)), (Pop, (), 1)],
    [(Push, (1,)), (Push, (2,)), (Pop, ()), (Pop, ())],
    [(Push, (7,)), (Pop, ())],
]
