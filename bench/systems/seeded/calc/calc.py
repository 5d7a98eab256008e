"""Evaluates integer expressions: a tokenizer, and a recursive-descent parser with one function per precedence."""


class Mistake(Exception):
    """The text is not an expression."""


def tokens(text):
    found, place = [], 0
    while place < len(text):
        character = text[place]
        if character == " ":
            place += 1
        elif character.isdigit():
            end = place
            while end < len(text) and text[end].isdigit():
                end += 1
            found.append(int(text[place:end]))
            place = end
        elif text.startswith("//", place):
            found.append("//")
            place += 2
        elif character in "+-*%()":
            found.append(character)
            place += 1
        else:
            raise Mistake(f"{character!r} at {place}")
    return found


class Parser:
    def __init__(self, text):
        self.tokens = tokens(text)
        self.place = 0

    def evaluate(self):
        value = self.sum()
        if self.place < len(self.tokens):
            raise Mistake(f"{self.tokens[self.place]!r} is too much")
        return value

    def peek(self):
        return self.tokens[self.place] if self.place < len(self.tokens) else None

    def take(self):
        token = self.peek()
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
        value = self.sign()
        while self.peek() in ("*", "//", "%"):
            operator = self.take()
            other = self.sign()
            if operator == "*":
                value *= other
            elif operator == "//":
                value = value // other
            else:
                value = value % other
        return value

    def sign(self):
        if self.peek() == "-":
            self.take()
            return -self.sign()
        return self.atom()

    def atom(self):
        token = self.take()
        if isinstance(token, int):
            return token
        if token == "(":
            value = self.sum()
            if self.take() != ")":
                raise Mistake("no closing bracket")
            return value
        raise Mistake(f"{token!r} where a number should be")


class Calculator:
    """A calculator that remembers the last result."""

    def __init__(self):
        self.last = 0

    def evaluate(self, text):
        self.last = Parser(text).evaluate()
        return self.last

    def show(self):
        return str(self.last)
