"""The code under test of some harnesses. No test imports it."""


class Account:
    def __init__(self):
        self.balance = 0

    def add(self, amount):
        self.balance += amount

    async def slow(self, amount):
        self.balance += amount


def total(account):
    return account.balance


async def fetch():
    return 1
