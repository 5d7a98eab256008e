//! What a program did while it was watched.
//!
//! A [`Recording`] has [`Unit`]s (functions and methods of the project) and [`Call`]s of them. A call is told as
//! *(arguments, state before) → (result or exception, state after)*: its [`Graph`] holds snapshots of two moments,
//! entry and exit, and [`Argument`]s and [`PlaceState`]s say where in it their values are. What the call changed is
//! not stored but follows from comparing the two: see [`Call::effects`]. What came from outside the program, or went
//! there, is a list of [`Event`]s in order.
//!
//! Everything is plain data. It can be made by hand, which is how the writer of tests is tested.

use serde::{Deserialize, Serialize};

use crate::graph::Graph;
use crate::value::{NodeId, Reference};

/// Everything that was recorded in some runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recording {
    /// The processes that were watched.
    pub executions: Vec<Execution>,
    /// All units that were called, in order of their first call.
    pub units: Vec<Unit>,
    /// The calls that were kept, by execution and then in order of entry.
    pub calls: Vec<Call>,
}

impl Recording {
    /// A unit by its number.
    pub fn unit(&self, unit: UnitId) -> Option<&Unit> {
        self.units.get(unit.0 as usize)
    }

    /// The calls of a unit.
    pub fn calls_of(&self, unit: UnitId) -> impl Iterator<Item = &Call> {
        self.calls.iter().filter(move |call| call.unit == unit)
    }
}

/// The place of a unit in [`Recording::units`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct UnitId(pub u32);

/// A call, by its number in the timeline of its execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CallId(pub u64);

/// One process that was watched.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Execution {
    /// What was run: `["app.py", "--fast"]`.
    pub command: Vec<String>,
    /// The version of the interpreter, `3.12.1`.
    pub python: String,
    /// The folder in which it began.
    pub folder: String,
    /// The folders and files where modules were looked for.
    pub path: Vec<String>,
    /// Whether it came to its end: a process that was killed leaves this `false`, and what it did until then is there.
    pub is_complete: bool,
    /// What went wrong inside the recorder, if anything: the recording may lack something then.
    pub troubles: Vec<String>,
}

/// A function or method of the project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unit {
    /// The module as an importer calls it. `__main__` for a script.
    pub module: String,
    /// `Class.method`, `function`, `outer.<locals>.inner`.
    pub qualified_name: String,
    /// The file it is in, as the code object names it.
    pub file: String,
    /// Where its definition begins, the first decorator included.
    pub line: u32,
    /// What its code is.
    pub kind: UnitKind,
    /// Its parameters, in order.
    pub parameters: Vec<Parameter>,
    /// How often it was called, kept or not. Together over all executions.
    pub calls: u64,
}

impl Unit {
    /// `module.Class.method`: what users type.
    pub fn name(&self) -> String {
        format!("{}.{}", self.module, self.qualified_name)
    }
}

/// What kind of code a unit has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum UnitKind {
    /// An ordinary function.
    Function,
    /// A function that makes a generator.
    Generator,
    /// `async def`.
    Coroutine,
    /// `async def` with a `yield`.
    AsyncGenerator,
}

/// A parameter of a unit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// How arguments get to it.
    pub kind: ParameterKind,
}

/// How arguments get to a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ParameterKind {
    /// Before the `/`.
    PositionalOnly,
    /// By position or by name.
    Normal,
    /// `*args`: its value is a tuple.
    Positionals,
    /// After the `*`.
    KeywordOnly,
    /// `**kwargs`: its value is a dictionary.
    Keywords,
}

/// One execution of a unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// When it began; its name, too.
    pub id: CallId,
    /// When it ended, in the same count; `None` if it did not.
    pub end: Option<u64>,
    /// Which of [`Recording::executions`].
    pub execution: u32,
    /// A number per thread, the first that was seen is 0.
    pub thread: u32,
    /// A number per asynchronous task, if there is one.
    pub task: Option<u32>,
    /// What was called.
    pub unit: UnitId,
    /// The nearest call of a unit around it.
    pub caller: Option<CallId>,
    /// Whether the caller is a method of the same object.
    pub is_from_own_method: bool,
    /// What the first argument is to the unit.
    pub receiver: Receiver,
    /// All parameters with what they were bound to, in the order of [`Unit::parameters`].
    pub arguments: Vec<Argument>,
    /// Places outside the arguments that the unit can read or write.
    pub places: Vec<PlaceState>,
    /// How it ended.
    pub outcome: Outcome,
    /// For generators and asynchronous generators: what happened to the generator that the call made.
    pub steps: Vec<Step>,
    /// What came from outside or went there, in order, by the call itself and by what it called.
    pub events: Vec<Event>,
    /// The lines of the unit that were reached.
    pub lines: Vec<u32>,
    /// How long it took, in microseconds, roughly.
    pub microseconds: u64,
    /// Things that happened and could not be recorded, as the interpreter's audit events call them.
    pub uncaptured: Vec<String>,
    /// The values of all the above.
    pub values: Graph,
}

impl Call {
    /// What was given: the arguments without the receiver and without those that are defaults.
    pub(crate) fn given<'c>(
        &'c self,
        unit: &'c Unit,
    ) -> impl Iterator<Item = (&'c Argument, &'c Parameter)> + Clone {
        let receivers = match self.receiver {
            Receiver::None => 0,
            Receiver::Instance(_) | Receiver::Class(_) => 1,
        };
        let all = self.arguments.iter().zip(&unit.parameters);
        all.skip(receivers)
            .filter(|(argument, _)| !argument.is_default)
    }

    /// A call that has begun, and of which nothing else is known yet.
    pub(crate) fn begun(id: CallId, execution: u32, unit: UnitId, caller: Option<CallId>) -> Call {
        Call {
            id,
            end: None,
            execution,
            thread: 0,
            task: None,
            unit,
            caller,
            is_from_own_method: false,
            receiver: Receiver::None,
            arguments: Vec::new(),
            places: Vec::new(),
            outcome: Outcome::Unfinished,
            steps: Vec::new(),
            events: Vec::new(),
            lines: Vec::new(),
            microseconds: 0,
            uncaptured: Vec::new(),
            values: Graph::default(),
        }
    }
}

/// What the first argument of a call is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Receiver {
    /// Nothing special: a function, or a static method.
    None,
    /// The object that a method is called on. The class is that of the object, which may be derived from the one
    /// that defines the method.
    Instance(Reference),
    /// The class that a class method (or `__new__`) is called on.
    Class(Reference),
}

/// What a parameter was bound to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Argument {
    /// The name of the parameter.
    pub name: String,
    /// At entry.
    pub before: NodeId,
    /// The same object at exit; `None` if the call did not end.
    pub after: Option<NodeId>,
    /// Whether it is the very object that is the default.
    pub is_default: bool,
}

/// Where a program keeps something outside objects.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Place {
    /// A variable of a module.
    Global {
        /// The module.
        module: String,
        /// The variable.
        name: String,
    },
    /// An attribute of a class.
    ClassAttribute {
        /// The class.
        class: Reference,
        /// The attribute.
        name: String,
    },
    /// A variable of an enclosing function, which the unit uses.
    Cell {
        /// The variable.
        name: String,
    },
    /// The default value of a parameter of the unit, which is the same object in each call.
    Default {
        /// The parameter.
        parameter: String,
    },
}

/// What a place held.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlaceState {
    /// Where.
    pub place: Place,
    /// At entry; `None` if there was nothing.
    pub before: Option<NodeId>,
    /// At exit; `None` if there was nothing.
    pub after: Option<NodeId>,
    /// Whether what was there at entry is what is there right after the module was imported.
    pub is_as_imported: bool,
}

/// How a call ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// With a value. (For a generator, with the value of its `return`.)
    Returned(NodeId),
    /// With an exception.
    Raised {
        /// The exception, a [`Value::Exception`](crate::Value::Exception).
        exception: NodeId,
        /// Whether it was raised in the unit itself, and not only passed through.
        is_own: bool,
    },
    /// Not: the program ended first, or the recording, or a generator was left alone.
    Unfinished,
}

/// One resumption of a generator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// What was done to it.
    pub action: StepAction,
    /// What came of it.
    pub outcome: StepOutcome,
}

/// How a generator is resumed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StepAction {
    /// `next(generator)`, or a loop.
    Next,
    /// `generator.send(value)`.
    Send(NodeId),
    /// `generator.throw(exception)`.
    Throw(NodeId),
    /// `generator.close()`.
    Close,
}

/// What a resumed generator does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StepOutcome {
    /// It yields a value.
    Yielded(NodeId),
    /// It returns a value.
    Returned(NodeId),
    /// It raises an exception.
    Raised(NodeId),
}

/// Something from outside the program, or something that went there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// When, in the timeline of the execution.
    pub at: u64,
    /// Whether a unit that the call called did it, and not the call itself.
    pub is_nested: bool,
    /// What.
    pub external: External,
}

/// The kinds of [`Event`]s.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum External {
    /// Something was read from the keyboard: `input`, `sys.stdin.readline`, …
    Input {
        /// What was called: `builtins.input`, `sys.stdin.readline`.
        function: String,
        /// The prompt, if there is one.
        prompt: Option<String>,
        /// The text that came, as standard input has it (a line with its end); `None` at the end of the input.
        text: Option<String>,
    },
    /// Something was printed.
    Output {
        /// To standard error, not to standard output.
        is_error: bool,
        /// What.
        text: String,
    },
    /// A file or folder was used: what was there before the call first used it, and what is there at its exit.
    File {
        /// As the program named it; absolute if the program did.
        path: String,
        /// What was there.
        before: FileState,
        /// What is there.
        after: FileState,
    },
    /// An environment variable was looked at or changed.
    Environment {
        /// The variable.
        name: String,
        /// At first use.
        before: Option<String>,
        /// At exit.
        after: Option<String>,
    },
    /// The current folder was asked for or changed.
    WorkingFolder {
        /// At first use.
        before: String,
        /// At exit.
        after: String,
    },
    /// The permissions of a file are others at exit than when the call first used it.
    Permissions {
        /// As the program named it.
        path: String,
        /// The bits that `chmod` takes, at exit.
        after: u32,
    },
    /// Something was logged.
    Logged {
        /// The name of the logger.
        logger: String,
        /// The number of the level.
        level: i64,
        /// The message with its arguments in it; `None` if it could not be told without running code of the program.
        message: Option<String>,
    },
    /// A function that asks the outside (clock, randomness, processes, sockets, host) was called.
    Called {
        /// What kind of source it is.
        source: Source,
        /// The function as it is documented: `time.time`, `random.random`, `subprocess.run`.
        function: String,
        /// Its positional arguments. For methods of sockets and processes, the object itself is the first.
        arguments: Vec<NodeId>,
        /// Its arguments by name.
        keywords: Vec<(String, NodeId)>,
        /// What it gave.
        answer: Answer,
    },
}

/// Where answers from outside come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Source {
    /// `time`, `datetime`.
    Clock,
    /// `random`, `secrets`, `os.urandom`, `uuid`.
    Random,
    /// `subprocess`, `os.system`.
    Process,
    /// `socket` and what is built on it.
    Network,
    /// The machine, the user, the process: `os.getpid`, `platform.node`.
    Host,
    /// Settings of the interpreter: `sys.setrecursionlimit`, `signal.signal`, `warnings.warn`.
    Interpreter,
}

/// What a function that asks the outside gave.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Answer {
    /// A value.
    Returned(NodeId),
    /// An exception.
    Raised(NodeId),
}

/// What is under a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FileState {
    /// Nothing.
    Absent,
    /// A file with this content.
    File(#[serde(with = "crate::value::hexadecimal")] Vec<u8>),
    /// A file too large to keep, with its length.
    LargeFile(u64),
    /// A folder with these entries, sorted. Those that are folders themselves end with `/`.
    Folder(Vec<String>),
    /// A symbolic link with this target.
    Link(String),
    /// Something else, or something that could not be read.
    Other,
}

/// A text that secrets are replaced by before anything reaches the disk.
pub const MASKED: &str = "<masked>";
