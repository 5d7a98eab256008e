//! The examples of one property.
//!
//! Cases are tried in another process and a few small ones are chosen that exercise all branches
//! (rule 4.3). Their steps are checked against the property itself (rule 4.7). For a failing case,
//! nearby values show which of its arguments matter (rule 5.5).

use std::time::{Duration, Instant};

use testwright_core::{Error, Random};
use testwright_readable::counterexample::{
    Contrast, FailureObservation, MAX_NEIGHBOURS, neighbours,
};
use testwright_readable::phrase::Phraser;
use testwright_readable::property::{PropertyFunction, PropertyModule};
use testwright_readable::sample::{self, CaseFeatures, SampleArgument, SampleCase, ValueGenerator};
use testwright_readable::steps::{self, StepModule};
use testwright_readable::value::PythonValue;

use super::module_location::ModuleLocation;
use super::runner::{CaseOutcome, PropertyRunner, StepsResult, TriedCase};

/// Limits of the search for examples.
#[derive(Clone, Copy)]
pub(super) struct ExampleBudget {
    /// Maximum number of random cases.
    pub(super) tries: u32,
    /// Maximum number of examples.
    pub(super) max_examples: usize,
    /// Seed of the random cases.
    pub(super) seed: u64,
    /// Time limit for all cases of a property.
    pub(super) time: Duration,
}

/// Result of examining a property.
pub(super) struct PropertyResult {
    /// Examples. All of them pass.
    pub(super) cases: Vec<SampleCase>,
    /// For each case: true if its steps agree with the property.
    pub(super) verified: Vec<bool>,
    /// True if calls may be steps of their own.
    pub(super) hoists: bool,
    /// A failing case, shrunk, and what was observed about it.
    pub(super) failing: Option<(SampleCase, FailureObservation)>,
    /// Number of branches that the cases reach, and number of all branches.
    pub(super) branches: Option<(usize, usize)>,
    /// Reason why there is no case, if there is none.
    pub(super) no_case_reason: &'static str,
}

/// Finds the examples of one property.
pub(super) struct ExampleFinder<'a> {
    module: &'a PropertyModule,
    property: &'a PropertyFunction,
    phraser: &'a Phraser<'a>,
    /// Import settings for running the steps.
    step_module: StepModule,
    /// Name by which the runner finds the property.
    name: String,
    budget: ExampleBudget,
}

/// Maximum number of runs for shrinking a case of a plain function.
const MAX_SHRINK_RUNS: usize = 200;

impl<'a> ExampleFinder<'a> {
    pub(super) fn new(
        module: &'a PropertyModule,
        property: &'a PropertyFunction,
        location: &ModuleLocation,
        budget: ExampleBudget,
        phraser: &'a Phraser<'a>,
    ) -> ExampleFinder<'a> {
        ExampleFinder {
            module,
            property,
            phraser,
            step_module: location.step_module(&location.folder, module.store_name()),
            name: property.path(),
            budget,
        }
    }

    /// Tries cases, chooses examples and verifies them. `given` cases replace random ones.
    pub(super) fn examine(
        &self,
        runner: &mut PropertyRunner,
        given: Option<&[SampleCase]>,
    ) -> Result<PropertyResult, Error> {
        let tried = match given {
            Some(cases) => self.try_all(runner, cases)?,
            None if self.property.is_given => {
                runner.sample(&self.name, self.budget.tries, self.budget.seed)?
            }
            None => self.random_cases(runner)?,
        };
        let passing: Vec<&TriedCase> = tried
            .iter()
            .filter(|tried_case| tried_case.outcome == CaseOutcome::Passes)
            .collect();
        let cases = match given {
            Some(_) => passing
                .iter()
                .map(|tried_case| tried_case.case.clone())
                .collect(),
            None => self.choose_examples(runner, &passing)?,
        };
        let (hoists, verified) = self.verify(runner, &cases)?;
        let failing = tried
            .iter()
            .find(|tried_case| matches!(tried_case.outcome, CaseOutcome::Fails { .. }));
        let failing = match failing {
            Some(tried_case) => Some(self.examine_failure(runner, tried_case, given.is_none())?),
            None => None,
        };
        let reached_features: CaseFeatures = cases
            .iter()
            .flat_map(|case| case.features.iter().cloned())
            .collect();
        let all = runner.branches()?;
        let no_case_reason = if tried
            .iter()
            .any(|tried_case| tried_case.outcome == CaseOutcome::TimedOut)
        {
            "every case took too long"
        } else if tried.is_empty() {
            "no case could be made"
        } else {
            "no case meets its assumptions"
        };
        Ok(PropertyResult {
            branches: (!all.is_empty())
                .then(|| (all.intersection(&reached_features).count(), all.len())),
            cases,
            verified,
            hoists,
            failing,
            no_case_reason,
        })
    }

    /// Runs given cases.
    fn try_all(
        &self,
        runner: &mut PropertyRunner,
        cases: &[SampleCase],
    ) -> Result<Vec<TriedCase>, Error> {
        let mut tried = Vec::new();
        for case in cases {
            tried.extend(runner.try_case(&self.name, case)?);
        }
        Ok(tried)
    }

    /// Runs random cases of a plain annotated function, which has no strategies of its own.
    fn random_cases(&self, runner: &mut PropertyRunner) -> Result<Vec<TriedCase>, Error> {
        let generators = self.generators()?;
        let mut random = Random::new(self.budget.seed);
        let mut tried = Vec::new();
        let deadline = Instant::now() + self.budget.time;
        for _ in 0..self.budget.tries {
            if Instant::now() >= deadline {
                break;
            }
            let draw = |(input, generator): (
                &testwright_readable::property::PropertyInput,
                &ValueGenerator,
            )| {
                SampleArgument::new(&input.name, generator.draw(&mut random))
            };
            let case = SampleCase::of(
                self.property
                    .inputs
                    .iter()
                    .zip(&generators)
                    .map(draw)
                    .collect(),
            );
            tried.extend(runner.try_case(&self.name, &case)?);
            if generators.is_empty() {
                break;
            }
        }
        Ok(tried)
    }

    /// Returns a generator of values for each input. Fails if an input has none.
    fn generators(&self) -> Result<Vec<ValueGenerator>, Error> {
        let generators = self.property.inputs.iter().map(|input| {
            let generator = input.generator.as_ref().and_then(sample::generator_for);
            generator.ok_or_else(|| {
                Error::new(format!(
                    "there is no way to make values for `{}` of `{}`",
                    input.name, self.name
                ))
                .with_help(
                    "annotate it, as in `n: int`, use Hypothesis, or give values with `--case`",
                )
            })
        });
        generators.collect()
    }

    /// Chooses a few small cases that together exercise as much as all of them (rule 4.3).
    fn choose_examples(
        &self,
        runner: &mut PropertyRunner,
        passing: &[&TriedCase],
    ) -> Result<Vec<SampleCase>, Error> {
        let cases: Vec<SampleCase> = passing
            .iter()
            .map(|tried_case| tried_case.case.clone())
            .collect();
        let inputs = self.property.inputs.iter();
        let landmarks = inputs
            .map(|input| (input.name.clone(), input.landmarks()))
            .collect();
        let mut first_error = None;
        let chosen = sample::choose_examples(
            &cases,
            &landmarks,
            self.budget.max_examples,
            &mut |case, features| {
                let tried_case = passing.iter().find(|tried_case| tried_case.case == *case)?;
                let is_same = |tried_case: &TriedCase| {
                    tried_case.outcome == CaseOutcome::Passes
                        && features.is_subset(&tried_case.case.features)
                };
                self.shrink(runner, tried_case, features, &is_same)
                    .unwrap_or_else(|error| {
                        first_error = Some(error);
                        None
                    })
            },
        );
        match first_error {
            Some(error) => Err(error),
            None => Ok(chosen),
        }
    }

    /// Finds a smaller case for which `is_same` still holds.
    fn shrink(
        &self,
        runner: &mut PropertyRunner,
        tried_case: &TriedCase,
        features: &CaseFeatures,
        is_same: &dyn Fn(&TriedCase) -> bool,
    ) -> Result<Option<SampleCase>, Error> {
        if self.property.is_given {
            let bare: CaseFeatures = features
                .iter()
                .map(|feature| feature.trim_start_matches("if ").to_owned())
                .collect();
            let smaller = runner.shrink(&self.name, tried_case, &bare, self.budget.seed)?;
            return Ok(smaller
                .filter(|smaller| is_same(smaller))
                .map(|smaller| smaller.case));
        }
        self.shrink_plain(runner, tried_case.case.clone(), is_same)
            .map(Some)
    }

    /// Shrinks a case of a plain function: takes any simpler case for which `is_same` holds, until
    /// there is none.
    fn shrink_plain(
        &self,
        runner: &mut PropertyRunner,
        mut best: SampleCase,
        is_same: &dyn Fn(&TriedCase) -> bool,
    ) -> Result<SampleCase, Error> {
        let generators = self.generators()?;
        let is_allowed = |case: &SampleCase| {
            let mut pairs = generators.iter().zip(&case.arguments);
            pairs.all(|(generator, argument)| generator.allows(&argument.value))
        };
        let mut runs_left = MAX_SHRINK_RUNS;
        'better: loop {
            for candidate in candidates(&best).into_iter().filter(&is_allowed) {
                if runs_left == 0 {
                    return Ok(best);
                }
                runs_left -= 1;
                let tried = runner.try_case(&self.name, &candidate)?;
                if let Some(tried) = tried.filter(|tried| is_same(tried)) {
                    best = tried.case;
                    continue 'better;
                }
            }
            return Ok(best);
        }
    }

    /// Runs the steps of each case. Returns whether calls may be steps of their own, and for each
    /// case whether its steps agree with the property (rule 4.7).
    fn verify(
        &self,
        runner: &mut PropertyRunner,
        cases: &[SampleCase],
    ) -> Result<(bool, Vec<bool>), Error> {
        let mut with_hoisting = Vec::new();
        for case in cases {
            with_hoisting.push(self.run_steps(runner, case, true)?.failed.is_none());
        }
        if !with_hoisting.contains(&false) {
            return Ok((true, with_hoisting));
        }
        let mut without = Vec::new();
        for case in cases {
            without.push(self.run_steps(runner, case, false)?.failed.is_none());
        }
        Ok((false, without))
    }

    /// Runs the steps of a case.
    fn run_steps(
        &self,
        runner: &mut PropertyRunner,
        case: &SampleCase,
        hoists: bool,
    ) -> Result<StepsResult, Error> {
        let bodies =
            self.module
                .step_bodies(self.property, case, hoists, self.phraser, &self.step_module);
        runner.run_steps(
            &steps::prelude(&self.step_module),
            &bodies,
            self.step_module.store,
        )
    }

    /// Shrinks a failing case and observes how its steps fail.
    fn examine_failure(
        &self,
        runner: &mut PropertyRunner,
        tried_case: &TriedCase,
        shrinks: bool,
    ) -> Result<(SampleCase, FailureObservation), Error> {
        let is_same = |other: &TriedCase| other.outcome == tried_case.outcome;
        let case = if shrinks {
            self.shrink(runner, tried_case, &CaseFeatures::new(), &is_same)?
        } else {
            None
        };
        let case = case.unwrap_or_else(|| tried_case.case.clone());
        let run = self.run_steps(runner, &case, true)?;
        let lines = self
            .module
            .script(self.property, Some(&case), true, self.phraser)
            .lines
            .len();
        let contrast = self.find_contrasts(runner, &case, &is_same)?;
        let observation = FailureObservation {
            failed: run.failed.unwrap_or_else(|| lines.saturating_sub(1)),
            error: run.error,
            values: run.values,
            contrast,
        };
        Ok((case, observation))
    }

    /// Finds for each argument the nearest value with which the property passes, or finds that
    /// every value fails (rule 5.5).
    fn find_contrasts(
        &self,
        runner: &mut PropertyRunner,
        case: &SampleCase,
        is_same: &dyn Fn(&TriedCase) -> bool,
    ) -> Result<Vec<Contrast>, Error> {
        let mut contrast = Vec::new();
        for (index, argument) in case.arguments.iter().enumerate() {
            let mut found = None;
            for value in neighbours(&argument.value) {
                let tried =
                    runner.try_case(&self.name, &with_argument(case, index, value.clone()))?;
                if tried.is_some_and(|tried| tried.outcome == CaseOutcome::Passes) {
                    found = Some(value);
                    break;
                }
            }
            let name = argument.name.clone();
            match found {
                Some(value) => contrast.push(Contrast::NotWhen { name, value }),
                None if self.fails_for_any_value(runner, case, index, is_same)? => {
                    contrast.push(Contrast::Always { name })
                }
                None => {}
            }
        }
        Ok(contrast)
    }

    /// Returns true if the property fails in the same way whatever the argument is.
    fn fails_for_any_value(
        &self,
        runner: &mut PropertyRunner,
        case: &SampleCase,
        index: usize,
        is_same: &dyn Fn(&TriedCase) -> bool,
    ) -> Result<bool, Error> {
        let others = if self.property.is_given {
            let tried = runner.sample(&self.name, self.budget.tries, self.budget.seed + 1)?;
            tried
                .into_iter()
                .map(|tried_case| tried_case.case)
                .collect()
        } else {
            let generators = self.generators()?;
            let mut random = Random::new(self.budget.seed + 1);
            let draws = (0..2 * MAX_NEIGHBOURS)
                .filter_map(|_| generators.get(index).map(|kind| kind.draw(&mut random)));
            draws
                .map(|value| with_argument(case, index, value))
                .collect::<Vec<SampleCase>>()
        };
        let mut tried = Vec::new();
        for other in others {
            let Some(argument) = other.arguments.into_iter().nth(index) else {
                continue;
            };
            if tried.contains(&argument.value) {
                continue;
            }
            tried.push(argument.value.clone());
            let mut replaced = case.clone();
            if let Some(slot) = replaced.arguments.get_mut(index) {
                *slot = argument;
            }
            match runner.try_case(&self.name, &replaced)? {
                Some(tried_case) if is_same(&tried_case) => {}
                _ => return Ok(false),
            }
            if tried.len() >= MAX_NEIGHBOURS {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Returns cases that are slightly simpler: in one argument, or in one number wherever it occurs.
fn candidates(case: &SampleCase) -> Vec<SampleCase> {
    let each = case
        .arguments
        .iter()
        .enumerate()
        .flat_map(|(index, argument)| {
            let simpler = sample::simpler_values(&argument.value).into_iter();
            simpler.map(move |value| with_argument(case, index, value))
        });
    let values: Vec<PythonValue> = case
        .arguments
        .iter()
        .map(|argument| argument.value.clone())
        .collect();
    let together = sample::simplify_equal_numbers(&values)
        .into_iter()
        .map(|values| {
            let arguments = case.arguments.iter().zip(values);
            SampleCase::of(
                arguments
                    .map(|(argument, value)| SampleArgument::new(&argument.name, value))
                    .collect(),
            )
        });
    each.chain(together).collect()
}

/// Returns the case with another value of one argument.
fn with_argument(case: &SampleCase, index: usize, value: PythonValue) -> SampleCase {
    let mut other = SampleCase::of(case.arguments.clone());
    if let Some(argument) = other.arguments.get_mut(index) {
        *argument = SampleArgument::new(&argument.name.clone(), value);
    }
    other
}
