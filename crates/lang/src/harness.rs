//! A parsed `.tstl` file, after expansion: pools, templates and the host code around them.
//!
//! Host code is kept as [`Fragment`]s: text with holes for slots and choices. A backend decides how
//! the holes are filled (a list access, a variable name, a literal). This crate only checks that
//! the result would parse.

use testwright_core::{Axis, Catalog, PoolId};

/// A harness: everything a `.tstl` file says.
#[derive(Clone, Debug, Default)]
pub struct Harness {
    /// Pools in order of declaration. A [`PoolId`] is an index into this list.
    pub pools: Vec<Pool>,
    /// Raw host code.
    pub raw: RawCode,
    /// Actions in file order. A [`testwright_core::TemplateId`] is an index into this list.
    pub actions: Vec<ActionTemplate>,
    /// `property:` lines.
    pub properties: Vec<PropertyLine>,
    /// `init:` lines.
    pub inits: Vec<CodeLine>,
    /// `finally:` lines.
    pub finallys: Vec<CodeLine>,
    /// `log:` lines.
    pub logs: Vec<LogExpression>,
    /// `assume:` lines.
    pub assumptions: Vec<CodeLine>,
    /// `hint:` lines.
    pub hints: Vec<CodeLine>,
    /// `exception:` lines: classes that every action and property may raise, as host expressions.
    pub exceptions: Vec<LocatedText>,
    /// `reference:` lines in file order. A later one replaces an earlier one with the same pattern.
    pub references: Vec<ReferenceRule>,
    /// `compare:` lines: host regular expressions.
    pub compares: Vec<LocatedText>,
    /// `source:` lines.
    pub sources: Vec<LocatedText>,
    /// `feature:` lines.
    pub features: Vec<LocatedText>,
    /// The catalog of all concrete actions; its templates are in step with `actions`.
    pub catalog: Catalog,
}

/// A `pool:` line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pool {
    /// Name without brackets.
    pub name: String,
    /// Number of slots.
    pub size: u32,
    /// True if the pool keeps a reference twin (`REF`).
    pub reference: bool,
    /// True if values are never mutated (`CONST`).
    pub constant: bool,
    /// True if values are not worth showing (`OPAQUE`).
    pub opaque: bool,
    /// True if the twin's values are not worth showing (`OPAQUEREF`).
    pub opaque_twin: bool,
    /// Host expression for the function that abstracts a value (`ABSTRACT f`).
    pub abstraction: Option<String>,
    /// Host expression for the exact type of every value (`: T`).
    pub type_name: Option<String>,
    /// Line number of the declaration, from 1.
    pub line: usize,
}

/// Text of one line, taken literally.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocatedText {
    /// The text.
    pub text: String,
    /// Line number, from 1.
    pub line: usize,
}

/// A `reference:` line. `METHOD(…)` and `CALL(…)` are already expanded to regular expressions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReferenceRule {
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
    /// Code, each line at the line number it has in the file (other lines are blank), so that a
    /// traceback points into the harness. `pre<(e)>` is replaced by a name of `entry_values`. The
    /// parameter of guarded functions and `%COMMIT%` are already expanded.
    pub text: String,
    /// Expressions whose value on entry to the enclosing function is needed.
    pub entry_values: Vec<EntryValue>,
    /// Modules that a restart executes again: names as bound in the harness (`import a.b as c`
    /// gives `c`, `import a.b` gives `a.b`), in order, without `from` imports.
    pub reset_modules: Vec<LocatedText>,
}

/// `pre<(e)>` inside a raw function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryValue {
    /// Name that replaces it in the raw text.
    pub name: String,
    /// Host expression.
    pub expression: String,
    /// Line number, from 1.
    pub line: usize,
}

/// Host code with holes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fragment {
    /// The parts in order.
    pub parts: Vec<CodePart>,
}

/// A part of a [`Fragment`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CodePart {
    /// Host text.
    Text(String),
    /// Slot chosen on an axis, from a placeholder or a back reference to it.
    Slot {
        /// Index into the axes of the line.
        axis: usize,
        /// True if the slot of the reference twin is meant (`REF:<x>`).
        twin: bool,
        /// True inside a string literal of the host: its text matters there, not its value.
        in_string: bool,
    },
    /// Alternative chosen on an axis.
    Choice {
        /// Index into the axes of the line.
        axis: usize,
        /// True if every alternative is a literal of the host and an operand of its own here, so
        /// that a value can be passed instead of the text.
        is_operand: bool,
    },
    /// Value of an expression before the statement (`pre<(e)>` in a post-condition), as an index
    /// into the action's `pre_values`.
    Pre(usize),
}

impl Fragment {
    /// Renders the code, with each hole filled by `fill`.
    pub fn render(&self, mut fill: impl FnMut(&CodePart) -> String) -> String {
        let mut text = String::new();
        for part in &self.parts {
            match part {
                CodePart::Text(literal) => text.push_str(literal),
                hole => text.push_str(&fill(hole)),
            }
        }
        text
    }
}

/// One action line, or one structural alternative of it.
#[derive(Clone, Debug)]
pub struct ActionTemplate {
    /// Line number, from 1.
    pub line: usize,
    /// Action class: the source line as written, with leading blanks, and with continuation lines
    /// joined.
    pub class: String,
    /// True if the line contains `#ESSENTIAL`.
    pub essential: bool,
    /// Axes of variation, the same as in the catalog's template.
    pub axes: Vec<Axis>,
    /// Exceptions that do not count as failures: host expressions.
    pub expected: Vec<String>,
    /// Exceptions that are swallowed and reported as warnings (`!E`).
    pub warnings: Vec<String>,
    /// Expression before ` -> `.
    pub guard: Option<Fragment>,
    /// Statement without blanks at both ends, with `:=` written as `=`, without `~` before slots
    /// and without comment.
    pub statement: Fragment,
    /// Expression after ` => `, without its message.
    pub post: Option<Fragment>,
    /// The message of the post-condition (`=> expr, message`), an expression.
    pub post_message: Option<Fragment>,
    /// Statements after the post-condition (`=> expr; more`), to be run right after it held. They
    /// share the slots, `pre` values and mentions of the post-condition.
    pub post_tail: Option<Fragment>,
    /// True if the post-condition mentions `raised`: it is checked also if the statement raised.
    pub post_mentions_raised: bool,
    /// True if the post-condition mentions `refRaised`, `result` or `result_REF`: it is checked
    /// after the reference ran.
    pub post_mentions_reference: bool,
    /// Distinct expressions of the post-condition whose value before the statement is needed.
    pub pre_values: Vec<Fragment>,
    /// `stmt ==> name(args)`.
    pub expect: Option<Expect>,
    /// Condition for an action that calls a guarded function: the call with an additional last
    /// argument `True`. The action is enabled if it is truthy.
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
pub struct CodeLine {
    /// Line number, from 1.
    pub line: usize,
    /// Content as written, for messages.
    pub text: String,
    /// Axes of variation.
    pub axes: Vec<Axis>,
    /// The code.
    pub code: Fragment,
}

/// A `property:` line.
#[derive(Clone, Debug)]
pub struct PropertyLine {
    /// The expression. Axes with [`testwright_core::SlotRole::Use`] must hold a value for it to be
    /// evaluated.
    pub line: CodeLine,
    /// Exceptions that excuse the property, without the global ones.
    pub expected: Vec<String>,
    /// Message, in `expr, message`.
    pub message: Option<Fragment>,
}

/// A `log:` line.
#[derive(Clone, Debug)]
pub struct LogExpression {
    /// The expression.
    pub line: CodeLine,
    /// True if it is printed after the step instead of before it.
    pub after: bool,
    /// Log level from which on it is printed.
    pub level: i64,
}

impl Harness {
    /// Returns the pool with this number.
    pub fn pool(&self, pool: PoolId) -> &Pool {
        &self.pools[pool.0]
    }
}
