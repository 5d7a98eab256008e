//! How a worker tells its supervisor what it has found.

use std::io::{self, Read, Write};
use std::os::fd::AsFd;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::Connected;
use crate::wire::{receive, send};

/// What a worker says. Only one that has said that it is over may end.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Saying<R> {
    /// A report that needs no answer.
    Tells(R),
    /// A report whose answer it waits for.
    Asks(R),
    /// It has done what it was told to do.
    Over,
}

/// A worker's voice.
#[derive(Debug)]
pub struct Voice<C> {
    connection: Connected<C>,
}

impl<C: Read + Write + AsFd> Voice<C> {
    /// Speaks into a connection.
    pub fn new(connection: Connected<C>) -> Voice<C> {
        Voice { connection }
    }

    /// Whether anybody can hear it.
    pub fn is_heard(&self) -> bool {
        self.connection.is_whole()
    }

    /// Tells something.
    pub fn tell(&mut self, report: &impl Serialize) -> io::Result<()> {
        send(&mut self.connection, &Saying::Tells(report))
    }

    /// Tells something, and waits for what the supervisor says to it.
    pub fn ask<A: DeserializeOwned>(&mut self, report: &impl Serialize) -> io::Result<A> {
        send(&mut self.connection, &Saying::Asks(report))?;
        receive(&mut self.connection)
    }

    /// The work is done.
    pub fn over(mut self) -> io::Result<()> {
        send(&mut self.connection, &Saying::<()>::Over)
    }
}
