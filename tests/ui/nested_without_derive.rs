use msg_runtime::Message;

struct Pose {
    x: f32,
}

#[derive(Message)]
#[message(namespace = "demo")]
struct Robot {
    past: Vec<Pose>,
    goal: Option<Box<Pose>>,
}

fn main() {
    let robot = Robot { past: vec![], goal: None };
    let bytes = msg_runtime::encode(&robot).unwrap();
    let view = msg_runtime::decode::<Robot>(&bytes).unwrap();
    println!("{view:?}");
    let _ = Robot::from(view);
}
