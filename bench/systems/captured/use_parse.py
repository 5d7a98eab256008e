"""Extracts values from the lines of a log, the inverse of `format`."""

import parse


def lines():
    print(parse.parse("It's {}, I love it!", "It's spam, I love it!"))
    found = parse.parse("{name} has {count:d} of {total:d}", "ann has 3 of 10")
    print(found["name"], found["count"] + found["total"], found.named, "name" in found)
    print(parse.parse("{} {}", "one two").fixed, parse.parse("{:d}", "one"))
    print(parse.search("age: {:d}\n", "name: ann\nage: 42\n")[0])
    print([found[0] for found in parse.findall(">{}<", "<p>the <b>bold</b> text</p>")])
    print(parse.parse("{:w} {:W}", "word !"), parse.parse("hello", "HELLO"))
    print(parse.parse("hello", "HELLO", case_sensitive=True), parse.parse("{x}{x}", "aa"))


def kinds():
    for pattern, text in (
        ("{:n}", "1,000"),
        ("{:f}", "3.14"),
        ("{:g}", "1e3"),
        ("{:b}", "1010"),
        ("{:o}", "17"),
        ("{:x}", "1f"),
        ("{:%}", "50%"),
        ("{:l}", "abc"),
        ("{:.2}{:.2}", "look"),
        ("{:>}|{:<}|{:^}", "  right|left  | mid "),
        ("{:ti}", "2001-02-03T04:05:06"),
        ("{:te}", "Mon, 20 Jan 1972 10:21:36 +1000"),
        ("{:tg}", "20/1/1972 10:21:36 AM"),
        ("{:tt}", "10:21:36 PM"),
        ("{:d}", "-12"),
        ("{:x=5d}", "xx-12"),
    ):
        print(pattern, parse.parse(pattern, text))


def own():
    def yes_no(text):
        return {"yes": True, "no": False}[text]

    yes_no.pattern = "yes|no"
    compiled = parse.compile("Is it? {answer:YesNo}", {"YesNo": yes_no})
    print(compiled.parse("Is it? yes"), compiled.parse("Is it? maybe"), compiled.named_fields)
    print(compiled.format, compiled.fixed_fields, repr(compiled))
    shout = parse.with_pattern(r"[A-Z]+")(lambda text: text.title())
    print(parse.parse("{:Shout}!", "HELP!", {"Shout": shout}))
    print(parse.parse("{a.b} {c[0]}", "x y").named)
    try:
        parse.parse("{:nonsense}", "x")
    except ValueError as error:
        print(error)
    try:
        parse.compile("{n:d} {n:w}")
    except parse.RepeatedNameError as error:
        print(error)


if __name__ == "__main__":
    lines()
    kinds()
    own()
