//! Swarm testing: the lines of the harness that a test may use, and their probabilities.

use std::collections::BTreeMap;
use std::path::PathBuf;

use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use testwright_core::generate::swarm::{Configuration, Inclusion, SwarmOptions};
use testwright_core::{ActionClasses, Random};
use testwright_core::{describe_os_error, generate::ClassTable};

use super::Sut;
use super::choosing::random_stream;

/// Probabilities with their classes, as scripts pass them around.
pub(super) type Probabilities = Vec<(f64, String)>;

#[pymethods]
impl Sut {
    /// Leaves out random lines of the harness: each is included with probability `p`, together with the lines it needs.
    ///
    /// `class_prob` maps classes to probabilities of their own, or `file` is one that `write_prob_file` wrote; other
    /// classes are included with probability `p`. Lines with `#ESSENTIAL` are always included. `no_dependencies` does not
    /// include the lines that others need, `force_parent` includes a line that uses the values that others make.
    ///
    ///     >>> sut.standard_swarm(rgen)
    ///     >>> [line for line in sut.action_classes() if line not in sut.swarm_config()]
    ///     ['{!ValueError} <stack>.remove(<int>)']
    #[pyo3(signature = (rgen = None, p = 0.5, file = None, class_prob = None, no_dependencies = false, force_parent = true))]
    fn standard_swarm(
        slf: &Bound<'_, Sut>,
        rgen: Option<&Bound<'_, PyAny>>,
        p: f64,
        file: Option<PathBuf>,
        class_prob: Option<BTreeMap<String, f64>>,
        no_dependencies: bool,
        force_parent: bool,
    ) -> PyResult<()> {
        let mut random = random_stream(slf.py(), rgen)?;
        let options = SwarmOptions {
            inclusion: Sut::borrow(slf)?.inclusion_probabilities(p, file, class_prob)?,
            include_dependencies: !no_dependencies,
            force_parent,
            ..SwarmOptions::default()
        };
        Sut::draw_swarm(slf, &options, &mut random)
    }

    /// Returns the classes that the last swarm included, or `None` if all are.
    ///
    ///     >>> sut.swarm_config() is None
    ///     True
    ///     >>> sut.standard_swarm(rgen, p=0)
    ///     >>> sut.swarm_config()
    ///     ['<stack> := stack.Stack()  #ESSENTIAL', '<stack>.top()']
    fn swarm_config(&self) -> Option<Vec<String>> {
        let classes = self.swarm.as_ref()?.classes().iter();
        Some(
            classes
                .map(|class| self.classes.text(*class).to_owned())
                .collect(),
        )
    }

    /// Returns probabilities for `random_enabled_class_probs` in which no line is left out: the lines that a swarm would
    /// include share `high_prob`, the others the rest.
    ///
    ///     >>> for probability, line in sut.high_low_swarm(rgen):
    ///     ...     print(f"{probability:.2f} {line}")
    ///     0.18 <int> := <[1..3]>
    ///     0.18 <stack> := stack.Stack()  #ESSENTIAL
    ///     0.18 <stack>.push(<int>) => len(<stack,1>) > pre<(len(<stack,1>))>
    ///     0.18 {IndexError} <stack>.pop()
    ///     0.10 {!ValueError} <stack>.remove(<int>)
    ///     0.18 <stack>.top()
    #[pyo3(signature = (rgen = None, p = 0.5, file = None, high_prob = 0.9, no_dependencies = false, force_parent = true))]
    fn high_low_swarm(
        slf: &Bound<'_, Sut>,
        rgen: Option<&Bound<'_, PyAny>>,
        p: f64,
        file: Option<PathBuf>,
        high_prob: f64,
        no_dependencies: bool,
        force_parent: bool,
    ) -> PyResult<Probabilities> {
        let mut random = random_stream(slf.py(), rgen)?;
        let high_prob = check_probability("high_prob", high_prob)?;
        let sut = Sut::borrow(slf)?;
        let options = SwarmOptions {
            inclusion: sut.inclusion_probabilities(p, file, None)?,
            include_dependencies: !no_dependencies,
            force_parent,
            ..SwarmOptions::default()
        };
        let configuration = Configuration::draw(&sut.classes, &options, &mut random);
        Ok(sut.high_low_probabilities(&configuration, high_prob))
    }

    /// Works like `high_low_swarm`, and ignores dependencies between lines.
    ///
    ///     >>> for probability, line in sut.high_low_class_probs(rgen):
    ///     ...     print(f"{probability:.2f} {line}")
    ///     0.05 <int> := <[1..3]>
    ///     0.23 <stack> := stack.Stack()  #ESSENTIAL
    ///     0.23 <stack>.push(<int>) => len(<stack,1>) > pre<(len(<stack,1>))>
    ///     0.23 {IndexError} <stack>.pop()
    ///     0.05 {!ValueError} <stack>.remove(<int>)
    ///     0.23 <stack>.top()
    #[pyo3(signature = (rgen = None, p = 0.5, file = None, high_prob = 0.9))]
    fn high_low_class_probs(
        slf: &Bound<'_, Sut>,
        rgen: Option<&Bound<'_, PyAny>>,
        p: f64,
        file: Option<PathBuf>,
        high_prob: f64,
    ) -> PyResult<Probabilities> {
        Sut::high_low_swarm(slf, rgen, p, file, high_prob, true, false)
    }

    /// Reads a file with a number for each class, a line each. Returns a dictionary, or with `return_list` a list of pairs
    /// of number and class.
    ///
    ///     >>> sut.write_prob_file("probabilities.txt", {"<stack>.top()": 0.25})
    ///     >>> sut.read_prob_file("probabilities.txt")
    ///     {'<stack>.top()': 0.25}
    ///     >>> sut.read_prob_file("probabilities.txt", return_list=True)
    ///     [(0.25, '<stack>.top()')]
    #[pyo3(signature = (file, return_list = false))]
    fn read_prob_file<'py>(
        &self,
        python: Python<'py>,
        file: PathBuf,
        return_list: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let table = self.read_table(&file)?;
        let text = |class| self.classes.text(class).to_owned();
        let pairs = table.iter().map(|(class, number)| (text(class), number));
        if return_list {
            let numbers: Probabilities = pairs.map(|(text, number)| (number, text)).collect();
            Ok(numbers.into_pyobject(python)?.into_any())
        } else {
            let numbers: BTreeMap<String, f64> = pairs.collect();
            Ok(numbers.into_pyobject(python)?.into_any())
        }
    }

    /// Writes a dictionary from class to number to a file that `read_prob_file` and the command's `--probabilities` read.
    ///
    ///     >>> sut.write_prob_file("probabilities.txt", {"<stack>.top()": 0.25})
    ///     >>> print(Path("probabilities.txt").read_text(), end="")
    ///     <stack>.top()  %%%% 0.25
    fn write_prob_file(&self, file: PathBuf, probs: BTreeMap<String, f64>) -> PyResult<()> {
        let table = class_table(&self.classes, &probs)?;
        std::fs::write(&file, table.write(&self.classes)).map_err(|error| {
            PyOSError::new_err(format!(
                "cannot write `{}`: {}",
                file.display(),
                describe_os_error(&error)
            ))
        })
    }
}

impl Sut {
    /// Draws a configuration, and switches off the classes outside of it.
    pub(super) fn draw_swarm(
        slf: &Bound<'_, Sut>,
        options: &SwarmOptions,
        random: &mut Random,
    ) -> PyResult<()> {
        let mut sut = Sut::borrow_mut(slf)?;
        let configuration = Configuration::draw(&sut.classes, options, random);
        sut.enable_all();
        sut.enabled_templates = Some(configuration.templates().clone());
        sut.swarm = Some(configuration);
        Ok(())
    }

    /// Returns the probabilities with which classes are included.
    fn inclusion_probabilities(
        &self,
        p: f64,
        file: Option<PathBuf>,
        class_prob: Option<BTreeMap<String, f64>>,
    ) -> PyResult<Inclusion> {
        let p = check_probability("P", p)?;
        let table = match (file, class_prob) {
            (Some(file), _) => self.read_table(&file)?,
            (None, Some(probabilities)) => class_table(&self.classes, &probabilities)?,
            (None, None) => return Ok(Inclusion::Same(p)),
        };
        Ok(Inclusion::Table(table, p))
    }

    /// Returns the probabilities for a configuration with high and low classes.
    fn high_low_probabilities(&self, configuration: &Configuration, high: f64) -> Probabilities {
        let weights = configuration.weights(&self.classes, high);
        let texts = self
            .classes
            .iter()
            .map(|class| self.classes.text(class).to_owned());
        weights.into_iter().zip(texts).collect()
    }

    /// Reads a file of numbers for classes.
    fn read_table(&self, file: &PathBuf) -> PyResult<ClassTable> {
        let text = std::fs::read_to_string(file).map_err(|error| {
            PyOSError::new_err(format!(
                "cannot read `{}`: {}",
                file.display(),
                describe_os_error(&error)
            ))
        })?;
        let (table, problems) = ClassTable::read(&self.classes, &text);
        match problems.first() {
            None => Ok(table),
            Some(problem) => Err(PyValueError::new_err(format!(
                "{}, {problem} (a line is a class, %%%% and a number)",
                file.display()
            ))),
        }
    }
}

/// Makes a table of numbers for classes.
fn class_table(classes: &ActionClasses, numbers: &BTreeMap<String, f64>) -> PyResult<ClassTable> {
    let number = |(text, number): (&String, &f64)| {
        let class = super::choosing::find_class(classes, text)?;
        if !number.is_finite() || *number < 0.0 {
            let message = format!(
                "`{}` is to have a number from 0 upwards, not {number}",
                text.trim()
            );
            return Err(PyValueError::new_err(message));
        }
        Ok((class, *number))
    };
    numbers.iter().map(number).collect()
}

/// Checks that a number is a probability.
fn check_probability(name: &str, number: f64) -> PyResult<f64> {
    if (0.0..=1.0).contains(&number) {
        Ok(number)
    } else {
        Err(PyValueError::new_err(format!(
            "{name} is a probability, a number from 0 to 1, not {number}"
        )))
    }
}
