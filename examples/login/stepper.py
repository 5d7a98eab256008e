"""Does the model's actions with a real site: every user has a browser, which keeps cookies."""

import http.cookiejar
import urllib.parse
import urllib.request

import website

sessions = website.Sessions
site, browsers = None, {}


def Reset():
    """Starts a new site, with new browsers."""
    global site
    if site is not None:
        site.stop()
    site = website.Site(sessions())
    browsers.clear()


def TestAction(name, arguments, expected):
    """Takes an action. Returns None if the site does what the model says, else the difference."""
    if site is None:
        Reset()
    user = arguments[0]
    if name == "Login":
        password = website.PASSWORDS[user] if arguments[1] == "right" else "guess"
        seen = ask(user, "/login", {"user": user, "password": password})
    elif name == "Logout":
        seen = ask(user, "/logout", {})
    else:
        seen = ask(user, "/mail")
    return None if seen == expected else f"{user} sees {seen!r}, expected {expected!r}"


def ask(user, page, form=None):
    if user not in browsers:
        # Without proxies: all requests stay on this machine.
        cookies = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
        browsers[user] = urllib.request.build_opener(urllib.request.ProxyHandler({}), cookies)
    data = None if form is None else urllib.parse.urlencode(form).encode()
    with browsers[user].open(site.address + page, data) as answer:
        return answer.read().decode()
