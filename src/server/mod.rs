//! The server: listeners, routes, pages, metrics, reloading.
