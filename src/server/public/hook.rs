//! The hook: a Git host reports a push, so that it is fetched before the next poll.
//!
//! GitHub, Gitea and Forgejo sign the body with a shared secret, GitLab sends the secret itself.
//! The content of a hook is never used: a valid one is a hint to fetch, and a replayed one is the
//! same hint again, at the pace of `hook_pace.rs`. It is disabled without a secret.
//!
//! Anyone can send bodies here. None is kept: its signature is computed piece by piece as it
//! arrives, and it is not even read if the head contains no proof. Refused hooks are not logged.

use std::sync::Arc;
use std::time::{Duration, Instant};

use hmac::{Hmac, KeyInit as _, Mac as _};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper::header::{CACHE_CONTROL, CONNECTION, HeaderMap};
use hyper::{Method, Request, Response, StatusCode};
use sha2::Sha256;
use subtle::ConstantTimeEq as _;
use tokio::time::timeout;
use zeroize::Zeroizing;

use super::hook_pace::HookPace;
use crate::server::http::{
    Answered, Content, RequestCounts, Sha256Digest, bad_request, digest, not_allowed, request,
    response,
};

/// The path that hooks are sent to.
const PATH: &str = "/-/hook";

/// The largest body that is read, in bytes; hosts send at most a few hundred kilobytes.
const MAX_BODY: usize = 1 << 20;

/// How long a body may take: hosts send theirs without pauses.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The headers in which hosts send the body's HMAC-SHA-256 in hexadecimal, and the prefix of each.
const SIGNATURES: [(&str, &str); 3] = [
    ("x-hub-signature-256", "sha256="),
    ("x-gitea-signature", ""),
    ("x-forgejo-signature", ""),
];

/// The header in which GitLab sends the secret.
const TOKEN: &str = "x-gitlab-token";

/// A secret shared with a Git host. Never empty, never shown, and wiped with its last copy.
#[derive(Clone)]
pub struct HookSecret(Arc<Zeroizing<Box<[u8]>>>);

impl HookSecret {
    /// Accepts a secret; `None` for an empty one, because anyone could sign with it.
    pub fn new(secret: &str) -> Option<Self> {
        let bytes = || Zeroizing::new(Box::from(secret.as_bytes()));
        (!secret.is_empty()).then(|| Self(Arc::new(bytes())))
    }

    /// Returns the proof in a head that its sender knows the secret; `None` if there is none.
    fn proof(&self, headers: &HeaderMap) -> Option<SecretProof> {
        let token = headers.get(TOKEN).map(|token| token.as_bytes());
        // Each comparison here takes time that does not depend on the secret.
        if token.is_some_and(|token| bool::from(token.ct_eq(&self.0))) {
            return Some(SecretProof::Given);
        }
        let signatures = SIGNATURES.iter().filter_map(|(name, prefix)| {
            let value = headers.get(*name)?.to_str().ok()?;
            digest(value.strip_prefix(prefix)?)
        });
        let signatures: Vec<_> = signatures.collect();
        let mac = Hmac::<Sha256>::new_from_slice(&self.0).expect("HMAC takes keys of any length");
        (!signatures.is_empty()).then_some(SecretProof::Signed(mac, signatures))
    }
}

/// A proof that a sender knows the secret.
enum SecretProof {
    /// The secret itself was sent.
    Given,
    /// One of these must equal the body's signature, which is still being computed.
    Signed(Hmac<Sha256>, Vec<Sha256Digest>),
}

impl SecretProof {
    fn update(&mut self, piece: &[u8]) {
        match self {
            Self::Given => {}
            Self::Signed(mac, _) => mac.update(piece),
        }
    }

    /// Returns whether the proof is valid for the body that was read.
    fn holds(self) -> bool {
        match self {
            Self::Given => true,
            Self::Signed(mac, signatures) => signatures
                .iter()
                .any(|signature| mac.clone().verify_slice(signature).is_ok()),
        }
    }
}

impl std::fmt::Debug for HookSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("HookSecret")
    }
}

/// Returns whether a request is for the hook.
pub(crate) fn is_addressed<B>(request: &Request<B>) -> bool {
    request.uri().path() == PATH
}

/// Answers a hook and counts it.
pub(crate) async fn answer(
    counts: &RequestCounts,
    secret: &HookSecret,
    pace: &HookPace,
    request: Request<Incoming>,
) -> Response<Content> {
    let began = Instant::now();
    let (answered, response) = decide(secret, pace, request).await;
    counts.answered(answered, began.elapsed());
    response
}

async fn decide(
    secret: &HookSecret,
    pace: &HookPace,
    request: Request<Incoming>,
) -> (Answered, Response<Content>) {
    if request::read(&request).is_err() {
        return (Answered::BadRequest, bad_request());
    }
    if request.method() != Method::POST {
        return (Answered::MethodNotAllowed, not_allowed("POST"));
    }
    let refuse = |status| {
        // The unread rest of a body must not be taken for the next request.
        let response = response::with(response::line(status), CONNECTION, "close");
        (Answered::BadRequest, response)
    };
    let Some(mut proof) = secret.proof(request.headers()) else {
        return refuse(StatusCode::FORBIDDEN);
    };
    let mut body = Limited::new(request.into_body(), MAX_BODY);
    let reading = async {
        while let Some(frame) = body.frame().await {
            if let Ok(piece) = frame?.into_data() {
                proof.update(&piece);
            }
        }
        Ok::<_, Box<dyn std::error::Error + Send + Sync>>(())
    };
    match timeout(TIMEOUT, reading).await {
        Ok(Ok(())) if proof.holds() => {}
        Ok(Ok(())) => return refuse(StatusCode::FORBIDDEN),
        Ok(Err(error)) if error.is::<LengthLimitError>() => {
            return refuse(StatusCode::PAYLOAD_TOO_LARGE);
        }
        Ok(Err(_)) => return refuse(StatusCode::BAD_REQUEST),
        Err(_) => return refuse(StatusCode::REQUEST_TIMEOUT),
    }
    pace.hint();
    let response = response::line(StatusCode::ACCEPTED);
    (
        Answered::Page,
        response::with(response, CACHE_CONTROL, "no-store"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example from GitHub's documentation, "Validating webhook deliveries".
    const SECRET: &str = "It's a Secret to Everybody";
    const BODY: &[u8] = b"Hello, World!";
    const SIGNATURE: &str = "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";

    fn vouches(name: &'static str, value: &str, body: &[u8]) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(name, value.parse().unwrap());
        let secret = HookSecret::new(SECRET).unwrap();
        let Some(mut proof) = secret.proof(&headers) else {
            return false;
        };
        for piece in body.chunks(5) {
            proof.update(piece);
        }
        proof.holds()
    }

    #[test]
    fn takes_each_hosts_form() {
        assert!(vouches(
            "x-hub-signature-256",
            &format!("sha256={SIGNATURE}"),
            BODY
        ));
        assert!(vouches("x-gitea-signature", SIGNATURE, BODY));
        assert!(vouches("x-forgejo-signature", SIGNATURE, BODY));
        assert!(vouches("x-gitlab-token", SECRET, b"anything"));
    }

    #[test]
    fn refuses_whatever_is_not_the_bytes_that_were_signed() {
        let signature = format!("sha256={SIGNATURE}");
        assert!(!vouches(
            "x-hub-signature-256",
            &signature,
            b"Hello, World?"
        ));
        assert!(!vouches("x-hub-signature-256", SIGNATURE, BODY));
        assert!(!vouches("x-hub-signature-256", "sha256=", BODY));
        assert!(!vouches("x-hub-signature-256", "sha256=75", BODY));
        assert!(!vouches("x-gitea-signature", &signature, BODY));
        assert!(!vouches("x-gitlab-token", "", BODY));
        assert!(!vouches(
            "x-gitlab-token",
            "It's a Secret to Everybod",
            BODY
        ));
        assert!(!vouches("x-other", SECRET, BODY));
    }

    #[test]
    fn an_empty_secret_is_none() {
        assert!(HookSecret::new("").is_none());
    }

    #[test]
    fn is_not_shown() {
        assert_eq!(format!("{:?}", HookSecret::new(SECRET)), "Some(HookSecret)");
    }
}
