//! The functions that are replaced by wrappers.

use testwright_capture::ExternalSource;

/// The part of a function call that is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::recorder) enum ObservedEffect {
    /// Its arguments and its result.
    Called(ExternalSource),
    /// The text that it reads from standard input.
    Input,
    /// The text that it prints.
    Output {
        /// True for standard error.
        is_error: bool,
    },
    /// The files and folders named by its first arguments, of this number.
    File(usize),
    /// The environment variable that it names.
    Environment,
    /// The current folder, which it returns or changes.
    WorkingFolder,
    /// A temporary file or folder that it creates, and whose uses are not recorded.
    Temporary,
    /// The log record that it is called with.
    Logged,
    /// Nothing, including the wrapped functions that it calls.
    Ignored,
}

/// Functions by module, with the part that is recorded. A dot in a name leads into a class.
pub(super) const FUNCTIONS: [(&str, ObservedEffect, &[&str]); 28] = [
    ("builtins", ObservedEffect::Input, &["input"]),
    ("getpass", ObservedEffect::Input, &["getpass"]),
    (
        "time",
        ObservedEffect::Called(ExternalSource::Clock),
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
        ObservedEffect::Called(ExternalSource::Random),
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
        ObservedEffect::Called(ExternalSource::Random),
        &[
            "choice",
            "randbelow",
            "randbits",
            "token_bytes",
            "token_hex",
            "token_urlsafe",
        ],
    ),
    (
        "uuid",
        ObservedEffect::Called(ExternalSource::Random),
        &["uuid1", "uuid4"],
    ),
    (
        "os",
        ObservedEffect::Called(ExternalSource::Random),
        &["urandom"],
    ),
    (
        "os",
        ObservedEffect::Called(ExternalSource::Host),
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
        ObservedEffect::Called(ExternalSource::Process),
        &["system", "popen", "kill"],
    ),
    (
        "subprocess",
        ObservedEffect::Called(ExternalSource::Process),
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
        ObservedEffect::Called(ExternalSource::Host),
        &["node", "system", "machine", "platform"],
    ),
    (
        "getpass",
        ObservedEffect::Called(ExternalSource::Host),
        &["getuser"],
    ),
    (
        "socket",
        ObservedEffect::Called(ExternalSource::Network),
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
        ObservedEffect::Called(ExternalSource::Host),
        &["gethostname", "getfqdn"],
    ),
    (
        "sys",
        ObservedEffect::Called(ExternalSource::Interpreter),
        &["setrecursionlimit", "setswitchinterval"],
    ),
    (
        "signal",
        ObservedEffect::Called(ExternalSource::Interpreter),
        &["signal", "alarm", "setitimer"],
    ),
    (
        "locale",
        ObservedEffect::Called(ExternalSource::Interpreter),
        &["setlocale"],
    ),
    (
        "warnings",
        ObservedEffect::Called(ExternalSource::Interpreter),
        &["warn"],
    ),
    (
        "logging",
        ObservedEffect::Called(ExternalSource::Interpreter),
        &["basicConfig", "disable"],
    ),
    ("logging", ObservedEffect::Ignored, &["Logger._log"]),
    ("logging", ObservedEffect::Logged, &["Logger.handle"]),
    (
        "tempfile",
        ObservedEffect::Temporary,
        &[
            "mkdtemp",
            "mkstemp",
            "NamedTemporaryFile",
            "TemporaryFile",
            "gettempdir",
        ],
    ),
    ("os", ObservedEffect::WorkingFolder, &["getcwd", "chdir"]),
    ("builtins", ObservedEffect::File(1), &["open"]),
    (
        "os",
        ObservedEffect::File(1),
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
        ObservedEffect::File(2),
        &["rename", "replace", "link", "symlink"],
    ),
    (
        "shutil",
        ObservedEffect::File(2),
        &["copy", "copy2", "copyfile", "move", "copytree", "rmtree"],
    ),
    (
        "os",
        ObservedEffect::Environment,
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
