fn main() {
    msg_codegen::compile(&["../schemas/person.fbs"]);
}
