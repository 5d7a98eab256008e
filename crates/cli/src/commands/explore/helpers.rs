//! Forked processes that help to explore models.

use std::io::{self, BufWriter, PipeReader, PipeWriter};

use testwright_core::{Error, describe_os_error};
use testwright_model::parallel::{Connection, serve};
use testwright_python::{Models, PythonValueCodec};

/// Forks this process `count` times. Each helper answers requests about states until its pipe is
/// closed, and ends with this process.
pub(super) fn start(
    models: &mut Models<'_>,
    passing: &mut PythonValueCodec<'_>,
    count: usize,
) -> Result<Vec<Connection>, Error> {
    let failed =
        |error: io::Error| Error::new(format!("cannot make a pipe: {}", describe_os_error(&error)));
    let mut connections: Vec<(PipeWriter, PipeReader)> = Vec::new();
    for _ in 0..count {
        let (mut incoming, requests) = io::pipe().map_err(failed)?;
        let (replies, outgoing) = io::pipe().map_err(failed)?;
        let copied = testwright_python::attach(testwright_python::fork)?;
        if copied.is_none() {
            // A pipe counts as closed only if no process holds its other end, so this process
            // must not keep the ends that belong to others.
            drop((requests, replies));
            drop(connections);
            let mut outgoing = BufWriter::new(outgoing);
            let _the_other_end_is_gone =
                serve(&mut models.product, passing, &mut incoming, &mut outgoing);
            testwright_python::exit_now(0);
        }
        connections.push((requests, replies));
    }
    let boxed = |(requests, replies): (PipeWriter, PipeReader)| -> Connection {
        (Box::new(BufWriter::new(requests)), Box::new(replies))
    };
    Ok(connections.into_iter().map(boxed).collect())
}
