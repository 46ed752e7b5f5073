//! Work on many items at once.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Calls a function with each item, in a thread for each processor that the program may use, and returns
/// the results in order.
pub(crate) fn in_parallel<T: Sync, R: Send + Sync>(
    items: &[T],
    call: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let results: Vec<_> = items.iter().map(|_| OnceLock::new()).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some((item, result)) = items.get(number).zip(results.get(number)) else {
                return;
            };
            result.get_or_init(|| call(item));
        }
    };
    thread::scope(|scope| {
        let threads = thread::available_parallelism().map_or(1, usize::from);
        for _ in 1..threads.min(items.len()) {
            // Without another thread, this one does all of it.
            let (Ok(_) | Err(_)) = thread::Builder::new().spawn_scoped(scope, work);
        }
        work();
    });
    let results = results.into_iter().map(OnceLock::into_inner);
    results
        .map(|result| result.expect("each item has one"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_order() {
        let items: Vec<_> = (0..1_000).collect();
        let squares = in_parallel(&items, |item| item * item);
        assert!(
            squares
                .iter()
                .zip(&items)
                .all(|(square, it)| *square == it * it)
        );
        assert_eq!(squares.len(), items.len());
        assert!(in_parallel(&[], |item: &u8| *item).is_empty());
    }
}
