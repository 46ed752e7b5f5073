//! Reports when the results cannot be stored, and when they can again.

use std::future::pending;

use crate::cli::terminal::complain;
use crate::linkcheck::Checker;

/// Reports each outage of a checker's state once, and its end; it does not return.
pub(super) async fn report(checker: &Checker) -> ! {
    let mut outage = checker.outage();
    while outage.changed().await.is_ok() {
        let error = outage.borrow_and_update().clone();
        complain(&match error {
            Some(error) => {
                let error = anyhow::Error::from(error);
                format!("waiting for the results of link checks: {error:#}")
            }
            None => "the results of link checks can be read and written again".to_owned(),
        });
    }
    // It does not change any more.
    pending().await
}
