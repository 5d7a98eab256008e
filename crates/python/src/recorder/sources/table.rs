//! The functions that are replaced.

use testwright_capture::Source;

/// What is noted of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::recorder) enum What {
    /// Its arguments and its answer.
    Called(Source),
    /// What it reads from the keyboard.
    Input,
    /// What it prints.
    Output {
        /// To standard error.
        is_error: bool,
    },
    /// The files and folders that it names with so many of its first arguments.
    File(usize),
    /// The environment variable that it names.
    Environment,
    /// The current folder, which it tells or changes.
    WorkingFolder,
    /// The file or folder that it makes for a while, which is nobody else's business.
    Temporary,
    /// What it logs: its argument is the record.
    Logged,
    /// Nothing, nor of what it does on its way.
    Unspoken,
}

/// Functions by module, with what is noted of them. A dot in a name leads into a class.
pub(super) const FUNCTIONS: [(&str, What, &[&str]); 28] = [
    ("builtins", What::Input, &["input"]),
    ("getpass", What::Input, &["getpass"]),
    (
        "time",
        What::Called(Source::Clock),
        &[
            "time",
            "time_ns",
            "monotonic",
            "monotonic_ns",
            "perf_counter",
            "perf_counter_ns",
            "process_time",
            "process_time_ns",
            "localtime",
            "gmtime",
            "ctime",
            "asctime",
            "strftime",
            "sleep",
        ],
    ),
    (
        "random",
        What::Called(Source::Random),
        &[
            "random",
            "randint",
            "randrange",
            "choice",
            "choices",
            "sample",
            "shuffle",
            "uniform",
            "triangular",
            "gauss",
            "normalvariate",
            "lognormvariate",
            "expovariate",
            "betavariate",
            "gammavariate",
            "paretovariate",
            "weibullvariate",
            "vonmisesvariate",
            "getrandbits",
            "randbytes",
        ],
    ),
    (
        "secrets",
        What::Called(Source::Random),
        &[
            "choice",
            "randbelow",
            "randbits",
            "token_bytes",
            "token_hex",
            "token_urlsafe",
        ],
    ),
    ("uuid", What::Called(Source::Random), &["uuid1", "uuid4"]),
    ("os", What::Called(Source::Random), &["urandom"]),
    (
        "os",
        What::Called(Source::Host),
        &[
            "getpid",
            "getppid",
            "getlogin",
            "cpu_count",
            "uname",
            "getuid",
        ],
    ),
    (
        "os",
        What::Called(Source::Process),
        &["system", "popen", "kill"],
    ),
    (
        "subprocess",
        What::Called(Source::Process),
        &[
            "run",
            "call",
            "check_call",
            "check_output",
            "getoutput",
            "getstatusoutput",
            "Popen.__init__",
            "Popen.communicate",
            "Popen.wait",
            "Popen.poll",
        ],
    ),
    (
        "platform",
        What::Called(Source::Host),
        &["node", "system", "machine", "platform"],
    ),
    ("getpass", What::Called(Source::Host), &["getuser"]),
    (
        "socket",
        What::Called(Source::Network),
        &[
            "getaddrinfo",
            "gethostbyname",
            "create_connection",
            "socket.__init__",
            "socket.connect",
            "socket.connect_ex",
            "socket.bind",
            "socket.send",
            "socket.sendall",
            "socket.recv",
            "socket.recv_into",
            "socket.recvfrom",
            "socket.sendto",
            "socket.accept",
        ],
    ),
    (
        "socket",
        What::Called(Source::Host),
        &["gethostname", "getfqdn"],
    ),
    (
        "sys",
        What::Called(Source::Interpreter),
        &["setrecursionlimit", "setswitchinterval"],
    ),
    (
        "signal",
        What::Called(Source::Interpreter),
        &["signal", "alarm", "setitimer"],
    ),
    ("locale", What::Called(Source::Interpreter), &["setlocale"]),
    ("warnings", What::Called(Source::Interpreter), &["warn"]),
    (
        "logging",
        What::Called(Source::Interpreter),
        &["basicConfig", "disable"],
    ),
    ("logging", What::Unspoken, &["Logger._log"]),
    ("logging", What::Logged, &["Logger.handle"]),
    (
        "tempfile",
        What::Temporary,
        &[
            "mkdtemp",
            "mkstemp",
            "NamedTemporaryFile",
            "TemporaryFile",
            "gettempdir",
        ],
    ),
    ("os", What::WorkingFolder, &["getcwd", "chdir"]),
    ("builtins", What::File(1), &["open"]),
    (
        "os",
        What::File(1),
        &[
            "open",
            "remove",
            "unlink",
            "mkdir",
            "makedirs",
            "rmdir",
            "removedirs",
            "listdir",
            "scandir",
            "stat",
            "lstat",
            "access",
            "chmod",
            "truncate",
            "readlink",
            "utime",
        ],
    ),
    (
        "os",
        What::File(2),
        &["rename", "replace", "link", "symlink"],
    ),
    (
        "shutil",
        What::File(2),
        &["copy", "copy2", "copyfile", "move", "copytree", "rmtree"],
    ),
    (
        "os",
        What::Environment,
        &[
            "_Environ.__getitem__",
            "_Environ.__setitem__",
            "_Environ.__delitem__",
        ],
    ),
];

/// Class methods of types written in C, which have to be replaced inside the types.
pub(super) const CLOCK_METHODS: [(&str, &str); 4] = [
    ("datetime", "now"),
    ("datetime", "utcnow"),
    ("datetime", "today"),
    ("date", "today"),
];
