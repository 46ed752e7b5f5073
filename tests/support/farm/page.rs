//! What a host does with a request.

/// What a host does with a request.
#[derive(Debug, Clone)]
pub(crate) enum Page {
    /// It answers.
    Answer {
        status: u16,
        fields: Vec<(&'static str, String)>,
        body: String,
    },
    /// It sends these bytes and closes the connection.
    Raw(Vec<u8>),
    /// It sends these bytes at once, then others one at a time without an end.
    Drip { first: Vec<u8>, then: u8 },
    /// It sends nothing.
    Hang,
    /// It resets the connection.
    Reset,
}

impl Page {
    pub(crate) fn status(status: u16) -> Self {
        Self::Answer {
            status,
            fields: Vec::new(),
            body: format!("status {status}\n"),
        }
    }

    pub(crate) fn ok(body: &str) -> Self {
        Self::Answer {
            status: 200,
            fields: Vec::new(),
            body: body.to_owned(),
        }
    }

    pub(crate) fn to(status: u16, location: &str) -> Self {
        Self::status(status).with("Location", location)
    }

    pub(crate) fn with(mut self, name: &'static str, value: &str) -> Self {
        if let Self::Answer { fields, .. } = &mut self {
            fields.push((name, value.to_owned()));
        }
        self
    }

    /// A head larger than any client reads.
    pub(crate) fn huge_head() -> Self {
        let mut head = b"HTTP/1.1 200 OK\r\n".to_vec();
        for number in 0..200 {
            head.extend(format!("X-{number}: {}\r\n", "x".repeat(1000)).bytes());
        }
        Self::Raw(head)
    }
}
