//! Whether a commit may be used: SSH signatures, and the keys that are allowed to make them.

mod allowed_signers;
mod key_check;
mod signature;
mod signer_line;
mod signer_line_error;
mod signer_options;
mod verify;

pub use allowed_signers::{AllowedSigners, Signer, SignersError};
pub use signer_line_error::{KeyError, SignerLineError};
pub use verify::{Anyone, Refusal, Verify};
