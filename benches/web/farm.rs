//! A server on loopback that is all hosts at once, in a separate process.

use std::io::{BufRead, BufReader, stdin};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::process::{Child, Command, Stdio};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use waypost::linkcheck::{Resolve, Resolving};

use super::status;

/// How many addresses the hosts have, so that none runs out of ports.
const ADDRESSES: u32 = 250;

/// The server; it ends when this is dropped.
pub(crate) struct Farm {
    process: Child,
    port: u16,
}

impl Farm {
    /// Starts a command that runs [`serve`].
    pub(crate) fn start(command: &mut Command) -> Self {
        let process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut process = process.expect("the server can be started");
        let mut line = String::new();
        let output = process.stdout.take().expect("its output is a pipe");
        let read = BufReader::new(output).read_line(&mut line);
        read.expect("the server says its port");
        let port = line.trim().parse().expect("the server says its port");
        Self { process, port }
    }

    /// Returns a resolver by which each name is an address of the server.
    pub(crate) fn resolver(&self) -> FarmResolver {
        FarmResolver { port: self.port }
    }
}

impl Drop for Farm {
    fn drop(&mut self) {
        // It has no state to lose.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Answers until its standard input ends, after a line with the port.
#[allow(clippy::print_stdout, reason = "the line is for the process above")]
pub(crate) fn serve(runtime: &Runtime) {
    let any = SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0));
    let listener = runtime.block_on(TcpListener::bind(any));
    let listener = listener.expect("a port is free");
    println!("{}", listener.local_addr().expect("it is bound").port());
    runtime.spawn(accept(listener));
    // An error ends it, too.
    let _ = stdin().read_line(&mut String::new());
}

async fn accept(listener: TcpListener) {
    loop {
        if let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(respond(stream));
        }
    }
}

/// Answers one request.
async fn respond(mut stream: TcpStream) -> Option<()> {
    let mut head = Vec::with_capacity(1024);
    while !head.ends_with(b"\r\n\r\n") {
        if stream.read_buf(&mut head).await.ok()? == 0 {
            return None;
        }
    }
    let path = str::from_utf8(&head).ok()?.split(' ').nth(1)?;
    let status = status(path);
    let answer = format!("HTTP/1.1 {status} -\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    stream.write_all(answer.as_bytes()).await.ok()
}

/// Gives each name an address of the server.
#[derive(Debug)]
pub(crate) struct FarmResolver {
    port: u16,
}

impl Resolve for FarmResolver {
    fn resolve<'a>(&'a self, host: &'a str, _: u16) -> Resolving<'a> {
        let hash = host.bytes().fold(5381_u32, |hash, byte| {
            hash.wrapping_mul(33) ^ u32::from(byte)
        });
        let address = u32::from(Ipv4Addr::LOCALHOST) + hash % ADDRESSES;
        let address = SocketAddr::new(IpAddr::V4(address.into()), self.port);
        Box::pin(async move { Ok(vec![address]) })
    }
}
