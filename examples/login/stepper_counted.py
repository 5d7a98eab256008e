"""The stepper for the site with the bug."""

import stepper
import website
from stepper import Reset, TestAction

__all__ = ["Reset", "TestAction"]

stepper.sessions = website.CountedSessions
