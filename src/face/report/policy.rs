//! What a browser may do with a page. Should a stranger's words ever come into a page unescaped, they
//! are still not run.

use sha2::{Digest, Sha256};

/// The Content-Security-Policy of a page that runs this script and no other; none if it is empty.
/// Pictures stand in the page itself.
pub(super) fn policy(script: &str) -> String {
    let scripts = match script {
        "" => "'none'".to_owned(),
        // Browsers read every line break as `\n`, and then compute the hash.
        _ => format!("'sha256-{}'", base64(&Sha256::digest(script.replace("\r\n", "\n")))),
    };
    format!(
        "default-src 'none'; script-src {scripts}; style-src 'unsafe-inline'; \
         img-src data:; base-uri 'none'; form-action 'none'"
    )
}

/// Bytes as text.
pub(super) fn base64(bytes: &[u8]) -> String {
    const SIGNS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let four = |three: &[u8]| {
        let bits = (0..3).fold(0, |bits, i| bits << 8 | usize::from(*three.get(i).unwrap_or(&0)));
        let sign = |i| match i <= three.len() {
            true => char::from(SIGNS[bits >> (18 - 6 * i) & 63]),
            false => '=',
        };
        [sign(0), sign(1), sign(2), sign(3)]
    };
    bytes.chunks(3).flat_map(four).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_rfc_4648() {
        let known =
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")];
        for (text, expected) in known {
            assert_eq!(base64(text.as_bytes()), expected);
        }
        assert_eq!(base64(&[0xFB, 0xEF, 0xFF]), "++//");
    }

    #[test]
    fn only_the_script_of_the_page_may_run() {
        // echo -n 'alert(1)' | openssl dgst -sha256 -binary | openssl base64
        let hash = "script-src 'sha256-bhHHL3z2vDgxUt0W3dWQOrprscmda2Y5pLsLg4GF+pI=';";
        assert!(policy("alert(1)").contains(hash), "{}", policy("alert(1)"));
        assert!(policy("").contains("script-src 'none';"));
        assert_eq!(policy("a\r\nb"), policy("a\nb"));
    }
}
