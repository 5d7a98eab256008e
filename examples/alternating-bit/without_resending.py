"""PyModel configuration: what if the sender never sent a message again?"""

import protocol

protocol.actions = tuple(action for action in protocol.actions if action is not protocol.Resend)
