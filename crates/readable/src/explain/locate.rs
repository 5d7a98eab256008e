//! Finds the parts of a model in the text of a module: its state, its actions, their guards and
//! their inputs.
//!
//! Each kind of model has a file that fills in the same [`Parts`]. Later stages use only those.

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
pub(crate) use python::ModuleNames;
pub(crate) use scenario::{FsmScenario, FsmStep, scenario, suite};

/// Parts of a model.
#[derive(Debug, Clone, Default)]
pub(crate) struct Parts {
    /// Name as it is written.
    pub(crate) name: String,
    /// First paragraph of the author's description.
    pub(crate) intro: Option<String>,
    pub(crate) state: Vec<Variable>,
    pub(crate) actions: Vec<Action>,
    /// Conditions that must always be true.
    pub(crate) always: Vec<Callable>,
    /// Condition under which a run may end.
    pub(crate) end: Option<Callable>,
    /// Condition that limits exploration.
    pub(crate) limits: Option<Callable>,
    /// Functions that can be inlined, by the name by which they are called. Methods are
    /// `self.name`.
    pub(crate) helpers: BTreeMap<String, Callable>,
    /// Names that always stand for the same value.
    pub(crate) constants: BTreeMap<String, Expression>,
    /// Names that stand for something imported.
    pub(crate) imported: Vec<String>,
    /// Last value of each name of the module. Strategies may have names.
    pub(crate) values: BTreeMap<String, Expression>,
    /// True for a class, whose functions have a `self`.
    pub(crate) is_machine: bool,
}

/// A variable that is kept from one action to the next.
#[derive(Debug, Clone)]
pub(crate) struct Variable {
    pub(crate) name: String,
    pub(crate) start: Start,
    /// Place of its first assignment.
    pub(crate) range: Range,
}

/// Start value of a variable.
#[derive(Debug, Clone)]
pub(crate) enum Start {
    Value(Expression),
    /// Any value of this strategy.
    Drawn(Expression),
    /// A value made from the arguments of the initialising rule, which have these names.
    Made(Expression, Vec<String>),
    /// A bundle: values that rules keep for other rules.
    Bundle,
    /// The start value is not given.
    Nothing,
}

/// An action of a model.
#[derive(Debug, Clone)]
pub(crate) struct Action {
    pub(crate) does: Callable,
    /// Conditions that must all hold.
    pub(crate) guards: Vec<Callable>,
    pub(crate) inputs: Vec<Input>,
    /// True if it happens once, before all other actions.
    pub(crate) is_first: bool,
    /// True if it is observed, not chosen by the tester.
    pub(crate) is_observed: bool,
    /// True if the values of its inputs are combined by position.
    pub(crate) in_cases: bool,
    /// Bundles that keep its result.
    pub(crate) targets: Vec<String>,
}

/// An argument of an action.
#[derive(Debug, Clone)]
pub(crate) struct Input {
    pub(crate) name: String,
    pub(crate) from: Origin,
    pub(crate) annotation: Option<Expression>,
}

/// Origin of the values of an input.
#[derive(Debug, Clone)]
pub(crate) enum Origin {
    /// One of these values.
    Domain(Expression),
    /// A result of a function or lambda.
    Computed(Callable),
    /// A value of a Hypothesis strategy.
    Strategy(Expression),
    /// A value that an earlier rule has kept in a bundle.
    Bundle {
        name: String,
        is_consumed: bool,
        /// Whole strategy, if it filters the values of the bundle: `items.filter(…)`.
        filtered: Option<Expression>,
    },
    /// Any value.
    Any,
}

/// A `def` or a `lambda`.
#[derive(Debug, Clone)]
pub(crate) struct Callable {
    /// Name, empty for a lambda.
    pub(crate) name: String,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) docstring: Option<String>,
    pub(crate) body: Vec<Statement>,
    pub(crate) range: Range,
}
