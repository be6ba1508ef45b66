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
fn check_complaint(endpoint: &str, text: &str, marked: &str) {
    let error = endpoint.parse::<Endpoint>().expect_err(endpoint).to_string();
    let lines: Vec<&str> = error.lines().collect();
    let [message, quoted, carets] = lines[..] else { panic!("three lines: {error}") };
    assert!(message.contains(text), "{endpoint}: {message:?} lacks {text:?}");
    let start = carets.find('^').unwrap();
    let len = carets.matches('^').count().min(quoted.len() - start);
    assert_eq!(&quoted[start..start + len], marked, "{endpoint}");
}

#[test]
fn complains_at_the_right_place() {
    let check = check_complaint;
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

#[test]
fn parses_and_prints_network_transports() {
    let check = |text: &str, printed: &str| {
        let endpoint: Endpoint = text.parse().unwrap();
        assert_eq!(endpoint.to_string(), printed);
        assert_eq!(printed.parse::<Endpoint>().unwrap(), endpoint, "what is printed parses to the same");
    };
    check("inproc;demo", "inproc;none;demo");
    check("inproc;lz4;demo?queue=64MiB,on_full=drop,max=1KiB", "inproc;lz4;demo?max=1KiB");
    check("udp;239.255.0.1:7667?iface=lo,ttl=0,rcvbuf=4MiB", "udp;none;239.255.0.1:7667");
    check("udp;udp://[FF02::0:1]:1", "udp;none;[ff02::1]:1");
    let udp = "udp;none;224.0.0.1:65535?iface=eth0.7,ttl=255,rcvbuf=1B,mtu=1500B,fragment=off";
    check(udp, udp);
    check("nats;h", "nats;none;nats://h:4222");
    check("nats;h+nats://[::1]:1+i:2", "nats;none;nats://h:4222+[::1]:1+i:2");
    check("nats;tls://h+i", "nats;none;tls://h:4222+i:4222");
    check("nats;h?creds=/a;b@c:d=e", "nats;none;nats://h:4222?creds=/a;b@c:d=e");
    let common = "queue=1GiB,on_full=block,max=1B,timeout=0s,connect_timeout=1ns,retry=true";
    check(
        &format!("nats;h?{common},stamp=off,announce=off,fragment=on"),
        &format!("nats;none;nats://h:4222?{common},stamp=off,announce=off,fragment=on"),
    );
    check("redis;127.0.0.1", "redis;none;redis://127.0.0.1:6379");
    check("redis;rediss://h:1/0", "redis;none;rediss://h:1");
    check("redis;none;unix:/run/a@b;c.sock?retry=true", "redis;none;unix:/run/a@b;c.sock?retry=true");
    check("zenoh;peer", "zenoh;none;peer");
    check(
        "zenoh;peer?listen=tcp://[::]+tcp://h:1,iface=eth0",
        "zenoh;none;peer?listen=tcp://[::]:7447+tcp://h:1,iface=eth0",
    );
    check("zenoh;tcp://a:1+tcp://b?congestion=block", "zenoh;none;tcp://a:1+tcp://b:7447");
}

#[test]
fn network_transports_complain_at_the_right_place() {
    let check = check_complaint;
    check("inproc;a/b", "channel `a/b`", "a/b");
    check("inproc;a?retry=true", "unknown option `retry` of `inproc`", "retry");
    check("udp;10.0.0.1:1", "`10.0.0.1` is no multicast group", "10.0.0.1:1");
    check("udp;host:1", "`host` is no multicast group", "host:1");
    check("udp;239.0.0.1", "has no port; write `host:port`", "239.0.0.1");
    check("udp;ff02::1:7667", "stands in brackets", "ff02::1:7667");
    check("udp;239.0.0.1:1?ttl=256", "ttl `256`, expected 0 to 255", "256");
    check("udp;239.0.0.1:1?ttl=+1", "ttl `+1`", "+1");
    check("udp;239.0.0.1:1?mtu=1500", "has no unit", "1500");
    check("udp;239.0.0.1:1?mtu=64KiB", "expected 576B to 65535B", "64KiB");
    check("udp;239.0.0.1:1?iface=a/b", "iface `a/b`", "a/b");
    check("udp;239.0.0.1:1?iface=sixteencharacter", "iface `sixteencharacter`", "sixteencharacter");
    check("nats;", "the host is empty", "");
    check("nats;h:0", "port `0`, expected 1 to 65535", "0");
    check("nats;h:65536", "port `65536`", "65536");
    check("nats;h:", "port ``", "");
    check("nats;[::1]x:1", "`x:1` behind the host", "x:1");
    check("nats;[::g]:1", "expected an IPv6 address in brackets", "[::g]");
    check("nats;[::1", "has more than one `:`", "[::1");
    check("nats;a b", "host `a b`", "a b");
    check("nats;http://h", "unknown scheme `http`, expected `nats`, `tls`", "http");
    check("nats;nats://a+tls://b", "use one of them", "tls");
    check("nats;a++b", "the host is empty", "+");
    check("nats;a?on_full=dorp", "did you mean `drop`?", "dorp");
    check("nats;a?retry=on", "retry `on`, expected `false` or `true`", "on");
    check("nats;a?connect_timeout=0s", "leaves no time", "0s");
    check("nats;a?max=0B", "max `0B`, expected at least 1 B", "0B");
    check("nats;a?conect_timeout=1s", "did you mean `connect_timeout`?", "conect_timeout");
    check("redis;a+b", "takes one server", "b");
    check("redis;a/x", "database `x`", "x");
    check("redis;unix:run", "socket `run`, expected an absolute path", "run");
    check("redis;a?stamp=off", "unknown option `stamp` of `redis`", "stamp");
    check("zenoh;h:1", "expected `tcp://host:port`", "h:1");
    check("zenoh;udp://h:1", "unknown scheme `udp`", "udp");
    check("zenoh;tcp://h:1?iface=lo", "`iface` is for `peer`", "iface");
    check("zenoh;peer?listen=h:1", "`h:1`, expected `tcp://host:port`", "h:1");
}

/// Whatever is wrong around it, nobody sees a password, and the caret stands under what is meant.
#[test]
fn complaints_about_logins_hide_them() {
    let check = check_complaint;
    check("nats;nats://u:pw@h:0", "port `0`", "0");
    check("nats;nats://u:pw@h?quue=1B", "unknown option `quue`", "quue");
    check("gnats;nats://u:pw@h", "unknown transport `gnats`", "gnats");
    check("nats://u:pw@h", "here is no `;`", "nats://u:***@h");
    check("shm;nats://u:pw@h", "channel `nats://u:***@h`", "nats://u:***@h");
    check("nats;nats://u:@h", "the password or token is empty", "***");
    check("nats;nats://@h", "the password or token is empty", "***");
    check("nats;nats://:pw@h", "the user is empty", ":***");
    check("nats;nats://u:***@h", "where a printed endpoint had its secret", "***");
    check("nats;nats://u:p%4w@h", "`%25`", "***");
    check("nats;nats://u:%FF@h", "is not utf-8", "***");
    check("nats;nats://u%4:pw@h", "`%25`", "u%4");
    check("nats;nats://u/v:pw@h", "write `%40`", "***");
    check("nats;nats://u:p?w@h", "write `%40`", "***");
    check("nats;nats://u:p@w@h", "write `%40`", "***");
    check("nats;nats://u:p+w@h", "write `%40`", "***");
    check("nats;nats://u:pw", "may be a password whose `@host` is missing", "***");
    check("nats;nats://u:pw@a?creds=/x", "keep one of them", "creds");
    check("redis;redis://pw@h", "a user or a password alone", "***");
    check("udp;u:pw@239.0.0.1:1", "`udp` has no user", "u:***");
    check("zenoh;tcp://u:pw@h:1", "`zenoh` has no user", "u:***");
}

#[test]
fn logins_are_decoded() {
    let nats = |text: &str| match text.parse::<Endpoint>().unwrap().address {
        Address::Nats(address) => address.auth,
        other => panic!("{other:?}"),
    };
    let login = |text: &str| match nats(text) {
        Some(NatsAuth::Login(login)) => (login.user, login.password.reveal().to_owned()),
        other => panic!("{other:?}"),
    };
    let pair = |user: &str, password: &str| (user.to_owned(), password.to_owned());
    assert_eq!(login("nats;nats://u:pw@h"), pair("u", "pw"));
    assert_eq!(login("nats;u%3A%40:p%40%2f%3Fw%2B@h:1?max=1B"), pair("u:@", "p@/?w+"));
    assert_eq!(login("nats;u:p:w@h"), pair("u", "p:w"));
    assert_eq!(login("nats;u:p?w@h?max=1B"), pair("u", "p?w"), "only what follows the last `?` is options");
    assert_eq!(login("nats;u:pw@a+u:pw@b+c"), pair("u", "pw"));
    assert_eq!(login("nats;u:%2A%2A%2A@a"), pair("u", "***"));
    assert!(matches!(nats("nats;tok%40en@h"), Some(NatsAuth::Token(token)) if token.reveal() == "tok@en"));
    assert_eq!(nats("nats;h?creds=/a@b"), Some(NatsAuth::Credentials("/a@b".to_owned())));
    let endpoint: Endpoint = "redis;redis://:pw@h/1".parse().unwrap();
    let Address::Redis(RedisAddress { login: Some(login), .. }) = &endpoint.address else { panic!() };
    assert_eq!((login.user.as_str(), login.password.reveal()), ("", "pw"));
    assert_eq!(endpoint.to_string(), "redis;none;redis://:***@h:6379/1");
    assert!(!format!("{endpoint:?}{endpoint:#?}").contains("pw"));
}

/// A small generator: the same numbers every time.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }

    fn pick<'a>(&mut self, among: &[&'a str]) -> &'a str {
        among[self.below(among.len())]
    }
}

const VALUES: [(&str, &[&str]); 24] = [
    ("slots", &["1", "1024"]),
    ("size", &["1B", "3KiB"]),
    ("group", &["robots", "7"]),
    ("evict", &["5s", "1500us"]),
    ("wait", &["spin", "sleep", "50us"]),
    ("wake", &["always", "never"]),
    ("lock", &["off", "on"]),
    ("copy", &["off", "on"]),
    ("queue", &["64MiB", "65536KiB", "1B"]),
    ("on_full", &["drop", "block"]),
    ("max", &["64MiB", "3GiB"]),
    ("timeout", &["1s", "0ns", "7ms"]),
    ("connect_timeout", &["5s", "1ns"]),
    ("retry", &["false", "true"]),
    ("stamp", &["off", "on"]),
    ("announce", &["off", "on"]),
    ("fragment", &["off", "on"]),
    ("iface", &["lo", "eth0"]),
    ("ttl", &["0", "255"]),
    ("rcvbuf", &["4MiB", "5000B"]),
    ("mtu", &["576B", "9000B"]),
    ("creds", &["/a@b/c;d", "file"]),
    ("listen", &["tcp://0.0.0.0", "tcp://[::]:1+tcp://h:2"]),
    ("congestion", &["block", "drop"]),
];

/// A random endpoint of any transport, without a secret.
fn endpoint(random: &mut Random) -> String {
    let (transport, addresses, options): (_, &[&str], _) = match random.below(6) {
        0 => ("shm", &["a", "left-1_x"], shm::OPTIONS),
        1 => ("inproc", &["a", "left-1_x"], inproc::OPTIONS),
        2 => ("udp", &["239.255.0.1:7667", "[ff02::1]:1", "[FF02:0::5]:65535"], udp::OPTIONS),
        3 => ("nats", &["h", "nats://h:1", "tls://a+b:2+[::1]", "[1::2]:3+tls://x-y.z"], nats::OPTIONS),
        4 => ("redis", &["h", "redis://h:1/2", "rediss://[::1]", "unix:/a/b.sock"], redis::OPTIONS),
        _ => ("zenoh", &["peer", "tcp://h", "tcp://[::1]:1+tcp://h:2"], zenoh::OPTIONS),
    };
    let mut text = format!(
        "{transport};{};{}",
        random.pick(&["none", "lz4", "zstd", "zstd:22"]),
        random.pick(addresses)
    );
    let mut separator = '?';
    for (name, values) in VALUES.iter().filter(|(name, _)| options.contains(name)) {
        let misplaced = *name == "iface" && transport == "zenoh" && !text.contains(";peer");
        if random.below(3) == 0 && !misplaced {
            text.push_str(&format!("{separator}{name}={}", random.pick(values)));
            separator = ',';
        }
    }
    text
}

#[test]
fn random_endpoints_print_and_parse() {
    let mut random = Random(1);
    let mut printed_otherwise = 0;
    for _ in 0..5000 {
        let text = endpoint(&mut random);
        let parsed: Endpoint = text.parse().unwrap_or_else(|error| panic!("{error}"));
        let printed = parsed.to_string();
        assert_eq!(printed.parse::<Endpoint>().unwrap(), parsed, "{text} printed {printed}");
        assert_eq!(printed.parse::<Endpoint>().unwrap().to_string(), printed);
        printed_otherwise += usize::from(printed != text);
    }
    assert!(printed_otherwise > 100);
}

/// Endpoints with a secret, changed anywhere but inside of it: no message, no print shows any part of it.
#[test]
fn damaged_endpoints_show_no_secret() {
    let alike = [
        "nats;none;nats://user:SECRETS@one:4222+two?max=1MiB,creds=/a@b",
        "nats;nats://user:SECRETS@one:4222+user:SECRETS@two?queue=1MiB",
        "nats;zstd:3;user:SECRETS@one",
        "nats;tls://SECRETS@one:4222?retry=true",
        "redis;lz4;rediss://:SECRETS@[::1]:1/2?timeout=1s",
        "redis;user:SECRETS@h",
        "udp;nats://user:SECRETS@h",
        "nats://user:SECRETS@h:4222",
    ];
    let secrets = [
        "hunter2hunter3",
        "aaa?aaa",
        "aaa;aaa@aaa+aaa/aaa",
        "aaa%40aaa%",
        "aaa:aaa",
        "aaa://aaa",
        "1+aaa@aaa",
    ];
    let inserted = [";", ":", "@", "/", "?", "+", ",", "=", "%", "[", " ", "\u{e4}", "", "", "://"];
    let mut random = Random(2);
    let (mut complaints, mut leaks) = (0, Vec::new());
    for _ in 0..20_000 {
        let (secret, mut text) = (random.pick(&secrets), random.pick(&alike).to_owned());
        // One change: something put before a character, or put in its place.
        let places: Vec<usize> =
            (0..text.len()).filter(|at| text.is_char_boundary(*at) && !inside(&text, *at)).collect();
        let at = places[random.below(places.len())];
        let replaced = at + usize::from(!text[at..].starts_with("SECRETS") && random.below(2) == 0);
        text.replace_range(at..replaced, random.pick(&inserted));
        let all = |form: &str| text.matches(form).count() == text.matches("SECRETS").count();
        // What stands before the first `:` is a user; and without its `@` a login is no login, unless the `:` tells.
        if secret.contains(':') && !all(":SECRETS")
            || !all("SECRETS@") && (secret != "hunter2hunter3" || !all(":SECRETS") || text.contains('+'))
        {
            continue;
        }
        let text = text.replace("SECRETS", secret);
        let shown = match text.parse::<Endpoint>() {
            Ok(endpoint) => format!("{endpoint} {endpoint:?}"),
            Err(error) => {
                complaints += 1;
                format!("{error} {error:?}")
            }
        };
        if ["hunter2", "hunter3", "aaa"].iter().any(|part| shown.contains(part)) {
            leaks.push(format!("{text} shows its secret: {}", shown.replace('\n', " | ")));
        }
    }
    assert!(leaks.is_empty(), "{} leaks:\n{}", leaks.len(), leaks[..leaks.len().min(20)].join("\n"));
    assert!(complaints > 1000, "{complaints}");
}

/// A change here would be one of the secret.
fn inside(text: &str, at: usize) -> bool {
    text.match_indices("SECRETS").any(|(start, word)| start < at && at < start + word.len())
}
