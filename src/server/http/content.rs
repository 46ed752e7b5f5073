//! The content of an answer: complete, or still being written by another task.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::{Body, Frame, SizeHint};
use tokio::sync::mpsc;

/// The content of an answer.
pub(crate) enum Content {
    /// Complete content, or none.
    Whole(Full<Bytes>),
    /// Pieces as they are written. Their sender marks the end: a sender that is dropped earlier has
    /// given up, and the client must not take the pieces as complete.
    Pieces(mpsc::Receiver<ContentPiece>),
}

/// A part of an answer.
pub(crate) enum ContentPiece {
    Bytes(Bytes),
    /// The end of the content.
    End,
}

impl Default for Content {
    fn default() -> Self {
        Self::Whole(Full::default())
    }
}

impl Content {
    /// Returns complete content; `None` if it is still being written.
    pub(crate) fn into_whole(self) -> Option<Bytes> {
        match self {
            Self::Whole(whole) => Some(whole.into_inner().unwrap_or_default()),
            Self::Pieces(_) => None,
        }
    }
}

impl From<Bytes> for Content {
    fn from(bytes: Bytes) -> Self {
        Self::Whole(Full::new(bytes))
    }
}

impl Body for Content {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let this = self.get_mut();
        let piece = match this {
            Self::Whole(whole) => {
                let frame = ready!(Pin::new(whole).poll_frame(cx));
                return Poll::Ready(frame.map(|frame| frame.map_err(|never| match never {})));
            }
            Self::Pieces(pieces) => ready!(pieces.poll_recv(cx)),
        };
        Poll::Ready(match piece {
            Some(ContentPiece::Bytes(bytes)) => Some(Ok(Frame::data(bytes))),
            Some(ContentPiece::End) => {
                *this = Self::default();
                None
            }
            None => Some(Err(io::ErrorKind::UnexpectedEof.into())),
        })
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Whole(whole) => whole.is_end_stream(),
            Self::Pieces(_) => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(whole) => whole.size_hint(),
            Self::Pieces(_) => SizeHint::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt as _;

    use super::*;

    #[tokio::test]
    async fn only_a_sender_that_says_so_is_done() {
        for (pieces, expected) in [
            (&[true, true][..], Some("ab")),
            (&[true], None),
            (&[], None),
        ] {
            let (sender, receiver) = mpsc::channel(4);
            for (_, bytes) in pieces.iter().zip(["a", "b"]) {
                sender
                    .send(ContentPiece::Bytes(bytes.into()))
                    .await
                    .unwrap();
            }
            if expected.is_some() {
                sender.send(ContentPiece::End).await.unwrap();
            }
            drop(sender);
            let collected = Content::Pieces(receiver).collect().await.ok();
            let bytes = collected.map(|collected| collected.to_bytes());
            assert_eq!(bytes.as_deref(), expected.map(str::as_bytes));
        }
    }
}
