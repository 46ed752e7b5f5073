//! Suggests codes for one that does not exist, and does nothing else: `tests/e2e/instructions` counts
//! what it takes at most.
//!
//! Usage: `suggest_many ENTRIES CHARACTERS REQUESTS`. All codes of the table have so many characters,
//! and so has the requested one.

use std::env;
use std::hint::black_box;

use waypost_fuzz::mapping::{SourceFile, Timestamp, compile};

const NOW: Timestamp = Timestamp::from_unix(1_795_305_600);

fn main() {
    let number = |text: String| text.parse::<usize>().expect("the arguments are numbers");
    let [entries, characters, requests] = env::args().skip(1).map(number).collect::<Vec<_>>()[..]
    else {
        panic!("usage: suggest_many ENTRIES CHARACTERS REQUESTS");
    };
    let mut text = "base_url: https://short.code/\nmapping:\n".to_owned();
    for number in 0..entries {
        let code = code(number, characters);
        text += &format!("- {{url: 'https://e.example/{number}', short-code: {code}}}\n");
    }
    let file = SourceFile {
        path: "table.yaml".into(),
        bytes: text.into_bytes().into(),
    };
    let table = compile(&[file]).table.expect("the table is sound");
    let site = &table.sites()[0];
    for request in 0..requests {
        let path = format!("/{}", code(entries + request, characters));
        black_box(site.suggestions(black_box(&path), 5, NOW));
    }
}

/// Returns a code whose characters resemble those of other codes, but not their order.
fn code(number: usize, characters: usize) -> String {
    let hash = (number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut code = format!("{number:x}-{:x}", hash.rotate_left(29)).repeat(characters);
    code.truncate(characters);
    code
}
