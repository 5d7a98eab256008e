"""A program that computes for two seconds, to measure the cost of coverage: many kinds of statements, with branches
that are never or only partly taken.

Prints the CPU seconds of its second half, after all one-time work, and a checksum.
"""

import json
import sys

DEBUG = False


class Problem(Exception):
    """An expression that cannot be evaluated."""


def tokens(text):
    """Yields numbers, names and signs."""
    place = 0
    while place < len(text):
        letter = text[place]
        if letter == " ":
            place += 1
            continue
        if letter.isdigit():
            end = place
            while end < len(text) and text[end].isdigit():
                end += 1
            yield int(text[place:end])
            place = end
        elif letter.isalpha():
            yield letter
            place += 1
        elif letter in "+-*/()":
            yield letter
            place += 1
        else:
            raise Problem(f"{letter!r} at {place}")


class Parser:
    """Evaluates expressions as it reads them."""

    def __init__(self, text, names):
        self.tokens = list(tokens(text))
        self.place = 0
        self.names = names

    def peek(self):
        return self.tokens[self.place] if self.place < len(self.tokens) else None

    def take(self):
        token = self.peek()
        if token is None:
            raise Problem("the end came too early")
        self.place += 1
        return token

    def sum(self):
        value = self.product()
        while self.peek() in ("+", "-"):
            if self.take() == "+":
                value += self.product()
            else:
                value -= self.product()
        return value

    def product(self):
        value = self.factor()
        while self.peek() in ("*", "/"):
            sign = self.take()
            factor = self.factor()
            if sign == "*":
                value *= factor
            else:
                try:
                    value //= factor
                except ZeroDivisionError:
                    value = 0
        return value % 1_000_003

    def factor(self):
        token = self.take()
        if isinstance(token, int):
            return token
        if token == "(":
            value = self.sum()
            if self.take() != ")":
                raise Problem("a bracket is missing")
            return value
        if token == "-":
            return -self.factor()
        if token in self.names:
            return self.names[token]
        raise Problem(f"what is {token!r}?")


class Node:
    __slots__ = ("key", "left", "right", "count")

    def __init__(self, key):
        self.key = key
        self.left = self.right = None
        self.count = 1


class Tree:
    """A search tree that counts its keys."""

    def __init__(self):
        self.root = None
        self.size = 0

    def add(self, key):
        if self.root is None:
            self.root = Node(key)
            self.size = 1
            return 1
        node = self.root
        while True:
            if key == node.key:
                node.count += 1
                break
            side = "left" if key < node.key else "right"
            below = getattr(node, side)
            if below is None:
                setattr(node, side, Node(key))
                self.size += 1
                break
            node = below
        if DEBUG:
            print("added", key)
        return self.size

    def depth(self):
        def below(node):
            return 0 if node is None else 1 + max(below(node.left), below(node.right))

        return below(self.root)

    def __iter__(self):
        waiting, node = [], self.root
        while waiting or node:
            while node:
                waiting.append(node)
                node = node.left
            node = waiting.pop()
            yield node.key, node.count
            node = node.right


class Recent:
    """A cache of the last few results of a function."""

    def __init__(self, function, size):
        self.function, self.size = function, size
        self.known = {}

    def __call__(self, key):
        try:
            value = self.known.pop(key)
        except KeyError:
            value = self.function(key)
            if len(self.known) >= self.size:
                del self.known[next(iter(self.known))]
        self.known[key] = value
        return value


def collatz(number):
    steps = 0
    while number != 1:
        if number % 2:
            number = 3 * number + 1
        else:
            number //= 2
        steps += 1
    return steps


def primes(limit):
    found = []
    for candidate in range(2, limit):
        for prime in found:
            if prime * prime > candidate:
                found.append(candidate)
                break
            if candidate % prime == 0:
                break
        else:
            found.append(candidate)
    return found


def classify(text):
    """Runs a small automaton over words."""
    state = "start"
    for letter in text:
        if state == "start":
            if letter in "aeiou":
                state = "vowel"
            elif letter.isdigit():
                state = "number"
            else:
                state = "other"
        elif state == "vowel":
            if letter not in "aeiou":
                state = "other"
        elif state == "number":
            if not letter.isdigit():
                state = "mixed"
        elif state == "mixed" and letter == "!":
            return "loud"
        elif state == "other" and letter == "z":
            state = "start"
    return state


def numbers(seed):
    """Yields pseudo-random numbers, without end."""
    value = seed
    while True:
        value = (value * 1_103_515_245 + 12_345) % 2_147_483_648
        yield value >> 8


def expression(draw, depth=0):
    kind = draw() % 8
    if depth > 3 or kind < 3:
        return str(draw() % 100)
    if kind == 3:
        return "xyzq"[draw() % 4]
    if kind == 4:
        return f"({expression(draw, depth + 1)})"
    return f"{expression(draw, depth + 1)} {'+-*/'[draw() % 4]} {expression(draw, depth + 1)}"


def work(seed):
    """Runs one round. Returns its checksum."""
    draw = numbers(seed).__next__
    names = {"x": draw() % 10, "y": draw() % 100, "z": 7}
    total = problems = 0
    for _ in range(40):
        text = expression(draw)
        try:
            total += Parser(text, names).sum()
        except Problem as problem:
            problems += 1
            if "bracket" in str(problem):
                total -= 1
        finally:
            total += 1
    tree = Tree()
    for _ in range(150):
        tree.add(draw() % 97)
    total += sum(key * count for key, count in tree) + tree.depth()
    recent = Recent(collatz, 20)
    total += sum(recent(1 + draw() % 60) for _ in range(40))
    found = primes(200)
    total += len(found) + sum(prime for prime in found if prime % 4 == 1)
    for number in range(60):
        word = f"{'aeiouxyz'[number % 8]}{draw() % 1000}{'!' if number % 9 else 'z'}"
        kind = classify(word)
        if kind == "mixed":
            total += 1
        elif kind == "loud":
            total += 2
        elif kind is None:
            raise AssertionError("there is no such kind")
    squares = {number: number * number for number in range(50) if number % 3}
    total += sum(squares.values()) + problems
    return total % 1_000_003


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 3200
    print(json.dumps({"checksum": sum(work(number) for number in range(rounds))}))


if __name__ == "__main__":
    main()
