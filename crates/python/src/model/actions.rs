//! The actions of a model program, and the arguments to try them with.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use pyo3::exceptions::PyKeyError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFrozenSet, PyList, PySet, PyTuple};
use testwright_core::Error;
use testwright_core::product::{Interner, NameId, ValueId};
use testwright_core::verdict::Caveat;

use super::model_values::ModelValues;
use super::value_text::sorted_members;

/// An action: a function of the module.
pub(crate) struct ModelAction<'py> {
    pub(crate) name: NameId,
    /// The name as text.
    pub(crate) text: String,
    pub(crate) function: Bound<'py, PyAny>,
    /// The functions that must allow it.
    pub(crate) guards: Vec<ActionGuard<'py>>,
    pub(crate) arguments: ActionArguments<'py>,
    /// The minimum number of arguments.
    pub(crate) min_arguments: usize,
    /// The maximum number of arguments, if there is one.
    pub(crate) max_arguments: Option<usize>,
    /// True if the implementation decides when it happens.
    pub(crate) is_observable: bool,
    /// True if it is in `actions`, and not only in `cleanup`.
    pub(crate) is_listed: bool,
    /// Its index in `cleanup`.
    pub(crate) cleanup: Option<usize>,
}

impl ModelAction<'_> {
    /// Returns true if it can be called with this number of arguments.
    pub(crate) fn accepts_count(&self, arguments: usize) -> bool {
        arguments >= self.min_arguments && self.max_arguments.is_none_or(|max| arguments <= max)
    }

    /// Returns true if it is only observed, and the module does not say with which arguments.
    pub(crate) fn is_observed_without_values(&self) -> bool {
        self.is_observable
            && self.is_listed
            && self.max_arguments != Some(0)
            && matches!(self.arguments, ActionArguments::None(_))
    }
}

/// A function that decides whether an action may happen in a state.
pub(crate) struct ActionGuard<'py> {
    pub(crate) function: Bound<'py, PyAny>,
    pub(crate) name: String,
    /// The number of its parameters: none, or those of the action.
    pub(crate) parameters: usize,
    /// The answers that it has given so far.
    pub(crate) answers: Cell<GuardAnswers>,
}

/// The answers that a guard has given, in any state.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct GuardAnswers {
    /// True if it was ever true.
    pub(crate) yes: bool,
    /// True if it was ever false.
    pub(crate) no: bool,
}

impl ActionGuard<'_> {
    /// Notes an answer.
    pub(crate) fn note(&self, answer: bool) {
        let GuardAnswers { yes, no } = self.answers.get();
        self.answers.set(GuardAnswers {
            yes: yes || answer,
            no: no || !answer,
        });
    }
}

/// The arguments to try an action with.
pub(crate) enum ActionArguments<'py> {
    /// No arguments.
    None(Tuples<'py>),
    /// Values for each parameter.
    Domains(ParameterDomains<'py>),
    /// The module does not give values for all parameters; the error says which.
    Missing(Error),
}

/// All argument tuples to call an action with, in order.
pub(crate) type Tuples<'py> = Rc<[CallArguments<'py>]>;

/// An argument tuple.
pub(crate) struct CallArguments<'py> {
    pub(crate) tuple: Bound<'py, PyTuple>,
    /// The id of the tuple, once it is known and the tuple cannot change.
    number: Cell<Option<ValueId>>,
}

impl<'py> CallArguments<'py> {
    /// Wraps a tuple whose id is not known yet.
    pub(crate) fn new(tuple: Bound<'py, PyTuple>) -> CallArguments<'py> {
        CallArguments {
            tuple,
            number: Cell::new(None),
        }
    }

    /// Returns the id of the tuple.
    pub(crate) fn number(
        &self,
        values: &mut ModelValues<'py>,
        interner: &mut Interner,
    ) -> PyResult<ValueId> {
        if let Some(known) = self.number.get() {
            return Ok(known);
        }
        let number = values.value(interner, self.tuple.as_any())?;
        // Unhashable values can change.
        if self.tuple.hash().is_ok() {
            self.number.set(Some(number));
        }
        Ok(number)
    }
}

/// Values for each parameter of an action.
pub(crate) struct ParameterDomains<'py> {
    /// The name of the action.
    action: String,
    /// The values, by parameter.
    domains: Vec<(String, ParameterDomain<'py>)>,
    /// True to combine the first values of all parameters, then the second ones; false to combine
    /// each with each.
    is_zipped: bool,
    /// The last result, with the values that it was made from: most modules have the same ones in
    /// all states.
    last: RefCell<Option<(Columns<'py>, Tuples<'py>)>>,
    /// The values that were found so far, in any state.
    use_so_far: Cell<DomainUse>,
}

/// The use of the domains of an action, in any state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct DomainUse {
    /// True if there were arguments to try.
    pub(crate) is_tried: bool,
    /// The index of a parameter without values, plus one.
    pub(crate) empty: usize,
    /// The index of a parameter with values that were left out, plus one.
    pub(crate) cut: usize,
    /// The largest number of values that were left out.
    pub(crate) left_out: usize,
}

impl DomainUse {
    /// Returns the use in the states of both.
    pub(crate) fn and(self, other: DomainUse) -> DomainUse {
        let more = if other.left_out > self.left_out {
            other
        } else {
            self
        };
        DomainUse {
            is_tried: self.is_tried || other.is_tried,
            empty: self.empty.max(other.empty),
            cut: more.cut,
            left_out: more.left_out,
        }
    }

    /// Returns the use for some numbers of values.
    fn of(columns: &Columns<'_>, is_zipped: bool) -> DomainUse {
        let sizes = || columns.iter().map(Vec::len);
        let shortest = sizes().min().unwrap_or(0);
        let longest = sizes().enumerate().max_by_key(|(_, size)| *size);
        let (longest, most) = longest.unwrap_or_default();
        let is_cut = is_zipped && shortest > 0 && most > shortest;
        DomainUse {
            is_tried: columns.is_empty() || shortest > 0,
            empty: sizes()
                .position(|size| size == 0)
                .map_or(0, |index| index + 1),
            cut: if is_cut { longest + 1 } else { 0 },
            left_out: if is_cut { most - shortest } else { 0 },
        }
    }
}

/// Maximum number of values of a parameter, and of argument tuples of an action in a state.
const MAX_VALUES: usize = 1_000_000;

/// The values of each parameter.
type Columns<'py> = Vec<Vec<Bound<'py, PyAny>>>;

/// The values of a parameter.
pub(crate) enum ParameterDomain<'py> {
    /// Fixed values.
    Fixed(Bound<'py, PyAny>),
    /// A function that returns the values in the current state.
    Computed(Bound<'py, PyAny>),
    /// An iterator with more values than can be tried.
    Endless,
}

impl<'py> ParameterDomains<'py> {
    fn new(
        action: &str,
        domains: Vec<(String, ParameterDomain<'py>)>,
        is_zipped: bool,
    ) -> ParameterDomains<'py> {
        ParameterDomains {
            action: action.to_owned(),
            domains,
            is_zipped,
            last: RefCell::new(None),
            use_so_far: Cell::default(),
        }
    }

    /// Returns the use of the domains so far.
    pub(crate) fn use_so_far(&self) -> DomainUse {
        self.use_so_far.get()
    }

    /// Adds a use of the domains, for example in another process.
    pub(crate) fn add_use(&self, found: DomainUse) {
        self.use_so_far.set(self.use_so_far.get().and(found));
    }

    /// Returns a caveat if the domains leave out arguments in every state.
    pub(crate) fn caveat(&self) -> Option<Caveat> {
        let found = self.use_so_far.get();
        let (number, left_out) = if found.is_tried {
            (found.cut, found.left_out as u64)
        } else {
            (found.empty, 0)
        };
        let (parameter, _) = self.domains.get(number.checked_sub(1)?)?;
        Some(Caveat::UntriedArguments {
            action: self.action.clone(),
            parameter: parameter.clone(),
            left_out,
        })
    }

    /// Returns true if the values are the same in every state.
    pub(crate) fn are_fixed(&self) -> bool {
        let mut domains = self.domains.iter();
        domains.all(|(_, domain)| !matches!(domain, ParameterDomain::Computed(_)))
    }

    /// Returns all argument tuples; the last parameter varies fastest. The inner error names a
    /// parameter with too many values.
    pub(crate) fn tuples(&self, python: Python<'py>) -> PyResult<Result<Tuples<'py>, Error>> {
        let mut columns: Columns<'py> = Vec::new();
        for (parameter, domain) in &self.domains {
            match domain.values()? {
                DomainValues::Listed(values) => columns.push(values),
                DomainValues::TooMany(size) => {
                    let number = match size {
                        Some(size) => size.to_string(),
                        None => format!("more than {MAX_VALUES}"),
                    };
                    return Ok(Err(self.too_many(&format!(
                        "the domain of its parameter `{parameter}` has {number} values"
                    ))));
                }
            }
        }
        if let Some((of, tuples)) = &*self.last.borrow()
            && are_identical(of, &columns)
        {
            return Ok(Ok(Rc::clone(tuples)));
        }
        let sizes = columns.iter().map(Vec::len);
        let count = sizes.fold(1usize, |count, size| count.saturating_mul(size));
        if !self.is_zipped && count > MAX_VALUES {
            let sizes = columns.iter().zip(&self.domains);
            let sizes = sizes.map(|(column, (name, _))| format!("{} of `{name}`", column.len()));
            let sizes: Vec<String> = sizes.collect();
            return Ok(Err(self.too_many(&format!(
                "its domains combine {} to {count} calls",
                sizes.join(", ")
            ))));
        }
        self.add_use(DomainUse::of(&columns, self.is_zipped));
        let tuples = self.combine(python, &columns)?;
        *self.last.borrow_mut() = Some((columns, Rc::clone(&tuples)));
        Ok(Ok(tuples))
    }

    /// Returns the error for more calls than can be tried in each state.
    fn too_many(&self, reason: &str) -> Error {
        let message = format!("the action `{}` cannot be tried: {reason}", self.action);
        Error::new(message).with_help(format!(
            "each value is tried in each state, up to {MAX_VALUES}; a few that differ in kind are enough"
        ))
    }

    /// Combines values of parameters to tuples.
    fn combine(&self, python: Python<'py>, values: &Columns<'py>) -> PyResult<Tuples<'py>> {
        let rows: Vec<Vec<Bound<'py, PyAny>>> = if self.is_zipped && !values.is_empty() {
            let shortest = values.iter().map(Vec::len).min().unwrap_or(0);
            let row = |index: usize| values.iter().map(|column| column[index].clone()).collect();
            (0..shortest).map(row).collect()
        } else {
            let mut rows = vec![Vec::new()];
            for column in values {
                let longer = |row: Vec<Bound<'py, PyAny>>| {
                    column.iter().map(move |value| {
                        let mut row = row.clone();
                        row.push(value.clone());
                        row
                    })
                };
                rows = rows.into_iter().flat_map(longer).collect();
            }
            rows
        };
        let to_arguments = |row: Vec<Bound<'py, PyAny>>| match row.as_slice() {
            // For an action with one parameter, `None` means a call without arguments.
            [only] if only.is_none() => Ok(CallArguments::new(PyTuple::empty(python))),
            _ => PyTuple::new(python, row).map(CallArguments::new),
        };
        rows.into_iter().map(to_arguments).collect()
    }
}

/// Returns true if all values are identical objects.
fn are_identical(some: &Columns<'_>, others: &Columns<'_>) -> bool {
    let same = |one: &Vec<Bound<'_, PyAny>>, other: &Vec<Bound<'_, PyAny>>| {
        one.len() == other.len() && one.iter().zip(other).all(|(one, other)| one.is(other))
    };
    some.iter().zip(others).all(|(one, other)| same(one, other))
}

/// The values of a domain in a state.
enum DomainValues<'py> {
    /// All of them.
    Listed(Vec<Bound<'py, PyAny>>),
    /// There are too many, and the number of them if it is known; the domain may have no end.
    TooMany(Option<usize>),
}

impl<'py> ParameterDomain<'py> {
    /// Returns the values in the current state. Reads no more of them than can be tried.
    fn values(&self) -> PyResult<DomainValues<'py>> {
        let values = match self {
            ParameterDomain::Fixed(values) => values.clone(),
            ParameterDomain::Computed(function) => function.call0()?,
            ParameterDomain::Endless => return Ok(DomainValues::TooMany(None)),
        };
        if let Some(size) = values.len().ok().filter(|size| *size > MAX_VALUES) {
            return Ok(DomainValues::TooMany(Some(size)));
        }
        if values.is_instance_of::<PySet>() || values.is_instance_of::<PyFrozenSet>() {
            // The order of a set depends on its history, which tests must not depend on.
            return sorted_members(&values).map(DomainValues::Listed);
        }
        if let Ok(list) = values.cast_exact::<PyList>() {
            return Ok(DomainValues::Listed(list.iter().collect()));
        }
        let mut listed = Vec::new();
        for value in values.try_iter()? {
            if listed.len() == MAX_VALUES {
                return Ok(DomainValues::TooMany(None));
            }
            listed.push(value?);
        }
        Ok(DomainValues::Listed(listed))
    }
}

/// The parameters of a function.
pub(crate) struct FunctionParameters {
    /// The names of the positional parameters.
    pub(crate) positional: Vec<String>,
    /// The number of positional parameters without a default.
    pub(crate) required: usize,
    /// The name of `*args`, if there is one.
    variadic: Vec<String>,
}

impl FunctionParameters {
    /// Reads the signature of a function.
    pub(crate) fn read(function: &Bound<'_, PyAny>) -> PyResult<FunctionParameters> {
        let inspect = function.py().import("inspect")?;
        let kinds = inspect.getattr("Parameter")?;
        let signature = inspect.getattr("signature")?.call1((function,))?;
        let values = signature.getattr("parameters")?.call_method0("values")?;
        let mut found = FunctionParameters {
            positional: Vec::new(),
            required: 0,
            variadic: Vec::new(),
        };
        for parameter in values.try_iter()? {
            let parameter = parameter?;
            let kind = parameter.getattr("kind")?;
            let name: String = parameter.getattr("name")?.extract()?;
            if kind.eq(kinds.getattr("POSITIONAL_ONLY")?)?
                || kind.eq(kinds.getattr("POSITIONAL_OR_KEYWORD")?)?
            {
                let default = parameter.getattr("default")?;
                found.required += usize::from(default.is(&kinds.getattr("empty")?));
                found.positional.push(name);
            } else if kind.eq(kinds.getattr("VAR_POSITIONAL")?)? {
                found.variadic.push(name);
            }
        }
        Ok(found)
    }

    /// Returns the maximum number of arguments, if there is one.
    pub(crate) fn max_count(&self) -> Option<usize> {
        self.variadic.is_empty().then_some(self.positional.len())
    }

    /// Returns the names that `domains` may give values for. For a function with `*args` only, that
    /// is its name.
    pub(crate) fn names(&self) -> &[String] {
        if self.positional.is_empty() {
            &self.variadic
        } else {
            &self.positional
        }
    }
}

/// Reads the arguments of an action from `domains` and `combinations` of a module.
pub(crate) fn arguments<'py>(
    module: &str,
    function: &Bound<'py, PyAny>,
    (name, parameters): (&str, &[String]),
    domains: &Bound<'py, PyDict>,
    combinations: &Bound<'py, PyDict>,
) -> PyResult<ActionArguments<'py>> {
    let Some(values_by_name) = domains.get_item(function)? else {
        let none = PyTuple::empty(function.py());
        return Ok(ActionArguments::None(Rc::new([CallArguments::new(none)])));
    };
    let mut found = Vec::new();
    for parameter in parameters {
        let values = match values_by_name.get_item(parameter) {
            Ok(values) => values,
            Err(error) if error.is_instance_of::<PyKeyError>(function.py()) => {
                let message = format!(
                    "the module `{module}` has no values for the parameter `{parameter}` of the action `{name}`"
                );
                let help = format!("add them: `domains = {{ {name}: {{ '{parameter}': … }} }}`");
                return Ok(ActionArguments::Missing(
                    Error::new(message).with_help(help),
                ));
            }
            Err(error) => return Err(error),
        };
        let domain = if values.is_callable() {
            ParameterDomain::Computed(values)
        } else if values.try_iter().is_err() {
            let message = format!(
                "the values that the module `{module}` has for the parameter `{parameter}` of the action `{name}` are \
                     neither a collection nor a function"
            );
            let help = format!(
                "for a single value: `domains = {{ {name}: {{ '{parameter}': [value] }} }}`"
            );
            return Ok(ActionArguments::Missing(
                Error::new(message).with_help(help),
            ));
        } else {
            fixed_domain(values)?
        };
        found.push((parameter.clone(), domain));
    }
    let combination = combinations.get_item(function)?;
    let combination = combination
        .map(|name| name.extract::<String>())
        .transpose()?;
    let is_zipped = match combination.as_deref() {
        None | Some("all") => false,
        Some("cases") => true,
        Some(other) => {
            let message =
                format!("the module `{module}` combines the arguments of `{name}` by `{other}`");
            let help = "the two ways are 'all' (each with each) and 'cases' (first with first)";
            return Ok(ActionArguments::Missing(
                Error::new(message).with_help(help),
            ));
        }
    };
    Ok(ActionArguments::Domains(ParameterDomains::new(
        name, found, is_zipped,
    )))
}

/// Returns the domain of values that do not depend on the state. An iterator can be read only once, so
/// it is read now.
fn fixed_domain(values: Bound<'_, PyAny>) -> PyResult<ParameterDomain<'_>> {
    let items = values.try_iter()?;
    if !items.is(&values) {
        return Ok(ParameterDomain::Fixed(values));
    }
    let list = PyList::empty(values.py());
    for item in items {
        if list.len() == MAX_VALUES {
            return Ok(ParameterDomain::Endless);
        }
        list.append(item?)?;
    }
    Ok(ParameterDomain::Fixed(list.into_any()))
}

/// Returns the `__name__` of a function.
pub(crate) fn function_name(function: &Bound<'_, PyAny>) -> PyResult<String> {
    function
        .getattr(intern!(function.py(), "__name__"))?
        .extract()
}
