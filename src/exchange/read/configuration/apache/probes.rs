//! The values of `Accept` with which Apache and a table are compared.

/// What browsers send for a page: Firefox, older and current, Chrome, Edge and Safari.
pub(super) const BROWSERS: [&str; 4] = [
    "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
    "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8",
    "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/png,\
     image/svg+xml,*/*;q=0.8",
    "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8,\
     application/signed-exchange;v=b3;q=0.7",
];

/// Types that programs send, among them those of the usual formats of data.
pub(super) const TYPES: [&str; 25] = [
    "text/html",
    "application/xhtml+xml",
    "application/xml",
    "text/xml",
    "text/turtle",
    "application/x-turtle",
    "text/n3",
    "text/rdf+n3",
    "application/n-triples",
    "application/n-quads",
    "application/trig",
    "application/rdf+xml",
    "application/ld+json",
    "application/json",
    "application/rdf+json",
    "application/owl+xml",
    "application/sparql-results+json",
    "application/schema+json",
    "application/yaml",
    "application/pdf",
    "text/plain",
    "text/csv",
    "text/markdown",
    "image/png",
    "application/octet-stream",
];

/// Types that no condition looks for.
pub(super) const OTHERS: [&str; 2] = ["image/png", "application/x-other"];
