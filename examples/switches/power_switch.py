"""A switch: on, off, and on again. A run may end when the power is off."""

power = "off"


def PowerOn():
    global power
    power = "on"


def PowerOff():
    global power
    power = "off"


def IsOff():
    return power == "off"


def IsOn():
    return power == "on"


Accepting = IsOff

state = ("power",)
actions = (PowerOn, PowerOff)
enablers = {PowerOn: (IsOff,), PowerOff: (IsOn,)}
