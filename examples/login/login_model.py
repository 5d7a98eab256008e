"""Two users of a web site: what they see when they log in, read their mail and log out.

The model has no cookies, session numbers or ports. So it is short.
"""

active_users = set()


def Login(user, password):
    if password == "right":
        active_users.add(user)
        return "welcome"
    return "wrong password"


def LoginEnabled(user, password):
    return user not in active_users


def Logout(user):
    active_users.remove(user)
    return "goodbye"


def LogoutEnabled(user):
    return user in active_users


def Read(user):
    return f"mail of {user}" if user in active_users else "please log in"


def Reset():
    active_users.clear()


def Accepting():
    return not active_users


USERS = ["ann", "bob"]

state = ("active_users",)
actions = (Login, Logout, Read)
enablers = {Login: (LoginEnabled,), Logout: (LogoutEnabled,)}
domains = {
    Login: {"user": USERS, "password": ["right", "wrong"]},
    Logout: {"user": USERS},
    Read: {"user": USERS},
}
# A run ends with all users logged out.
cleanup = (Logout,)
