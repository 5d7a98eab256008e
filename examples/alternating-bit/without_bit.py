"""PyModel configuration: what if the receiver did not look at the bit?"""

import protocol

protocol.IsExpected = lambda bit: True
