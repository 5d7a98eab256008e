//! What a `.tstl` file means, after parsing and expansion: pools, templates and the host code around them.
//!
//! Host code is kept as [`Fragment`]s: text with holes for slots and choices. A backend decides how the holes
//! are filled (a list access, a variable name, a literal); this crate never does more than check that the
//! result would parse.

use testwright_core::{Axis, Catalog, PoolId};

/// A harness: everything a `.tstl` file says.
#[derive(Clone, Debug, Default)]
pub struct Harness {
    /// The pools, in order of declaration; [`PoolId`]s index this.
    pub pools: Vec<Pool>,
    /// Raw host code.
    pub raw: RawCode,
    /// The actions, in file order; index = [`testwright_core::TemplateId`].
    pub actions: Vec<Action>,
    /// `property:` lines.
    pub properties: Vec<Property>,
    /// `init:` lines.
    pub inits: Vec<Line>,
    /// `finally:` lines.
    pub finallys: Vec<Line>,
    /// `log:` lines.
    pub logs: Vec<Log>,
    /// `assume:` lines.
    pub assumptions: Vec<Line>,
    /// `hint:` lines.
    pub hints: Vec<Line>,
    /// `exception:` lines: classes that every action and property may raise, as host expressions.
    pub exceptions: Vec<Located>,
    /// `reference:` lines, in file order, later ones with the same pattern replacing earlier ones.
    pub references: Vec<Reference>,
    /// `compare:` lines: host regular expressions.
    pub compares: Vec<Located>,
    /// `source:` lines.
    pub sources: Vec<Located>,
    /// `feature:` lines.
    pub features: Vec<Located>,
    /// The catalogue of all concrete actions; its templates are in step with `actions`.
    pub catalog: Catalog,
}

/// A `pool:` line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pool {
    /// Without brackets.
    pub name: String,
    /// Number of slots.
    pub size: u32,
    /// Keeps a reference twin (`REF`).
    pub reference: bool,
    /// Values are never mutated (`CONST`).
    pub constant: bool,
    /// Values are not worth showing (`OPAQUE`).
    pub opaque: bool,
    /// The twin's values are not worth showing (`OPAQUEREF`).
    pub opaque_twin: bool,
    /// A host expression: the function that abstracts a value (`ABSTRACT f`).
    pub abstraction: Option<String>,
    /// A host expression: the exact type of every value (`: T`).
    pub type_name: Option<String>,
    /// Where it is declared.
    pub line: usize,
}

/// Text of one line that is taken as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located {
    /// The text.
    pub text: String,
    /// Line number, from 1.
    pub line: usize,
}

/// A `reference:` line; `METHOD(…)` and `CALL(…)` are already regular expressions here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// A host regular expression.
    pub pattern: String,
    /// The replacement, with `\1` and the like.
    pub replacement: String,
    /// Line number, from 1.
    pub line: usize,
}

/// The raw host code of a harness.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RawCode {
    /// The code, each line at the line number it has in the file (other lines are blank), so that a
    /// traceback points into the harness. `pre<(e)>` stands as the name given in `entry_values`; the
    /// parameter of guarded functions and `%COMMIT%` are already written out.
    pub text: String,
    /// Expressions whose value on entry to the function around them is wanted.
    pub entry_values: Vec<EntryValue>,
    /// Modules that restart re-executes: names as bound in the harness (`import a.b as c` gives `c`,
    /// `import a.b` gives `a.b`), in order, without `from` imports.
    pub reset_modules: Vec<Located>,
}

/// `pre<(e)>` inside a raw function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryValue {
    /// The name that stands for it in the raw text.
    pub name: String,
    /// The expression.
    pub expression: String,
    /// The line where it stands, from 1.
    pub line: usize,
}

/// Host code with holes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fragment {
    /// The parts in order.
    pub parts: Vec<Part>,
}

/// A part of a [`Fragment`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Host text.
    Text(String),
    /// The slot chosen on an axis; from a placeholder or a back reference to it.
    Slot {
        /// Index into the axes of the line.
        axis: usize,
        /// The slot of the reference twin is meant (`REF:<x>`).
        twin: bool,
        /// It stands inside a string literal of the host, so its text matters, not its value.
        in_string: bool,
    },
    /// The alternative chosen on an axis.
    Choice {
        /// Index into the axes of the line.
        axis: usize,
        /// Every alternative is a literal of the host that stands as an operand of its own here, so a value
        /// can be passed instead of writing the text.
        is_operand: bool,
    },
    /// The value that an expression had before the statement (`pre<(e)>` in a post-condition): index into
    /// [`Action::pre_values`].
    Pre(usize),
}

impl Fragment {
    /// Writes the code, with each hole filled by `fill`.
    pub fn render(&self, mut fill: impl FnMut(&Part) -> String) -> String {
        let mut text = String::new();
        for part in &self.parts {
            match part {
                Part::Text(literal) => text.push_str(literal),
                hole => text.push_str(&fill(hole)),
            }
        }
        text
    }
}

/// One action line, or one structural alternative of it.
#[derive(Clone, Debug)]
pub struct Action {
    /// Line number, from 1.
    pub line: usize,
    /// The action class: the source line as written (angle brackets as written, leading blanks included,
    /// continuation lines joined).
    pub class: String,
    /// `#ESSENTIAL` stands in the line.
    pub essential: bool,
    /// What varies; the same as in the catalogue's template.
    pub axes: Vec<Axis>,
    /// Exceptions that do not count as failures: host expressions.
    pub expected: Vec<String>,
    /// Exceptions that are swallowed and remembered as warnings (`!E`).
    pub warnings: Vec<String>,
    /// Text before ` -> `, an expression.
    pub guard: Option<Fragment>,
    /// The statement, blanks at both ends removed, `:=` written as `=`, no `~` before slots, no comment.
    pub statement: Fragment,
    /// Text after ` => `: an expression, without its message.
    pub post: Option<Fragment>,
    /// The message of the post-condition (`=> expr, message`), an expression.
    pub post_message: Option<Fragment>,
    /// Statements behind the post-condition (`=> expr; more`), to be run right after it was found to hold. Slots, `pre`
    /// and the mentions below are those of the post-condition.
    pub post_tail: Option<Fragment>,
    /// The post-condition mentions `raised`: check it also if the statement raised.
    pub post_mentions_raised: bool,
    /// The post-condition mentions `refRaised`, `result` or `result_REF`: check it after the reference ran.
    pub post_mentions_reference: bool,
    /// Expressions of the post-condition whose value before the statement is wanted; equal texts once.
    pub pre_values: Vec<Fragment>,
    /// `stmt ==> name(args)`.
    pub expect: Option<Expect>,
    /// The action calls a guarded function: the call with an additional last argument `True`, an expression
    /// that must be truthy for the action to be enabled.
    pub speculative: Option<Fragment>,
}

/// `stmt ==> name(args)`: `name_before(args)`, the statement, `name_after(args)`, then
/// `name_check(before, after, args)` must be `True`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expect {
    /// The common part of the three function names.
    pub name: String,
    /// The arguments, without parentheses; may be empty.
    pub arguments: Fragment,
}

/// A keyword line with host code that is expanded over slots and choices.
#[derive(Clone, Debug)]
pub struct Line {
    /// Line number, from 1.
    pub line: usize,
    /// The content as written, for messages.
    pub text: String,
    /// What varies.
    pub axes: Vec<Axis>,
    /// The code.
    pub code: Fragment,
}

/// A `property:` line.
#[derive(Clone, Debug)]
pub struct Property {
    /// The expression. Axes with [`testwright_core::Role::Use`] must hold a value for it to be evaluated.
    pub line: Line,
    /// Exceptions that excuse it (global ones not included).
    pub expected: Vec<String>,
    /// `expr, message`: the message.
    pub message: Option<Fragment>,
}

/// A `log:` line.
#[derive(Clone, Debug)]
pub struct Log {
    /// The expression.
    pub line: Line,
    /// Printed after the step instead of before it.
    pub after: bool,
    /// From which log level on.
    pub level: i64,
}

impl Harness {
    /// The pool with this number.
    pub fn pool(&self, pool: PoolId) -> &Pool {
        &self.pools[pool.0]
    }
}
