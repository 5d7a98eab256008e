"""Formats sizes, dates and numbers for people, as a dashboard does."""

import datetime

import humanize

NOON = datetime.datetime(2024, 5, 17, 12, 0, 0)


def numbers():
    print(humanize.intcomma(12345), humanize.intcomma(-1234567.8912, 2), humanize.intcomma("10000"))
    print(humanize.intword(123455913), humanize.intword(1000000), humanize.intword(10**100))
    print(humanize.intword("12400000000", "%0.3f"), humanize.intword(-7), humanize.intword("many"))
    print([humanize.ordinal(number) for number in (1, 2, 3, 4, 11, 103, -5, "7", "x")])
    print([humanize.apnumber(number) for number in (0, 4, 9, 10, "5", "soon")])
    print([humanize.fractional(number) for number in (0.3, 1.3, 1, 0.333, "x", float("inf"))])
    print(humanize.scientific(0.3), humanize.scientific(500), humanize.scientific(-5.2e20, 3))
    print(humanize.scientific("foo"), humanize.clamp(0.0001, floor=0.01), humanize.clamp(0.5))
    print(humanize.clamp(2.3, "{:.0%}", ceil=1.0), humanize.clamp(None), humanize.metric(1500, "V"))
    print(
        humanize.metric(2e8, "W"),
        humanize.metric(220e-6, "F"),
        humanize.metric(0),
        humanize.metric(1e40),
    )


def sizes():
    for value in (1, 300, 3000, 3000000, 3000000000, 2900000000000, -4096, "512", 10**30):
        print(
            humanize.naturalsize(value),
            humanize.naturalsize(value, binary=True),
            humanize.naturalsize(value, gnu=True),
        )
    print(humanize.naturalsize(3000, format="%.3f"))


def times():
    for seconds in (
        0,
        1,
        30,
        60,
        90,
        3600,
        7200,
        86400,
        200000,
        2592000,
        31536000,
        40000000,
        94608000,
    ):
        delta = datetime.timedelta(seconds=seconds)
        print(humanize.naturaldelta(delta), humanize.naturaldelta(delta, months=False))
        print(
            humanize.naturaltime(NOON - delta, when=NOON),
            humanize.naturaltime(NOON + delta, when=NOON),
        )
    print(humanize.naturaldelta(1.5, minimum_unit="milliseconds"))
    print(humanize.naturaldelta(datetime.timedelta(microseconds=7), minimum_unit="microseconds"))
    print(humanize.naturaldelta("soon"))
    delta = datetime.timedelta(days=400, seconds=3633, microseconds=123000)
    print(humanize.precisedelta(delta), humanize.precisedelta(delta, minimum_unit="hours"))
    print(humanize.precisedelta(delta, suppress=["days"], format="%0.4f"))
    print(humanize.precisedelta(datetime.timedelta(seconds=1), minimum_unit="microseconds"))
    try:
        humanize.naturaldelta(1, minimum_unit="fortnights")
    except (KeyError, ValueError) as error:
        print(type(error).__name__, error)
    today = datetime.date.today()
    for days in (-1, 0, 1):
        print(humanize.naturalday(today + datetime.timedelta(days=days)))
    print(humanize.naturalday(datetime.date(2007, 6, 5)), humanize.naturalday("soon"))
    print(humanize.naturaldate(datetime.date(2007, 6, 5)))


def lists():
    print(humanize.natural_list(["one"]), humanize.natural_list(["one", "two"]))
    print(humanize.natural_list(["one", "two", "three"]))


if __name__ == "__main__":
    numbers()
    sizes()
    times()
    lists()
