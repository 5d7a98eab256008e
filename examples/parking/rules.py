"""What the owner of the car park asked for."""

from parking import fee


def prop_short_stays_are_free(minutes: int):
    """A quarter of an hour costs nothing, all else does."""
    if minutes <= 15:
        assert fee(minutes) == 0
    else:
        assert fee(minutes) >= 2


def prop_a_day_has_a_limit(minutes: int):
    """Only who stays longer than a day pays more than twelve euros."""
    if minutes <= 1440:
        assert fee(minutes) <= 12
    else:
        assert fee(minutes) > 12


def prop_coming_back_saves_nothing(first_stay: int, second_stay: int):
    """Who leaves and comes back does not save money."""
    both = fee(first_stay) + fee(second_stay)
    assert both >= fee(first_stay + second_stay)
