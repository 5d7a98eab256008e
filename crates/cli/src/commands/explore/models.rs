//! Exploring models: all states of a product, as a machine to look at, to write and to judge.

use std::path::PathBuf;
use std::time::Instant;

use testwright_core::explore::temporal::{Answer, Ending, Parsed};
use testwright_core::explore::{Explorer, Plan};
use testwright_core::product::Trouble as ModelTrouble;
use testwright_core::{Error, Failure};
use testwright_model::parallel::{CANNOT_PASS_STATES, DIFFERENT, Team};
use testwright_model::{
    Exploration, Filter, Graph, Limits, Progress, Walk, conform, explore, explore_with, fsm_file,
    step_text,
};
use testwright_python::Models;

use super::{Explore, helpers, questions};
use crate::console::{Console, Look};
use crate::files::Place;
use crate::guard::{Note, guarded};
use crate::pictures::Pictures;
use crate::pulse::Pulse;
use crate::{ExitStatus, Trouble, duration, models, pictures, quantity, size};

/// How many ways to states are shown.
const MOST_SHOWN: usize = 3;

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
                let command = self.command_line(names);
                out.write(&fsm_file::write(&models.product, &explored.graph, &command))?;
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
            let mut answer = None;
            if let Some(formula) = formula
                && explored.trouble.is_none()
            {
                let judged = judge(models, &formula.formula, self.most())?;
                if let Answer::Violated(_) = judged.0 {
                    status = status.max(ExitStatus::FailureFound);
                }
                if !self.json {
                    let look = match judged.0 {
                        Answer::Holds => Look::Good,
                        Answer::NothingFound(_) => Look::Good,
                        Answer::Violated(_) => Look::Bad,
                    };
                    for (number, line) in judged.1.lines().enumerate() {
                        match number {
                            0 => {
                                console.say(format_args!("Formula: {}", console.paint(look, line)))
                            }
                            _ => console.say(line),
                        }
                    }
                }
                answer = Some(judged);
            }
            if self.json {
                console.say(report.json(models, &explored, answer.as_ref().map(|one| &one.0)));
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
        let file = match name.ends_with(".py") {
            true => PathBuf::from(name),
            false => PathBuf::from(format!("{name}.py")),
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

/// Judges a formula, and says what came of it.
fn judge(
    models: &mut Models<'_>,
    formula: &testwright_core::explore::temporal::Formula,
    most_states: Option<usize>,
) -> Result<(Answer, String), Trouble> {
    let asker = models.asker();
    let trouble = |trouble: ModelTrouble| Error::new(trouble.to_string());
    let mut walk = Walk::new(&mut models.product).map_err(trouble)?;
    let mut explorer = Explorer::of(&mut walk).with_copies().with_fingerprints();
    let plan = Plan {
        check: false,
        most_states,
        ..Plan::default()
    };
    let mut atoms = |walk: &mut Walk<'_, '_>, predicate: &str| {
        asker.holds(walk.product(), walk.states(), predicate)
    };
    let judgement = explorer.judge(formula, &plan, &mut atoms)?;
    use testwright_core::{Step, System};
    let steps = |walk: &Walk<'_, '_>, test: &testwright_core::Test| -> Vec<String> {
        let text = |step: &Step| match step {
            Step::Act(action) => format!("    {}", walk.actions().text(*action)),
            Step::Restart => String::new(),
        };
        test.steps.iter().map(text).collect()
    };
    let words = match &judgement.answer {
        Answer::Holds => "holds in every run".to_owned(),
        Answer::NothingFound(reach) => {
            format!("nothing was found against it, in {reach}")
        }
        Answer::Violated(run) => {
            let mut lines = vec!["is violated by this run".to_owned()];
            lines.extend(steps(&walk, &run.prefix));
            lines.push(match run.ending {
                Ending::Lap if run.prefix.is_empty() => "  again and again".to_owned(),
                Ending::Lap => "  and then again and again".to_owned(),
                Ending::Deadlock => "  where nothing is possible any more".to_owned(),
                Ending::Anything if run.prefix.is_empty() => {
                    "  at its beginning, whatever follows".to_owned()
                }
                Ending::Anything => "  whatever follows".to_owned(),
            });
            lines.extend(steps(&walk, &run.lap));
            lines.join("\n")
        }
    };
    Ok((judgement.answer, words))
}

/// What is known of the states.
struct Report {
    dead: Vec<u32>,
    bytes: usize,
    time: std::time::Duration,
    unsafe_states: usize,
    is_whole: bool,
    /// Whether random numbers were drawn. Then nobody knows what is missing.
    drew: bool,
}

impl Report {
    fn new(
        models: &Models<'_>,
        explored: &Exploration,
        time: std::time::Duration,
        drew: bool,
    ) -> Report {
        let graph = &explored.graph;
        let held: usize = models
            .product
            .models()
            .iter()
            .map(|model| model.bytes())
            .sum();
        Report {
            dead: graph.dead(),
            bytes: (graph.bytes() + held) / graph.states().max(1),
            time,
            unsafe_states: graph.not_safe.len(),
            is_whole: graph.is_complete() && !drew,
            drew,
        }
    }

    fn status(&self) -> ExitStatus {
        match self.unsafe_states + self.dead.len() {
            0 => ExitStatus::NothingFound,
            _ => ExitStatus::FailureFound,
        }
    }

    fn say(&self, console: &mut Console<'_>, models: &Models<'_>, explored: &Exploration) {
        let graph = &explored.graph;
        console.say(format_args!(
            "Explored {}, {}, in {} ({} a state)",
            quantity::of(graph.states() as u64, "state"),
            quantity::of(graph.transitions.len() as u64, "transition"),
            duration::show(self.time),
            size::show(self.bytes),
        ));
        match graph.is_complete() {
            true if self.drew => console.say(
                "There may be more: a model draws random numbers, so another exploration can find others",
            ),
            true => console.say("These are all that can be reached"),
            false => {
                let why = match (&explored.trouble, explored.stopped) {
                    (Some(ModelTrouble::Interrupted), _) | (None, true) => "it was stopped",
                    (Some(_), _) => "a model could not go on",
                    (None, false) => "the limit was reached",
                };
                let waiting = quantity::of(graph.frontier.len() as u64, "state");
                console.say(format_args!(
                    "Not all: {why}, and {waiting} could lead further"
                ));
            }
        }
        console.say(format_args!(
            "{} accepting, {} finished, {}",
            quantity::grouped(graph.accepting.len() as u64),
            quantity::grouped(graph.finished.len() as u64),
            quantity::of(graph.dead_ends.len() as u64, "dead end"),
        ));
        let is_whole = self.is_whole;
        self.say_states(
            console,
            models,
            graph,
            &graph.not_safe,
            &match is_whole {
                true => ["every state is safe", "unsafe"],
                false => ["every state met so far is safe", "unsafe"],
            },
        );
        self.say_states(
            console,
            models,
            graph,
            &self.dead,
            &match is_whole {
                true => [
                    "from every state an accepting state can be reached",
                    "dead: no accepting state can be reached from there",
                ],
                false => [
                    "from every state met so far, an accepting state may still be reached",
                    "dead: no accepting state can be reached from there",
                ],
            },
        );
    }

    /// Says of some states how to get there, or that there are none.
    fn say_states(
        &self,
        console: &mut Console<'_>,
        models: &Models<'_>,
        graph: &Graph,
        states: &[u32],
        [none, some]: &[&str; 2],
    ) {
        let Some(first) = states.first() else {
            let words = console.paint(Look::Good, none);
            return console.say(words);
        };
        let number = quantity::of(states.len() as u64, "state");
        let words = console.paint(Look::Bad, format!("{number} {some}"));
        console.say(words);
        for state in states.iter().take(MOST_SHOWN) {
            console.say(format_args!(
                "  state {state}: {}",
                graph.text(&models.product, *state)
            ));
        }
        if states.len() > MOST_SHOWN {
            console.say(format_args!("  and {} more", states.len() - MOST_SHOWN));
        }
        let way = graph.way_to(*first);
        match way.is_empty() {
            true => console.say(format_args!("  runs begin in state {first}")),
            false => console.say(format_args!("  a shortest way to state {first}:")),
        }
        for transition in way {
            let label = graph.labels[graph.transitions[transition as usize].label as usize];
            console.say(format_args!(
                "    {}",
                step_text(models.product.words(), label)
            ));
        }
    }

    fn json(&self, models: &Models<'_>, explored: &Exploration, answer: Option<&Answer>) -> String {
        let graph = &explored.graph;
        let ways = graph.ways();
        let state = |number: u32| {
            let way: Vec<String> = ways
                .to(number)
                .iter()
                .map(|one| graph.labels[graph.transitions[*one as usize].label as usize])
                .map(|label| step_text(models.product.words(), label))
                .collect();
            serde_json::json!({
                "state": number,
                "text": graph.text(&models.product, number),
                "way": way,
            })
        };
        let some = |states: &[u32]| -> Vec<serde_json::Value> {
            states
                .iter()
                .take(100)
                .map(|number| state(*number))
                .collect()
        };
        serde_json::json!({
            "states": graph.states(),
            "transitions": graph.transitions.len(),
            "accepting": graph.accepting.len(),
            "finished": graph.finished.len(),
            "dead_ends": graph.dead_ends,
            "complete": self.is_whole,
            "frontier": graph.frontier.len(),
            "unsafe": some(&graph.not_safe),
            "dead": some(&self.dead),
            "formula": answer.map(|answer| match answer {
                Answer::Holds => "holds",
                Answer::NothingFound(_) => "nothing-found",
                Answer::Violated(_) => "violated",
            }),
            "seconds": self.time.as_secs_f64(),
            "bytes_per_state": self.bytes,
        })
        .to_string()
    }
}
