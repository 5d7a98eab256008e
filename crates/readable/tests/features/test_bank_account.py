"""Rules that every bank account follows."""
import pytest
from hypothesis import assume, given, strategies as st
from bank import Account, InsufficientFunds

@given(balance=st.integers(0, 1000), amount=st.integers(1, 1000))
def test_withdraw(balance, amount):
    """Taking money out lowers the balance by exactly that amount."""
    assume(amount <= balance)
    account = Account(balance)
    account.withdraw(amount)
    assert account.balance == balance - amount and account.balance >= 0

@given(balance=st.integers(0, 1000), amount=st.integers(1, 1000))
def test_no_overdraft(balance, amount):
    assume(amount > balance)
    account = Account(balance)
    with pytest.raises(InsufficientFunds):
        account.withdraw(amount)
    assert account.balance == balance
