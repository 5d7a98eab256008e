//! The worker's side of reporting to its supervisor.

use std::io::{self, Read, Write};
use std::os::fd::AsFd;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::CheckedConnection;
use crate::wire::{receive, send};

/// A message of a worker. It may exit only after it has sent `Finished`.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum WorkerMessage<R> {
    /// A report that needs no answer.
    Report(R),
    /// A report whose answer the worker waits for.
    Query(R),
    /// The task is done.
    Finished,
}

/// Sends a worker's reports to its supervisor.
#[derive(Debug)]
pub struct ReportSender<C> {
    /// The connection, which code under test may have replaced.
    connection: CheckedConnection<C>,
}

impl<C: Read + Write + AsFd> ReportSender<C> {
    /// Sends reports over this connection.
    pub fn new(connection: CheckedConnection<C>) -> ReportSender<C> {
        ReportSender { connection }
    }

    /// Returns true if the connection is intact.
    pub fn is_connected(&self) -> bool {
        self.connection.is_intact()
    }

    /// Sends a report that needs no answer.
    pub fn report(&mut self, report: &impl Serialize) -> io::Result<()> {
        send(&mut self.connection, &WorkerMessage::Report(report))
    }

    /// Sends a report and waits for the supervisor's answer.
    pub fn query<A: DeserializeOwned>(&mut self, report: &impl Serialize) -> io::Result<A> {
        send(&mut self.connection, &WorkerMessage::Query(report))?;
        receive(&mut self.connection)
    }

    /// Reports that the task is done.
    pub fn finish(mut self) -> io::Result<()> {
        send(&mut self.connection, &WorkerMessage::<()>::Finished)
    }
}
