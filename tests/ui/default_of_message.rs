use msg_runtime::Message;

#[derive(Message)]
#[message(namespace = "demo")]
struct Person {
    #[message(default = 3)]
    home: Home,
}

#[derive(Message)]
#[message(namespace = "demo")]
struct Home {
    street: String,
}

fn main() {}
