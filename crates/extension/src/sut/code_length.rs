//! The length of the code that each line of the harness calls.
//!
//! Long code has more to get wrong, so a search may prefer the lines that call it.

use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use testwright_core::generate::ClassTable;

use super::Sut;
use super::swarming::Probabilities;

/// The name of a function, its number of lines, and the names of the module and classes around it.
type FunctionLength = (String, usize, Vec<String>);

#[pymethods]
impl Sut {
    /// Returns the lengths of all functions in the modules that the harness imports: triples of name, lines, and the names
    /// of module and classes around it. A class has the length of its `__init__`.
    ///
    ///     >>> [length for length in sut.code_locs() if length[0] == "push"]
    ///     [('push', 2, ['stack', 'Stack'])]
    #[pyo3(name = "code_locs")]
    fn code_lengths(slf: &Bound<'_, Sut>) -> PyResult<Vec<FunctionLength>> {
        let modules = Sut::with(slf, |system| system.modules_under_test())?;
        let mut lengths = Vec::new();
        for module in modules {
            let name: String = module.getattr("__name__")?.extract()?;
            lengths.extend(Sut::object_code_lengths(&module, vec![name])?);
        }
        Ok(lengths)
    }

    /// Returns the lengths of all functions in a module or class. `context` contains the names of module and classes.
    ///
    ///     >>> import stack
    ///     >>> sut.obj_code_locs(stack.Stack, ["Stack"])[-2:]
    ///     [('remove', 2, ['Stack']), ('top', 2, ['Stack'])]
    #[staticmethod]
    #[pyo3(name = "obj_code_locs")]
    fn object_code_lengths(
        obj: &Bound<'_, PyAny>,
        context: Vec<String>,
    ) -> PyResult<Vec<FunctionLength>> {
        let mut lengths = Vec::new();
        let seen = PyList::empty(obj.py());
        add_function_lengths(obj, &context, &seen, &mut lengths)?;
        Ok(lengths)
    }

    /// Probabilities for `random_enabled_class_probs` by the length of the code that each line calls: lines that call
    /// none of it share `baseline`. `code_locs` are lengths as the method of that name returns them.
    ///
    ///     >>> for probability, line in sut.code_loc_probs():
    ///     ...     print(f"{probability:.2f} {line}")
    ///     0.20 <int> := <[1..3]>
    ///     0.16 <stack> := stack.Stack()  #ESSENTIAL
    ///     0.16 <stack>.push(<int>) => len(<stack,1>) > pre<(len(<stack,1>))>
    ///     0.16 {IndexError} <stack>.pop()
    ///     0.16 {!ValueError} <stack>.remove(<int>)
    ///     0.16 <stack>.top()
    #[pyo3(name = "code_loc_probs", signature = (baseline = 0.2, code_locs = None))]
    fn probabilities_by_length(
        slf: &Bound<'_, Sut>,
        baseline: f64,
        code_locs: Option<Vec<Bound<'_, PyTuple>>>,
    ) -> PyResult<Probabilities> {
        let lengths: Vec<(String, f64)> = match code_locs {
            Some(given) => given
                .iter()
                .map(|length| {
                    Ok((
                        length.get_item(0)?.extract()?,
                        length.get_item(1)?.extract()?,
                    ))
                })
                .collect::<PyResult<_>>()?,
            None => Sut::code_lengths(slf)?
                .into_iter()
                .map(|(name, lines, _)| (name, lines as f64))
                .collect(),
        };
        let sut = Sut::borrow(slf)?;
        let classes = &sut.classes;
        let called = |text: &str| -> f64 {
            let calls = |name: &str| text.contains(&format!(".{name}("));
            let called = lengths.iter().filter(|(name, _)| calls(name));
            called.map(|(_, lines)| lines).sum()
        };
        let lines: ClassTable = classes
            .iter()
            .map(|class| (class, called(classes.text(class))))
            .collect();
        let table = ClassTable::by_lines_of_code(classes, &lines, baseline);
        let pair = |(class, number)| (number, classes.text(class).to_owned());
        Ok(table.iter().map(pair).collect())
    }
}

/// Adds the functions in an object. Members that cannot be read, and functions without source, have
/// no length.
fn add_function_lengths(
    object: &Bound<'_, PyAny>,
    context: &[String],
    seen: &Bound<'_, PyList>,
    lengths: &mut Vec<FunctionLength>,
) -> PyResult<()> {
    let inspect = object.py().import("inspect")?;
    let is =
        |what: &str, member: &Bound<'_, PyAny>| inspect.call_method1(what, (member,))?.is_truthy();
    // Classes may contain each other.
    if seen.iter().any(|other| other.is(object)) {
        return Ok(());
    }
    seen.append(object)?;
    let Some(members) = none_if_raised(object.py(), inspect.call_method1("getmembers", (object,)))?
    else {
        return Ok(());
    };
    for member in members.try_iter()? {
        let (name, member): (String, Bound<'_, PyAny>) = member?.extract()?;
        if is("isfunction", &member)? || is("ismethod", &member)? {
            let source = inspect.call_method1("getsourcelines", (&member,));
            let Some(source) = none_if_raised(object.py(), source)? else {
                continue;
            };
            let lines = source.get_item(0)?.len()?;
            if let ("__init__", Some(class)) = (name.as_str(), context.last()) {
                lengths.push((class.clone(), lines, context.to_vec()));
            }
            lengths.push((name, lines, context.to_vec()));
        } else if is("isclass", &member)? {
            let within = [context, &[name]].concat();
            add_function_lengths(&member, &within, seen, lengths)?;
        }
    }
    Ok(())
}

/// Returns `None` if an ordinary exception was raised.
fn none_if_raised<'py>(
    python: Python<'py>,
    result: PyResult<Bound<'py, PyAny>>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.is_instance_of::<PyException>(python) => Ok(None),
        Err(error) => Err(error),
    }
}
