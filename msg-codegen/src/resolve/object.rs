//! Tables and structs: their fields, with what stands in them.

use super::{
    Resolver, Site,
    attributes::{Place, find},
    ids,
    scope::{Declared, qualified},
};
use crate::{
    ast,
    diagnostic::{Code, Diagnostic},
    ir::{Attributes, Default, Element, Field, Object, ObjectId, ObjectKind, Presence, Type},
};

/// A field while its rules are checked.
pub(super) struct Draft<'a> {
    pub(super) ast: &'a ast::Field,
    pub(super) field_type: Type,
    pub(super) in_struct: bool,
}

impl Draft<'_> {
    pub(super) fn name(&self) -> &str {
        &self.ast.name.text
    }

    pub(super) fn attribute(&self, name: &str) -> Option<&ast::Attribute> {
        find(&self.ast.attributes, name)
    }

    /// A scalar or an enum by itself: what can have a default.
    pub(super) fn is_scalar(&self) -> bool {
        matches!(self.field_type, Type::One(Element::Scalar(_) | Element::Enum(_)))
    }
}

impl Resolver<'_, '_> {
    /// Resolves every table and struct but for what needs the others: layouts and recursion.
    pub(super) fn objects(&mut self) {
        let scope = self.scope;
        for declared in &scope.objects {
            let object = self.object(declared);
            self.ir.objects.push(object);
        }
    }

    fn object(&mut self, declared: &Declared<'_, ast::Object>) -> Object {
        let (ast, site) = (declared.ast, &declared.site);
        let (kind, place) = match ast.kind {
            ast::ObjectKind::Table => (ObjectKind::Table, Place::Table),
            ast::ObjectKind::Struct => (ObjectKind::Struct, Place::Struct),
        };
        let attributes = self.attributes(&ast.attributes, place);
        let declaration = self.declaration(&ast.name, &ast.documentation, attributes, site);
        self.check_not_empty(ast);
        self.check_names(declared);
        self.check_one_key(ast);
        let mut fields = Vec::with_capacity(ast.fields.len());
        let mut is_whole = !ast.broken;
        for field in &ast.fields {
            match self.field(field, ast.kind, site) {
                Some(field) => fields.push(field),
                None => is_whole = false,
            }
        }
        if is_whole {
            self.check_clashes(ast, &fields);
            match kind {
                ObjectKind::Table => ids::assign(self, ast, &mut fields),
                ObjectKind::Struct => fields.iter_mut().zip(0..).for_each(|(field, id)| field.id = id),
            }
        }
        Object { declaration, kind, fields, align: 1, size: 0, is_over_aligned: false }
    }

    fn field(&mut self, ast: &ast::Field, object: ast::ObjectKind, site: &Site) -> Option<Field> {
        let attributes = self.attributes(&ast.attributes, Place::Field);
        let in_struct = object == ast::ObjectKind::Struct;
        let field_type = self.field_type(&ast.field_type, in_struct, site)?;
        let draft = Draft { ast, field_type, in_struct };
        let is_key = self.key(&draft);
        let is_deprecated = self.deprecated(&draft);
        let is_required = self.required(&draft);
        self.check_misplaced(&draft);
        let nested = self.nested(&draft, site);
        let align = self.vector_align(&draft);
        let (default, is_optional) = self.default(&draft, site)?;
        // A string key is required: vectors are sorted by it.
        let is_text_key = is_key && field_type == Type::One(Element::Text);
        let presence = match default {
            _ if is_required || is_text_key => Presence::Required,
            Default::Text(_) | Default::EmptyVector => Presence::Default,
            _ if in_struct => Presence::Default,
            _ if draft.is_scalar() && !is_optional => Presence::Default,
            _ => Presence::Optional,
        };
        Some(new_field(
            ast,
            attributes,
            field_type,
            Facts { default, presence, is_deprecated, is_key, align, nested },
        ))
    }

    /// A field's type, if it may stand in this kind of object.
    fn field_type(&mut self, ast: &ast::Type, in_struct: bool, site: &Site) -> Option<Type> {
        let element = self.element(&ast.name, site)?;
        let field_type = match &ast.shape {
            ast::Shape::Bare => Type::One(element),
            ast::Shape::Vector => Type::Vector(element),
            ast::Shape::Array(length) => Type::Array(element, self.array_length(length)?),
        };
        if let Element::Enum(id) = element {
            let declared = self.scope.enums[id.0].ast.name.span;
            self.is_declared_before("enum", &ast.name, declared).then_some(())?;
        }
        if let Element::Union(id) = element {
            let declared = self.scope.unions[id.0].ast.name.span;
            self.is_declared_before("union", &ast.name, declared).then_some(())?;
        }
        match (in_struct, field_type) {
            (true, Type::Vector(_))
            | (true, Type::One(Element::Text | Element::Table(_) | Element::Union(_)))
            | (true, Type::Array(Element::Text | Element::Table(_) | Element::Union(_), _)) => {
                self.not_in_struct(ast, field_type);
                None
            }
            (false, Type::Array(..)) => {
                let message = "a fixed-length array stands outside a struct";
                let help = format!("put it into a struct, or use the vector `[{}]`", ast.name.text());
                self.report(Diagnostic::new(Code::ArrayOutsideStruct, ast.span, message).help(help));
                None
            }
            _ => Some(field_type),
        }
    }

    fn not_in_struct(&mut self, ast: &ast::Type, field_type: Type) {
        let what = match field_type {
            Type::Vector(_) => "a vector",
            Type::One(Element::Text) | Type::Array(Element::Text, _) => "a string",
            Type::One(Element::Union(_)) | Type::Array(Element::Union(_), _) => "a union",
            _ => "a table",
        };
        let message = format!("a struct cannot hold {what}");
        let help = "structs hold scalars, enums, other structs and fixed-length arrays of them; use a table";
        self.report(Diagnostic::new(Code::NotAllowedInStruct, ast.span, message).help(help));
    }

    fn array_length(&mut self, written: &ast::Text) -> Option<u16> {
        let length =
            super::enumeration::integer(&written.value).and_then(|length| u16::try_from(length).ok());
        let length = length.filter(|length| *length > 0);
        if length.is_none() {
            let message = format!("an array cannot have {} elements", written.value);
            let help = "an array has 1 to 65535 elements";
            self.report(Diagnostic::new(Code::InvalidArrayLength, written.span, message).help(help));
        }
        length
    }
}

/// What the rules found out about a field.
struct Facts {
    default: Default,
    presence: Presence,
    is_deprecated: bool,
    is_key: bool,
    align: Option<u32>,
    nested: Option<ObjectId>,
}

fn new_field(ast: &ast::Field, attributes: Attributes, field_type: Type, facts: Facts) -> Field {
    Field {
        name: ast.name.text.clone(),
        documentation: ast.documentation.clone(),
        attributes,
        field_type,
        id: 0,
        has_explicit_id: find(&ast.attributes, "id").is_some(),
        offset: 0,
        padding: 0,
        default: facts.default,
        presence: facts.presence,
        is_deprecated: facts.is_deprecated,
        is_key: facts.is_key,
        align: facts.align,
        nested: facts.nested,
        is_boxed: false,
        span: ast.name.span,
    }
}

/// The dotted name of a declared object, for messages.
pub(super) fn dotted(declared: &Declared<'_, ast::Object>) -> String {
    qualified(&declared.ast.name, &declared.site).dotted()
}
