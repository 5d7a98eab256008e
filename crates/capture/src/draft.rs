//! A first harness for some modules, drafted from what they offer and from what was recorded of them.
//!
//! [`draft`] goes through four steps. What the modules offer is read from their text (`surface`). Each function, constructor,
//! method, property and operator becomes an action for each way in which it was called (`drafter`, `calls`), or for what its
//! signature tells (`hint`); what may reach outside of the program is commented out (`danger`). The values that were seen and
//! those that hints speak of become pools (`pools`). Then the recorded calls are told with these actions, as saved tests
//! (`story`), and everything is laid out as text (`text`).
//!
//! Nothing is imported and nothing is run: a draft is made from text and from a recording.

mod action;
mod calls;
mod danger;
mod drafter;
mod files;
mod guard;
mod hint;
mod pools;
mod sample;
mod story;
mod surface;
mod text;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::inspect::Project;
use crate::recording::Recording;
use crate::write::{Knowledge, Scope};
use calls::Calls;
use danger::Texts;
use drafter::Drafter;
use pools::Wishes;
use story::{Teller, Told};
use surface::Surface;
use text::{Head, Page};

/// A drafted harness and what goes with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    /// The harness.
    pub text: String,
    /// Saved tests: what was recorded, as far as it can be said with the harness's actions.
    pub tests: Vec<String>,
    /// What became of everything.
    pub summary: Summary,
}

/// What became of everything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summary {
    /// How many recorded calls the draft comes from.
    pub calls: usize,
    /// How many lines are actions.
    pub actions: usize,
    /// How many are commented out.
    pub left_out: usize,
    /// How many calls from outside of the modules the saved tests make again.
    pub told: usize,
    /// How many such calls could not be said.
    pub untold: usize,
}

/// What any call may raise because its values do not fit together.
const USUAL: [&str; 10] = [
    "TypeError",
    "ValueError",
    "LookupError",
    "AttributeError",
    "ArithmeticError",
    "AssertionError",
    "ImportError",
    "NotImplementedError",
    "OSError",
    "StopIteration",
];

/// What modules of Python raise that is none of these, if what they are given is wrong.
const OF_MODULES: [(&str, &str); 9] = [
    ("configparser", "configparser.Error"),
    ("csv", "csv.Error"),
    ("pickle", "pickle.PickleError"),
    ("queue", "queue.Empty"),
    ("re", "re.error"),
    ("sqlite3", "sqlite3.Error"),
    ("struct", "struct.error"),
    ("xml.parsers", "xml.parsers.expat.ExpatError"),
    ("zlib", "zlib.error"),
];

/// Drafts a harness for the modules of these names and all that are inside of them. `file` is what the harness will be called.
#[must_use]
pub fn draft(recording: &Recording, project: &Project, modules: &[String], file: &str) -> Draft {
    let knowledge = Knowledge::new(project);
    let surface = Surface::of(
        project,
        modules,
        calls::used_from_outside(recording, &knowledge, modules),
    );
    let calls = Calls::of_surface(&surface, recording, &knowledge);
    let texts = Texts::of(&surface, |module| {
        fs::read_to_string(project.root.join(&module.path)).ok()
    });
    let mut drafter = Drafter {
        surface: &surface,
        texts,
        scope: Scope::by_module(calls.aliases(), surface.homes.clone()),
        calls,
        wishes: Wishes::default(),
        classes: Vec::new(),
        actions: Vec::new(),
        pending: Vec::new(),
    };
    drafter.choose_classes();
    drafter.draft();
    let exceptions = exceptions(&surface, &mut drafter.scope);
    let Drafter {
        calls,
        mut scope,
        wishes,
        classes,
        actions,
        ..
    } = drafter;
    let taken: Vec<String> = classes.iter().map(|class| class.pool.clone()).collect();
    let settled = wishes.settled(&taken);
    let told = Teller {
        calls: &calls,
        classes: &classes,
        actions: &actions,
        settled: &settled,
        scope: &mut scope,
    }
    .tell();
    let (sources, is_in_source_folder) = sources(project, modules);
    let head = Head {
        modules,
        file,
        sources,
        is_in_source_folder,
        imports: imports(&scope, &actions, modules),
        calls: calls.len(),
        tests: told.stories.len(),
        exceptions,
    };
    let page = Page {
        files: calls.files(),
        classes: &classes,
        sizes: &told.objects,
        actions: &actions,
        settled: &settled,
        lines: Vec::new(),
    };
    let text = page.text(&head);
    let left_out = actions
        .iter()
        .filter(|action| action.left_out.is_some())
        .count();
    let summary = Summary {
        calls: calls.len(),
        actions: actions.len() - left_out,
        left_out,
        told: told.told,
        untold: told.untold,
    };
    Draft {
        text,
        tests: tests(&told, file),
        summary,
    }
}

/// The usual exceptions, and those that the modules define themselves.
fn exceptions(surface: &Surface<'_>, scope: &mut Scope) -> Vec<String> {
    let mut names: Vec<String> = USUAL.map(str::to_owned).to_vec();
    let modules = surface.modules.iter();
    let imported: BTreeSet<&str> = modules
        .flat_map(|module| &module.imports)
        .map(|import| import.module.as_str())
        .collect();
    for (module, exception) in OF_MODULES {
        let is_it = |name: &&str| *name == module || name.starts_with(&format!("{module}."));
        if imported.iter().any(is_it)
            && let Some((home, _)) = exception.rsplit_once('.')
        {
            scope.module(home);
            names.push(exception.to_owned());
        }
    }
    for at in surface.classes() {
        let reference = at.reference();
        if surface.is_exception(&reference) && surface.offers(at.module, at.definition) {
            names.push(scope.reference(&reference).flat());
        }
    }
    names
}

/// What the modules are called in `source:` lines, and whether they are in the folder `src`, where Python does not look by
/// itself.
fn sources(project: &Project, modules: &[String]) -> (Vec<String>, bool) {
    let mut is_in_folder = false;
    let names = modules.iter().map(|name| {
        let path = Path::new("src").join(name.replace('.', "/"));
        let is_there = |path: &Path| project.module_at(path).is_some();
        let is_package = is_there(&path.join("__init__.py"));
        if !is_package && !is_there(&path.with_extension("py")) {
            return name.clone();
        }
        is_in_folder = true;
        let path = if is_package {
            path
        } else {
            path.with_extension("py")
        };
        path.to_string_lossy().into_owned()
    });
    (names.collect(), is_in_folder)
}

/// What the harness imports: the modules themselves, and what its values and calls need.
fn imports(scope: &Scope, actions: &[action::Action<'_>], modules: &[String]) -> Vec<String> {
    let mut names: BTreeSet<String> = modules.iter().cloned().collect();
    names.extend(scope.imports().into_iter().map(|import| import.module));
    for action in actions {
        match action.wrap {
            action::Wrap::Some => names.insert("itertools".to_owned()),
            action::Wrap::Run => names.insert("asyncio".to_owned()),
            _ => false,
        };
    }
    // `copy` is there without an import.
    names.remove("copy");
    names
        .into_iter()
        .map(|name| format!("import {name}"))
        .collect()
}

fn tests(told: &Told, file: &str) -> Vec<String> {
    let stories = told.stories.iter();
    stories
        .map(|steps| {
            let head = format!("# testwright test 1\n# harness: {file}\n# recorded: yes\n");
            steps.iter().fold(head, |text, step| text + step + "\n")
        })
        .collect()
}

#[cfg(test)]
mod tests;
