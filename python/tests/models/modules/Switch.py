"""A lamp with a switch: the smallest model that has guards."""

power = False


def PowerOn():
    global power
    power = True


def PowerOnEnabled():
    return not power


def PowerOff():
    global power
    power = False


def PowerOffEnabled():
    return power


def Accepting():
    return not power


state = ("power",)
actions = (PowerOn, PowerOff)
enablers = {PowerOn: (PowerOnEnabled,), PowerOff: (PowerOffEnabled,)}
