//! A connection on which a server sends the messages of a channel.
//!
//! It is not established again when it is lost: messages may have been missed, which the caller
//! must know.

use std::time::Duration;

use futures_util::StreamExt as _;
use redis::aio::{PubSubSink, PubSubStream};
use redis::{Client, RedisError};
use tokio::time::timeout;

use super::address::ServerAddress;
use super::error::CallError;
use super::link::CallTimeouts;

/// A subscription to a channel.
pub(crate) struct Subscription {
    requests: PubSubSink,
    messages: PubSubStream,
    timeout: Duration,
}

impl Subscription {
    /// Subscribes to a channel.
    pub(crate) async fn open(
        address: &ServerAddress,
        channel: &str,
        timeouts: CallTimeouts,
    ) -> Result<Self, CallError> {
        let opening = async {
            let client = Client::open(address.info().clone())?;
            let (mut requests, messages) = client.get_async_pubsub().await?.split();
            requests.subscribe(channel).await?;
            Ok(Self {
                requests,
                messages,
                timeout: timeouts.answer,
            })
        };
        within(timeouts.connect, opening).await
    }

    /// Returns the next message; `None` if the connection is lost.
    pub(crate) async fn next(&mut self) -> Option<Vec<u8>> {
        let message = self.messages.next().await?;
        Some(message.get_payload_bytes().to_owned())
    }

    /// Checks that the server still answers on this connection.
    pub(crate) async fn check(&mut self) -> Result<(), CallError> {
        let answering = async { self.requests.ping::<redis::Value>().await.map(drop) };
        within(self.timeout, answering).await
    }
}

async fn within<T>(
    limit: Duration,
    work: impl Future<Output = Result<T, RedisError>>,
) -> Result<T, CallError> {
    match timeout(limit, work).await {
        Ok(ended) => ended.map_err(CallError::from),
        Err(_) => Err(CallError::late()),
    }
}
