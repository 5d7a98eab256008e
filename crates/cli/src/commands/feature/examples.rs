//! The examples of one property: tried, chosen, and checked against the property itself (4.3, 4.7, 5.5).

use std::time::{Duration, Instant};

use testwright_core::{Error, Random};
use testwright_readable::counterexample::{Contrast, NEIGHBOURS, Observation, neighbours};
use testwright_readable::phrase::Speaker;
use testwright_readable::property::{Property, Subject};
use testwright_readable::sample::{self, Argument, Case, Features, Generator};
use testwright_readable::steps::{self, Home};
use testwright_readable::value::Value;

use super::module::ModulePlace;
use super::worker::{Outcome, Record, StepsRun, Worker};

/// How much may be tried.
#[derive(Clone, Copy)]
pub(super) struct Budget {
    pub(super) tries: u32,
    /// How many examples there may be.
    pub(super) most: usize,
    pub(super) seed: u64,
    pub(super) time: Duration,
}

/// What is known of a property in the end.
pub(super) struct Examined {
    pub(super) cases: Vec<Case>,
    /// For each case whether its steps agree with the property.
    pub(super) verified: Vec<bool>,
    pub(super) hoists: bool,
    pub(super) failing: Option<(Case, Observation)>,
    /// How many branches the cases reach, and how many there are.
    pub(super) branches: Option<(usize, usize)>,
    /// Why there is no case, if there is none.
    pub(super) why_none: &'static str,
}

/// Looks for the examples of one property.
pub(super) struct Examples<'a> {
    subject: &'a Subject,
    property: &'a Property,
    speaker: &'a Speaker<'a>,
    home: Home,
    name: String,
    budget: Budget,
}

/// How often a case of a plain function is tried to be made smaller.
const SHRINKING: usize = 200;

impl<'a> Examples<'a> {
    pub(super) fn new(
        subject: &'a Subject,
        property: &'a Property,
        place: &ModulePlace,
        budget: Budget,
        speaker: &'a Speaker<'a>,
    ) -> Examples<'a> {
        Examples {
            subject,
            property,
            speaker,
            home: place.home(&place.folder, subject.store()),
            name: property.path(),
            budget,
        }
    }

    pub(super) fn examine(
        &self,
        worker: &mut Worker,
        given: Option<&[Case]>,
    ) -> Result<Examined, Error> {
        let records = match given {
            Some(cases) => self.all_of(worker, cases)?,
            None if self.property.is_given => {
                worker.sample(&self.name, self.budget.tries, self.budget.seed)?
            }
            None => self.own_samples(worker)?,
        };
        let passing: Vec<&Record> = records
            .iter()
            .filter(|record| record.outcome == Outcome::Passes)
            .collect();
        let cases = match given {
            Some(_) => passing.iter().map(|record| record.case.clone()).collect(),
            None => self.choose(worker, &passing)?,
        };
        let (hoists, verified) = self.verify(worker, &cases)?;
        let failing = records
            .iter()
            .find(|record| matches!(record.outcome, Outcome::Fails { .. }));
        let failing = match failing {
            Some(record) => Some(self.failing(worker, record, given.is_none())?),
            None => None,
        };
        let met: Features = cases
            .iter()
            .flat_map(|case| case.met.iter().cloned())
            .collect();
        let all = worker.branches()?;
        let why_none = if records.iter().any(|record| record.outcome == Outcome::Late) {
            "every case took too long"
        } else if records.is_empty() {
            "no case could be made"
        } else {
            "no case meets its assumptions"
        };
        Ok(Examined {
            branches: (!all.is_empty()).then(|| (all.intersection(&met).count(), all.len())),
            cases,
            verified,
            hoists,
            failing,
            why_none,
        })
    }

    fn all_of(&self, worker: &mut Worker, cases: &[Case]) -> Result<Vec<Record>, Error> {
        let mut records = Vec::new();
        for case in cases {
            records.extend(worker.try_case(&self.name, case)?);
        }
        Ok(records)
    }

    /// Cases for a plain annotated function, which has no strategies of its own.
    fn own_samples(&self, worker: &mut Worker) -> Result<Vec<Record>, Error> {
        let generators = self.generators()?;
        let mut random = Random::new(self.budget.seed);
        let mut records = Vec::new();
        let deadline = Instant::now() + self.budget.time;
        for _ in 0..self.budget.tries {
            if Instant::now() >= deadline {
                break;
            }
            let draw = |(input, generator): (&testwright_readable::property::Input, &Generator)| {
                Argument::new(&input.name, generator.draw(&mut random))
            };
            let case = Case::of(
                self.property
                    .inputs
                    .iter()
                    .zip(&generators)
                    .map(draw)
                    .collect(),
            );
            records.extend(worker.try_case(&self.name, &case)?);
            if generators.is_empty() {
                break;
            }
        }
        Ok(records)
    }

    fn generators(&self) -> Result<Vec<Generator>, Error> {
        let generators = self.property.inputs.iter().map(|input| {
            let generator = input.generator.as_ref().and_then(sample::generator);
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

    fn choose(&self, worker: &mut Worker, passing: &[&Record]) -> Result<Vec<Case>, Error> {
        let cases: Vec<Case> = passing.iter().map(|record| record.case.clone()).collect();
        let inputs = self.property.inputs.iter();
        let landmarks = inputs
            .map(|input| (input.name.clone(), input.landmarks()))
            .collect();
        let mut trouble = None;
        let chosen = sample::choose(
            &cases,
            &landmarks,
            self.budget.most,
            &mut |case, features| {
                let record = passing.iter().find(|record| record.case == *case)?;
                let is_same = |record: &Record| {
                    record.outcome == Outcome::Passes && features.is_subset(&record.case.met)
                };
                self.smaller(worker, record, features, &is_same)
                    .unwrap_or_else(|error| {
                        trouble = Some(error);
                        None
                    })
            },
        );
        match trouble {
            Some(error) => Err(error),
            None => Ok(chosen),
        }
    }

    /// A smaller case of which the same is true.
    fn smaller(
        &self,
        worker: &mut Worker,
        record: &Record,
        features: &Features,
        is_same: &dyn Fn(&Record) -> bool,
    ) -> Result<Option<Case>, Error> {
        if self.property.is_given {
            let bare: Features = features
                .iter()
                .map(|feature| feature.trim_start_matches("if ").to_owned())
                .collect();
            let smaller = worker.shrink(&self.name, record, &bare, self.budget.seed)?;
            return Ok(smaller
                .filter(|smaller| is_same(smaller))
                .map(|smaller| smaller.case));
        }
        self.simpler(worker, record.case.clone(), is_same).map(Some)
    }

    /// The same for a plain function: whatever is simpler and still such is taken, until nothing is.
    fn simpler(
        &self,
        worker: &mut Worker,
        mut best: Case,
        is_same: &dyn Fn(&Record) -> bool,
    ) -> Result<Case, Error> {
        let generators = self.generators()?;
        let is_allowed = |case: &Case| {
            let mut pairs = generators.iter().zip(&case.arguments);
            pairs.all(|(generator, argument)| generator.allows(&argument.value))
        };
        let mut left = SHRINKING;
        'better: loop {
            for candidate in candidates(&best).into_iter().filter(&is_allowed) {
                if left == 0 {
                    return Ok(best);
                }
                left -= 1;
                let tried = worker.try_case(&self.name, &candidate)?;
                if let Some(tried) = tried.filter(|tried| is_same(tried)) {
                    best = tried.case;
                    continue 'better;
                }
            }
            return Ok(best);
        }
    }

    /// Whether calls may be steps of their own, and for each case whether its steps agree with the property (4.7).
    fn verify(&self, worker: &mut Worker, cases: &[Case]) -> Result<(bool, Vec<bool>), Error> {
        let mut with_hoisting = Vec::new();
        for case in cases {
            with_hoisting.push(self.run_steps(worker, case, true)?.failed.is_none());
        }
        if !with_hoisting.contains(&false) {
            return Ok((true, with_hoisting));
        }
        let mut without = Vec::new();
        for case in cases {
            without.push(self.run_steps(worker, case, false)?.failed.is_none());
        }
        Ok((false, without))
    }

    fn run_steps(&self, worker: &mut Worker, case: &Case, hoists: bool) -> Result<StepsRun, Error> {
        let bodies = self
            .subject
            .bodies(self.property, case, hoists, self.speaker, &self.home);
        worker.steps(&steps::prelude(&self.home), &bodies, self.home.store)
    }

    /// What is to be said about a failing case.
    fn failing(
        &self,
        worker: &mut Worker,
        record: &Record,
        shrinks: bool,
    ) -> Result<(Case, Observation), Error> {
        let is_same = |other: &Record| other.outcome == record.outcome;
        let case = if shrinks {
            self.smaller(worker, record, &Features::new(), &is_same)?
        } else {
            None
        };
        let case = case.unwrap_or_else(|| record.case.clone());
        let run = self.run_steps(worker, &case, true)?;
        let lines = self
            .subject
            .script(self.property, Some(&case), true, self.speaker)
            .lines
            .len();
        let contrast = self.contrast(worker, &case, &is_same)?;
        let observation = Observation {
            failed: run.failed.unwrap_or_else(|| lines.saturating_sub(1)),
            error: run.error,
            values: run.values,
            contrast,
        };
        Ok((case, observation))
    }

    /// For each argument, the nearest value that makes a difference, or that none does (5.5).
    fn contrast(
        &self,
        worker: &mut Worker,
        case: &Case,
        is_same: &dyn Fn(&Record) -> bool,
    ) -> Result<Vec<Contrast>, Error> {
        let mut contrast = Vec::new();
        for (index, argument) in case.arguments.iter().enumerate() {
            let mut found = None;
            for value in neighbours(&argument.value) {
                let tried = worker.try_case(&self.name, &with_value(case, index, value.clone()))?;
                if tried.is_some_and(|tried| tried.outcome == Outcome::Passes) {
                    found = Some(value);
                    break;
                }
            }
            let name = argument.name.clone();
            match found {
                Some(value) => contrast.push(Contrast::NotWhen { name, value }),
                None if self.is_general(worker, case, index, is_same)? => {
                    contrast.push(Contrast::Always { name })
                }
                None => {}
            }
        }
        Ok(contrast)
    }

    /// Whether it goes wrong whatever the argument is.
    fn is_general(
        &self,
        worker: &mut Worker,
        case: &Case,
        index: usize,
        is_same: &dyn Fn(&Record) -> bool,
    ) -> Result<bool, Error> {
        let others = if self.property.is_given {
            let records = worker.sample(&self.name, self.budget.tries, self.budget.seed + 1)?;
            records.into_iter().map(|record| record.case).collect()
        } else {
            let generators = self.generators()?;
            let mut random = Random::new(self.budget.seed + 1);
            let draws = (0..2 * NEIGHBOURS)
                .filter_map(|_| generators.get(index).map(|kind| kind.draw(&mut random)));
            draws
                .map(|value| with_value(case, index, value))
                .collect::<Vec<Case>>()
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
            if let Some(place) = replaced.arguments.get_mut(index) {
                *place = argument;
            }
            match worker.try_case(&self.name, &replaced)? {
                Some(record) if is_same(&record) => {}
                _ => return Ok(false),
            }
            if tried.len() >= NEIGHBOURS {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Cases that are a little simpler than this one: in one argument, or in one number wherever it occurs.
fn candidates(case: &Case) -> Vec<Case> {
    let each = case
        .arguments
        .iter()
        .enumerate()
        .flat_map(|(index, argument)| {
            let simpler = sample::simpler(&argument.value).into_iter();
            simpler.map(move |value| with_value(case, index, value))
        });
    let values: Vec<Value> = case
        .arguments
        .iter()
        .map(|argument| argument.value.clone())
        .collect();
    let together = sample::simpler_together(&values).into_iter().map(|values| {
        let arguments = case.arguments.iter().zip(values);
        Case::of(
            arguments
                .map(|(argument, value)| Argument::new(&argument.name, value))
                .collect(),
        )
    });
    each.chain(together).collect()
}

fn with_value(case: &Case, index: usize, value: Value) -> Case {
    let mut other = Case::of(case.arguments.clone());
    if let Some(argument) = other.arguments.get_mut(index) {
        *argument = Argument::new(&argument.name.clone(), value);
    }
    other
}
