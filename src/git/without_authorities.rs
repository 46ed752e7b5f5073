//! Starting libgit2 in processes that use local repositories only.

/// Starts libgit2 without the certificate authorities of the system, unless it is started already, or
/// `SSL_CERT_FILE` names them.
///
/// git2 looks for them and has OpenSSL read them all when it is first used, which takes four times as long
/// as everything else in `waypost check` of a small table. Only the process of a transfer needs them.
pub fn start_without_authorities() {
    libgit2_sys::init();
}
