//! Runs that failed, in English: as features, with steps if they are to run, as diagrams and as pages.

use testwright_core::Failure;
use testwright_readable::counterexample::Taken;
use testwright_readable::explain::Actor;
use testwright_readable::idiom::Vocabulary;
use testwright_readable::phrase::Speaker;
use testwright_readable::steps::{self, Company, Play, Runner};

use crate::Trouble;
use crate::console::Console;
use crate::explaining::Explained;
use crate::files::Place;
use crate::models::RunExplaining;

/// How runs are told, and where that is written.
pub(super) struct Telling<'t> {
    pub(super) explaining: RunExplaining,
    /// What it takes to write steps, if they are wanted.
    pub(super) playing: Option<Playing>,
    pub(super) folder: &'t Place,
}

/// What step files need.
pub(super) struct Playing {
    pub(super) runner: Runner,
    pub(super) company: Company,
}

/// A run in English.
pub(super) struct ToldRun {
    pub(super) explained: Explained,
    plays: Vec<Play>,
}

impl Telling<'_> {
    /// The run in English; nothing if not every parser would read it.
    pub(super) fn told(&self, steps: &[Taken], failure: &Failure) -> Option<ToldRun> {
        let actor = self
            .playing
            .as_ref()
            .map(|playing| match playing.company.stepper {
                Some(_) => Actor::Compared,
                None => Actor::Models,
            });
        let vocabulary = Vocabulary::default();
        let speaker = Speaker::new(&vocabulary);
        let found = self
            .explaining
            .tell(steps, failure, actor.as_ref(), &speaker);
        Some(ToldRun {
            explained: Explained::new(&found)?,
            plays: found.told.plays,
        })
    }

    /// Writes it, in files of this name.
    pub(super) fn write(
        &self,
        console: &mut Console<'_>,
        name: &str,
        told: &ToldRun,
    ) -> Result<(), Trouble> {
        let feature = format!("{name}.feature");
        let explained = &told.explained;
        self.file(console, &feature, &explained.feature)?;
        self.file(console, &format!("{name}.mmd"), &explained.diagram)?;
        self.file(console, &format!("{name}.html"), &explained.page)?;
        let Some(Playing { runner, company }) = &self.playing else {
            return Ok(());
        };
        if told.plays.is_empty() {
            let message = "there are no step definitions for this: \
                           a step is done with something that has no notation";
            console.warning(message, None);
            return Ok(());
        }
        for file in steps::write_model_plays(*runner, &feature, company, &told.plays) {
            self.file(console, &file.path, &file.text)?;
        }
        Ok(())
    }

    fn file(&self, console: &mut Console<'_>, name: &str, text: &str) -> Result<(), Trouble> {
        let place = self.folder.inside(name);
        place.write(text)?;
        console.say(format_args!("Written: {}", place.shown().display()));
        Ok(())
    }
}
