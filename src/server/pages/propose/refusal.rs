//! Why a link cannot be proposed, in words for people.

use hyper::StatusCode;

use crate::html::{Frame, Sentence};
use crate::registry::{Holder, RegistrationRefusal};
use crate::server::registrations::NotSent;

use super::form::{FormError, MAX_TAGS};

/// Why a link cannot be proposed.
#[derive(Debug)]
pub(super) enum ProposalRefusal {
    Form(FormError),
    Registry(RegistrationRefusal),
    /// It is possible, but could not be sent with a token.
    Unsent(Unsent),
}

/// Why a proposal could not be sent with a token.
#[derive(Debug, Clone, Copy)]
pub(super) enum Unsent {
    Unauthorized,
    Private,
    TooMany,
    ByRemote,
    Unavailable,
}

impl From<NotSent> for ProposalRefusal {
    fn from(reason: NotSent) -> Self {
        Self::Unsent(match reason {
            NotSent::Refused(refusal) => return Self::Registry(refusal),
            NotSent::Unauthorized => Unsent::Unauthorized,
            NotSent::Private => Unsent::Private,
            NotSent::TooMany => Unsent::TooMany,
            NotSent::ByRemote => Unsent::ByRemote,
            NotSent::Unavailable => Unsent::Unavailable,
        })
    }
}

impl ProposalRefusal {
    /// Returns the status of the answer.
    pub(super) fn status(&self) -> StatusCode {
        match self {
            Self::Form(_) | Self::Registry(_) | Self::Unsent(Unsent::Private) => {
                StatusCode::UNPROCESSABLE_ENTITY
            }
            Self::Unsent(Unsent::Unauthorized) => StatusCode::FORBIDDEN,
            Self::Unsent(Unsent::TooMany) => StatusCode::TOO_MANY_REQUESTS,
            Self::Unsent(Unsent::ByRemote) => StatusCode::BAD_GATEWAY,
            Self::Unsent(Unsent::Unavailable) => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    /// Returns whether the link itself is possible, as far as is known.
    pub(super) fn is_about_sending(&self) -> bool {
        matches!(self, Self::Unsent(_))
    }

    /// Returns the reason as a sentence.
    pub(super) fn sentence(&self, frame: &Frame<'_>) -> Sentence {
        use RegistrationRefusal as R;
        match self {
            Self::Form(FormError::Expires(_)) => frame.sentence("refused-expires"),
            Self::Form(FormError::TooLong) => frame.sentence("refused-text-long"),
            Self::Form(FormError::TooManyTags) => {
                frame.sentence("refused-tags-many").text("count", MAX_TAGS)
            }
            Self::Form(FormError::Direction) => frame.sentence("refused-text-direction"),
            Self::Unsent(reason) => frame.sentence(match reason {
                Unsent::Unauthorized => "unsent-token",
                Unsent::Private => "refused-private",
                Unsent::TooMany => "unsent-many",
                Unsent::ByRemote => "unsent-refused",
                Unsent::Unavailable => "unsent-for-now",
            }),
            Self::Registry(refusal) => match refusal {
                R::Target(error) => frame.sentence("refused-url").quoted("reason", error),
                R::OwnLink { .. } => frame.sentence("refused-own-link"),
                R::AlreadyRegistered(holder) if holder.is_gone => {
                    frame.sentence("refused-registered-gone")
                }
                R::AlreadyRegistered(_) => frame.sentence("refused-registered"),
                R::Code(error) => frame.sentence("refused-code").quoted("reason", error),
                R::CodeTaken { code, holder } if holder.is_gone => {
                    frame.sentence("refused-code-gone").code("code", code)
                }
                R::CodeTaken { code, .. } => {
                    frame.sentence("refused-code-taken").code("code", code)
                }
                R::Shadows { code, .. } => frame.sentence("refused-shadows").code("code", code),
                R::CodeUnreachable(unreachable) => frame
                    .sentence("refused-code-unreachable")
                    .code("code", &unreachable.code),
                R::Expired => frame.sentence("refused-expired"),
                R::NameTooLong { .. } => frame.sentence("refused-name-long"),
                R::ControlCharacter { .. } => frame.sentence("refused-text-control"),
                other => frame.sentence("refused-otherwise").quoted("reason", other),
            },
        }
    }

    /// Returns the reason in English, for programs. It names neither files nor other links, as the
    /// table may not be public.
    pub(super) fn in_english(&self) -> String {
        use RegistrationRefusal as R;
        match self {
            Self::Form(FormError::Expires(error)) => error.to_string(),
            Self::Form(FormError::TooLong) => "a title or tag is too long".to_owned(),
            Self::Form(FormError::TooManyTags) => format!("there are more than {MAX_TAGS} tags"),
            Self::Form(FormError::Direction) => {
                "a title or tag changes the direction of writing".to_owned()
            }
            Self::Registry(R::CodeTaken { code, .. }) => format!("the code {code:?} is taken"),
            Self::Registry(R::Shadows { code, .. }) => {
                format!("the code {code:?} would change where an existing link leads")
            }
            Self::Registry(refusal) => refusal.to_string(),
            Self::Unsent(reason) => {
                let text = match reason {
                    Unsent::Unauthorized => "the token is not valid",
                    Unsent::Private => "the URL has a private or loopback address",
                    Unsent::TooMany => "too many proposals of this owner are waiting",
                    Unsent::ByRemote => "the repository refuses the branch",
                    Unsent::Unavailable => "nothing can be sent to the repository now",
                };
                text.to_owned()
            }
        }
    }

    /// Returns the conflicting link, if there is one.
    pub(super) fn holder(&self) -> Option<&Holder> {
        match self {
            Self::Registry(
                RegistrationRefusal::AlreadyRegistered(holder)
                | RegistrationRefusal::CodeTaken { holder, .. }
                | RegistrationRefusal::Shadows { holder, .. },
            ) => Some(holder),
            _ => None,
        }
    }

    /// Returns whether naming the conflicting link discloses a code that the form does not contain.
    pub(super) fn discloses_code(&self) -> bool {
        match self {
            // Another code may be an alias of the link.
            Self::Registry(RegistrationRefusal::CodeTaken { code, holder }) => *code != holder.code,
            _ => true,
        }
    }
}
