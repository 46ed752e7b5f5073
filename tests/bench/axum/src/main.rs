//! Redirects as one writes them with a common framework: a map in memory, and a handler.
//!
//!     bench-axum ADDRESS TABLE
//!
//! Each line of the table is a path and its target. One thread serves, as in every other measured server.

use std::collections::HashMap;
use std::error::Error;
use std::{env, fs};

use axum::Router;
use axum::extract::State;
use axum::http::header::LOCATION;
use axum::http::{StatusCode, Uri};
use axum::response::IntoResponse;
use tokio::net::TcpListener;

type Table = &'static HashMap<String, String>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let [address, path] = env::args()
        .skip(1)
        .collect::<Vec<_>>()
        .try_into()
        .map_err(|_| "usage: bench-axum ADDRESS TABLE")?;
    let lines = fs::read_to_string(path)?;
    let pairs = lines.lines().filter_map(|line| line.split_once(' '));
    let table: HashMap<String, String> = pairs
        .map(|(code, url)| (code.to_owned(), url.to_owned()))
        .collect();
    drop(lines);
    let app = Router::new()
        .fallback(redirect)
        .with_state(&*Box::leak(Box::new(table)));
    Ok(axum::serve(TcpListener::bind(address).await?, app).await?)
}

async fn redirect(State(table): State<Table>, uri: Uri) -> impl IntoResponse {
    match table.get(uri.path()) {
        Some(target) => Ok((StatusCode::FOUND, [(LOCATION, target.as_str())])),
        None => Err(StatusCode::NOT_FOUND),
    }
}
