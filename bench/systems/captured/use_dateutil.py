"""Reads dates and computes with them, as a calendar does."""

import datetime

from dateutil import easter, parser, relativedelta, rrule, tz

DAY = datetime.datetime(2024, 1, 31, 9, 30)


def read():
    default = datetime.datetime(2003, 9, 25)
    for text in (
        "2003-09-25T10:49:41.5-03:00",
        "Thu Sep 25 10:36:28 2003",
        "10h36m28.5s",
        "Sep 2003",
        "25/09/2003",
        "20030925T104941",
        "10pm",
        "July 4, 1976 at 3pm",
        "99-01-02",
        "today is 25 of September of 2003, exactly at 10:49:41 with timezone -03:00",
    ):
        try:
            print(parser.parse(text, default=default))
        except parser.ParserError:
            print(parser.parse(text, default=default, fuzzy=True))
    print(parser.parse("01/05/09", dayfirst=True), parser.parse("01/05/09", yearfirst=True))
    print(
        parser.isoparse("2018-W06-5"), parser.isoparse("20180209T10Z"), parser.isoparse("2018-040")
    )
    for text in ("", "no date", "2003-13-45", "32 Jan 2003"):
        for read in (parser.parse, parser.isoparse):
            try:
                print(read(text))
            except (ValueError, OverflowError) as error:
                print(type(error).__name__, error)


def deltas():
    delta = relativedelta.relativedelta(months=+1, weeks=-1, hour=10)
    print(delta, DAY + delta, DAY - relativedelta.relativedelta(years=1, leapdays=1))
    print(relativedelta.relativedelta(datetime.datetime(2025, 3, 1), DAY))
    friday = relativedelta.relativedelta(weekday=relativedelta.FR(-1), day=31)
    print(DAY + friday, delta * 2, -delta, delta == delta, bool(relativedelta.relativedelta()))
    print(
        relativedelta.relativedelta(days=1.5, hours=25).normalized(),
        abs(-delta),
        hash(delta) == hash(delta),
    )
    print(
        relativedelta.relativedelta(hours=50, minutes=-90),
        delta + datetime.timedelta(days=2),
        delta / 2,
    )
    for wrong in ({"years": 1.5}, {"dt1": "x", "dt2": "y"}):
        try:
            print(relativedelta.relativedelta(**wrong))
        except (TypeError, ValueError) as error:
            print(error)


def rules():
    print(list(rrule.rrule(rrule.DAILY, count=3, dtstart=DAY)))
    print(list(rrule.rrule(rrule.MONTHLY, count=4, bymonthday=-1, dtstart=DAY)))
    weekly = rrule.rrule(rrule.WEEKLY, byweekday=(rrule.MO, rrule.FR), count=5, dtstart=DAY)
    print(
        weekly[1],
        weekly.after(DAY),
        weekly.before(datetime.datetime(2024, 3, 1)),
        DAY in weekly,
        weekly.count(),
    )
    print(
        weekly.between(DAY, DAY + datetime.timedelta(days=9)),
        str(weekly),
        weekly.replace(count=2)[-1],
    )
    print(
        list(
            rrule.rrulestr("DTSTART:20240131T093000\nRRULE:FREQ=YEARLY;COUNT=2;BYDAY=1SU;BYMONTH=4")
        )
    )
    both = rrule.rruleset()
    both.rrule(weekly)
    both.exdate(weekly[0])
    both.rdate(datetime.datetime(2024, 2, 29))
    print(list(both))
    print(easter.easter(2024), easter.easter(2024, easter.EASTER_ORTHODOX), easter.easter(1500, 1))
    for text in ("FREQ=SOMETIMES", "nonsense"):
        try:
            rrule.rrulestr(text)
        except ValueError as error:
            print(error)


def zones():
    offset = tz.tzoffset("BRST", -10800)
    print(
        offset,
        offset.utcoffset(DAY),
        DAY.replace(tzinfo=tz.UTC).astimezone(offset),
        tz.tzutc() == tz.UTC,
    )
    summer = tz.tzstr("EST5EDT,M3.2.0,M11.1.0")
    print(
        datetime.datetime(2024, 7, 1, tzinfo=summer).isoformat(),
        DAY.replace(tzinfo=summer).tzname(),
    )
    print(
        tz.tzoffset(None, 3600) == tz.tzoffset("x", 3600),
        tz.resolve_imaginary(DAY.replace(tzinfo=tz.UTC)),
    )


if __name__ == "__main__":
    read()
    deltas()
    rules()
    zones()
