//! Recorded calls of a program.
//!
//! A [`Recording`] has [`CodeUnit`]s (functions and methods of the project) and [`Call`]s of them.
//! A call is represented as *(arguments, state before) → (result or exception, state after)*. Its
//! [`ValueGraph`] holds the snapshots of entry and exit, and each [`BoundArgument`] and
//! [`VariableState`] refers to its values in it. The changes made by the call are not stored, but
//! computed from the two snapshots: see [`Call::effects`]. Input and output of the program are a
//! list of [`ExternalEvent`]s in order.
//!
//! Everything is plain data. Tests of this crate build recordings by hand.

use serde::{Deserialize, Serialize};

use crate::graph::ValueGraph;
use crate::value::{ImportPath, NodeId};

/// Everything that was recorded in one or more runs of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recording {
    /// The processes that were watched.
    pub executions: Vec<ProgramRun>,
    /// All units that were called, in order of their first call.
    pub units: Vec<CodeUnit>,
    /// The calls that were kept, by execution and then in order of entry.
    pub calls: Vec<Call>,
}

impl Recording {
    /// Returns a unit by its number.
    pub fn unit(&self, unit: UnitId) -> Option<&CodeUnit> {
        self.units.get(unit.0 as usize)
    }

    /// Returns the recorded calls of a unit.
    pub fn calls_of(&self, unit: UnitId) -> impl Iterator<Item = &Call> {
        self.calls.iter().filter(move |call| call.unit == unit)
    }
}

/// The index of a unit in [`Recording::units`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct UnitId(pub u32);

/// The number of a call in the timeline of its process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CallId(pub u64);

/// One watched process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramRun {
    /// The command line: `["app.py", "--fast"]`.
    pub command: Vec<String>,
    /// The version of the interpreter, `3.12.1`.
    pub python: String,
    /// The working folder at the start.
    pub folder: String,
    /// The module search path: folders and archives.
    pub path: Vec<String>,
    /// True if the process ended normally. A process that was killed leaves this `false`; its calls
    /// up to then are there.
    pub is_complete: bool,
    /// Errors inside the recorder. If there are any, the recording may be incomplete.
    #[serde(rename = "troubles")]
    pub problems: Vec<String>,
}

/// A function or method of the project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodeUnit {
    /// The module's importable name; `__main__` for a script.
    pub module: String,
    /// The qualified name: `Class.method`, `function`, `outer.<locals>.inner`.
    pub qualified_name: String,
    /// The file that defines it, as the code object names it.
    pub file: String,
    /// The line at which its definition begins, the first decorator included.
    pub line: u32,
    /// The kind of its code.
    pub kind: UnitKind,
    /// Its parameters, in order.
    pub parameters: Vec<UnitParameter>,
    /// The number of calls over all executions, including those that were not kept.
    pub calls: u64,
}

impl CodeUnit {
    /// Returns `module.Class.method`, the name that users type.
    pub fn name(&self) -> String {
        format!("{}.{}", self.module, self.qualified_name)
    }
}

/// The kind of a unit's code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum UnitKind {
    /// An ordinary function.
    Function,
    /// A generator function.
    Generator,
    /// A function defined by `async def`.
    Coroutine,
    /// A function defined by `async def`, with a `yield`.
    AsyncGenerator,
}

/// A parameter of a unit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnitParameter {
    /// Its name.
    pub name: String,
    /// The kinds of arguments that bind to it.
    pub kind: BindingKind,
}

/// The kinds of arguments that bind to a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum BindingKind {
    /// Positional arguments only: the parameter stands before the `/`.
    PositionalOnly,
    /// Positional and keyword arguments.
    Normal,
    /// `*args`: its value is a tuple.
    Positionals,
    /// Keyword arguments only: the parameter stands after the `*`.
    KeywordOnly,
    /// `**kwargs`: its value is a dictionary.
    Keywords,
}

/// One execution of a unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The time at which it began, which also identifies it.
    pub id: CallId,
    /// The time at which it ended, in the same count; `None` if it did not end.
    pub end: Option<u64>,
    /// The index of its process in [`Recording::executions`].
    pub execution: u32,
    /// The number of its thread; the first thread seen is 0.
    pub thread: u32,
    /// The number of its asynchronous task, if it ran in one.
    pub task: Option<u32>,
    /// The unit that was called.
    pub unit: UnitId,
    /// The nearest recorded call around it.
    pub caller: Option<CallId>,
    /// True if the caller is a method of the same object.
    pub is_from_own_method: bool,
    /// The role of the first argument.
    pub receiver: Receiver,
    /// All parameters with their arguments, in the order of [`CodeUnit::parameters`].
    pub arguments: Vec<BoundArgument>,
    /// Variables outside the arguments that the unit can read or write.
    pub variables: Vec<VariableState>,
    /// The way in which it ended.
    pub outcome: CallOutcome,
    /// For generators and asynchronous generators: the resumptions of the generator that the call
    /// made.
    pub steps: Vec<GeneratorStep>,
    /// Input and output in order, by the call itself and by the calls below it.
    pub events: Vec<ExternalEvent>,
    /// The lines of the unit that were reached.
    pub lines: Vec<u32>,
    /// Its approximate duration, in microseconds.
    pub microseconds: u64,
    /// Operations that could not be recorded, by the names of the interpreter's audit events.
    pub uncaptured: Vec<String>,
    /// The values of all the above.
    pub values: ValueGraph,
}

impl Call {
    /// Returns the arguments without the receiver and without defaults, each with its parameter.
    pub(crate) fn explicit_arguments<'c>(
        &'c self,
        unit: &'c CodeUnit,
    ) -> impl Iterator<Item = (&'c BoundArgument, &'c UnitParameter)> + Clone {
        let receivers = match self.receiver {
            Receiver::None => 0,
            Receiver::Instance(_) | Receiver::Class(_) => 1,
        };
        let all = self.arguments.iter().zip(&unit.parameters);
        all.skip(receivers)
            .filter(|(argument, _)| !argument.is_default)
    }

    /// Creates a call that has begun and not ended, with nothing recorded about it yet.
    pub(crate) fn unfinished(
        id: CallId,
        execution: u32,
        unit: UnitId,
        caller: Option<CallId>,
    ) -> Call {
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
            variables: Vec::new(),
            outcome: CallOutcome::Unfinished,
            steps: Vec::new(),
            events: Vec::new(),
            lines: Vec::new(),
            microseconds: 0,
            uncaptured: Vec::new(),
            values: ValueGraph::default(),
        }
    }
}

/// The role of the first argument of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Receiver {
    /// An ordinary argument: the unit is a function or a static method.
    None,
    /// The object that a method is called on. The class is that of the object, which may be derived
    /// from the class that defines the method.
    Instance(ImportPath),
    /// The class that a class method (or `__new__`) is called on.
    Class(ImportPath),
}

/// A parameter with the value bound to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BoundArgument {
    /// The name of the parameter.
    pub name: String,
    /// Its value at entry.
    pub before: NodeId,
    /// Its value at exit, as the same object; `None` if the call did not end.
    pub after: Option<NodeId>,
    /// True if the argument is the same object as the parameter's default.
    pub is_default: bool,
}

/// A variable outside of objects, where a program keeps state.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum ProgramVariable {
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
        class: ImportPath,
        /// The attribute.
        name: String,
    },
    /// A variable of an enclosing function that the unit uses.
    ClosureVariable {
        /// The variable.
        name: String,
    },
    /// The default value of a parameter of the unit. It is the same object in each call.
    Default {
        /// The parameter.
        parameter: String,
    },
}

/// The values of a variable before and after a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VariableState {
    /// The variable.
    #[serde(rename = "place")]
    pub variable: ProgramVariable,
    /// Its value at entry; `None` if it had none.
    pub before: Option<NodeId>,
    /// Its value at exit; `None` if it had none.
    pub after: Option<NodeId>,
    /// True if the value at entry is the one that the variable has right after its module is
    /// imported.
    pub is_as_imported: bool,
}

/// The outcome of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CallOutcome {
    /// It returned a value. (For a generator, the value of its `return`.)
    Returned(NodeId),
    /// It raised an exception.
    Raised {
        /// The exception, a [`Value::Exception`](crate::Value::Exception).
        exception: NodeId,
        /// True if the unit itself raised it, false if it only passed through.
        is_own: bool,
    },
    /// It did not end: the program or the recording ended first, or the generator was abandoned.
    Unfinished,
}

/// One resumption of a generator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GeneratorStep {
    /// The way in which it was resumed.
    pub action: StepAction,
    /// The result of the resumption.
    pub outcome: StepOutcome,
}

/// A way to resume a generator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StepAction {
    /// A `next(generator)`, or an iteration of a loop.
    Next,
    /// A `generator.send(value)`.
    Send(NodeId),
    /// A `generator.throw(exception)`.
    Throw(NodeId),
    /// A `generator.close()`.
    Close,
}

/// The result of resuming a generator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StepOutcome {
    /// It yields a value.
    Yielded(NodeId),
    /// It returns a value.
    Returned(NodeId),
    /// It raises an exception.
    Raised(NodeId),
}

/// One interaction of the program with its environment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExternalEvent {
    /// Its time in the timeline of the execution.
    pub at: u64,
    /// True if a unit below the call did it, false if the call itself did.
    pub is_nested: bool,
    /// The interaction.
    pub external: Interaction,
}

/// An interaction with the outside: terminal, files, environment, clock, network and so on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Interaction {
    /// A text was read from standard input: `input`, `sys.stdin.readline`, …
    Input {
        /// The function that was called: `builtins.input`, `sys.stdin.readline`.
        function: String,
        /// The prompt, if there is one.
        prompt: Option<String>,
        /// The text as standard input provides it (a line with its end); `None` at the end of the
        /// input.
        text: Option<String>,
    },
    /// A text was printed.
    Output {
        /// True for standard error, false for standard output.
        is_error: bool,
        /// The text.
        text: String,
    },
    /// A file or folder was used.
    File {
        /// The path as the program spelled it, absolute or relative.
        path: String,
        /// The content before the call first used it.
        before: FileState,
        /// The content at the end of the call.
        after: FileState,
    },
    /// An environment variable was read or changed.
    Environment {
        /// The variable.
        name: String,
        /// The value at first use.
        before: Option<String>,
        /// The value at exit.
        after: Option<String>,
    },
    /// The working folder was queried or changed.
    WorkingFolder {
        /// The folder at first use.
        before: String,
        /// The folder at exit.
        after: String,
    },
    /// The permissions of a file were changed by the call.
    Permissions {
        /// The path as the program spelled it.
        path: String,
        /// The bits that `chmod` takes, at exit.
        after: u32,
    },
    /// A message was logged.
    Logged {
        /// The name of the logger.
        logger: String,
        /// The number of the level.
        level: i64,
        /// The message with its arguments filled in; `None` if formatting it would have run code of
        /// the program.
        message: Option<String>,
    },
    /// A function that depends on the outside (clock, randomness, processes, sockets, host) was
    /// called.
    Called {
        /// The part of the outside that it depends on.
        source: ExternalSource,
        /// The function's documented name: `time.time`, `random.random`, `subprocess.run`.
        function: String,
        /// Its positional arguments. For methods of sockets and processes, the object itself is the
        /// first.
        arguments: Vec<NodeId>,
        /// Its keyword arguments.
        keywords: Vec<(String, NodeId)>,
        /// Its result.
        answer: ExternalReply,
    },
}

/// The part of the outside that a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum ExternalSource {
    /// The modules `time` and `datetime`.
    Clock,
    /// The modules `random`, `secrets` and `uuid`, and `os.urandom`.
    Random,
    /// The module `subprocess`, and `os.system`.
    Process,
    /// The module `socket` and modules built on it.
    Network,
    /// The machine, the user or the process: `os.getpid`, `platform.node`.
    Host,
    /// Settings of the interpreter: `sys.setrecursionlimit`, `signal.signal`, `warnings.warn`.
    Interpreter,
}

/// The result of a function that depends on the outside.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ExternalReply {
    /// It returned a value.
    Returned(NodeId),
    /// It raised an exception.
    Raised(NodeId),
}

/// The state of a path in the file system.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FileState {
    /// There is nothing.
    Absent,
    /// A file with this content.
    File(#[serde(with = "crate::value::hexadecimal")] Vec<u8>),
    /// A file too large to keep, with its length.
    LargeFile(u64),
    /// A folder with these entries, sorted. Those that are folders themselves end with `/`.
    Folder(Vec<String>),
    /// A symbolic link with this target.
    Link(String),
    /// Another kind of entry, or one that could not be read.
    Other,
}

/// The text that replaces secrets before anything is written to disk.
pub const MASKED: &str = "<masked>";
