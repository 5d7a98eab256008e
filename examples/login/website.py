"""The system under test: a web site on a real port, with users who log in, read their mail and log out."""

import http.cookies
import http.server
import threading
import urllib.parse

PASSWORDS = {"ann": "apple", "bob": "banana"}


class Sessions:
    """The users that are logged in, by a number that the browser keeps as a cookie."""

    def __init__(self):
        self.users = {}
        self.begun = 0

    def begin(self, user):
        number = self.new_number()
        self.users[number] = user
        return number

    def new_number(self):
        self.begun += 1
        return self.begun

    def end(self, number):
        self.users.pop(number, None)


class CountedSessions(Sessions):
    """Sessions with a bug that looks like a good idea: the new number is the number of open sessions plus one."""

    def new_number(self):
        return len(self.users) + 1


class Page(http.server.BaseHTTPRequestHandler):
    """Answers a request."""

    def do_GET(self):
        user = self.server.sessions.users.get(self.session_number())
        self.answer(f"mail of {user}" if user else "please log in")

    def do_POST(self):
        sessions = self.server.sessions
        if self.path == "/logout":
            sessions.end(self.session_number())
            return self.answer("goodbye")
        length = int(self.headers["Content-Length"])
        form = dict(urllib.parse.parse_qsl(self.rfile.read(length).decode()))
        if PASSWORDS.get(form["user"]) != form["password"]:
            return self.answer("wrong password")
        return self.answer("welcome", f"session={sessions.begin(form['user'])}")

    def session_number(self):
        cookies = http.cookies.SimpleCookie(self.headers.get("Cookie", ""))
        return int(cookies["session"].value) if "session" in cookies else None

    def answer(self, text, cookie=None):
        self.send_response(200)
        if cookie:
            self.send_header("Set-Cookie", cookie)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *arguments):
        pass


class Site:
    """A running server, on any port that is free."""

    def __init__(self, sessions):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
        self.server.daemon_threads = True
        self.server.sessions = sessions
        self.address = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()
