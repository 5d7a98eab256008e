"""Two users of a web application."""

users = {"OleBrumm": False, "VinniPuhh": False}
initialized = False


def Initialize():
    global initialized
    initialized = True


def InitializeEnabled():
    return not initialized


def Login(user, password):
    if password == "Correct":
        users[user] = True
        return "Success"
    return "Failure"


def LoginEnabled(user, password):
    return not users[user]


def Logout(user):
    users[user] = False


def LogoutEnabled(user):
    return users[user]


def is_ready():
    return initialized


def Accepting():
    return not any(users.values())


state = ("users", "initialized")
actions = (Initialize, Login, Logout)
enablers = {
    Initialize: (InitializeEnabled,),
    Login: (is_ready, LoginEnabled),
    Logout: (is_ready, LogoutEnabled),
}
domains = {
    Login: {"user": ["OleBrumm", "VinniPuhh"], "password": ["Correct", "Incorrect"]},
    Logout: {"user": ["OleBrumm", "VinniPuhh"]},
}
