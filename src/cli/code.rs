//! `waypost code`: derives the short code of a URL.

use std::io::{Write as _, stderr, stdout};

use clap::builder::{PossibleValuesParser, TypedValueParser as _};

use super::terminal::{Error, complain};
use crate::mapping::{Scheme, Target};

/// Print the short code of a URL
///
/// The code is derived from the bytes of the URL as written, so this prints the same code:
/// `printf %s URL | openssl dgst -sha256 -binary | head -c6 | base64 | tr +/ -_`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  waypost code https://framasoft.org/                     t0P0JMya
  waypost code --scheme crc64-xz https://framasoft.org/   VDxGgZ3y2qk")]
pub(super) struct Args {
    /// Absolute http or https URLs
    #[arg(value_name = "URL", required = true)]
    urls: Vec<String>,

    /// How the code is derived
    #[arg(
        long,
        env = "WAYPOST_SCHEME",
        default_value = Scheme::default().name(),
        value_parser = PossibleValuesParser::new(Scheme::ALL.map(Scheme::name))
            .map(|name| Scheme::from_name(&name).unwrap_or_default()),
    )]
    scheme: Scheme,
}

pub(super) fn run(args: &Args) -> Result<(), Error> {
    let mut all_derived = true;
    for url in &args.urls {
        match Target::parse(url) {
            Ok(target) => {
                if target.as_str() != url {
                    writeln!(stderr(), "warning: {url} is not in canonical form")?;
                    writeln!(
                        stderr(),
                        "  hint: a table had better say {}",
                        target.as_str()
                    )?;
                }
                writeln!(stdout(), "{}", args.scheme.code(url))?;
            }
            Err(error) => {
                complain(&format!("{url}: {error}"));
                if let Some(hint) = error.hint() {
                    writeln!(stderr(), "  hint: {hint}")?;
                }
                all_derived = false;
            }
        }
    }
    match all_derived {
        true => Ok(()),
        false => Err(Error::Reported),
    }
}
