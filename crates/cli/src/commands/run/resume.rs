//! `--resume`: a campaign that was stopped goes on.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use clap::{CommandFactory, FromArgMatches};
use testwright_campaign::store::{CampaignEnding, CampaignRecord, CampaignState, Store};
use testwright_core::Error;

use super::Run;
use super::memory::{Earlier, Memory, Whereabouts};
use crate::commands::{Arguments, Command};
use crate::console::Console;
use crate::project::Project;

/// The last campaign that did not come to its end: how it was started, with what was typed now on top, and how far it had
/// come.
///
/// A store may come from a stranger. So options that name files to write, or variables that may load code, count only if
/// they are typed again.
pub(super) fn earlier(
    console: &mut Console<'_>,
    run: &Run,
    words: &[OsString],
) -> Result<(Run, Vec<OsString>, Earlier), Error> {
    let record = find(run)?;
    let begun = &record.begun;
    // What was typed now comes last, and the last one counts.
    let before = begun.words.iter().skip(1);
    let mut all: Vec<OsString> = before.map(OsString::from).collect();
    all.extend(words.iter().filter(|word| is_new(run, word)).cloned());
    let mut resumed = parse(&all)?;
    for option in take_only_what_is_typed(&mut resumed, run) {
        console.warning(
            &format!("`{option}` of the campaign is left out"),
            Some("type it again if you want it: it is not taken from the store, which may be somebody else's"),
        );
    }
    let is_elsewhere = |name: &str| Path::new(name).is_absolute();
    if run.harness.is_none() && begun.harness.split(' ').any(is_elsewhere) {
        let message = format!(
            "the harness of the campaign, `{}`, is not in this project",
            begun.harness
        );
        return Err(Error::new(message).with_help("name it to resume the campaign"));
    }
    let whereabouts = Whereabouts::new(run.store.as_deref(), &resumed)?;
    if whereabouts.harness != begun.harness {
        let message = format!(
            "the campaign was begun in another folder, with `{}`",
            begun.harness
        );
        return Err(Error::new(message).with_help("go to that folder to resume it"));
    }
    let earlier = Memory::earlier(&whereabouts)?.ok_or_else(|| none(run))?;
    Ok((resumed, all, earlier))
}

/// Leaves out of a campaign's options those that must be typed, and tells which.
fn take_only_what_is_typed(resumed: &mut Run, typed: &Run) -> Vec<&'static str> {
    let mut left_out = Vec::new();
    let mut check = |option, differs: bool| left_out.extend(differs.then_some(option));
    check("--out", resumed.out != typed.out);
    check("--keep-tests", resumed.keep_tests != typed.keep_tests);
    check("--env", resumed.workers.env != typed.workers.env);
    check(
        "--coverage-report",
        !resumed.coverage.has_same_reports(&typed.coverage),
    );
    check("--store", resumed.store != typed.store);
    resumed.out.clone_from(&typed.out);
    resumed.keep_tests.clone_from(&typed.keep_tests);
    resumed.workers.env.clone_from(&typed.workers.env);
    resumed.coverage.take_reports(&typed.coverage);
    resumed.store.clone_from(&typed.store);
    left_out
}

/// Whether a word says something that the campaign did not know.
fn is_new(run: &Run, word: &OsStr) -> bool {
    let mut names = run.harness.iter().chain(&run.more);
    word != "--resume" && !names.any(|name| name == Path::new(word))
}

/// The campaign to go on with.
fn find(run: &Run) -> Result<CampaignRecord, Error> {
    let store: PathBuf = match &run.store {
        Some(path) => path.clone(),
        None => Project::here()?.store().to_owned(),
    };
    let Some(store) = Store::open_existing(&store)? else {
        return Err(none(run));
    };
    let found = match run.harness.as_deref() {
        Some(_) => store.unfinished(&Whereabouts::new(run.store.as_deref(), run)?.harness)?,
        None => {
            let records = store.campaigns()?;
            let is_left = |record: &CampaignRecord| match &record.state {
                CampaignState::Running => false,
                CampaignState::BrokenOff => true,
                CampaignState::Ended(ending, _) => *ending != CampaignEnding::Complete,
            };
            records
                .into_iter()
                .filter(is_left)
                .max_by_key(|record| record.id)
        }
    };
    found.ok_or_else(|| none(run))
}

fn none(run: &Run) -> Error {
    let message = match run.harness.as_deref() {
        Some(_) => format!("there is no campaign of `{}` to resume", run.names()),
        None => "there is no campaign to resume".to_owned(),
    };
    Error::new(message).with_help(
        "`testwright campaign list` shows all; those that are complete have nothing left to do",
    )
}

/// The arguments again, where later ones take the place of earlier ones.
fn parse(words: &[OsString]) -> Result<Run, Error> {
    let command = Arguments::command().mut_subcommand("run", |run| run.args_override_self(true));
    let all = ["testwright", "run"].into_iter().map(OsString::from);
    let parsed = command
        .try_get_matches_from(all.chain(words.iter().cloned()))
        .and_then(|matches| Arguments::from_arg_matches(&matches));
    match parsed {
        Ok(Arguments {
            command: Command::Run(run),
        }) => Ok(run),
        Ok(_) => Err(Error::new("the campaign was not begun by `testwright run`")),
        Err(error) => {
            let text = error.to_string();
            let first = text.lines().next().unwrap_or_default();
            let message = first.strip_prefix("error: ").unwrap_or(first);
            Err(Error::new(format!(
                "the campaign cannot be resumed: {message}"
            )))
        }
    }
}
