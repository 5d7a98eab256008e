//! `--resume`: continue a campaign that was stopped.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use clap::{CommandFactory, FromArgMatches};
use testwright_campaign::store::{CampaignEnding, CampaignRecord, CampaignState, Store};
use testwright_core::Error;

use super::RunCommand;
use super::store_writer::{Location, StoppedCampaign, StoreWriter};
use crate::commands::{Cli, Command};
use crate::console::Console;
use crate::project::ProjectFolder;

/// Finds the last unfinished campaign, and merges its arguments with those typed now.
///
/// Returns the merged command, its arguments, and the state of the campaign. The store may come
/// from someone else: options that name files to write, and variables that may load code, count only
/// if they are typed again.
pub(super) fn load(
    console: &mut Console<'_>,
    run: &RunCommand,
    args: &[OsString],
) -> Result<(RunCommand, Vec<OsString>, StoppedCampaign), Error> {
    let record = find(run)?;
    let begun = &record.settings;
    // Arguments typed now come last, because the last one counts.
    let before = begun.command_line.iter().skip(1);
    let mut all: Vec<OsString> = before.map(OsString::from).collect();
    all.extend(args.iter().filter(|arg| is_addition(run, arg)).cloned());
    let mut resumed = parse(&all)?;
    for option in override_options(&mut resumed, run) {
        console.warning(
            &format!("`{option}` of the campaign is left out"),
            Some("type it again if you want it: it is not taken from the store, which may come from another user"),
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
    let location = Location::new(run.store.as_deref(), &resumed)?;
    if location.harness != begun.harness {
        let message = format!(
            "the campaign was begun in another folder, with `{}`",
            begun.harness
        );
        return Err(Error::new(message).with_help("go to that folder to resume it"));
    }
    let stopped = StoreWriter::find_stopped(&location)?.ok_or_else(|| nothing_to_resume(run))?;
    Ok((resumed, all, stopped))
}

/// Replaces security-relevant options of the campaign by those typed now, and returns the names of
/// the options that differ.
fn override_options(resumed: &mut RunCommand, typed: &RunCommand) -> Vec<&'static str> {
    let mut left_out = Vec::new();
    let mut check = |option, differs: bool| left_out.extend(differs.then_some(option));
    check("--out", resumed.out != typed.out);
    check("--keep-tests", resumed.keep_tests != typed.keep_tests);
    check(
        "--env",
        resumed.workers.process.env != typed.workers.process.env,
    );
    check(
        "--coverage-report",
        !resumed.coverage.has_same_reports(&typed.coverage),
    );
    check("--store", resumed.store != typed.store);
    resumed.out.clone_from(&typed.out);
    resumed.keep_tests.clone_from(&typed.keep_tests);
    resumed
        .workers
        .process
        .env
        .clone_from(&typed.workers.process.env);
    resumed.coverage.replace_reports(&typed.coverage);
    resumed.store.clone_from(&typed.store);
    left_out
}

/// Returns true if an argument adds something to those of the campaign.
fn is_addition(run: &RunCommand, arg: &OsStr) -> bool {
    let mut names = run.harness.iter().chain(&run.more);
    arg != "--resume" && !names.any(|name| name == Path::new(arg))
}

/// Finds the campaign to resume.
fn find(run: &RunCommand) -> Result<CampaignRecord, Error> {
    let store: PathBuf = match &run.store {
        Some(path) => path.clone(),
        None => ProjectFolder::find()?.store().to_owned(),
    };
    let Some(store) = Store::open_existing(&store)? else {
        return Err(nothing_to_resume(run));
    };
    let found = match run.harness.as_deref() {
        Some(_) => store.unfinished(&Location::new(run.store.as_deref(), run)?.harness)?,
        None => {
            let records = store.campaigns()?;
            let is_resumable = |record: &CampaignRecord| match &record.state {
                CampaignState::Running => false,
                CampaignState::BrokenOff => true,
                CampaignState::Ended(ending, _) => *ending != CampaignEnding::Complete,
            };
            records
                .into_iter()
                .filter(is_resumable)
                .max_by_key(|record| record.id)
        }
    };
    found.ok_or_else(|| nothing_to_resume(run))
}

/// Returns the error for a missing campaign.
fn nothing_to_resume(run: &RunCommand) -> Error {
    let message = match run.harness.as_deref() {
        Some(_) => format!("there is no campaign of `{}` to resume", run.joined_names()),
        None => "there is no campaign to resume".to_owned(),
    };
    Error::new(message).with_help(
        "`testwright campaign list` shows all; those that are complete have nothing left to do",
    )
}

/// Parses arguments. Later options override earlier ones.
fn parse(args: &[OsString]) -> Result<RunCommand, Error> {
    let command = Cli::command().mut_subcommand("run", |run| run.args_override_self(true));
    let all = ["testwright", "run"].into_iter().map(OsString::from);
    let parsed = command
        .try_get_matches_from(all.chain(args.iter().cloned()))
        .and_then(|matches| Cli::from_arg_matches(&matches));
    match parsed {
        Ok(Cli {
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
