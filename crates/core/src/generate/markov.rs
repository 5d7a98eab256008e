//! Markov models: choosing actions as given tests did.
//!
//! A [`MarkovModel`] of order N stores, for each run of N classes in given tests, how often which
//! class came next. Generated tests resemble those it was learned from: user sessions, or tests
//! that were good.
//!
//! In files it is the order, then for each run its classes and the classes that follow:
//!
//! ```text
//! 1
//! START CLASS
//! <list> := []
//! END CLASS
//! 0.75 %%%% <list>.append(<int>)
//! 0.25 %%%% <list>.sort()
//! ```

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use super::class_draw::{ClassDraw, draw_index};
use super::class_table::SEPARATOR;
use super::class_text::{ClassIndex, TextProblem, one_line};
use super::{Strategy, TestStart};
use crate::{ActionClasses, ActionId, Catalog, ClassId, Error, Random, Step, System, Test};

const START: &str = "START CLASS";
const END: &str = "END CLASS";

/// The probabilities of the next class after each run of classes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MarkovModel {
    order: usize,
    followers: BTreeMap<Vec<ClassId>, Vec<(ClassId, f64)>>,
}

impl MarkovModel {
    /// Learns which classes follow each run of `order` classes in these tests. A restart ends a
    /// run.
    pub fn learn<'a>(
        catalog: &Catalog,
        classes: &ActionClasses,
        order: usize,
        tests: impl IntoIterator<Item = &'a Test>,
    ) -> MarkovModel {
        let mut counts: BTreeMap<Vec<ClassId>, BTreeMap<ClassId, u64>> = BTreeMap::new();
        for test in tests {
            let class = |step: &Step| match step {
                Step::Act(action) => Some(classes.class_of_action(catalog, *action)),
                Step::Restart => None,
            };
            let mapped: Vec<Option<ClassId>> = test.steps.iter().map(class).collect();
            for run in mapped.split(Option::is_none) {
                let run: Vec<ClassId> = run.iter().copied().flatten().collect();
                for window in run.windows(order + 1) {
                    let followers = counts.entry(window[..order].to_vec()).or_default();
                    *followers.entry(window[order]).or_default() += 1;
                }
            }
        }
        let frequencies = |counts: BTreeMap<ClassId, u64>| {
            let total: u64 = counts.values().sum();
            let counts = counts.into_iter();
            counts
                .map(|(class, count)| (class, count as f64 / total as f64))
                .collect()
        };
        let followers = counts.into_iter();
        MarkovModel {
            order,
            followers: followers
                .map(|(run, counts)| (run, frequencies(counts)))
                .collect(),
        }
    }

    /// Returns the length of the runs.
    pub fn order(&self) -> usize {
        self.order
    }

    /// Returns the number of runs with a known follower.
    pub fn run_count(&self) -> usize {
        self.followers.len()
    }

    /// Returns the classes that follow a run, with their probabilities; empty if the run is
    /// unknown.
    pub fn followers(&self, run: &[ClassId]) -> &[(ClassId, f64)] {
        self.followers.get(run).map_or(&[], Vec::as_slice)
    }

    /// Parses a model, and returns it with the lines that cannot be understood. The rest is usable.
    pub fn read(classes: &ActionClasses, text: &str) -> (MarkovModel, Vec<TextProblem>) {
        let mut reader = MarkovParser {
            index: ClassIndex::new(classes),
            model: MarkovModel::default(),
            run: None,
            reading_run: false,
            problems: Vec::new(),
        };
        let mut lines = (1..).zip(text.lines());
        match lines.next().map(|(_, line)| line.trim().parse()) {
            Some(Ok(order)) => reader.model.order = order,
            _ => reader.add_problem(
                1,
                "expected the order, a number, in the first line".to_owned(),
            ),
        }
        for (number, line) in lines {
            reader.parse_line(number, line);
        }
        (reader.model, reader.problems)
    }

    /// Renders the model as text.
    pub fn write(&self, classes: &ActionClasses) -> String {
        let mut text = format!("{}\n", self.order);
        for (run, followers) in &self.followers {
            let _a_string_takes_all = writeln!(text, "{START}");
            for class in run {
                let _a_string_takes_all = writeln!(text, "{}", one_line(classes.text(*class)));
            }
            let _a_string_takes_all = writeln!(text, "{END}");
            for (class, probability) in followers {
                let class = one_line(classes.text(*class));
                let _a_string_takes_all = writeln!(text, "{probability} {SEPARATOR} {class}");
            }
        }
        text
    }
}

/// The parser of model files.
struct MarkovParser {
    index: ClassIndex,
    model: MarkovModel,
    /// The run whose followers come next; `None` if it contains an unknown class.
    run: Option<Vec<ClassId>>,
    reading_run: bool,
    problems: Vec<TextProblem>,
}

impl MarkovParser {
    /// Records a problem.
    fn add_problem(&mut self, line: usize, message: String) {
        self.problems.push(TextProblem { line, message });
    }

    /// Parses one line.
    fn parse_line(&mut self, number: usize, line: &str) {
        match line.trim() {
            START => {
                self.reading_run = true;
                self.run = Some(Vec::new());
            }
            END => {
                self.reading_run = false;
                let length = self.run.as_ref().map(Vec::len);
                if length.is_some_and(|length| length != self.model.order) {
                    let order = self.model.order;
                    self.add_problem(number, format!("expected {order} classes before this line"));
                    self.run = None;
                }
            }
            // The rest of a class with a line break in it.
            "" => {}
            _ if self.reading_run => match self.index.find(line) {
                Ok(class) => self.run.iter_mut().for_each(|run| run.push(class)),
                Err(message) => {
                    self.run = None;
                    self.add_problem(number, message);
                }
            },
            _ => self.parse_follower(number, line),
        }
    }

    /// Parses a line with a probability and a class.
    fn parse_follower(&mut self, number: usize, line: &str) {
        let parts = line.split_once(SEPARATOR);
        let read = parts.and_then(|(number, class)| Some((number.trim().parse().ok()?, class)));
        let Some((probability, class)) = read.filter(|(number, _): &(f64, _)| *number >= 0.0)
        else {
            return self.add_problem(number, format!("expected `0.5 {SEPARATOR} CLASS`"));
        };
        match (self.index.find(class), &self.run) {
            (Ok(class), Some(run)) => {
                let followers = self.model.followers.entry(run.clone()).or_default();
                followers.push((class, probability));
            }
            (Ok(_), None) => {}
            (Err(message), _) => self.add_problem(number, message),
        }
    }
}

/// Chooses the next class with a Markov model; any enabled action where the model does not know.
#[derive(Clone, Debug)]
pub struct Markov {
    model: MarkovModel,
    probability: f64,
    classes: Arc<ActionClasses>,
    draw: ClassDraw,
    /// The classes of the last steps.
    run: Vec<ClassId>,
    weights: Vec<f64>,
}

impl Markov {
    /// Creates a strategy that uses the model with this probability at each step, and any enabled
    /// action otherwise.
    pub fn new(classes: &Arc<ActionClasses>, model: MarkovModel, probability: f64) -> Markov {
        Markov {
            model,
            probability,
            draw: ClassDraw::new(classes),
            classes: Arc::clone(classes),
            run: Vec::new(),
            weights: Vec::new(),
        }
    }
}

impl<S: System + ?Sized> Strategy<S> for Markov {
    fn begin_test(&mut self, _: &mut S, _: &mut TestStart, _: &mut Random) -> Result<(), Error> {
        self.run.clear();
        Ok(())
    }

    fn next_action(&mut self, system: &mut S, random: &mut Random) -> Option<ActionId> {
        if random.chance(self.probability) {
            let followers = self.model.followers(&self.run);
            self.weights.clear();
            let weights = followers.iter().map(|(_, probability)| probability);
            self.weights.extend(weights);
            // A class without enabled actions leaves the draw, until no class known to the model is
            // left.
            while let Some(index) = draw_index(&self.weights, random) {
                let picked = self
                    .draw
                    .pick_from_class(system, followers[index].0, random);
                if picked.is_some() {
                    return picked;
                }
                self.weights[index] = 0.0;
            }
        }
        system.pick(random)
    }

    fn after_step(&mut self, system: &mut S, steps: &[Step]) -> Result<(), Error> {
        if let Some(Step::Act(action)) = steps.last() {
            if self.run.len() == self.model.order {
                self.run.drain(..1.min(self.model.order));
            }
            if self.model.order > 0 {
                self.run
                    .push(self.classes.class_of_action(system.actions(), *action));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{SEARCH, generate_tests};
    use super::*;
    use crate::toys::{Buffer, Crossing, catalog};

    const PUT: ActionId = ActionId(0);
    const TAKE: ActionId = ActionId(1);
    const LOOK: ActionId = ActionId(3);

    fn learned(order: usize, tests: &[Test]) -> (Arc<ActionClasses>, MarkovModel) {
        let buffer = Buffer::new(1);
        let classes = Arc::new(ActionClasses::new(buffer.actions()));
        let model = MarkovModel::learn(buffer.actions(), &classes, order, tests);
        (classes, model)
    }

    #[test]
    fn frequencies_are_learned_from_the_first_step_on() {
        let mut test = Test::from_actions([PUT, TAKE, PUT, PUT, LOOK]);
        test.steps.insert(2, Step::Restart);
        let (_, model) = learned(1, &[test]);
        let [put, take, look] = [ClassId(0), ClassId(1), ClassId(3)];
        let third = 1.0 / 3.0;
        assert_eq!(
            model.followers(&[put]),
            [(put, third), (take, third), (look, third)]
        );
        assert_eq!(model.followers(&[take]), [], "a restart comes after it");
        assert_eq!(model.run_count(), 1);
    }

    #[test]
    fn markov_models_survive_a_round_trip() {
        let lines = ["go()", "say('%%%% 3')", "*3 wait()\n", "  stop()"];
        let catalog = catalog(&[], &lines);
        let classes = ActionClasses::new(&catalog);
        let test = Test::from_actions([0, 1, 2, 5, 0, 1, 5, 3, 4, 0].map(ActionId));
        for order in 0..4 {
            let model = MarkovModel::learn(&catalog, &classes, order, [&test]);
            let text = model.write(&classes);
            assert_eq!(MarkovModel::read(&classes, &text), (model, vec![]));
        }
    }

    #[test]
    fn nonsense_is_named_with_its_line() {
        let classes = ActionClasses::new(&catalog(&[], &["go()"]));
        let text = "one\nSTART CLASS\nEND CLASS\n0.5 %%%% go()\n0.5 go()\nSTART CLASS\nfly()\nEND CLASS\n1 %%%% go()";
        let (model, problems) = MarkovModel::read(&classes, text);
        assert_eq!(model.followers(&[]), [(ClassId(0), 0.5)]);
        let lines: Vec<usize> = problems.iter().map(|problem| problem.line).collect();
        assert_eq!(lines, [1, 5, 7]);
    }

    #[test]
    fn tests_look_like_those_learned_from() {
        let (classes, model) = learned(2, &[Test::from_actions([PUT, PUT, TAKE, PUT, PUT, TAKE])]);
        let mut markov = Markov::new(&classes, model, 1.0);
        let tests = generate_tests(&mut Buffer::new(usize::MAX), &mut markov, &SEARCH, 10);
        let cycle = [PUT, PUT, TAKE].map(Step::Act);
        for test in tests {
            let ends_in_cycle = test.steps.windows(3).filter(|steps| *steps == cycle);
            assert!(ends_in_cycle.count() > 15, "{test:?}");
        }
    }

    #[test]
    fn disabled_actions_are_not_chosen() {
        let crossing = Crossing::default();
        let classes = Arc::new(ActionClasses::new(crossing.actions()));
        let test = Test::from_actions([Crossing::WAIT, Crossing::GO_AT_RED, Crossing::WAIT]);
        let model = MarkovModel::learn(crossing.actions(), &classes, 1, [&test]);
        let mut markov = Markov::new(&classes, model, 1.0);
        let options = super::super::SearchOptions {
            length: 5,
            ..SEARCH
        };
        assert_eq!(
            generate_tests(&mut Crossing::default(), &mut markov, &options, 20).len(),
            20
        );
    }
}
