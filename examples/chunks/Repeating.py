"""The stepper with another peer: see `peer.Repeating`."""

import peer
import Stepper
from Stepper import Reset, TestAction, wait  # noqa: F401

Stepper.kind = peer.Repeating
