//! Exploring models: all states of a product, as a machine to look at, to write and to judge.

use std::path::PathBuf;
use std::time::Instant;

use testwright_core::explore::temporal::Parsed;
use testwright_core::product::Trouble as ModelTrouble;
use testwright_core::{Error, Failure};
use testwright_model::parallel::{CANNOT_PASS_STATES, DIFFERENT, Team};
use testwright_model::{
    Exploration, Filter, Graph, Limits, Progress, conform, explore, explore_with, fsm_file,
};
use testwright_python::Models;

use super::judged::judge;
use super::model_report::Report;
use super::{Explore, graph_file, helpers, questions};
use crate::console::Console;
use crate::files::Place;
use crate::guard::{Note, guarded};
use crate::pictures::Pictures;
use crate::pulse::Pulse;
use crate::{ExitStatus, Trouble, models, pictures, quantity};

/// What is to come of an exploration.
struct Wanted<'w> {
    names: &'w [String],
    formula: Option<&'w Parsed>,
    out: Option<&'w Place>,
    pictures: &'w Pictures,
}

impl Explore {
    pub(super) fn run_models(&self, console: &mut Console<'_>) -> Result<ExitStatus, Trouble> {
        self.refuse_for_models()?;
        let formula = questions::formula(console, self.formula.as_deref())?;
        let out = self.out.as_deref().map(Place::new).transpose()?;
        let pictures = self.pictures.places()?;
        let mut names = vec![self.harness.to_string_lossy().into_owned()];
        names.extend(self.more.iter().cloned());
        if let Some(out) = &out {
            refuse_own_model(out, &names)?;
        }
        let filter = Filter {
            include: self.action.clone(),
            exclude: self.exclude.clone(),
        };
        // The code of a model may end its process, and somebody has to tell.
        guarded(
            console,
            Some(self.system.step_timeout),
            tell_crash,
            |console, note| {
                let wanted = Wanted {
                    names: &names,
                    formula: formula.as_ref(),
                    out: out.as_ref(),
                    pictures: &pictures,
                };
                self.explore_and_tell(console, &filter, &wanted, note)
            },
        )
    }

    fn explore_and_tell(
        &self,
        console: &mut Console<'_>,
        filter: &Filter,
        wanted: &Wanted<'_>,
        note: &Note,
    ) -> Result<ExitStatus, Trouble> {
        let Wanted {
            names,
            formula,
            out,
            pictures,
        } = *wanted;
        models::with_models(console, names, filter, |console, models| {
            let started = Instant::now();
            let chance = models.chance();
            let explored = self.explore_models(console, models, started, note)?;
            // What comes now may take its time.
            note.write("");
            let time = started.elapsed();
            let drew = models.chance() != chance;
            console.clear_status();
            testwright_python::flush();
            let report = Report::new(models, &explored, time, drew);
            if !self.json {
                report.say(console, models, &explored);
                say_dead_end(console, models, &explored.graph);
            }
            if let Some(out) = out {
                let (product, graph) = (&models.product, &explored.graph);
                let is_json = out.shown().extension().is_some_and(|end| end == "json");
                out.write(&if is_json {
                    graph_file::write(product, graph)
                } else {
                    fsm_file::write(product, graph, &self.command_line(names))
                })?;
                if !self.json {
                    console.say(format_args!("Written: {}", out.shown().display()));
                }
            }
            if self.pictures.is_given() {
                let title = pictures::title(names);
                let drawn = pictures::of_exploration(&models.product, &explored.graph, &title);
                console.keep_quiet(self.json);
                pictures.write(console, &drawn)?;
                console.keep_quiet(false);
            }
            let mut status = report.status();
            let mut judged = None;
            if let Some(formula) = formula
                && explored.trouble.is_none()
            {
                let answer = judge(models, &formula.formula, self.most())?;
                if answer.is_violated() {
                    status = status.max(ExitStatus::FailureFound);
                }
                if !self.json {
                    answer.say(console);
                }
                judged = Some(answer);
            }
            if self.json {
                console.say(report.json(models, &explored, judged.as_ref()));
            }
            match &explored.trouble {
                None | Some(ModelTrouble::Interrupted) => Ok(status),
                Some(trouble) => Err(models::tell(console, trouble)),
            }
        })
    }

    fn command_line(&self, names: &[String]) -> String {
        let max = self
            .max
            .map(|max| format!(" --max {max}"))
            .unwrap_or_default();
        format!("testwright explore {}{max}", names.join(" "))
    }

    fn most(&self) -> Option<usize> {
        self.most_states
            .map(|most| usize::try_from(most).unwrap_or(usize::MAX))
    }

    /// What has a meaning for harnesses only.
    fn refuse_for_models(&self) -> Result<(), Error> {
        let given = [
            (self.order.is_some(), "--order"),
            (self.depth.is_some(), "--depth"),
            (self.small_scope.is_some(), "--small-scope"),
            (self.symmetry, "--symmetry"),
            (self.no_matching, "--no-matching"),
            (self.goal.is_some(), "--goal"),
            (self.heuristic.is_some(), "--heuristic"),
            (self.without.is_some(), "--without"),
            (self.memory.is_some(), "--memory"),
            (self.going_back.is_some(), "--going-back"),
            (self.all, "--all"),
        ];
        match given.iter().find(|(is_given, _)| *is_given) {
            Some((_, option)) => Err(Error::new(format!("`{option}` is for harnesses"))
                .with_help("models are explored breadth first, each state once: leave it out")),
            None => Ok(()),
        }
    }

    fn explore_models(
        &self,
        console: &mut Console<'_>,
        models: &mut Models<'_>,
        started: Instant,
        note: &Note,
    ) -> Result<Exploration, Error> {
        let limits = Limits {
            transitions: self.max,
            states: self.most(),
        };
        let mut pulse = Pulse::new();
        let mut proceed = |progress: &Progress| {
            note.count([progress.states, progress.transitions, progress.waiting]);
            let Some(now) = pulse.beat() else {
                return true;
            };
            console.status(|| {
                format!(
                    "{}, {}, {} waiting",
                    quantity::of(progress.states as u64, "state"),
                    quantity::of(progress.transitions as u64, "transition"),
                    quantity::grouped(progress.waiting as u64)
                )
            });
            !testwright_python::asked_to_stop() && self.time.is_none_or(|time| now - started < time)
        };
        let alone = self.jobs.is_none_or(|jobs| jobs < 2);
        if alone {
            return Ok(explore(&mut models.product, &limits, &mut proceed));
        }
        // Models find their initial state before they are copied.
        let _begun = models.product.begin(0);
        let mut passing = models.passing();
        let connections = helpers::start(models, &mut passing, self.jobs.unwrap_or(1) - 1)?;
        let mut team = Team::new(
            connections,
            &mut passing,
            Box::new(move || started.elapsed()),
        );
        let explored = explore_with(&mut models.product, &mut team, &limits, &mut proceed);
        drop(team);
        let refused = match &explored.trouble {
            Some(ModelTrouble::Unusable(error)) => [CANNOT_PASS_STATES, DIFFERENT]
                .into_iter()
                .find(|why| *why == error.message),
            _ => None,
        };
        let Some(why) = refused else {
            return Ok(explored);
        };
        let explored = explore(&mut models.product, &limits, &mut proceed);
        console.warning(&format!("explored in one process, since {why}"), None);
        Ok(explored)
    }
}

/// Tells that the code of a model has ended its process, and how far the exploration was.
fn tell_crash(
    console: &mut Console<'_>,
    note: &str,
    failure: &Failure,
) -> Result<ExitStatus, Trouble> {
    let counts: Vec<u64> = note
        .split_whitespace()
        .filter_map(|one| one.parse().ok())
        .collect();
    models::tell_failure(console, failure);
    match counts.as_slice() {
        [states, transitions, waiting] => {
            console.say(format_args!(
                "Explored until then: {}, {}",
                quantity::of(*states, "state"),
                quantity::of(*transitions, "transition"),
            ));
            let expanded = states.saturating_sub(*waiting);
            console.say(format_args!(
                "It was at state {expanded}; with `--max {transitions}` it ends before"
            ));
        }
        _ => console
            .say("It happened before the first state was met, while the models were imported"),
    }
    Ok(ExitStatus::CouldNot)
}

fn refuse_own_model(out: &Place, names: &[String]) -> Result<(), Error> {
    for name in names {
        let file = if name.ends_with(".py") {
            PathBuf::from(name)
        } else {
            PathBuf::from(format!("{name}.py"))
        };
        if out.is(&file) {
            let message = format!(
                "`{}` is the model itself, and would be lost",
                out.shown().display()
            );
            return Err(Error::new(message).with_help("choose another file with `--out FILE`"));
        }
    }
    Ok(())
}

/// Says of the first state in which nothing is possible, and nothing accepted, why that is so.
fn say_dead_end(console: &mut Console<'_>, models: &mut Models<'_>, graph: &Graph) {
    let Some(state) = graph.dead_ends.first() else {
        return;
    };
    let places = graph.state(*state).to_vec();
    let Ok(blocked) = models.product.explain(&places) else {
        return;
    };
    let product = &models.product;
    console.say(format_args!("Nothing is possible in state {state}:"));
    for why in conform::explain_all(product, &blocked).iter().take(20) {
        console.say(format_args!("    {why}"));
    }
    for why in conform::not_accepting(product, &places) {
        console.say(format_args!("  and {why}"));
    }
}
