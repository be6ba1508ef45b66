//! The builder: everything about a run that can be chosen.

use std::path::{Path, PathBuf};

use msg_schema::{Change, Schema};

use crate::{
    build_script,
    checked::Checked,
    conform::{self, SchemaError},
    custom::Custom,
    fbs::{self, FbsError},
    source,
};

/// How schemas are found and where generated code goes; most need only [`compile`](crate::compile).
///
/// # Examples
///
/// In `build.rs`, for schemas that include files of another directory:
///
/// ```no_run
/// msg_codegen::Config::new().include_path("../common/schemas").compile(&["schemas/robot.fbs"]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Config {
    include_paths: Vec<PathBuf>,
    out_dir: Option<PathBuf>,
    baseline: Option<PathBuf>,
    custom: Custom,
}

impl Config {
    /// Nothing chosen yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a directory in which included files are searched, after that of the including file.
    pub fn include_path(mut self, directory: impl AsRef<Path>) -> Self {
        self.include_paths.push(directory.as_ref().to_owned());
        self
    }

    /// Where `msg_schemas.rs` is written; cargo's `OUT_DIR` unless it is set. `include_schemas!` reads it from there.
    pub fn out_dir(mut self, directory: impl AsRef<Path>) -> Self {
        self.out_dir = Some(directory.as_ref().to_owned());
        self
    }

    /// The schemas as they were when the programs were built that must go on reading and being read: a directory that holds
    /// an old `.fbs` or `.bfbs` file under the name of each schema, or one such file. A change that breaks readers is a
    /// mistake then. A schema that the directory does not hold is new.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// msg_codegen::Config::new().conform_to("schemas/released").compile(&["schemas/robot.fbs"]);
    /// ```
    pub fn conform_to(mut self, file_or_directory: impl AsRef<Path>) -> Self {
        self.baseline = Some(file_or_directory.as_ref().to_owned());
        self
    }

    /// Takes the Rust of a type, or of all types in a namespace and those in it, from elsewhere: nothing is generated for
    /// them. For schemas that another crate has compiled: a type that was generated twice would be two types.
    ///
    /// `path` is absolute. For a namespace it is the module that stands for it.
    ///
    /// # Examples
    ///
    /// ```
    /// # let schema = "namespace geometry; struct Vec3 { x: float; } namespace robot; table Pose { at: geometry.Vec3; }";
    /// let config = msg_codegen::Config::new().extern_path("geometry", "::common_messages::geometry");
    /// let text = config.check_text("robot.fbs", schema).generate().unwrap();
    /// assert!(text.contains("at: ::core::option::Option<::common_messages::geometry::Vec3>"));
    /// assert!(!text.contains("struct Vec3"));
    /// ```
    pub fn extern_path(mut self, schema_name: impl Into<String>, path: impl Into<String>) -> Self {
        self.custom.extern_paths.push((schema_name.into(), path.into()));
        self
    }

    /// Adds attributes to types, for derives of other crates and of your own. The pattern is a full name as the schema
    /// spells it, in which `*` stands for any text.
    ///
    /// # Examples
    ///
    /// ```
    /// # let schema = "namespace robot; enum Gear : ubyte { Park } table Motor { gear: Gear; }";
    /// let config = msg_codegen::Config::new().type_attribute("robot.M*", "#[derive(Hash)]");
    /// let text = config.check_text("robot.fbs", schema).generate().unwrap();
    /// assert_eq!(text.matches("#[derive(Hash)]").count(), 1);
    /// ```
    pub fn type_attribute(mut self, pattern: impl Into<String>, attributes: impl Into<String>) -> Self {
        self.custom.type_attributes.push((pattern.into(), attributes.into()));
        self
    }

    /// Adds attributes to fields, enumerators and members of unions, for what derives of other crates ask of them. The
    /// pattern is the full name of the type and that of the field, as `robot.Motor.gear`, in which `*` stands for any text.
    ///
    /// # Examples
    ///
    /// ```
    /// # let schema = "namespace robot; table Motor { gear: int; }";
    /// let config = msg_codegen::Config::new().field_attribute("*.gear", "#[cfg(feature = \"gears\")]");
    /// let text = config.check_text("robot.fbs", schema).generate().unwrap();
    /// assert!(text.contains("#[cfg(feature = \"gears\")]\n        pub gear: i32"));
    /// ```
    pub fn field_attribute(mut self, pattern: impl Into<String>, attributes: impl Into<String>) -> Self {
        self.custom.field_attributes.push((pattern.into(), attributes.into()));
        self
    }

    /// Derives `serde::Serialize` and `serde::Deserialize` for all types, in the form that views have with the feature
    /// `serde` of the runtime, and in the names of the schema.
    ///
    /// The crate needs `serde` with its feature `derive`, and `msg-runtime` with its feature `serde`. A field of a table
    /// that a text does not have reads as its default, a required one as an empty value. Types that are taken from
    /// elsewhere with [`extern_path`](Self::extern_path) have to implement both by themselves.
    ///
    /// # Examples
    ///
    /// ```
    /// # let schema = "namespace robot; table Motor { type: int; }";
    /// let config = msg_codegen::Config::new().serde(true);
    /// let text = config.check_text("robot.fbs", schema).generate().unwrap();
    /// assert!(text.contains("#[derive(::serde::Serialize, ::serde::Deserialize)]"));
    /// ```
    pub fn serde(mut self, derive: bool) -> Self {
        self.custom.serde = derive;
        self
    }

    /// Compiles schemas from a build script: writes `msg_schemas.rs`, tells cargo which files were read, and prints
    /// warnings. After a mistake it prints all that were found and ends the process with exit code 1.
    pub fn compile<P: AsRef<Path>>(&self, schemas: &[P]) {
        build_script::run(&self.check(schemas), self.baseline.as_deref(), self.out_dir.as_deref());
    }

    /// Reads and checks schemas, `.fbs` or `.bfbs`, and all that they include.
    pub fn check<P: AsRef<Path>>(&self, schemas: &[P]) -> Checked {
        let schemas: Vec<PathBuf> = schemas.iter().map(|path| path.as_ref().to_owned()).collect();
        let mut checked = Checked::new(source::load(&schemas, &self.include_paths), &self.custom);
        if let Some(baseline) = &self.baseline {
            let found = conform::check(self, baseline, &checked);
            checked.extend(found);
        }
        checked
    }

    /// Checks one file for itself.
    pub(crate) fn check_alone(&self, schema: &Path) -> Checked {
        Checked::new(source::load(&[schema.to_owned()], &self.include_paths), &Custom::default())
    }

    /// The binary schema of an `.fbs` or a `.bfbs` file, and of all that it includes.
    ///
    /// # Errors
    /// The file cannot be read, or has mistakes.
    pub fn read_schema(&self, path: impl AsRef<Path>) -> Result<Schema, SchemaError> {
        conform::read(self, path.as_ref())
    }

    /// Every change from one schema to another, each with who breaks; both are `.fbs` or `.bfbs` files. The defaults of
    /// strings and vectors are compared between two `.fbs` files only: the binary form does not hold them.
    ///
    /// # Errors
    /// A file cannot be read, or has mistakes.
    pub fn diff(&self, old: impl AsRef<Path>, new: impl AsRef<Path>) -> Result<Vec<Change>, SchemaError> {
        conform::diff(self, old.as_ref(), new.as_ref())
    }

    /// Checks one schema that is no file; `name` is what diagnostics call it. It cannot include anything.
    ///
    /// # Examples
    ///
    /// ```
    /// let checked = msg_codegen::Config::new().check_text("a.fbs", "table A { x: in; }");
    /// assert_eq!(checked.diagnostics()[0].message, "unknown type `in`");
    /// ```
    pub fn check_text(&self, name: &str, text: &str) -> Checked {
        Checked::new(source::load_text(name, text), &self.custom)
    }

    /// Checks a schema that some other program has made or changed; `name` is what diagnostics call it, and they show it
    /// as [`to_fbs`](crate::to_fbs) writes it.
    ///
    /// With [`Checked::schemas`], which is the other way, parser and emitter can be used by themselves.
    ///
    /// # Errors
    /// The schema cannot be written as `.fbs`.
    ///
    /// # Examples
    ///
    /// ```
    /// # let config = msg_codegen::Config::new();
    /// let parsed = config.check_text("a.fbs", "namespace demo; table A { x: int; }");
    /// let (_, mut schema) = parsed.schemas().remove(0);
    /// schema.objects[0].fields[0].name = "y".into();
    /// let emitted = config.check_schema("changed", &schema)?.generate().unwrap();
    /// assert!(emitted.contains("pub y: i32"));
    /// # Ok::<(), msg_codegen::FbsError>(())
    /// ```
    pub fn check_schema(&self, name: &str, schema: &Schema) -> Result<Checked, FbsError> {
        Ok(self.check_text(name, &fbs::to_fbs(schema)?))
    }
}
