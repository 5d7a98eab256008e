//! Laws that hold for every product of models, checked on small ones.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use testwright_core::explore::{ExploreOptions, ExploredExtent, Explorer};
use testwright_core::laws::{check_fingerprint_laws, check_laws, check_snapshot_laws};
use testwright_core::product::{Interner, Product, ValueId, ValueText};
use testwright_core::shrink::{ReduceOptions, reduce};
use testwright_core::toys::ToyMachine;
use testwright_core::{Outcome, System, Test};
use testwright_model::parallel::{Connection, HelperPool, ValueCodec, serve};
use testwright_model::{GraphLimits, ProductSystem, explore, explore_with, fsm_file};

/// Builds a protocol with a dead end, and a scenario that lets two actions alternate.
fn product() -> Product<'static> {
    let mut interner = ToyMachine::interner();
    let lines = [
        "idle send(1) busy",
        "idle send(2) busy",
        "busy reply/ok idle",
        "busy reply/lost idle",
        "busy stop corner",
        "idle wait idle",
    ];
    let protocol = ToyMachine::program(&mut interner, "protocol", &lines);
    let turns = ToyMachine::scenario(
        &mut interner,
        "turns",
        &["a send b", "b reply a", "b stop b"],
    );
    Product::new(interner, vec![Box::new(protocol), Box::new(turns)])
}

#[test]
fn a_product_keeps_the_laws_of_systems() {
    let mut product = product();
    let mut system = ProductSystem::new(&mut product).unwrap();
    check_laws(&mut system, 1, 200).unwrap();
    check_snapshot_laws(&mut system, 2, 200).unwrap();
    check_fingerprint_laws(&mut system, 3, 200).unwrap();
}

#[test]
fn exploring_it_as_a_system_meets_as_many_states() {
    let graph = explore(&mut product(), &GraphLimits::default(), &mut |_| true).graph;
    let mut product = product();
    let mut system = ProductSystem::new(&mut product).unwrap();
    let mut explorer = Explorer::new(&mut system)
        .with_snapshots()
        .with_fingerprints();
    let found = explorer
        .explore(&ExploreOptions::default(), &mut ())
        .unwrap();
    assert_eq!(
        (found.states as usize, found.extent),
        (graph.states(), ExploredExtent::Everything)
    );
    assert_eq!(
        found.deadlock_count as usize,
        graph.dead_ends.len() + graph.finished.len()
    );
}

/// A system that fails when a product has been stopped.
struct Watched<'w, 'm>(ProductSystem<'w, 'm>);

impl System for Watched<'_, '_> {
    fn actions(&self) -> &testwright_core::Catalog {
        self.0.actions()
    }
    fn reset(&mut self) -> Result<(), testwright_core::Error> {
        self.0.reset()
    }
    fn is_enabled(&mut self, action: testwright_core::ActionId) -> bool {
        self.0.is_enabled(action)
    }
    fn step(&mut self, action: testwright_core::ActionId) -> Outcome {
        let is_end = self.actions().text(action).starts_with("stop");
        let outcome = self.0.step(action);
        if is_end {
            Outcome::Failed(Box::new(testwright_core::Failure {
                kind: testwright_core::FailureKind::Property,
                message: "stopped".to_owned(),
                signature: "stopped".to_owned(),
                details: String::new(),
            }))
        } else {
            outcome
        }
    }
    fn check(&mut self) -> Outcome {
        self.0.check()
    }
    fn enabled(&mut self) -> Vec<testwright_core::ActionId> {
        self.0.enabled()
    }
}

#[test]
fn tests_of_models_are_reduced_like_any_other() {
    let mut product = product();
    let mut system = Watched(ProductSystem::new(&mut product).unwrap());
    system.reset().unwrap();
    let mut steps = Vec::new();
    // Actions are numbered as they are met, so each is looked up when its turn comes.
    for name in [
        "wait", "send(1)", "reply", "wait", "send(2)", "reply", "send(1)", "stop",
    ] {
        let enabled = system.enabled();
        let action = enabled
            .into_iter()
            .find(|action| system.actions().text(*action).starts_with(name));
        let action = action.unwrap();
        steps.push(action);
        system.step(action);
    }
    let failure = testwright_core::Failure {
        kind: testwright_core::FailureKind::Property,
        message: "stopped".to_owned(),
        signature: "stopped".to_owned(),
        details: String::new(),
    };
    let test = Test::from_actions(steps);
    let reduction = reduce(
        &mut system,
        &test,
        &failure,
        &ReduceOptions::default(),
        &mut || true,
    );
    assert_eq!(reduction.unwrap().test.len(), 2);
}

#[test]
fn a_limit_leaves_a_part_of_the_whole() {
    let whole = explore(&mut product(), &GraphLimits::default(), &mut |_| true).graph;
    assert!(whole.is_complete());
    for most in 0..whole.transitions.len() {
        let limits = GraphLimits {
            transitions: Some(most),
            ..GraphLimits::default()
        };
        let part = explore(&mut product(), &limits, &mut |_| true).graph;
        assert_eq!(part.transitions, whole.transitions[..most]);
        assert!(!part.is_complete());
    }
}

#[test]
fn the_corner_is_dead_and_the_way_there_is_shortest() {
    let mut interner = ToyMachine::interner();
    let trap = ToyMachine::program(
        &mut interner,
        "trap",
        &["a go b", "a fall c", "c round c", "b go a"],
    );
    let mut product = Product::new(interner, vec![Box::new(trap)]);
    let graph = explore(&mut product, &GraphLimits::default(), &mut |_| true).graph;
    // Every state of a machine is accepting, so none is dead, even if nothing leads out of it.
    assert_eq!(graph.dead_states(), Vec::<u32>::new());
    assert_eq!(graph.shortest_path_to(2).len(), 1);
    assert_eq!(graph.shortest_path_to(0).len(), 0);
}

/// Codec for toy machines, whose values are their texts.
struct Texts(Interner);

impl ValueCodec for Texts {
    fn export(&mut self, value: ValueId) -> Option<Vec<u8>> {
        Some(self.0.value_text(value).literal.clone().into_bytes())
    }

    fn import(&mut self, interner: &mut Interner, value: &[u8]) -> Option<ValueId> {
        let text = String::from_utf8(value.to_vec()).ok()?;
        let key = text
            .bytes()
            .fold(0, |key, byte| key << 8 | u128::from(byte));
        Some(interner.intern_value(key, || ValueText::literal(text)))
    }
}

/// Builds three independent counters with some thousand states together.
fn large_product() -> Product<'static> {
    let mut interner = ToyMachine::interner();
    let mut models: Vec<Box<dyn testwright_core::product::Model>> = Vec::new();
    for name in ["one", "two", "three"] {
        let line = |state: usize| format!("{state} up_{name}({state}) {}", (state + 5) % 14);
        let back = |state: usize| format!("{state} back_{name}/{state} 0");
        let lines: Vec<String> = (0..14)
            .flat_map(|state| [line(state), back(state)])
            .collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        models.push(Box::new(ToyMachine::program(&mut interner, name, &lines)));
    }
    Product::new(interner, models)
}

/// Starts helpers as threads. Also returns a counter of the frames that were sent to them.
fn helpers(many: usize) -> (Vec<Connection>, Arc<AtomicUsize>) {
    struct Counted(io::PipeWriter, Arc<AtomicUsize>);
    impl io::Write for Counted {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.write(bytes)
        }
        fn flush(&mut self) -> io::Result<()> {
            self.1.fetch_add(1, Ordering::Relaxed);
            self.0.flush()
        }
    }
    let asked = Arc::new(AtomicUsize::new(0));
    let mut connections: Vec<Connection> = Vec::new();
    for _ in 0..many {
        let (mut questions, ask) = io::pipe().unwrap();
        let (hear, mut answers) = io::pipe().unwrap();
        thread::spawn(move || {
            let mut product = large_product();
            let mut texts = Texts(product.interner().clone());
            serve(&mut product, &mut texts, &mut questions, &mut answers).unwrap();
        });
        connections.push((Box::new(Counted(ask, asked.clone())), Box::new(hear)));
    }
    (connections, asked)
}

#[test]
fn helpers_find_the_same_to_the_last_number() {
    let mut alone = large_product();
    let expected = explore(&mut alone, &GraphLimits::default(), &mut |_| true).graph;
    let states = expected.states();
    assert!(states > 500, "{states} states");
    let expected = fsm_file::write(&alone, &expected, "");
    let mut frames_sent = Vec::new();
    // With a clock that stands still, helpers seem to pay; with one that advances at each reading,
    // they need not.
    for (many, tick) in [(1, 0), (1, 1), (2, 1), (3, 1)] {
        let (connections, asked) = helpers(many);
        let mut product = large_product();
        let mut texts = Texts(product.interner().clone());
        let mut now = Duration::ZERO;
        let clock = Box::new(move || {
            now += Duration::from_micros(tick);
            now
        });
        let mut team = HelperPool::new(connections, &mut texts, clock);
        let found = explore_with(
            &mut product,
            &mut team,
            &GraphLimits::default(),
            &mut |_: &testwright_model::GraphProgress| true,
        );
        assert!(found.error.is_none(), "{:?}", found.error);
        assert_eq!(fsm_file::write(&product, &found.graph, ""), expected);
        frames_sent.push(asked.load(Ordering::Relaxed));
    }
    assert!(
        frames_sent.iter().all(|asked| *asked > 0),
        "{frames_sent:?}"
    );
}
