"""A small bank that logs everything in a journal."""

import tempfile


class InsufficientFunds(Exception):
    """There is not enough money in the account."""


class UnderReview(Exception):
    """The amount is so large that a person has to approve it first. No money was moved."""


class Bank:
    def __init__(self, limit=1000):
        self.limit = limit
        self.balances = {}
        self.journal = tempfile.TemporaryFile("w", encoding="utf-8")

    def close(self):
        self.journal.close()

    def open_account(self, name):
        self.balances[name] = 0
        self.journal.write(f"open {name}\n")

    def deposit(self, name, amount):
        self.balances[name] += amount
        self.journal.write(f"deposit {name} {amount}\n")

    def withdraw(self, name, amount):
        if amount > self.balances[name]:
            raise InsufficientFunds(f"{name} has only {self.balances[name]}")
        self.balances[name] -= amount
        self.journal.write(f"withdraw {name} {amount}\n")

    def transfer(self, payer, payee, amount):
        if amount > self.balances[payer]:
            raise InsufficientFunds(f"{payer} has only {self.balances[payer]}")
        if amount >= self.limit:
            raise UnderReview(f"{amount} from {payer} to {payee}")
        payer_balance = self.balances[payer] - amount
        payee_balance = self.balances[payee] + amount
        self.balances[payer] = payer_balance
        self.balances[payee] = payee_balance
        self.journal.write(f"transfer {payer} {payee} {amount}\n")

    def total(self):
        """Returns all the money in the bank."""
        return sum(self.balances.values())
