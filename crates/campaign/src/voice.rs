//! How a worker tells its supervisor what it has found.

use std::io::{self, Read, Write};
use std::os::fd::AsFd;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

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
    connection: C,
    identity: Option<(u64, u64)>,
}

/// What tells one open file from another.
fn identity(file: &impl AsFd) -> Option<(u64, u64)> {
    let stat = rustix::fs::fstat(file).ok()?;
    Some((stat.st_dev, stat.st_ino))
}

impl<C: Read + Write + AsFd> Voice<C> {
    /// Speaks into a connection.
    pub fn new(connection: C) -> Voice<C> {
        let identity = identity(&connection);
        Voice {
            connection,
            identity,
        }
    }

    /// Whether the connection is the one that it was: code under test can close it, and open something else in its place.
    pub fn is_heard(&self) -> bool {
        identity(&self.connection) == self.identity
    }

    /// Tells something.
    pub fn tell(&mut self, report: &impl Serialize) -> io::Result<()> {
        self.make_sure()?;
        send(&mut self.connection, &Saying::Tells(report))
    }

    /// Tells something, and waits for what the supervisor says to it.
    pub fn ask<A: DeserializeOwned>(&mut self, report: &impl Serialize) -> io::Result<A> {
        self.make_sure()?;
        send(&mut self.connection, &Saying::Asks(report))?;
        receive(&mut self.connection)
    }

    /// The work is done.
    pub fn over(mut self) -> io::Result<()> {
        self.make_sure()?;
        send(&mut self.connection, &Saying::<()>::Over)
    }

    fn make_sure(&self) -> io::Result<()> {
        match self.is_heard() {
            true => Ok(()),
            false => Err(io::ErrorKind::NotConnected.into()),
        }
    }
}
