use msg_runtime::Message;

#[derive(Message)]
#[message(namespace = "demo")]
struct Celsius(f32);

fn needs<M: Message>() {}

fn main() {
    needs::<Celsius>();
}
