//! The worker's side of a [`Remote`](crate::Remote) system.

use std::io::{self, Read, Write};

use testwright_core::{ActionId, System};

use crate::sent::SentName;
use crate::wire::{Answer, Request, receive, send};

/// Does what a supervisor asks, until it hangs up.
pub fn serve<S: System + ?Sized>(
    system: &mut S,
    connection: &mut (impl Read + Write),
) -> io::Result<()> {
    loop {
        let request = match receive(connection) {
            Ok(request) => request,
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
            Err(error) => return Err(error),
        };
        send(connection, &answer(system, &request))?;
    }
}

fn answer<S: System + ?Sized>(system: &mut S, request: &Request) -> Answer {
    match *request {
        Request::Reset => system.reset().into(),
        // A supervisor of another version, or of another harness, may ask for what there is not.
        Request::IsEnabled(action) | Request::Step(action)
            if !system.actions().contains(ActionId(action)) =>
        {
            Answer::Impossible {
                message: format!("there is no action {action}"),
                help: None,
            }
        }
        Request::Number(ref names) => {
            let number = |name: &SentName| system.number(&name.class, &name.rest);
            let numbers = names.iter().map(number);
            Answer::Numbers(numbers.map(|action| Some(action?.0)).collect())
        }
        Request::IsEnabled(action) => Answer::Truth(system.is_enabled(ActionId(action))),
        Request::Enabled => {
            Answer::Actions(system.enabled().iter().map(|action| action.0).collect())
        }
        Request::Step(action) => system.step(ActionId(action)).into(),
        Request::Expected => Answer::Text(system.expected()),
        Request::Check => system.check().into(),
    }
}
