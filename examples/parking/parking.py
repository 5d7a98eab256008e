"""The fee of a car park: two euros for each hour begun, at most twelve for a day."""

FREE_MINUTES = 15
EUROS_PER_HOUR = 2
MOST_PER_DAY = 12
DAY = 24 * 60


def fee(minutes):
    """Returns the fee for a stay, in euros."""
    if minutes <= FREE_MINUTES:
        return 0
    days, rest = divmod(minutes, DAY)
    hours_begun = (rest + 59) // 60
    return days * MOST_PER_DAY + min(hours_begun * EUROS_PER_HOUR, MOST_PER_DAY)
