//! A real Chromium for the tests, driven through chromedriver by plain requests. It ends with the test that opened it,
//! however that ends.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::left_out;

/// How long the driver may take to answer one request.
const ANSWER_MAX: Duration = Duration::from_mins(2);
/// Time limit for a page to reach the state that a test waits for.
const WAIT_MAX: Duration = Duration::from_secs(30);
/// How often starting a driver is tried: a port may be free for one kind of address and taken for the other, which ends
/// the driver.
const STARTS: usize = 5;
/// How often it is polled.
const POLL: Duration = Duration::from_millis(50);

/// Options for a browser: no window, 3D drawing without a graphics card, and no requests to its maker.
const FLAGS: [&str; 11] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--enable-unsafe-swiftshader",
    "--hide-scrollbars",
];

/// Keys that are not letters, for `press`.
#[allow(dead_code, reason = "all that a keyboard has is named once, whichever tests press it")]
pub(crate) mod key {
    pub(crate) const TAB: &str = "\u{e004}";
    pub(crate) const ENTER: &str = "\u{e007}";
    pub(crate) const SHIFT: &str = "\u{e008}";
    pub(crate) const CONTROL: &str = "\u{e009}";
    pub(crate) const ESCAPE: &str = "\u{e00c}";
    pub(crate) const END: &str = "\u{e010}";
    pub(crate) const HOME: &str = "\u{e011}";
    pub(crate) const LEFT: &str = "\u{e012}";
    pub(crate) const UP: &str = "\u{e013}";
    pub(crate) const RIGHT: &str = "\u{e014}";
    pub(crate) const DOWN: &str = "\u{e015}";
}

/// Whether the user prefers light or dark pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scheme {
    Light,
    Dark,
}

/// One browser with one page.
pub(crate) struct Browser {
    driver: Driver,
    session: String,
    /// Its profile, new and empty.
    _profile: TempDir,
    /// One test at a time: a browser is a dozen processes.
    _turn: MutexGuard<'static, ()>,
}

/// A running chromedriver. Its keeper ends it, with the browsers that it started, when the pipe is closed: by us, or
/// because this process ends.
struct Driver {
    port: u16,
    keeper: Child,
    pipe: Option<ChildStdin>,
    _output: BufReader<ChildStdout>,
}

/// Returns a browser; none, after reporting it, if there is none, unless `CAIRN_REQUIRE_CHROMIUM` requires one.
pub(crate) fn browser() -> Option<Browser> {
    static TURN: Mutex<()> = Mutex::new(());
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let driver = (1..STARTS).find_map(|_| Driver::start().ok()).map_or_else(Driver::start, Ok);
    let opened = driver.and_then(|driver| Browser::open(driver, turn));
    opened
        .inspect_err(|why| {
            assert!(std::env::var_os("CAIRN_REQUIRE_CHROMIUM").is_none(), "Chromium is required: {why}");
            left_out(&format!("it needs Chromium and chromedriver: {why}"));
        })
        .ok()
}

impl Driver {
    /// Starts chromedriver on a free port.
    fn start() -> Result<Self, String> {
        // The keeper survives an interrupt, which every process of the terminal gets. It closes its output, so that the
        // output ends if the driver does not start.
        let keep = "trap '' INT HUP TERM; set -m; command -v chromedriver >/dev/null || exit
            chromedriver --port=0 2>/dev/null & exec >/dev/null; read -r _; kill -9 -- -$!";
        let mut keeper = Command::new("bash")
            .args(["-c", keep])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| error.to_string())?;
        let pipe = keeper.stdin.take();
        let mut output = BufReader::new(keeper.stdout.take().unwrap());
        let mut said = String::new();
        while let Ok(1..) = output.read_line(&mut said) {
            let port = said.rsplit_once("started successfully on port ").map(|(_, port)| port.trim_end_matches(".\n"));
            if let Some(port) = port.and_then(|port| port.parse().ok()) {
                return Ok(Self { port, keeper, pipe, _output: output });
            }
        }
        Err(format!("chromedriver cannot be started; it said: {said:?}"))
    }

    /// Sends a request and returns the value of the answer, or what went wrong.
    fn call(&self, method: &str, path: &str, body: &Value) -> Result<Value, String> {
        let (status, answer) = self.exchange(method, path, body).map_err(|error| error.to_string())?;
        let mut answer: Value = serde_json::from_slice(&answer).map_err(|error| error.to_string())?;
        if status == 200 { Ok(answer["value"].take()) } else { Err(answer["value"]["message"].to_string()) }
    }

    fn exchange(&self, method: &str, path: &str, body: &Value) -> std::io::Result<(u16, Vec<u8>)> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        stream.set_read_timeout(Some(ANSWER_MAX))?;
        let body = if method == "POST" { body.to_string() } else { String::new() };
        let length = body.len();
        write!(stream, "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {length}\r\n\r\n{body}")?;
        let mut answer = BufReader::new(stream);
        let mut line = String::new();
        answer.read_line(&mut line)?;
        let status = line.split(' ').nth(1).and_then(|it| it.parse().ok()).unwrap_or_default();
        let mut length = 0;
        loop {
            line.clear();
            answer.read_line(&mut line)?;
            let Some((name, value)) = line.split_once(':') else { break };
            if name.eq_ignore_ascii_case("content-length") {
                length = value.trim().parse().unwrap_or_default();
            }
        }
        let mut content = vec![0; length];
        answer.read_exact(&mut content)?;
        Ok((status, content))
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        drop(self.pipe.take());
        let _ended = self.keeper.wait();
    }
}

impl Browser {
    fn open(driver: Driver, turn: MutexGuard<'static, ()>) -> Result<Self, String> {
        let profile = TempDir::new().map_err(|error| error.to_string())?;
        let mut flags = FLAGS.map(str::to_owned).to_vec();
        flags.push(format!("--user-data-dir={}", profile.path().display()));
        let capabilities = json!({
            "browserName": "chrome",
            "goog:chromeOptions": { "args": flags },
            "goog:loggingPrefs": { "browser": "ALL" },
        });
        let opened = driver.call("POST", "/session", &json!({ "capabilities": { "alwaysMatch": capabilities } }))?;
        let session = opened["sessionId"].as_str().ok_or("a session without an id")?.to_owned();
        Ok(Self { driver, session, _profile: profile, _turn: turn })
    }

    #[track_caller]
    fn post(&self, path: &str, body: &Value) -> Value {
        let done = self.driver.call("POST", &format!("/session/{}/{path}", self.session), body);
        done.unwrap_or_else(|why| panic!("{path}: {why}"))
    }

    /// Sends a command of the browser's own protocol.
    #[track_caller]
    pub(crate) fn command(&self, name: &str, parameters: &Value) -> Value {
        self.post("goog/cdp/execute", &json!({ "cmd": name, "params": parameters }))
    }

    /// Shows pages on a screen of this size, in CSS pixels; below 500, as on a phone.
    #[track_caller]
    pub(crate) fn resize(&self, width: u32, height: u32) {
        let screen = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500 });
        self.command("Emulation.setDeviceMetricsOverride", &screen);
    }

    /// Shows pages to a user with this preference.
    #[track_caller]
    pub(crate) fn prefer(&self, scheme: Scheme) {
        let value = if scheme == Scheme::Dark { "dark" } else { "light" };
        let features = json!([{ "name": "prefers-color-scheme", "value": value }]);
        self.command("Emulation.setEmulatedMedia", &json!({ "features": features }));
    }

    /// Goes to an address and waits until the page is loaded.
    #[track_caller]
    pub(crate) fn go(&self, url: &str) {
        self.post("url", &json!({ "url": url }));
    }

    /// Goes to a file.
    #[track_caller]
    pub(crate) fn go_to_file(&self, path: &Path) {
        self.go(&format!("file://{}", path.canonicalize().unwrap().display()));
    }

    /// Returns the result of a function with this body.
    #[track_caller]
    pub(crate) fn run(&self, script: &str) -> Value {
        self.run_with(script, &json!([]))
    }

    /// Returns the result of a function with this body and these `arguments`.
    #[track_caller]
    pub(crate) fn run_with(&self, script: &str, arguments: &Value) -> Value {
        self.post("execute/sync", &json!({ "script": script, "args": arguments }))
    }

    /// Returns what a function with this body passes to its last argument.
    #[track_caller]
    pub(crate) fn run_async(&self, script: &str) -> Value {
        self.post("execute/async", &json!({ "script": script, "args": [] }))
    }

    /// Waits until an expression is true.
    #[track_caller]
    pub(crate) fn wait_for(&self, expression: &str) {
        self.wait_at_most(expression, WAIT_MAX);
    }

    /// Waits until an expression is true, and fails when time runs out.
    #[track_caller]
    pub(crate) fn wait_at_most(&self, expression: &str, limit: Duration) {
        let began = Instant::now();
        while self.run(&format!("return Boolean({expression})")) != json!(true) {
            assert!(began.elapsed() < limit, "not within {limit:?}: {expression}\n{:#?}", self.console());
            thread::sleep(POLL);
        }
    }

    /// Clicks in the middle of the first element that matches a selector.
    #[track_caller]
    pub(crate) fn click(&self, selector: &str) {
        let element = self.post("element", &json!({ "using": "css selector", "value": selector }));
        let id = element.as_object().and_then(|it| it.values().next()).and_then(Value::as_str).unwrap().to_owned();
        self.post(&format!("element/{id}/click"), &json!({}));
    }

    /// Presses keys one after the other: letters as they are, others by their name in [`key`].
    #[track_caller]
    pub(crate) fn press(&self, keys: &str) {
        self.press_while("", keys);
    }

    /// Presses keys one after the other while others are held down.
    #[track_caller]
    pub(crate) fn press_while(&self, held: &str, keys: &str) {
        let act = |kind: &str, key: char| json!({ "type": kind, "value": key.to_string() });
        let mut acts: Vec<Value> = held.chars().map(|key| act("keyDown", key)).collect();
        acts.extend(keys.chars().flat_map(|key| [act("keyDown", key), act("keyUp", key)]));
        acts.extend(held.chars().rev().map(|key| act("keyUp", key)));
        self.post("actions", &json!({ "actions": [{ "type": "key", "id": "keyboard", "actions": acts }] }));
    }

    /// Writes what is on the screen to a PNG file.
    #[track_caller]
    pub(crate) fn picture(&self, path: &Path) {
        let path_of_call = format!("/session/{}/screenshot", self.session);
        let png = self.driver.call("GET", &path_of_call, &Value::Null).unwrap();
        fs::write(path, from_base64(png.as_str().unwrap())).unwrap();
    }

    /// Returns the messages of the console since the last call, including failed requests and errors of scripts, but
    /// not the warning that drawing without a graphics card is slow.
    #[track_caller]
    pub(crate) fn console(&self) -> Vec<String> {
        let entries = self.post("se/log", &json!({ "type": "browser" }));
        let entries = entries.as_array().cloned().unwrap_or_default();
        let is_slow = |it: &&Value| it["message"].as_str().is_some_and(|it| it.contains("GL Driver Message"));
        entries.iter().filter(|it| !is_slow(it)).map(|it| format!("{}: {}", it["level"], it["message"])).collect()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The driver is killed with everything that it started; if asked first, the browser leaves nothing behind.
        let _ended = self.driver.call("DELETE", &format!("/session/{}", self.session), &Value::Null);
    }
}

/// Decodes base64.
fn from_base64(text: &str) -> Vec<u8> {
    let value = |letter: u8| match letter {
        b'A'..=b'Z' => Some(letter - b'A'),
        b'a'..=b'z' => Some(letter - b'a' + 26),
        b'0'..=b'9' => Some(letter - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut count) = (0_u32, 0);
    for six in text.bytes().filter_map(value) {
        bits = (bits << 6 | u32::from(six)) & 0xfff;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
    }
    bytes
}

#[test]
fn base64_is_read_to_the_byte() {
    for (text, bytes) in [("", ""), ("TQ==", "M"), ("TWE=", "Ma"), ("TWFu", "Man"), ("bGlnaHQgd29yay4=", "light work.")]
    {
        assert_eq!(from_base64(text), bytes.as_bytes());
    }
    assert_eq!(from_base64("+/8A"), [0xfb, 0xff, 0]);
}

#[test]
fn a_browser_shows_a_page_takes_keys_and_tells_what_went_wrong() {
    let Some(browser) = browser() else { return };
    let folder = TempDir::new().unwrap();
    let page = folder.path().join("page.html");
    let text = "<!doctype html><meta name=viewport content=\"width=device-width\"><title>A page</title>
        <input><button>B</button>
        <script>document.querySelector('button').onclick = () => { throw new Error('a fault'); };
        setTimeout(() => { document.title = 'late'; }, 300);</script>";
    fs::write(&page, text).unwrap();

    browser.resize(360, 640);
    browser.prefer(Scheme::Dark);
    browser.go_to_file(&page);
    assert_eq!(browser.run("return innerWidth"), json!(360));
    assert_eq!(browser.run("return matchMedia('(prefers-color-scheme: dark)').matches"), json!(true));
    browser.wait_for("document.title === 'late'");
    assert_eq!(browser.run_async("setTimeout(() => arguments[0](7), 1)"), json!(7));

    browser.run("document.querySelector('input').focus()");
    browser.press("aB");
    assert_eq!(browser.run_with("return document.querySelector(arguments[0]).value", &json!(["input"])), json!("aB"));
    browser.press(key::TAB);
    assert_eq!(browser.run("return document.activeElement.tagName"), json!("BUTTON"));
    browser.press_while(key::SHIFT, key::TAB);
    assert_eq!(browser.run("return document.activeElement.tagName"), json!("INPUT"));
    assert_eq!(browser.console(), Vec::<String>::new());
    browser.click("button");
    assert!(browser.console().iter().any(|it| it.contains("a fault")));

    let picture = folder.path().join("page.png");
    browser.picture(&picture);
    assert!(fs::read(&picture).unwrap().starts_with(b"\x89PNG\r\n\x1a\n"));
}
