//! The worker's side of a [`RemoteSystem`](crate::RemoteSystem).

use std::io::{self, Read, Write};

use testwright_core::{ActionId, System};

use crate::LoggedSystem;
use crate::sent::SentName;
use crate::wire::{SystemReply, SystemRequest, receive, send};

/// Answers a supervisor's requests until it closes the connection. Code under test that overwrites
/// the log ends the process before the answer.
pub fn serve<S: System + ?Sized>(
    system: &mut LoggedSystem<'_, S>,
    connection: &mut (impl Read + Write),
) -> io::Result<()> {
    loop {
        let request = match receive(connection) {
            Ok(request) => request,
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
            Err(error) => return Err(error),
        };
        let reply = perform_request(system, &request);
        system.log().verify();
        send(connection, &reply)?;
    }
}

/// Performs one request on the system.
fn perform_request<S: System + ?Sized>(system: &mut S, request: &SystemRequest) -> SystemReply {
    match *request {
        SystemRequest::Reset => system.reset().into(),
        // A supervisor of another version or with another harness may send unknown actions.
        SystemRequest::IsEnabled(action)
        | SystemRequest::Step(action)
        | SystemRequest::StepWithLines(action)
            if !system.actions().contains(ActionId(action)) =>
        {
            SystemReply::Impossible {
                message: format!("there is no action {action}"),
                help: None,
            }
        }
        SystemRequest::FindNumbers(ref names) => {
            let number = |name: &SentName| system.action_by_name(&name.class, &name.rest);
            let numbers = names.iter().map(number);
            SystemReply::Numbers(numbers.map(|action| Some(action?.0)).collect())
        }
        SystemRequest::IsEnabled(action) => SystemReply::Bool(system.is_enabled(ActionId(action))),
        SystemRequest::Enabled => {
            SystemReply::Actions(system.enabled().iter().map(|action| action.0).collect())
        }
        SystemRequest::Step(action) => system.step(ActionId(action)).into(),
        SystemRequest::Expected => SystemReply::Text(system.expected_exception()),
        SystemRequest::Check => system.check().into(),
        SystemRequest::Examine => SystemReply::Examined(system.examine().map(Into::into)),
        SystemRequest::StepWithLines(action) => {
            let mut lines = Vec::new();
            let outcome = system.step_with_lines(ActionId(action), &mut lines);
            SystemReply::Lines(lines, Box::new(outcome.into()))
        }
    }
}
