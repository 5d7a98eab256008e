"""Reads and writes dates, times and durations in the forms of ISO 8601."""

import datetime
import decimal

import isodate


def refused(action, *arguments):
    try:
        print(action(*arguments))
    except (TypeError, ValueError) as error:
        print(type(error).__name__, error)


def dates():
    for text in ("2011-04-01", "20110401", "2011-W13-5", "2011W135", "2011-091", "2011-04", "20"):
        print(isodate.parse_date(text))
    print(
        isodate.date_isoformat(datetime.date(2011, 4, 1)),
        isodate.date_isoformat(datetime.date(2011, 4, 1), "%Y-W%W-%w"),
    )
    refused(isodate.parse_date, "April")


def times():
    for text in (
        "23:21:28",
        "232128",
        "23:21",
        "2321",
        "23",
        "23:21:28,5",
        "23:21:28Z",
        "23:21:28+05:30",
        "23.5",
    ):
        print(isodate.parse_time(text))
    print(isodate.time_isoformat(datetime.time(23, 21, 28, 512400)))
    print(isodate.parse_datetime("2011-04-01T23:21:28-04:00").isoformat())
    print(isodate.datetime_isoformat(datetime.datetime(2011, 4, 1, 23, 21, 28, tzinfo=isodate.UTC)))
    print(
        isodate.tz_isoformat(
            datetime.datetime(2011, 4, 1, tzinfo=isodate.FixedOffset(5, 30, "IST")), "%z"
        )
    )
    for text in ("25:00", "noon"):
        refused(isodate.parse_time, text)
    refused(isodate.parse_datetime, "2011-04-01")


def durations():
    for text in (
        "P18Y9M4DT11H9M8S",
        "P2W",
        "PT36H",
        "-P1DT2H",
        "P0.5Y",
        "PT1.5S",
        "P0003-06-04T12:30:05",
        "P1M",
    ):
        found = isodate.parse_duration(text)
        print(repr(found), isodate.duration_isoformat(found))
    year = isodate.Duration(years=1, months=2, days=3)
    print(
        year,
        year + datetime.timedelta(days=1),
        datetime.date(2000, 2, 29) + year,
        year * 2,
        -year,
        year == isodate.Duration(years=1, months=2, days=3),
    )
    print(
        year - isodate.Duration(months=5),
        datetime.datetime(2000, 3, 31) - isodate.Duration(months=1),
        year != 3,
    )
    print(
        year.totimedelta(start=datetime.date(2001, 1, 1)),
        year.tdelta,
        isodate.Duration(years=decimal.Decimal("1.5")),
    )
    print(
        isodate.duration_isoformat(datetime.timedelta(0)),
        isodate.duration_isoformat(datetime.timedelta(days=-1)),
    )
    for text in ("T1S", "P1S", "one"):
        refused(isodate.parse_duration, text)
    refused(lambda: year + "x")
    refused(year.totimedelta)


if __name__ == "__main__":
    dates()
    times()
    durations()
