//! JSON documents in which a terminal finds nothing to obey.

use engine::text::is_obeyed;

/// The text of a JSON document, with these characters written as JSON writes them. Outside its strings it
/// holds none of them but line ends.
pub fn harmless_json(text: String) -> String {
    let escaped = |c: char| is_obeyed(c) && c != '\n';
    if !text.contains(escaped) {
        return text;
    }
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match escaped(c) {
            true => {
                let mut units = [0; 2];
                let units = c.encode_utf16(&mut units).iter();
                shown.extend(units.map(|unit| format!("\\u{unit:04x}")));
            }
            false => shown.push(c),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_stays_the_same_and_nothing_of_it_is_obeyed() {
        let name = "a\u{202e}b\u{9b}\u{e0041}\u{200d}ε\n";
        let document = serde_json::json!({ name: [name, 1.5] });
        let text = harmless_json(format!("{document:#}\n"));
        assert!(text.contains("a\\u202eb\\u009b\\udb40\\udc41\\u200dε\\n"), "{text}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), document);
        assert_eq!(harmless_json("{ \"ε\": 1 }\n".to_owned()), "{ \"ε\": 1 }\n");
    }
}
