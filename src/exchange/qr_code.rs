//! A short link as a QR code (ISO/IEC 18004), in SVG.
//!
//! It is black on white, even on a dark page: many readers do not find a code with inverted
//! colours. It depends on no style, and does not contain the URL as text.

use std::fmt::Write as _;

use qrcode::{Color, EcLevel, QrCode};

/// The width of the light margin, in modules (ISO/IEC 18004, 6.3.8).
const QUIET_ZONE: usize = 4;

/// The width of a module in pixels, where nothing else determines the size of the picture.
const MODULE: usize = 8;

/// Returns a picture of the QR code of a URL, with error correction level M: a seventh of it may be
/// unreadable. `None` if the URL is too long for a QR code.
pub fn qr_svg(url: &str) -> Option<String> {
    let code = QrCode::with_error_correction_level(url, EcLevel::M).ok()?;
    let modules = code.width();
    let size = modules + 2 * QUIET_ZONE;
    let pixels = size * MODULE;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{pixels}\" height=\"{pixels}\" \
         viewBox=\"0 0 {size} {size}\" shape-rendering=\"crispEdges\">\
         <path fill=\"#fff\" d=\"M0 0h{size}v{size}H0z\"/><path d=\""
    );
    for (y, row) in code.into_colors().chunks(modules).enumerate() {
        for (x, width) in dark_runs(row) {
            let (x, y) = (x + QUIET_ZONE, y + QUIET_ZONE);
            write!(svg, "M{x} {y}h{width}v1H{x}z").expect("writing to a string does not fail");
        }
    }
    svg.push_str("\"/></svg>\n");
    Some(svg)
}

/// Returns where runs of dark modules begin in a row, and their lengths.
fn dark_runs(row: &[Color]) -> impl Iterator<Item = (usize, usize)> {
    let mut x = 0;
    row.chunk_by(|one, next| one == next)
        .filter_map(move |run| {
            let begin = x;
            x += run.len();
            (run[0] == Color::Dark).then_some((begin, run.len()))
        })
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use super::*;

    /// The picture as a reader sees it, with several pixels per module, and its width.
    fn rasterised(svg: &str) -> (usize, Vec<u8>) {
        const SCALE: usize = 2;
        let number = |text: &str| text.parse::<usize>().unwrap();
        let between = |from: &str, to: &str| {
            let rest = &svg[svg.find(from).unwrap() + from.len()..];
            rest[..rest.find(to).unwrap()].to_owned()
        };
        let size = number(&between("viewBox=\"0 0 ", " "));
        let width = size * SCALE;
        let mut pixels = vec![0x80; width * width];
        let mut paint = |x: Range<usize>, y: Range<usize>, grey: u8| {
            for y in y.start * SCALE..y.end * SCALE {
                pixels[y * width..][x.start * SCALE..x.end * SCALE].fill(grey);
            }
        };
        let light = between("<path fill=\"#fff\" d=\"", "\"");
        assert_eq!(light, format!("M0 0h{size}v{size}H0z"));
        paint(0..size, 0..size, 0xff);
        for run in between("<path d=\"", "\"").split_terminator('z') {
            let (x, rest) = run.strip_prefix('M').unwrap().split_once(' ').unwrap();
            let (y, rest) = rest.split_once('h').unwrap();
            let (width, rest) = rest.split_once("v1H").unwrap();
            assert_eq!(rest, x);
            let (x, y, width) = (number(x), number(y), number(width));
            assert!(x >= QUIET_ZONE && x + width <= size - QUIET_ZONE);
            assert!(y >= QUIET_ZONE && y < size - QUIET_ZONE);
            paint(x..x + width, y..y + 1, 0);
        }
        (width, pixels)
    }

    /// Reads a picture with a program by other authors than the one that created it.
    fn read(svg: &str) -> (String, quircs::EccLevel) {
        let (width, pixels) = rasterised(svg);
        let mut reader = quircs::Quirc::default();
        let mut found = reader.identify(width, width, &pixels);
        let code = found.next().expect("a code is found").unwrap();
        assert!(found.next().is_none());
        let data = code.decode().unwrap();
        (String::from_utf8(data.payload).unwrap(), data.ecc_level)
    }

    /// Links of a thousand codes in several scripts, most of them short.
    fn urls() -> impl Iterator<Item = String> {
        let texts = ["Weg", "t0P0JMya", "%C3%A9t%C3%A9", "%E7%9F%AD", "2024/1_~."];
        (0..1000).map(move |number: usize| {
            let text = texts[number % texts.len()];
            let repeated = text.repeat(if number % 50 == 49 { number / 20 } else { 1 });
            format!("https://short.code/{repeated}/{number}")
        })
    }

    #[test]
    fn another_reader_finds_the_link_in_a_thousand_codes() {
        for url in urls() {
            let svg = qr_svg(&url).unwrap();
            assert_eq!(read(&svg), (url, quircs::EccLevel::M));
        }
    }

    #[test]
    fn the_longest_code_fits() {
        // 255 bytes, each percent-encoded, under a long base URL.
        let url = format!("https://{}/{}", "h".repeat(250), "%C3".repeat(255));
        let svg = qr_svg(&url).unwrap();
        assert_eq!(read(&svg).0, url);
        assert!(qr_svg(&"x".repeat(2331)).is_some());
        assert!(qr_svg(&"x".repeat(2332)).is_none());
    }

    #[test]
    fn nothing_of_the_url_is_written_out() {
        let svg = qr_svg("https://short.code/'\"><script>alert(1)</script>").unwrap();
        assert!(!svg.contains("script") && !svg.contains("short.code"));
        assert_eq!(svg.matches('<').count(), 4);
    }
}
