//! Exploring models: all states of a product.
//!
//! The graph can be written as an FSM module, as JSON or as pictures, and judged by a formula.

use std::path::PathBuf;
use std::time::Instant;

use testwright_core::explore::temporal::{Formula, ParsedFormula};
use testwright_core::product::{ModelError, Product};
use testwright_core::verdict::{Caveat, ReachedLimit, Verdict, VerdictExtent};
use testwright_core::{Error, Failure};
use testwright_model::parallel::{CANNOT_PASS_STATES, COPIES_DIFFER, HelperPool};
use testwright_model::{
    ExploredGraph, Filter, GraphLimits, GraphProgress, GraphWatcher, LocalExpander, ProductGraph,
    conform, explore_with, fsm_file,
};
use testwright_python::Models;

use super::formula_result::{FormulaResult, evaluate};
use super::model_report::ModelReport;
use super::{ExploreCommand, formula_check, graph_file, helpers, queries};
use crate::console::{Console, TextStyle};
use crate::files::UserPath;
use crate::guard::{ProgressNote, run_guarded};
use crate::pictures::PictureFiles;
use crate::throttle::Throttle;
use crate::{CommandError, ExitStatus, models, pictures, quantity};

/// Default memory limit, so that a model without an end ends.
const DEFAULT_MEMORY: usize = 2_000_000_000;

/// Inputs and requested outputs of an exploration of models.
struct ModelOutputs<'w> {
    /// Names of the models.
    names: &'w [String],
    /// Formula to judge.
    formula: Option<&'w ParsedFormula>,
    /// File for the graph: JSON if its name ends with `.json`, else an FSM module.
    out: Option<&'w UserPath>,
    /// Pictures to draw.
    pictures: &'w PictureFiles,
}

impl ExploreCommand {
    /// Explores models in a forked process, and reports even if the code of a model ends it.
    pub(super) fn run_models(&self, console: &mut Console<'_>) -> Result<ExitStatus, CommandError> {
        self.validate_for_models()?;
        let formula = queries::parse_formula(console, self.formula.as_deref())?;
        let out = self.out.as_deref().map(UserPath::new).transpose()?;
        let pictures = self.pictures.files()?;
        let mut names = vec![self.harness.to_string_lossy().into_owned()];
        names.extend(self.more.iter().cloned());
        if let Some(out) = &out {
            protect_model_files(out, &names)?;
        }
        let filter = Filter {
            include: self.action.clone(),
            exclude: self.exclude.clone(),
            follows_pymodel: false,
        };
        // The code of a model may end its process, which is reported by the parent.
        run_guarded(
            console,
            Some(self.system.step_timeout),
            report_crash,
            |console, note| {
                let outputs = ModelOutputs {
                    names: &names,
                    formula: formula.as_ref(),
                    out: out.as_ref(),
                    pictures: &pictures,
                };
                self.explore_and_report(console, &filter, &outputs, note)
            },
        )
    }

    /// Explores, prints the report, writes the requested files and judges the formula.
    fn explore_and_report(
        &self,
        console: &mut Console<'_>,
        filter: &Filter,
        outputs: &ModelOutputs<'_>,
        note: &ProgressNote,
    ) -> Result<ExitStatus, CommandError> {
        let ModelOutputs {
            names,
            formula,
            out,
            pictures,
        } = *outputs;
        models::with_models(console, names, filter, |console, models| {
            models.product.try_observables();
            let started = Instant::now();
            let random_draws = models.random_state_hash();
            // A formula that names what does not exist must not cost a search.
            let formula = formula
                .map(|formula| formula_check::check(models, formula.formula.clone()))
                .transpose()
                .map_err(|error| models::model_error(console, &error))?;
            // The first violation ends the search. It may be one of the formula, so that is judged
            // first; but if all are wanted, each unsafe state is shown when it is met.
            let mut answer = match &formula {
                Some(formula) if !self.keep_going => {
                    Some(self.judge(models, formula, started, note)?)
                }
                _ => None,
            };
            let mut limits = self.graph_limits();
            let mut judged_states = None;
            if let Some(answer) = answer.as_ref().filter(|answer| answer.is_violated()) {
                let judged = usize::try_from(answer.states).unwrap_or(usize::MAX);
                limits.states = Some(limits.states.map_or(judged, |most| most.min(judged)));
                judged_states = limits.states.map(|most| ReachedLimit::States(most as u64));
            }
            let mut explored = self.explore_models(console, models, &limits, started, note)?;
            if explored.reached_limit.is_some() && explored.reached_limit == judged_states {
                explored.reached_limit = Some(ReachedLimit::Violation);
            }
            if let Some(ModelError::Unusable(_) | ModelError::Raised { .. }) = &explored.error
                && let Some(error) = &explored.error
                && explored.graph.states() == 0
            {
                return Err(models::model_error(console, error));
            }
            if let (Some(formula), None) = (&formula, &answer) {
                answer = Some(self.judge(models, formula, started, note)?);
            }
            // The following has no time limit.
            note.write_own_work();
            let time = started.elapsed();
            let is_random = models.random_state_hash() != random_draws;
            console.clear_status();
            testwright_python::flush();
            let mut caveats = models.product.caveats();
            caveats.extend(is_random.then_some(Caveat::RandomModel));
            let mut verdict = Verdict::new(extent_of(&explored));
            verdict.add_caveats(caveats.iter().cloned());
            if let Some(answer) = &mut answer {
                answer.add_caveats(&caveats);
            }
            let is_violated = answer.as_ref().is_some_and(FormulaResult::is_violated);
            let report = ModelReport::new(models, &explored, time, verdict);
            if !self.json {
                report.print(console, models, &explored);
                print_dead_end(console, models, &explored.graph);
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
                    console.out(format_args!("Written: {}", out.shown().display()));
                }
            }
            if self.pictures.is_given() {
                let title = pictures::title(names);
                let drawn = pictures::exploration_graph(&models.product, &explored.graph, &title);
                console.set_quiet(self.json);
                pictures.write(console, &drawn)?;
                console.set_quiet(false);
            }
            if let Some(answer) = answer.as_ref().filter(|_| !self.json) {
                answer.print(console);
            }
            if self.json {
                console.out(report.json(models, &explored, answer.as_ref()));
            }
            match &explored.error {
                None | Some(ModelError::Interrupted) if is_violated => Ok(ExitStatus::FailureFound),
                None | Some(ModelError::Interrupted) => Ok(report.status(console)),
                Some(error) => Err(models::model_error(console, error)),
            }
        })
    }

    /// Returns the command for the header of the FSM module.
    fn command_line(&self, names: &[String]) -> String {
        let mut line = format!("testwright explore {}", names.join(" "));
        let max = self.max.map(|max| max.to_string());
        let options = self.action.iter().map(|name| ("--action", name));
        let options = options.chain(self.exclude.iter().map(|name| ("--exclude", name)));
        for (option, value) in options.chain(max.iter().map(|max| ("--max", max))) {
            line.push_str(&format!(" {option} {value}"));
        }
        line
    }

    /// Returns the limits of the exploration of models.
    fn graph_limits(&self) -> GraphLimits {
        let states = self.most_states;
        GraphLimits {
            transitions: self.max,
            states: states.map(|most| usize::try_from(most).unwrap_or(usize::MAX)),
            bytes: Some(self.memory.unwrap_or(DEFAULT_MEMORY)),
            stop_at_unsafe: !self.keep_going,
        }
    }

    /// Judges the formula: in half of the time if that is limited and an exploration follows.
    fn judge(
        &self,
        models: &mut Models<'_>,
        formula: &Formula,
        started: Instant,
        note: &ProgressNote,
    ) -> Result<FormulaResult, CommandError> {
        let share = if self.keep_going { 1 } else { 2 };
        let time = self.time.map(|time| time / share);
        let mut throttle = Throttle::new();
        let mut answer = evaluate(models, formula, &self.graph_limits(), &mut |progress| {
            let states = usize::try_from(progress.states).unwrap_or(usize::MAX);
            note.set_counters([states, 0, 0]);
            let Some(now) = throttle.poll() else {
                return true;
            };
            !testwright_python::is_stop_requested() && time.is_none_or(|time| now - started < time)
        })?;
        if !testwright_python::is_stop_requested() {
            answer.end_by_time();
        }
        Ok(answer)
    }

    /// Fails if an option is given that only harnesses have.
    fn validate_for_models(&self) -> Result<(), Error> {
        let harness_options = [
            (self.order.is_some(), "--order"),
            (self.depth.is_some(), "--depth"),
            (self.small_scope.is_some(), "--small-scope"),
            (self.symmetry, "--symmetry"),
            (self.no_matching, "--no-matching"),
            (self.goal.is_some(), "--goal"),
            (self.heuristic.is_some(), "--heuristic"),
            (self.without.is_some(), "--without"),
            (self.going_back.is_some(), "--going-back"),
            (self.system.no_check, "--no-check"),
        ];
        match harness_options.iter().find(|(is_given, _)| *is_given) {
            Some((_, option)) => Err(Error::new(format!("`{option}` is for harnesses"))
                .with_help("models are explored breadth first, each state once and with its invariants: leave it out")),
            None => Ok(()),
        }
    }

    /// Explores in one process or in several.
    ///
    /// Falls back to one process if the states cannot be sent between processes.
    fn explore_models(
        &self,
        console: &mut Console<'_>,
        models: &mut Models<'_>,
        limits: &GraphLimits,
        started: Instant,
        note: &ProgressNote,
    ) -> Result<ExploredGraph, Error> {
        // A formula that is judged afterwards needs time, too.
        let share = if self.keep_going && self.formula.is_some() {
            2
        } else {
            1
        };
        let mut watcher = ModelWatcher {
            deadline: self.time.map(|time| started + time / share),
            console,
            note,
            throttle: Throttle::new(),
            announced: MAX_ANNOUNCED * usize::from(!self.keep_going || self.json),
        };
        let in_one_process = self.jobs.is_none_or(|jobs| jobs < 2);
        if in_one_process {
            let mut local = LocalExpander;
            return Ok(explore_with(
                &mut models.product,
                &mut local,
                limits,
                &mut watcher,
            ));
        }
        // Models find their initial state before they are copied.
        let _begun = models.product.initial_state(0);
        let mut passing = models.value_codec();
        let connections = helpers::start(models, &mut passing, self.jobs.unwrap_or(1) - 1)?;
        let mut team = HelperPool::new(
            connections,
            &mut passing,
            Box::new(move || started.elapsed()),
        );
        let explored = explore_with(&mut models.product, &mut team, limits, &mut watcher);
        drop(team);
        let refused = match &explored.error {
            Some(ModelError::Unusable(error)) => [CANNOT_PASS_STATES, COPIES_DIFFER]
                .into_iter()
                .find(|reason| *reason == error.message),
            _ => None,
        };
        let Some(reason) = refused else {
            return Ok(explored);
        };
        let explored = explore_with(
            &mut models.product,
            &mut LocalExpander,
            limits,
            &mut watcher,
        );
        let console = watcher.console;
        console.warning(&format!("explored in one process, since {reason}"), None);
        Ok(explored)
    }
}

/// Returns how much of the models was explored.
fn extent_of(explored: &ExploredGraph) -> VerdictExtent {
    let graph = &explored.graph;
    let limit = match &explored.error {
        Some(ModelError::Interrupted) => return VerdictExtent::Interrupted,
        Some(_) => ReachedLimit::Error,
        None if explored.stopped && testwright_python::is_stop_requested() => {
            return VerdictExtent::Interrupted;
        }
        None if explored.stopped => ReachedLimit::Time,
        None if !graph.is_complete() => {
            let states = ReachedLimit::States(graph.states() as u64);
            explored.reached_limit.unwrap_or(states)
        }
        None if graph.transitions.is_empty() => ReachedLimit::NoFirstAction,
        None => return VerdictExtent::Complete,
    };
    VerdictExtent::Bounded { by: vec![limit] }
}

/// Maximum number of unsafe states that are shown when they are met.
const MAX_ANNOUNCED: usize = 3;

/// Shows the progress of an exploration, and each violation when it is met.
struct ModelWatcher<'w, 'o> {
    console: &'w mut Console<'o>,
    note: &'w ProgressNote,
    throttle: Throttle,
    deadline: Option<Instant>,
    /// Number of unsafe states that were shown.
    announced: usize,
}

impl GraphWatcher for ModelWatcher<'_, '_> {
    fn proceed(&mut self, progress: &GraphProgress) -> bool {
        self.note
            .set_counters([progress.states, progress.transitions, progress.waiting]);
        let Some(now) = self.throttle.poll() else {
            return true;
        };
        self.console.status(|| {
            format!(
                "{}, {}, {} waiting",
                quantity::format_count(progress.states as u64, "state"),
                quantity::format_count(progress.transitions as u64, "transition"),
                quantity::grouped(progress.waiting as u64)
            )
        });
        !testwright_python::is_stop_requested() && self.deadline.is_none_or(|end| now < end)
    }

    /// Shows the first few states whose invariant is false at once, since the search goes on.
    fn found_unsafe(&mut self, product: &Product<'_>, graph: &ProductGraph, state: u32) {
        if self.announced == MAX_ANNOUNCED {
            return;
        }
        self.announced += 1;
        self.console.clear_status();
        testwright_python::flush();
        let steps = graph.shortest_path_to(state).len() as u64;
        let title = self.console.paint(TextStyle::Failure, "Unsafe");
        self.console.out(format_args!(
            "{title} after {}: state {state}: {}",
            quantity::format_count(steps, "step"),
            graph.text(product, state)
        ));
        self.console.flush();
    }
}

/// Reports that a model ended its process, and how far the exploration was.
fn report_crash(
    console: &mut Console<'_>,
    note: &str,
    failure: &Failure,
) -> Result<ExitStatus, CommandError> {
    let counts: Vec<u64> = note
        .split_whitespace()
        .filter_map(|word| word.parse().ok())
        .collect();
    models::report_failure(console, failure);
    match counts.as_slice() {
        [states, transitions, waiting] => {
            console.out(format_args!(
                "Explored until then: {}, {}",
                quantity::format_count(*states, "state"),
                quantity::format_count(*transitions, "transition"),
            ));
            let expanded = states.saturating_sub(*waiting);
            console.out(format_args!(
                "It was at state {expanded}; with `--max {transitions}` it ends before"
            ));
        }
        _ => console
            .out("It happened before the first state was met, while the models were imported"),
    }
    Ok(ExitStatus::Error)
}

/// Fails if the output file is one of the models.
fn protect_model_files(out: &UserPath, names: &[String]) -> Result<(), Error> {
    for name in names {
        let file = if name.ends_with(".py") {
            PathBuf::from(name)
        } else {
            PathBuf::from(format!("{name}.py"))
        };
        if out.is_same_file(&file) {
            let message = format!(
                "`{}` is the model itself, and would be lost",
                out.shown().display()
            );
            return Err(Error::new(message).with_help("choose another file with `--out FILE`"));
        }
    }
    Ok(())
}

/// Prints why nothing is possible in the first dead end.
fn print_dead_end(console: &mut Console<'_>, models: &mut Models<'_>, graph: &ProductGraph) {
    let Some(state) = graph.dead_ends.first() else {
        return;
    };
    let states = graph.state(*state).to_vec();
    let Ok(blocked) = models.product.explain(&states) else {
        return;
    };
    let product = &models.product;
    console.out(format_args!("Nothing is possible in state {state}:"));
    for reason in conform::explain_all(product, &blocked).iter().take(20) {
        console.out(format_args!("    {reason}"));
    }
    for reason in conform::explain_not_accepting(product, &states) {
        console.out(format_args!("  and {reason}"));
    }
}
