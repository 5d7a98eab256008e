"""A program that parses texts: records of lines with names, numbers, quotes and lists.

Prints the CPU seconds of its second half, after all one-time work, and a checksum. With the argument `after`, it starts
and stops a recording before it begins.
"""

import json
import sys
import time


class Malformed(ValueError):
    def __init__(self, line, why):
        super().__init__(f"{line}: {why}")
        self.line = line


def unquoted(text):
    """Returns the text between quotes, with escapes resolved."""
    letters = []
    escaped = False
    for letter in text[1:-1]:
        if escaped:
            letters.append({"n": "\n", "t": "\t"}.get(letter, letter))
            escaped = False
        elif letter == "\\":
            escaped = True
        else:
            letters.append(letter)
    return "".join(letters)


def items(text):
    """Yields the parts of a list, which may have commas inside quotes."""
    parts, start, inside = [], 0, False
    for place, letter in enumerate(text):
        if letter == '"':
            inside = not inside
        elif letter == "," and not inside:
            parts.append(text[start:place].strip())
            start = place + 1
    parts.append(text[start:].strip())
    return [part for part in parts if part]


def value(text, number):
    if text.startswith('"'):
        return unquoted(text)
    if text.startswith("["):
        return [value(part, number) for part in items(text[1:-1])]
    if text in ("true", "false"):
        return text == "true"
    try:
        return float(text) if "." in text else int(text)
    except ValueError:
        raise Malformed(number, text) from None


def read(text):
    """Parses sections with their settings."""
    sections, current = {}, None
    for number, line in enumerate(text.splitlines(), 1):
        line = line.partition("#")[0].strip()
        if not line:
            continue
        if line.startswith("["):
            current = sections.setdefault(line.strip("[]"), {})
            continue
        name, sign, rest = line.partition("=")
        if not sign:
            raise Malformed(number, "no sign")
        current[name.strip()] = value(rest.strip(), number)
    return sections


def sample(seed):
    lines = []
    for section in range(3):
        lines.append(f"[section{section}]")
        for entry in range(6):
            number = seed * 31 + section * 7 + entry
            kinds = [
                f"count{entry} = {number}",
                f"ratio{entry} = {number}.{entry}  # a comment",
                f'title{entry} = "a \\"quoted\\" text, number {number}"',
                f'parts{entry} = [1, 2, "three, or four", {number}]',
                f"flag{entry} = {'true' if number % 2 else 'false'}",
                "" if number % 13 else "broken",
            ]
            lines.append(kinds[entry % 6])
    return "\n".join(lines)


def work(seed):
    try:
        found = read(sample(seed))
    except Malformed as problem:
        return problem.line
    return sum(len(str(entry)) for section in found.values() for entry in section.values())


def main():
    rounds = int(sys.argv[1])
    if sys.argv[2:] == ["after"]:
        import testwright.capture

        testwright.capture.start(folder="elsewhere")
        testwright.capture.stop()
    half = rounds // 2
    checksum = sum(work(number) for number in range(half))
    start = time.process_time()
    checksum += sum(work(number) for number in range(half, rounds))
    print(json.dumps({"warm": time.process_time() - start, "checksum": checksum}))


if __name__ == "__main__":
    main()
