//! A connection on which a server sends the messages of a channel.
//!
//! It is not established again when it is lost: messages may have been missed, which the caller
//! must know. Messages are read one by one, when the caller wants the next: those of a flood wait in the
//! server, which closes the connection if they become too many.

use std::io;
use std::time::Duration;

use bytes::BytesMut;
use redis::{RedisConnectionInfo, RedisError, Value};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::address::ServerAddress;
use super::answers::{AnswerScanner, TooLarge};
use super::error::CallError;
use super::link::CallLimits;
use super::transport::{ByteStream, connect};
use super::within::within;

/// How many bytes are read at once.
const READ_AT_ONCE: usize = 4096;

/// A subscription to a channel.
pub(crate) struct Subscription {
    answers: AnswerReader,
    /// A message that arrived during a check.
    waiting: Option<Vec<u8>>,
    timeout: Duration,
}

/// What a server sends.
enum Incoming {
    /// A message of the channel; empty if it was too large.
    Message(Vec<u8>),
    /// The answer to a command.
    Answer,
}

impl Subscription {
    /// Subscribes to a channel. Of messages that are larger than an answer may be, the text is not
    /// read.
    pub(crate) async fn open(
        address: &ServerAddress,
        channel: &str,
        limits: CallLimits,
    ) -> Result<Self, CallError> {
        let opening = async {
            let stream = connect(address.info()).await?;
            let mut answers = AnswerReader::new(stream, limits.answer_bytes);
            if let Some(login) = login(address.info().redis_settings()) {
                answers.call(&login).await?;
            }
            answers.call(redis::cmd("SUBSCRIBE").arg(channel)).await?;
            answers.discards = true;
            Ok(Self {
                answers,
                waiting: None,
                timeout: limits.answer,
            })
        };
        Ok(within(limits.connect, opening).await?)
    }

    /// Returns the next message. Nothing is lost if the future is dropped.
    pub(crate) async fn next(&mut self) -> Result<Vec<u8>, CallError> {
        if let Some(message) = self.waiting.take() {
            return Ok(message);
        }
        loop {
            if let Incoming::Message(message) = self.answers.incoming().await? {
                return Ok(message);
            }
        }
    }

    /// Checks that the server still sends something on this connection when it is requested.
    pub(crate) async fn check(&mut self) -> Result<(), CallError> {
        let checking = async {
            self.answers.send(&redis::cmd("PING")).await?;
            if let Incoming::Message(message) = self.answers.incoming().await? {
                self.waiting = Some(message);
            }
            Ok(())
        };
        Ok(within(self.timeout, checking).await?)
    }
}

/// Reads the answers of a server, each of limited size.
struct AnswerReader {
    stream: Box<dyn ByteStream>,
    scanner: AnswerScanner,
    /// What was read and belongs to later answers.
    read: BytesMut,
    /// The answer that is read, as far as it has arrived, unless it is too large.
    answer: Vec<u8>,
    is_too_large: bool,
    max_bytes: u64,
    /// Whether an answer that is too large is discarded, instead of being an error.
    discards: bool,
}

impl AnswerReader {
    fn new(stream: Box<dyn ByteStream>, max_bytes: u64) -> Self {
        Self {
            stream,
            scanner: AnswerScanner::new(),
            read: BytesMut::new(),
            answer: Vec::new(),
            is_too_large: false,
            max_bytes,
            discards: false,
        }
    }

    /// Sends a command, and reads its answer.
    async fn call(&mut self, command: &redis::Cmd) -> Result<(), RedisError> {
        self.send(command).await?;
        self.incoming().await.map(drop)
    }

    async fn send(&mut self, command: &redis::Cmd) -> Result<(), RedisError> {
        self.stream.write_all(&command.get_packed_command()).await?;
        Ok(self.stream.flush().await?)
    }

    /// Reads what the server sends next.
    async fn incoming(&mut self) -> Result<Incoming, RedisError> {
        let Some(answer) = self.next().await? else {
            return Ok(Incoming::Message(Vec::new()));
        };
        let value = redis::parse_redis_value(&answer)?.extract_error()?;
        Ok(match value {
            Value::Array(mut parts) if is_message(&parts) => match parts.pop() {
                Some(Value::BulkString(message)) => Incoming::Message(message),
                _ => Incoming::Message(Vec::new()),
            },
            _ => Incoming::Answer,
        })
    }

    /// Reads the next answer; returns none for one that is too large, which is discarded.
    ///
    /// What was read of it stays if the future is dropped.
    async fn next(&mut self) -> Result<Option<Vec<u8>>, RedisError> {
        loop {
            if self.read.is_empty() {
                self.read.reserve(READ_AT_ONCE);
                if self.stream.read_buf(&mut self.read).await? == 0 {
                    return Err(io::Error::from(io::ErrorKind::ConnectionReset).into());
                }
            }
            let scanned = self.scanner.scan(&self.read);
            let scanned = scanned.map_err(io::Error::from)?;
            self.is_too_large |= scanned.size > self.max_bytes;
            if self.is_too_large && !self.discards {
                return Err(io::Error::from(TooLarge(self.max_bytes)).into());
            }
            let bytes = self.read.split_to(scanned.used);
            match self.is_too_large {
                true => self.answer.clear(),
                false => self.answer.extend_from_slice(&bytes),
            }
            if scanned.is_end {
                let answer = std::mem::take(&mut self.answer);
                let is_too_large = std::mem::take(&mut self.is_too_large);
                return Ok((!is_too_large).then_some(answer));
            }
        }
    }
}

/// Returns the command with which a user logs in.
fn login(settings: &RedisConnectionInfo) -> Option<redis::Cmd> {
    let password = settings.password()?;
    let mut command = redis::cmd("AUTH");
    if let Some(user) = settings.username() {
        command.arg(user);
    }
    command.arg(password);
    Some(command)
}

/// Returns whether an answer is a message of a channel: `message`, the channel, and its text.
fn is_message(parts: &[Value]) -> bool {
    matches!(parts, [Value::BulkString(kind), _, _] if kind == b"message")
}

#[cfg(test)]
mod tests {
    use tokio::io::{DuplexStream, duplex};

    use super::*;

    fn subscription(max_bytes: u64) -> (DuplexStream, Subscription) {
        let (server, client) = duplex(64);
        let mut answers = AnswerReader::new(Box::new(client), max_bytes);
        answers.discards = true;
        let subscription = Subscription {
            answers,
            waiting: None,
            timeout: Duration::from_secs(60),
        };
        (server, subscription)
    }

    fn message(text: &str) -> String {
        format!(
            "*3\r\n$7\r\nmessage\r\n$4\r\nlook\r\n${}\r\n{text}\r\n",
            text.len()
        )
    }

    #[tokio::test]
    async fn messages_are_read_one_by_one_and_too_large_ones_without_their_text() {
        let (mut server, mut subscription) = subscription(100);
        let stream = [
            message("a"),
            "*2\r\n$4\r\npong\r\n$0\r\n\r\n".to_owned(),
            message(&"b".repeat(100_000)),
            message("c"),
        ];
        let sending = tokio::spawn(async move {
            server.write_all(stream.concat().as_bytes()).await.unwrap();
        });
        for expected in [&b"a"[..], b"", b"c"] {
            assert_eq!(subscription.next().await.unwrap(), expected);
        }
        sending.await.unwrap();
        let lost = subscription.next().await.unwrap_err();
        assert!(matches!(lost, CallError::Unavailable(_)), "{lost:?}");
    }

    #[tokio::test]
    async fn a_message_that_arrives_during_a_check_is_kept() {
        let (mut server, mut subscription) = subscription(100);
        server.write_all(message("a").as_bytes()).await.unwrap();
        subscription.check().await.unwrap();
        assert_eq!(subscription.next().await.unwrap(), b"a");
    }
}
