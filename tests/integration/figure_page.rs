//! The page of `dpbi plot --page`: it holds every figure, and whatever a stranger has put into a figure or its
//! title stays a picture and a text.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};

use crate::common::{Sandbox, words};
use lab::run::store::sha256;
use regex_lite::Regex;
use serde_json::json;

/// The values of an attribute in a page.
fn values<'a>(page: &'a str, attribute: &str) -> Vec<&'a str> {
    let rest = page.split(attribute).skip(1);
    rest.filter_map(|rest| rest.split_once('"')).map(|(value, _)| value).collect()
}

#[test]
fn a_page_holds_every_figure_once_and_refers_to_nothing_outside() {
    let sandbox = Sandbox::new();
    sandbox.succeed(&["run", "beta_balanced", "--runs", "5", "-q"]);
    sandbox.succeed(&["run", "real_data", "--runs", "5", "--format", "png", "-q"]);
    let both = ["plot", "results/real_data", "results/beta_balanced", "--page", "all.html"];
    let printed = sandbox.succeed(&both);
    assert_eq!(printed, "wrote all.html: 3 figures of 2 results folders\n");
    let page = sandbox.text("all.html");
    for file in ["box.svg", "mean.svg", "box.png"] {
        assert_eq!(page.matches(&format!("<code>{file}</code>")).count(), 1, "{file}");
    }
    let images = values(&page, "<img src=\"");
    assert_eq!(images.len(), 3);
    assert!(images[0].starts_with("data:image/png;base64,iVBORw0KGgo"));
    assert!(images[1..].iter().all(|image| image.starts_with("data:image/svg+xml;base64,PHN2Zy")));
    for title in ["Accuracy on balanced binary data", "beta_balanced", "real_data"] {
        assert!(page.contains(title), "{title}");
    }
    for foreign in ["<script", "<svg", "http:", "https:", "@import", "url(", "<link"] {
        assert!(!page.contains(foreign), "{foreign}");
    }
    assert!(page.contains("default-src 'none'; script-src 'none';"));
    // An earlier page is replaced, another file is kept.
    let document = sandbox.json(&[&both[..], &["--json"]].concat());
    assert_eq!(document[0], json!({ "folder": "results/real_data", "figures": ["box.png"] }));
    assert_eq!(document[1]["figures"], json!(["box.svg", "mean.svg"]));
    assert!(!sandbox.path("all.html.changed").exists());
    sandbox.write("mine.html", "mine");
    sandbox.succeed(&["plot", "results/real_data", "--page", "mine.html"]);
    assert_eq!(sandbox.read("mine.html.changed"), b"mine");
    sandbox.succeed(&["verify", "results/real_data", "--cells", "0"]);
}

#[test]
fn a_page_of_nothing_is_refused() {
    let sandbox = Sandbox::new();
    sandbox.succeed(&["run", "icml/fig1", "--format", "none", "-q"]);
    std::fs::create_dir(sandbox.path("empty")).unwrap();
    sandbox.succeed(&["run", "icml/fig1", "--format", "svg", "--out", "drawn", "-q"]);
    let cases = [
        ("results/icml-fig1 --page p", "draw them: dpbi plot results/icml-fig1 --format svg"),
        ("empty --page p", "empty holds no figures as SVG or PNG"),
        ("drawn/icml-fig1 empty --page p", "empty holds no figures as SVG or PNG"),
        ("drawn/icml-fg1 --page p", "did you mean `drawn/icml-fig1`?"),
        ("drawn/icml-fig1 --page p --format png", "--format"),
        ("drawn/icml-fig1 --page p --width column", "--width"),
        ("drawn/icml-fig1 --page empty", "empty is a folder"),
        ("drawn/icml-fig1 --page nowhere/p", "cannot write to nowhere"),
        ("drawn/icml-fig1 --page drawn/icml-fig1/config.toml", "is a file of the results"),
    ];
    for (typed, expected) in cases {
        let outcome = sandbox.dpbi(&words(&format!("plot {typed}")));
        assert_eq!(outcome.status, 2, "{typed}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(expected), "{typed}: {}", outcome.stderr);
        assert!(outcome.stdout.is_empty() && !sandbox.path("p").exists(), "{typed}");
    }
}

/// What a stranger may write where a figure or its title is expected. `URL` is an address that hears of it:
/// each of these asks for it where it is read as SVG or as HTML.
const PAYLOADS: [&str; 14] = [
    r#"<svg xmlns="http://www.w3.org/2000/svg" onload="fetch('URL')"></svg>"#,
    r#"<svg xmlns="http://www.w3.org/2000/svg"><script>fetch('URL')</script></svg>"#,
    r#"<svg xmlns="http://www.w3.org/2000/svg"><script href="URL"/></svg>"#,
    r#"<svg xmlns="http://www.w3.org/2000/svg"><image href="URL" width="9" height="9"/></svg>"#,
    r#"<svg xmlns="http://www.w3.org/2000/svg"><image href="x:" onerror="fetch('URL')"/></svg>"#,
    r#"<svg xmlns="http://www.w3.org/2000/svg"><animate onbegin="fetch('URL')" attributeName="x" dur="1s"/></svg>"#,
    r#"<svg xmlns="http://www.w3.org/2000/svg"><foreignObject><iframe xmlns="http://www.w3.org/1999/xhtml" src="URL"/></foreignObject></svg>"#,
    r#"<svg xmlns="http://www.w3.org/2000/svg"><style>@import 'URL';</style></svg>"#,
    r#"<svg xmlns="http://www.w3.org/2000/svg" style="background: url(URL)" width="9" height="9"></svg>"#,
    r#"<?xml-stylesheet href="URL" type="text/css"?><svg xmlns="http://www.w3.org/2000/svg"/>"#,
    r#"<!DOCTYPE svg [<!ENTITY x "<script>fetch('URL')</script>">]><svg xmlns="http://www.w3.org/2000/svg">&x;</svg>"#,
    r#"<meta http-equiv="refresh" content="0;url=URL">"#,
    r#"<base href="URL/"><img src="x">"#,
    r#""></title></style><iframe src="javascript:fetch('URL')"></iframe>"#,
];

/// Notes what is asked for at an address of this machine.
struct Listener {
    address: String,
    heard: Arc<Mutex<Vec<String>>>,
}

impl Listener {
    fn new() -> Self {
        let socket = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", socket.local_addr().unwrap());
        let heard = Arc::new(Mutex::new(Vec::new()));
        let notes = heard.clone();
        std::thread::spawn(move || {
            for mut stream in socket.incoming().flatten() {
                let mut line = String::new();
                if BufReader::new(&stream).read_line(&mut line).is_ok() {
                    notes.lock().unwrap().push(line);
                }
                let _ = stream.write_all(b"HTTP/1.1 204 Nothing\r\nConnection: close\r\n\r\n");
            }
        });
        Self { address, heard }
    }

    /// The payload with this number, as it tells on itself here.
    fn payload(&self, number: usize) -> String {
        PAYLOADS[number].replace("URL", &format!("{}/payload{number}", self.address))
    }

    /// The requests since the last call.
    fn heard(&self) -> Vec<String> {
        std::mem::take(&mut self.heard.lock().unwrap())
    }
}

/// What becomes of a page in Chromium, as HTML again; none if there is no Chromium.
fn in_chromium(sandbox: &Sandbox, page: &Path) -> Option<String> {
    let output = Command::new("chromium")
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"])
        .args(["--virtual-time-budget=5000", "--timeout=60000"])
        .arg(format!("--user-data-dir={}", sandbox.path("profile").display()))
        .arg(format!("file://{}", page.display()))
        .output();
    match output {
        Ok(output) => Some(String::from_utf8(output.stdout).unwrap()),
        Err(_) => {
            // Not by `eprintln`, which a test that passes keeps to itself.
            let _ = writeln!(
                std::io::stderr(),
                "SKIPPED: no Chromium opens a page of hostile figures (install it: apt-get install chromium)"
            );
            None
        }
    }
}

/// The tags and the names of attributes in a page as Chromium writes it: attributes in double quotes, and
/// neither `<` in a text nor `"` in an attribute.
fn markup(page: &str) -> (BTreeMap<&str, usize>, BTreeSet<&str>) {
    let tag = Regex::new(r#"<([a-zA-Z!?][^\s>]*)((?:\s+[^\s=>]+="[^"]*")*)[^>]*>"#).unwrap();
    let attribute = Regex::new(r#"([^\s=]+)="[^"]*""#).unwrap();
    let (mut tags, mut attributes) = (BTreeMap::new(), BTreeSet::new());
    for found in tag.captures_iter(page) {
        *tags.entry(found.get(1).unwrap().as_str()).or_default() += 1;
        let inside = found.get(2).unwrap().as_str();
        attributes.extend(attribute.captures_iter(inside).map(|one| one.get(1).unwrap().as_str()));
    }
    (tags, attributes)
}

#[test]
fn what_a_stranger_drew_or_named_does_nothing_in_chromium() {
    let (sandbox, listener) = (Sandbox::new(), Listener::new());
    let numbers = 0..PAYLOADS.len();
    // First where they are read as documents of their own: every one of them is heard.
    let mut control = "<!DOCTYPE html>".to_owned();
    for number in numbers.clone() {
        for ending in ["svg", "html"] {
            let file = format!("payload{number}.{ending}");
            sandbox.write(&file, &listener.payload(number));
            control += &format!("<iframe src=\"{file}\"></iframe>");
        }
    }
    sandbox.write("control.html", &control);
    if in_chromium(&sandbox, &sandbox.path("control.html")).is_none() {
        return;
    }
    let heard = listener.heard();
    for number in numbers.clone() {
        let request = Regex::new(&format!("GET /payload{number}[/ ]")).unwrap();
        assert!(heard.iter().any(|line| request.is_match(line)), "{}", PAYLOADS[number]);
    }

    // Then as a figure, its title, the experiment's name, and the folder's.
    sandbox.write(
        "v.toml",
        "name = \"v\"\nkind = \"theory\"\nprior = [1, 1]\nepsilon = 1\nmechanisms = [\"ehds\"]\n\
         data.balanced.sizes = [4, 6]\n",
    );
    sandbox.succeed(&["run", "v.toml", "--format", "none"]);
    let mut folders = Vec::new();
    for number in numbers {
        let payload = listener.payload(number);
        // No name of a folder has a slash.
        let folder = payload.replace('/', "\u{2215}");
        std::fs::create_dir(sandbox.path(&folder)).unwrap();
        sandbox.write(&format!("{folder}/mean.svg"), &payload);
        let mut manifest = sandbox.manifest("results/v");
        manifest["files"] = json!({ "mean.svg": sha256(payload.as_bytes()) });
        manifest["name"] = json!(payload);
        manifest["config"]["title"] = json!(payload);
        sandbox.forge_manifest(&folder, manifest);
        folders.push(folder);
    }
    let folders: Vec<&str> = folders.iter().map(String::as_str).collect();
    sandbox.succeed(&[&["plot", "--page", "page.html"], &folders[..]].concat());
    let page = in_chromium(&sandbox, &sandbox.path("page.html")).unwrap();
    assert_eq!(listener.heard(), [""; 0]);
    let (tags, attributes) = markup(&page);
    let once = ["!DOCTYPE", "html", "head", "title", "style", "body", "header", "h1", "nav", "ul"];
    let for_each = ["li", "a", "section", "div", "article", "h3", "figure", "img"];
    let mut expected: BTreeMap<&str, usize> = once.map(|tag| (tag, 1)).into();
    expected.extend(for_each.map(|tag| (tag, PAYLOADS.len())));
    expected.extend([("meta", 4), ("h2", 15), ("p", 29), ("span", 28), ("code", 28)]);
    assert_eq!(tags, expected);
    let known = [
        "lang",
        "charset",
        "http-equiv",
        "content",
        "name",
        "class",
        "aria-label",
        "href",
        "id",
        "src",
        "alt",
    ];
    assert_eq!(attributes, known.into());
}
