//! Finding the parts of a model in the text of a module: its state, its actions, when they can happen and with what.
//!
//! Each kind of model is a file that fills in the same [`Parts`]; what comes after knows only those.

mod cases;
mod drawn;
mod lineage;
mod machine;
mod program;
mod python;
mod scenario;

use std::collections::BTreeMap;

use testwright_source::Range;
use testwright_source::tree::{Expression, Parameter, Statement};

pub(crate) use machine::{machine, machines};
pub(crate) use program::program;
pub(crate) use python::Module;
pub(crate) use scenario::{Scenario, Step, scenario, suite};

/// What a model consists of.
#[derive(Debug, Clone, Default)]
pub(crate) struct Parts {
    /// What it is called, as it is written.
    pub(crate) name: String,
    /// The first paragraph of what its author says about it.
    pub(crate) intro: Option<String>,
    pub(crate) state: Vec<Variable>,
    pub(crate) actions: Vec<Action>,
    /// What must always be true.
    pub(crate) always: Vec<Callable>,
    /// When a run may end.
    pub(crate) end: Option<Callable>,
    /// To which situations exploration is limited.
    pub(crate) limits: Option<Callable>,
    /// Functions that can be looked into, by the name by which they are called; methods as `self.name`.
    pub(crate) helpers: BTreeMap<String, Callable>,
    /// Names that always stand for the same value.
    pub(crate) constants: BTreeMap<String, Expression>,
    /// Names that stand for something imported.
    pub(crate) imported: Vec<String>,
    /// What names of the module were given last: strategies may have names.
    pub(crate) values: BTreeMap<String, Expression>,
    /// It is a class, so its functions have a `self`.
    pub(crate) is_machine: bool,
}

/// Something that is remembered from one action to the next.
#[derive(Debug, Clone)]
pub(crate) struct Variable {
    pub(crate) name: String,
    pub(crate) start: Start,
    /// Where it is given its start value.
    pub(crate) range: Range,
}

/// What a variable is at the start.
#[derive(Debug, Clone)]
pub(crate) enum Start {
    Value(Expression),
    /// Whatever this strategy gives.
    Drawn(Expression),
    /// Made of arguments of the rule that initialises, by these names.
    Made(Expression, Vec<String>),
    /// Values that rules keep for other rules.
    Bundle,
    /// It is not told.
    Nothing,
}

/// Something that can happen.
#[derive(Debug, Clone)]
pub(crate) struct Action {
    pub(crate) does: Callable,
    /// All of them must hold.
    pub(crate) guards: Vec<Callable>,
    pub(crate) inputs: Vec<Input>,
    /// It happens once, before those that do not.
    pub(crate) is_first: bool,
    /// It is observed, not chosen by the tester.
    pub(crate) is_observed: bool,
    /// The values of its inputs belong together, in order.
    pub(crate) in_cases: bool,
    /// The bundles that keep what it returns.
    pub(crate) targets: Vec<String>,
}

/// An argument of an action.
#[derive(Debug, Clone)]
pub(crate) struct Input {
    pub(crate) name: String,
    pub(crate) from: Origin,
    pub(crate) annotation: Option<Expression>,
}

/// Where the values of an input come from.
#[derive(Debug, Clone)]
pub(crate) enum Origin {
    /// These values.
    Domain(Expression),
    /// What a function or lambda gives.
    Computed(Callable),
    /// What a strategy of Hypothesis gives.
    Strategy(Expression),
    /// A value that an earlier rule has kept.
    Bundle {
        name: String,
        is_consumed: bool,
        /// The whole strategy if it lets only some of them pass: `items.filter(…)`.
        filtered: Option<Expression>,
    },
    /// Anything.
    Any,
}

/// A `def` or a `lambda`.
#[derive(Debug, Clone)]
pub(crate) struct Callable {
    /// Empty for a lambda.
    pub(crate) name: String,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) docstring: Option<String>,
    pub(crate) body: Vec<Statement>,
    pub(crate) range: Range,
}
