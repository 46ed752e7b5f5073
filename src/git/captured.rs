//! The output of a child process: the beginning is kept, and all of it is read.
//!
//! A child whose pipe is full blocks, and one that inherits our standard error would block on the
//! reader of that. So each of its descriptors is a pipe, read here to its end regardless of the
//! output.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt as _, copy, sink};

/// The beginning of a process's output.
#[derive(Debug, Default)]
pub(crate) struct Captured {
    pub(crate) bytes: Vec<u8>,
    /// Whether there was more.
    pub(crate) is_cut: bool,
}

impl Captured {
    /// Reads a pipe to its end, keeping at most `limit` bytes of it. A missing pipe counts as
    /// empty.
    pub(crate) async fn read(pipe: Option<impl AsyncRead + Unpin>, limit: u64) -> io::Result<Self> {
        let Some(mut pipe) = pipe else {
            return Ok(Self::default());
        };
        let mut bytes = Vec::new();
        (&mut pipe).take(limit).read_to_end(&mut bytes).await?;
        let is_cut = copy(&mut pipe, &mut sink()).await? > 0;
        Ok(Self { bytes, is_cut })
    }

    /// Returns it as text.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn keeps_the_beginning_and_reads_the_rest() {
        let (mut writer, reader) = tokio::io::duplex(16);
        let writing = async move {
            use tokio::io::AsyncWriteExt as _;
            writer.write_all(&[b'x'; 1000]).await.unwrap();
        };
        let (captured, ()) = tokio::join!(Captured::read(Some(reader), 100), writing);
        let captured = captured.unwrap();
        assert_eq!((captured.text().len(), captured.is_cut), (100, true));
        let all = Captured::read(Some(&b"abc"[..]), 3).await.unwrap();
        assert_eq!((all.text().as_str(), all.is_cut), ("abc", false));
    }
}
