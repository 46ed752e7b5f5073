//! What `error_page` answers instead of a redirect, or instead of 410.

use std::collections::HashMap;

use super::blocks::Block;

/// The pages of a server or of a location.
#[derive(Clone, Default)]
pub(super) struct ErrorPages {
    by_status: HashMap<u16, ErrorPage>,
}

/// What is sent with a status, or instead of it.
#[derive(Clone)]
pub(super) struct ErrorPage {
    /// The line of the directive, from 1.
    pub(super) line: usize,
    /// The path whose file is sent with the same status, unless something else may be answered.
    pub(super) path: Option<String>,
}

impl ErrorPages {
    /// Reads the directives of a block, which replace those of the block around it, `outer`.
    ///
    /// Those of an `if` count for the whole block, because they apply to what follows it.
    pub(super) fn of(blocks: &[Block], outer: &Self) -> Self {
        let mut own = Self::default();
        own.add(blocks);
        let is_replaced = blocks.iter().any(|it| it.named("error_page").is_some());
        if !is_replaced {
            for (status, page) in &outer.by_status {
                own.by_status.entry(*status).or_insert_with(|| page.clone());
            }
        }
        own
    }

    fn add(&mut self, blocks: &[Block]) {
        for block in blocks {
            if block.named("if").is_some() {
                self.add(&block.inner);
            }
            let Some(words) = block.named("error_page") else {
                continue;
            };
            let Some((page, statuses)) = words.split_last() else {
                continue;
            };
            let is_file = page.starts_with('/')
                && !page.contains('$')
                && !statuses.iter().any(|it| it.starts_with('='));
            let path = page.split('?').next().filter(|_| is_file);
            for status in statuses.iter().filter_map(|it| it.parse().ok()) {
                let page = ErrorPage {
                    line: block.line,
                    path: path.map(str::to_owned),
                };
                // Of several with a status, nginx takes the first.
                self.by_status.entry(status).or_insert(page);
            }
        }
    }

    /// Returns what is sent instead of a redirect of a status; without one, of any redirect.
    pub(super) fn of_redirect(&self, status: Option<u16>) -> Option<&ErrorPage> {
        match status {
            Some(status) => self.by_status.get(&status),
            None => (300..400).find_map(|it| self.by_status.get(&it)),
        }
    }

    /// Returns what is sent with 410.
    pub(super) fn of_gone(&self) -> Option<&ErrorPage> {
        self.by_status.get(&410)
    }
}
