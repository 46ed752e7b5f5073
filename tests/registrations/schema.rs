//! The description of the service, which every answer must match.

use boon::{Compiler, Schemas};
use serde_json::{Value, json};

use crate::fixture::status;
use crate::support::Reply;

/// Where the validator has the description.
const ADDRESS: &str = "https://short.code/-/api/openapi.json";

/// An OpenAPI document.
pub(crate) struct Description(Value);

impl Description {
    pub(crate) fn new(document: Value) -> Self {
        assert_eq!(document["openapi"], "3.1.0");
        Self(document)
    }

    /// Panics if an answer to a method at a path is not as described.
    pub(crate) fn check(&self, method: &str, path: &str, reply: &Reply) {
        let status = status(reply).to_string();
        let responses = &self.0["paths"][path][method]["responses"];
        let Some(response) = responses.get(&status) else {
            panic!("{method} {path} may not be answered with {reply}");
        };
        let media_type = reply.header("content-type").unwrap();
        let schema = &response["content"][&media_type]["schema"];
        assert!(schema.is_object(), "{status} is not to be {media_type}");
        self.validate(schema, &reply.json());
        for name in ["Location", "Retry-After"] {
            let has = reply.header(name).is_some();
            let described = &response["headers"][name];
            assert!(!has || described.is_object(), "{name} in {reply}");
            let is_required = described["required"] == json!(true);
            assert!(has || !is_required, "{name} is missing in {reply}");
        }
    }

    /// Panics if a value is not of a schema of the document.
    fn validate(&self, schema: &Value, value: &Value) {
        let mut document = self.0.clone();
        document["checked"] = schema.clone();
        let mut schemas = Schemas::new();
        let mut compiler = Compiler::new();
        compiler.add_resource(ADDRESS, document).unwrap();
        let checked = format!("{ADDRESS}#/checked");
        let schema = compiler.compile(&checked, &mut schemas).unwrap();
        if let Err(error) = schemas.validate(value, schema) {
            panic!("{value:#} is not as described: {error}");
        }
    }

    /// Returns the statuses that a method at a path may be answered with.
    pub(crate) fn statuses(&self, method: &str, path: &str) -> Vec<u16> {
        let responses = self.0["paths"][path][method]["responses"].as_object();
        let statuses = responses.unwrap().keys();
        statuses.map(|status| status.parse().unwrap()).collect()
    }

    /// Returns the names of the fields of a schema, deep ones with what they are in.
    pub(crate) fn fields(&self, schema: &str) -> Vec<String> {
        let mut fields = Vec::new();
        list(&self.0["components"]["schemas"][schema], "", &mut fields);
        fields
    }
}

fn list(schema: &Value, at: &str, fields: &mut Vec<String>) {
    if schema["items"]["properties"].is_object() {
        list(&schema["items"], at, fields);
    }
    for (name, schema) in schema["properties"].as_object().into_iter().flatten() {
        let name = format!("{at}/{name}");
        list(schema, &name, fields);
        fields.push(name);
    }
}

/// Lists the fields that a value has, in the same way.
pub(crate) fn fields_of(value: &Value, at: &str, fields: &mut Vec<String>) {
    for item in value.as_array().into_iter().flatten() {
        fields_of(item, at, fields);
    }
    for (name, value) in value.as_object().into_iter().flatten() {
        let name = format!("{at}/{name}");
        fields_of(value, &name, fields);
        fields.push(name);
    }
}
