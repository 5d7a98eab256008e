//! Drafts a first harness for some modules, from their public API and from a recording.
//!
//! [`draft`] works in four steps. The public API of the modules is read from their source
//! (`public_api`). Each function, constructor, method, property and operator becomes an action for
//! each form in which it was called (`drafter`, `calls`), or for its signature (`hint`); actions
//! that may affect anything outside of the program are commented out (`side_effects`). Recorded
//! values and values suggested by type hints become pools (`pools`). Then the recorded calls are
//! replayed with these actions as saved tests (`recorded_tests`), and everything is laid out as
//! text (`text`).
//!
//! Nothing is imported and nothing is run: a draft is made from source and from a recording.

mod action;
mod calls;
mod drafter;
mod files;
mod guard;
mod hint;
mod pools;
mod public_api;
mod recorded_tests;
mod sample;
mod side_effects;
mod text;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::inspect::PythonProject;
use crate::recording::Recording;
use crate::write::{ImportScope, Knowledge};
use calls::RecordedCalls;
use drafter::Drafter;
use pools::ValueRequests;
use public_api::PublicApi;
use recorded_tests::{RecordedTests, TestDrafter};
use side_effects::SourceTexts;
use text::{DraftHeader, DraftText};

/// A drafted harness, with saved tests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    /// The harness.
    pub text: String,
    /// The recorded calls as saved tests, as far as the harness's actions can repeat them.
    pub tests: Vec<String>,
    /// The numbers for the report.
    pub summary: DraftSummary,
}

/// The numbers of calls and actions in a draft.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DraftSummary {
    /// The number of recorded calls that the draft comes from.
    pub calls: usize,
    /// The number of actions.
    pub actions: usize,
    /// The number of actions that are commented out.
    pub commented_out: usize,
    /// The number of calls from outside of the modules that the saved tests repeat.
    pub replayed_calls: usize,
    /// The number of such calls that could not be repeated.
    pub skipped_calls: usize,
}

/// Exceptions that any call may raise because its values do not fit together.
const USUAL_EXCEPTIONS: [&str; 10] = [
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

/// Further exceptions that modules of the standard library raise for wrong arguments, by module.
const MODULE_EXCEPTIONS: [(&str, &str); 9] = [
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

/// Drafts a harness for the modules of these names and all modules inside of them. `file` is the
/// name of the harness.
#[must_use]
pub fn draft(
    recording: &Recording,
    project: &PythonProject,
    modules: &[String],
    file: &str,
) -> Draft {
    let knowledge = Knowledge::new(project);
    let api = PublicApi::collect(
        project,
        modules,
        calls::used_from_outside(recording, &knowledge, modules),
    );
    let calls = RecordedCalls::collect(&api, recording, &knowledge);
    let texts = SourceTexts::read(&api, |module| {
        fs::read_to_string(project.root.join(&module.path)).ok()
    });
    let mut drafter = Drafter {
        api: &api,
        texts,
        scope: ImportScope::with_module_names(calls.aliases(), api.exporting_packages.clone()),
        calls,
        requests: ValueRequests::default(),
        classes: Vec::new(),
        actions: Vec::new(),
        pending: Vec::new(),
    };
    drafter.choose_classes();
    drafter.draft_actions();
    let exceptions = expected_exceptions(&api, &mut drafter.scope);
    let Drafter {
        calls,
        mut scope,
        requests,
        classes,
        actions,
        ..
    } = drafter;
    let taken: Vec<String> = classes.iter().map(|class| class.pool.clone()).collect();
    let pools = requests.into_pools(&taken);
    let recorded_tests = TestDrafter {
        calls: &calls,
        classes: &classes,
        actions: &actions,
        pools: &pools,
        scope: &mut scope,
    }
    .draft_tests();
    let (sources, is_in_source_folder) = source_modules(project, modules);
    let head = DraftHeader {
        modules,
        file,
        sources,
        is_in_source_folder,
        imports: harness_imports(&scope, &actions, modules),
        calls: calls.len(),
        tests: recorded_tests.tests.len(),
        exceptions,
    };
    let page = DraftText {
        files: calls.files(),
        classes: &classes,
        sizes: &recorded_tests.objects,
        actions: &actions,
        pools: &pools,
        lines: Vec::new(),
    };
    let text = page.render(&head);
    let commented_out = actions
        .iter()
        .filter(|action| action.comment_reason.is_some())
        .count();
    let summary = DraftSummary {
        calls: calls.len(),
        actions: actions.len() - commented_out,
        commented_out,
        replayed_calls: recorded_tests.replayed_calls,
        skipped_calls: recorded_tests.skipped,
    };
    Draft {
        text,
        tests: test_files(&recorded_tests, file),
        summary,
    }
}

/// Returns the usual exceptions, and those that the modules define themselves.
fn expected_exceptions(api: &PublicApi<'_>, scope: &mut ImportScope) -> Vec<String> {
    let mut names: Vec<String> = USUAL_EXCEPTIONS.map(str::to_owned).to_vec();
    let modules = api.modules.iter();
    let imported: BTreeSet<&str> = modules
        .flat_map(|module| &module.imports)
        .map(|import| import.module.as_str())
        .collect();
    for (module, exception) in MODULE_EXCEPTIONS {
        let is_same_module =
            |name: &&str| *name == module || name.starts_with(&format!("{module}."));
        if imported.iter().any(is_same_module)
            && let Some((home, _)) = exception.rsplit_once('.')
        {
            scope.module(home);
            names.push(exception.to_owned());
        }
    }
    for class in api.classes() {
        let reference = class.reference();
        if api.is_exception(&reference) && api.is_public_definition(class.module, class.definition)
        {
            names.push(scope.reference(&reference).one_line());
        }
    }
    names
}

/// Returns the names of the modules in `source:` lines, and true if they are in the folder `src`,
/// which Python does not search by itself.
fn source_modules(project: &PythonProject, modules: &[String]) -> (Vec<String>, bool) {
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

/// Returns the imports of the harness: the modules themselves, and those that its values and calls
/// need.
fn harness_imports(
    scope: &ImportScope,
    actions: &[action::DraftAction<'_>],
    modules: &[String],
) -> Vec<String> {
    let mut names: BTreeSet<String> = modules.iter().cloned().collect();
    names.extend(scope.imports().into_iter().map(|import| import.module));
    for action in actions {
        match action.result_use {
            action::ResultUse::TakeItems => names.insert("itertools".to_owned()),
            action::ResultUse::RunCoroutine => names.insert("asyncio".to_owned()),
            _ => false,
        };
    }
    // `copy` needs no import in harnesses.
    names.remove("copy");
    names
        .into_iter()
        .map(|name| format!("import {name}"))
        .collect()
}

/// Renders the recorded tests as files.
fn test_files(recorded_tests: &RecordedTests, file: &str) -> Vec<String> {
    let saved = recorded_tests.tests.iter();
    saved
        .map(|steps| {
            let head = format!("# testwright test 1\n# harness: {file}\n# recorded: yes\n");
            steps.iter().fold(head, |text, step| text + step + "\n")
        })
        .collect()
}

#[cfg(test)]
mod tests;
