//! Parsing, printing and complaining.

use super::*;

#[test]
fn parses_and_prints() {
    let check = |text: &str, printed: &str| {
        let endpoint: Endpoint = text.parse().unwrap();
        assert_eq!(endpoint.to_string(), printed);
        assert_eq!(printed.parse::<Endpoint>().unwrap(), endpoint, "what is printed parses to the same");
    };
    check("shm;demo", "shm;none;demo");
    check("shm;none;demo", "shm;none;demo");
    check("shm;zstd;demo", "shm;zstd:3;demo");
    check("shm;zstd:22;demo", "shm;zstd:22;demo");
    check("shm;lz4;demo?timeout=250ms", "shm;lz4;demo?timeout=250ms");
    check(
        "shm;demo?slots=8,size=4MiB,timeout=1s,group=robots,max=2GiB",
        "shm;none;demo?slots=8,size=4MiB,timeout=1s,group=robots,max=2GiB",
    );
    check("shm;demo?size=1536B", "shm;none;demo?size=1536B");
    check("shm;demo?size=1536KiB", "shm;none;demo?size=1536KiB");
    check("shm;demo?timeout=1500us", "shm;none;demo?timeout=1500us");
    check("shm;demo?timeout=0ns", "shm;none;demo?timeout=0s");
    let all = "shm;none;demo?evict=5s,wait=50us,wake=never,lock=on,copy=on";
    check(all, all);
    check("shm;demo?wait=spin", "shm;none;demo?wait=spin");
    check("shm;demo?wait=sleep", "shm;none;demo?wait=sleep");
    check("shm;demo?wait=0s", "shm;none;demo?wait=sleep");
    check("shm;demo?wake=always,lock=off,copy=off", "shm;none;demo");
}

/// The text, and what the caret points at.
#[test]
fn complains_at_the_right_place() {
    let check = |endpoint: &str, text: &str, marked: &str| {
        let error = endpoint.parse::<Endpoint>().unwrap_err().to_string();
        let lines: Vec<&str> = error.lines().collect();
        let [message, quoted, carets] = lines[..] else { panic!("three lines: {error}") };
        assert!(message.contains(text), "{message:?} lacks {text:?}");
        let start = carets.find('^').unwrap();
        assert_eq!(
            &quoted[start..start + carets.matches('^').count().max(1).min(quoted.len() - start)],
            marked
        );
    };
    check("smh;demo", "unknown transport `smh`, expected one of `shm`, `inproc`,", "smh");
    check("smh;demo", "; did you mean `shm`?", "smh");
    check("natz;127.0.0.1:4222", "did you mean `nats`?", "natz");
    check("shm", "here is no `;`", "shm");
    check("shm;gzip;demo", "unknown compression `gzip`", "gzip");
    check("shm;zst;demo", "did you mean `zstd`?", "zst");
    check("shm;zstd:23;demo", "expected 1 to 22", "23");
    check("shm;lz4:3;demo", "has no level", "3");
    check("shm;a b", "channel `a b`", "a b");
    check("shm;demo?slot=8", "unknown option `slot` of `shm`", "slot");
    check("shm;demo?slot=8", "did you mean `slots`?", "slot");
    check("shm;demo?slots", "option `slots` has no value", "slots");
    check("shm;demo?slots=0", "slots `0`, expected 1 to 1024", "0");
    check("shm;demo?slots=1025", "expected 1 to 1024", "1025");
    check("shm;demo?slots=8,slots=9", "option `slots` is given twice", "slots");
    check("shm;demo?slots=4&size=1KiB", "options are separated by `,`", "4&size=1KiB");
    check("shm;demo?size=4MB", "unknown unit `MB`", "MB");
    check("shm;demo?size=4mib", "did you mean `MiB`?", "mib");
    check("shm;demo?size=4", "has no unit", "4");
    check("shm;demo?size=MiB", "has no number", "MiB");
    check("shm;demo?size=99999999999999GiB", "too large", "99999999999999GiB");
    check("shm;demo?size=0B", "at least 1 B", "0B");
    check("shm;demo?timeout=1sec", "unknown unit `sec`, expected `ns`, `us`, `ms` or `s`", "sec");
    check("shm;demo?timeout=1.5s", "unknown unit `.5s`", ".5s");
    check("shm;demo?group=a/b", "group `a/b`", "a/b");
    check("shm;demo?evict=0s", "evict `0s` would evict everybody", "0s");
    check("shm;demo?evict=5", "time `5` has no unit", "5");
    check("shm;demo?wait=spinn", "wait `spinn`, expected `spin`, `sleep` or a time", "spinn");
    check("shm;demo?wait=50", "time `50` has no unit", "50");
    check("shm;demo?wait=50uS", "unknown unit `uS`", "uS");
    check("shm;demo?wake=off", "wake `off`, expected `always` or `never`", "off");
    check("shm;demo?lock=yes", "lock `yes`, expected `off` or `on`", "yes");
    check("shm;demo?copy=On", "copy `On`, expected `off` or `on`", "On");
    check("shm;demo?wakes=never", "did you mean `wake`?", "wakes");
    check("shm;none;x;y", "channel `x;y`", "x;y");
}

#[test]
fn strange_strings_are_errors() {
    for text in [
        "",
        ";",
        ";;",
        ";;;",
        "shm;",
        "shm;;",
        "shm;?",
        "shm;demo?",
        "shm;demo?,",
        "shm;demo?=",
        "shm;\u{1F980}",
    ] {
        assert!(text.parse::<Endpoint>().is_err(), "{text:?}");
    }
}
