//! The types of the target `view`.

fn main() {
    let schemas = ["enums", "nested", "optional", "recursion", "structs", "unions", "vectors"];
    let paths = schemas.map(|name| format!("../schemas/{name}.fbs"));
    msg_codegen::compile(&paths);
}
