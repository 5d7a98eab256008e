//! Copies of this process that help to explore models.

use std::io::{self, BufWriter, PipeReader, PipeWriter};

use testwright_core::Error;
use testwright_model::parallel::{Connection, help};
use testwright_python::{Models, ValuePassing};

/// Copies this process so many times. The copies answer questions about states until nobody asks any more, and end with
/// this process.
pub(super) fn start(
    models: &mut Models<'_>,
    passing: &mut ValuePassing<'_>,
    many: usize,
) -> Result<Vec<Connection>, Error> {
    let failed = |error: io::Error| Error::new(format!("cannot make a pipe: {error}"));
    let mut connections: Vec<(PipeWriter, PipeReader)> = Vec::new();
    for _ in 0..many {
        let (mut questions, ask) = io::pipe().map_err(failed)?;
        let (hear, answers) = io::pipe().map_err(failed)?;
        let copied = testwright_python::attach(testwright_python::fork)?;
        if copied.is_none() {
            // The ends that belong to others: as long as somebody holds them, nobody sees that they were closed.
            drop((ask, hear));
            drop(connections);
            let mut answers = BufWriter::new(answers);
            let _the_other_end_is_gone =
                help(&mut models.product, passing, &mut questions, &mut answers);
            testwright_python::leave(0);
        }
        connections.push((ask, hear));
    }
    let boxed = |(ask, hear): (PipeWriter, PipeReader)| -> Connection {
        (Box::new(BufWriter::new(ask)), Box::new(hear))
    };
    Ok(connections.into_iter().map(boxed).collect())
}
