"""Two users of a web site: what they see when they log in, read their mail and log out.

The model knows nothing of cookies, numbers of sessions and ports. That is what makes it short.
"""

logged_in = set()


def Login(user, password):
    if password == "right":
        logged_in.add(user)
        return "welcome"
    return "wrong password"


def LoginEnabled(user, password):
    return user not in logged_in


def Logout(user):
    logged_in.remove(user)
    return "goodbye"


def LogoutEnabled(user):
    return user in logged_in


def Read(user):
    return f"mail of {user}" if user in logged_in else "please log in"


def Reset():
    logged_in.clear()


def Accepting():
    return not logged_in


USERS = ["ann", "bob"]

state = ("logged_in",)
actions = (Login, Logout, Read)
enablers = {Login: (LoginEnabled,), Logout: (LogoutEnabled,)}
domains = {
    Login: {"user": USERS, "password": ["right", "wrong"]},
    Logout: {"user": USERS},
    Read: {"user": USERS},
}
# A run ends with everybody logged out.
cleanup = (Logout,)
