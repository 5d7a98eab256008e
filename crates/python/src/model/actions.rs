//! The actions of a model program, and with which arguments to try them.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use pyo3::exceptions::PyKeyError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFrozenSet, PyList, PySet, PyTuple};
use testwright_core::Error;
use testwright_core::product::{NameId, ValueId, Words};

use super::speech::Speech;
use super::text::in_order;

/// An action: a function of the module.
pub(crate) struct Action<'py> {
    pub(crate) name: NameId,
    /// The same in words.
    pub(crate) text: String,
    pub(crate) function: Bound<'py, PyAny>,
    pub(crate) guards: Vec<Guard<'py>>,
    pub(crate) arguments: Arguments<'py>,
    /// How many arguments must be given.
    pub(crate) needs: usize,
    /// How many can be given, if not any number.
    pub(crate) takes: Option<usize>,
    pub(crate) is_observable: bool,
    /// Whether it is among the actions, or just one to come to an end with.
    pub(crate) is_listed: bool,
    /// Its place among the actions to come to an end with.
    pub(crate) cleanup: Option<usize>,
}

impl Action<'_> {
    /// Whether it can be called with so many arguments.
    pub(crate) fn can_take(&self, arguments: usize) -> bool {
        arguments >= self.needs && self.takes.is_none_or(|most| arguments <= most)
    }
}

/// A function that says whether an action may happen.
pub(crate) struct Guard<'py> {
    pub(crate) function: Bound<'py, PyAny>,
    pub(crate) name: String,
    /// How many arguments it takes: none, or those of the action.
    pub(crate) parameters: usize,
}

/// With which arguments to try an action.
pub(crate) enum Arguments<'py> {
    /// With none.
    None(Tuples<'py>),
    /// With values for each parameter.
    Of(Domains<'py>),
    /// The module does not say it of all parameters.
    Missing(Error),
}

/// What to call an action with, one after the other.
pub(crate) type Tuples<'py> = Rc<[Given<'py>]>;

/// What an action is called with.
pub(crate) struct Given<'py> {
    pub(crate) tuple: Bound<'py, PyTuple>,
    /// Its number, once that is known and cannot become another one.
    number: Cell<Option<ValueId>>,
}

impl<'py> Given<'py> {
    pub(crate) fn new(tuple: Bound<'py, PyTuple>) -> Given<'py> {
        Given {
            tuple,
            number: Cell::new(None),
        }
    }

    /// The number that the arguments have among all values.
    pub(crate) fn number(&self, speech: &mut Speech<'py>, words: &mut Words) -> PyResult<ValueId> {
        if let Some(known) = self.number.get() {
            return Ok(known);
        }
        let number = speech.value(words, self.tuple.as_any())?;
        // What does not hash can change.
        if self.tuple.hash().is_ok() {
            self.number.set(Some(number));
        }
        Ok(number)
    }
}

/// Values for each parameter of an action.
pub(crate) struct Domains<'py> {
    domains: Vec<Domain<'py>>,
    /// The first values of all parameters together, then the second ones; otherwise each with each.
    together: bool,
    /// The arguments that were made last, and of which values: most modules have the same ones in all states.
    last: RefCell<Option<(Columns<'py>, Tuples<'py>)>>,
}

/// The values of each parameter.
type Columns<'py> = Vec<Vec<Bound<'py, PyAny>>>;

/// Values for a parameter.
pub(crate) enum Domain<'py> {
    /// These, whatever the state is.
    Fixed(Bound<'py, PyAny>),
    /// Those that a function returns in the state.
    Computed(Bound<'py, PyAny>),
}

impl<'py> Domains<'py> {
    fn new(domains: Vec<Domain<'py>>, together: bool) -> Domains<'py> {
        Domains {
            domains,
            together,
            last: RefCell::new(None),
        }
    }

    /// All arguments, the last parameter varying fastest.
    pub(crate) fn tuples(&self, python: Python<'py>) -> PyResult<Tuples<'py>> {
        let columns = self
            .domains
            .iter()
            .map(Domain::values)
            .collect::<PyResult<Columns<'py>>>()?;
        if let Some((of, tuples)) = &*self.last.borrow()
            && are_same(of, &columns)
        {
            return Ok(Rc::clone(tuples));
        }
        let tuples = self.combined(python, &columns)?;
        *self.last.borrow_mut() = Some((columns, Rc::clone(&tuples)));
        Ok(tuples)
    }

    fn combined(&self, python: Python<'py>, values: &Columns<'py>) -> PyResult<Tuples<'py>> {
        let rows: Vec<Vec<Bound<'py, PyAny>>> = if self.together && !values.is_empty() {
            let shortest = values.iter().map(Vec::len).min().unwrap_or(0);
            let row = |place: usize| values.iter().map(|column| column[place].clone()).collect();
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
        let given = |row: Vec<Bound<'py, PyAny>>| match row.as_slice() {
            // For an action with one parameter, nothing means to call it without.
            [only] if only.is_none() => Ok(Given::new(PyTuple::empty(python))),
            _ => PyTuple::new(python, row).map(Given::new),
        };
        rows.into_iter().map(given).collect()
    }
}

/// Whether values are the same objects.
fn are_same(some: &Columns<'_>, others: &Columns<'_>) -> bool {
    let same = |one: &Vec<Bound<'_, PyAny>>, other: &Vec<Bound<'_, PyAny>>| {
        one.len() == other.len() && one.iter().zip(other).all(|(one, other)| one.is(other))
    };
    some.iter().zip(others).all(|(one, other)| same(one, other))
}

impl<'py> Domain<'py> {
    fn values(&self) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let values = match self {
            Domain::Fixed(values) => values.clone(),
            Domain::Computed(function) => function.call0()?,
        };
        if values.is_instance_of::<PySet>() || values.is_instance_of::<PyFrozenSet>() {
            // The order of a set depends on its history, and that of a test should not.
            return in_order(&values);
        }
        if let Ok(list) = values.cast_exact::<PyList>() {
            return Ok(list.iter().collect());
        }
        values.try_iter()?.collect()
    }
}

/// What a function takes.
pub(crate) struct Parameters {
    /// The names of its positional parameters.
    pub(crate) positional: Vec<String>,
    /// How many of them must be given.
    pub(crate) needed: usize,
    /// The name of what takes any number of arguments more.
    any: Vec<String>,
}

impl Parameters {
    pub(crate) fn of(function: &Bound<'_, PyAny>) -> PyResult<Parameters> {
        let inspect = function.py().import("inspect")?;
        let kinds = inspect.getattr("Parameter")?;
        let signature = inspect.getattr("signature")?.call1((function,))?;
        let values = signature.getattr("parameters")?.call_method0("values")?;
        let mut found = Parameters {
            positional: Vec::new(),
            needed: 0,
            any: Vec::new(),
        };
        for parameter in values.try_iter()? {
            let parameter = parameter?;
            let kind = parameter.getattr("kind")?;
            let name: String = parameter.getattr("name")?.extract()?;
            if kind.eq(kinds.getattr("POSITIONAL_ONLY")?)?
                || kind.eq(kinds.getattr("POSITIONAL_OR_KEYWORD")?)?
            {
                let default = parameter.getattr("default")?;
                found.needed += usize::from(default.is(&kinds.getattr("empty")?));
                found.positional.push(name);
            } else if kind.eq(kinds.getattr("VAR_POSITIONAL")?)? {
                found.any.push(name);
            }
        }
        Ok(found)
    }

    /// How many arguments it can take, if not any number.
    pub(crate) fn most(&self) -> Option<usize> {
        self.any.is_empty().then_some(self.positional.len())
    }

    /// The names under which there may be values. Of a function that takes nothing but any number of arguments, it is
    /// the name of these.
    pub(crate) fn names(&self) -> &[String] {
        if self.positional.is_empty() {
            &self.any
        } else {
            &self.positional
        }
    }
}

/// What a module says about the arguments of an action.
pub(crate) fn arguments<'py>(
    module: &str,
    function: &Bound<'py, PyAny>,
    (name, parameters): (&str, &[String]),
    domains: &Bound<'py, PyDict>,
    combinations: &Bound<'py, PyDict>,
) -> PyResult<Arguments<'py>> {
    let Some(given) = domains.get_item(function)? else {
        let none = PyTuple::empty(function.py());
        return Ok(Arguments::None(Rc::new([Given::new(none)])));
    };
    let mut found = Vec::new();
    for parameter in parameters {
        let values = match given.get_item(parameter) {
            Ok(values) => values,
            Err(error) if error.is_instance_of::<PyKeyError>(function.py()) => {
                let message = format!(
                    "the module `{module}` has no values for the parameter `{parameter}` of the action `{name}`"
                );
                let help = format!("add them: `domains = {{ {name}: {{ '{parameter}': … }} }}`");
                return Ok(Arguments::Missing(Error::new(message).with_help(help)));
            }
            Err(error) => return Err(error),
        };
        found.push(if values.is_callable() {
            Domain::Computed(values)
        } else if values.try_iter().is_err() {
                let message = format!(
                    "the values that the module `{module}` has for the parameter `{parameter}` of the action `{name}` are \
                     neither a collection nor a function"
                );
                let help = format!("for a single value: `domains = {{ {name}: {{ '{parameter}': [value] }} }}`");
                return Ok(Arguments::Missing(Error::new(message).with_help(help)));
            } else {
            Domain::Fixed(values)
        });
    }
    let how = combinations.get_item(function)?;
    let how = how.map(|how| how.extract::<String>()).transpose()?;
    let together = match how.as_deref() {
        None | Some("all") => false,
        Some("cases") => true,
        Some(other) => {
            let message =
                format!("the module `{module}` combines the arguments of `{name}` by `{other}`");
            let help = "the two ways are 'all' (each with each) and 'cases' (first with first)";
            return Ok(Arguments::Missing(Error::new(message).with_help(help)));
        }
    };
    Ok(Arguments::Of(Domains::new(found, together)))
}

/// The name that a function has itself.
pub(crate) fn own_name(function: &Bound<'_, PyAny>) -> PyResult<String> {
    function
        .getattr(intern!(function.py(), "__name__"))?
        .extract()
}
