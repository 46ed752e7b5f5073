//! Connections of a farm: requests are read, and the host's behaviour is carried out.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::hosts::{Hosts, Request};
use super::log::{Asked, Log};
use super::page::Page;

/// A stream that can be ended by a reset.
pub(super) trait Stream: AsyncRead + AsyncWrite + Unpin {
    fn tcp(&self) -> &TcpStream;
}

impl Stream for TcpStream {
    fn tcp(&self) -> &TcpStream {
        self
    }
}

pub(super) async fn plain(listener: TcpListener, hosts: Arc<Hosts>, log: Arc<Log>) {
    while let Ok((stream, _)) = listener.accept().await {
        let (hosts, log) = (Arc::clone(&hosts), Arc::clone(&log));
        tokio::spawn(async move { connection(stream, &hosts, &log).await });
    }
}

/// Answers requests until the connection ends.
pub(super) async fn connection(mut stream: impl Stream, hosts: &Hosts, log: &Log) {
    static CONNECTIONS: AtomicUsize = AtomicUsize::new(0);
    let connection = CONNECTIONS.fetch_add(1, Ordering::Relaxed);
    let mut number = 0;
    while let Some(mut request) = request(&mut stream).await {
        request.number = number;
        number += 1;
        let user_agent = request.fields.get("user-agent").cloned();
        let asked = log.begin(Asked {
            host: request.host().to_owned(),
            method: request.method.clone(),
            path: request.path.clone(),
            user_agent: user_agent.unwrap_or_default(),
            connection,
            began: Instant::now(),
            ended: None,
        });
        let page = hosts.answer(&request);
        let stays = act(&mut stream, &request, page).await;
        log.end(asked);
        if stays.is_none() {
            break;
        }
    }
}

/// Reads the head of a request: no client sends the next one before it is answered.
async fn request(stream: &mut impl Stream) -> Option<Request> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let is_over = stream.read_buf(&mut head).await.ok()? == 0;
        if is_over || head.len() > 16 << 10 {
            return None;
        }
    }
    let text = String::from_utf8(head).ok()?;
    let mut lines = text.lines();
    let mut words = lines.next()?.split(' ').map(str::to_owned);
    let fields = lines.filter_map(|line| {
        let (name, value) = line.split_once(':')?;
        Some((name.to_ascii_lowercase(), value.trim().to_owned()))
    });
    Some(Request {
        method: words.next()?,
        path: words.next()?,
        fields: fields.collect::<HashMap<_, _>>(),
        number: 0,
    })
}

/// Does what the host does. Returns `None` when the connection is over.
async fn act(stream: &mut impl Stream, request: &Request, page: Page) -> Option<()> {
    match page {
        Page::Answer {
            status,
            fields,
            body,
        } => {
            let mut answer = format!("HTTP/1.1 {status} It is\r\n");
            for (name, value) in fields {
                answer += &format!("{name}: {value}\r\n");
            }
            answer += &format!("Content-Length: {}\r\n\r\n", body.len());
            if !request.is_head() {
                answer += &body;
            }
            stream.write_all(answer.as_bytes()).await.ok()?;
            stream.flush().await.ok()
        }
        Page::Raw(bytes) => {
            stream.write_all(&bytes).await.ok()?;
            stream.shutdown().await.ok()?;
            None
        }
        Page::Drip { first, then } => {
            stream.write_all(&first).await.ok()?;
            loop {
                stream.write_all(&[then]).await.ok()?;
                stream.flush().await.ok()?;
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        }
        Page::Hang => {
            // Until the other side gives up.
            stream.read_u8().await.ok()?;
            None
        }
        Page::Reset => {
            stream.tcp().set_zero_linger().ok()?;
            None
        }
    }
}
