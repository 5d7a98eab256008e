"""Simple properties of lists."""
from hypothesis import given, strategies as st

def remove_first(n, xs):
    ys = list(xs)
    if n in ys:
        ys.remove(n)
    return ys

@given(n=st.integers(), xs=st.lists(st.integers()))
def test_delete(n, xs):
    """Deleting a number from a list leaves a list without that number."""
    assert n not in remove_first(n, xs)
