//! The `waypost` program: everything it does is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    waypost::cli::main()
}
