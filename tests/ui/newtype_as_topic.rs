use msg_runtime::Message;

#[derive(Message)]
struct Celsius(f32);

fn needs<M: Message>() {}

fn main() {
    needs::<Celsius>();
}
