//! The declarations are those of the headers: the C compiler says so.
//!
//! Each declaration of `src/lib.rs` is written as one of C and compiled behind the headers. C takes a second declaration of
//! a name only if it says the same. Fields have to follow one another without a gap, so none can be missing. The sets of
//! names on both sides are compared, and the bytes of what initializers give.

use schedq_sys::*;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::mem::size_of;
use std::process::{Command, Output};

const SOURCE: &str = include_str!("../src/lib.rs");
const INCLUDE: &str = env!("SCHEDQ_INCLUDE");

fn tokens(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| !line.starts_with("//")) {
        let mut word = String::new();
        for letter in line.chars().chain(Some(' ')) {
            if letter.is_alphanumeric() || letter == '_' {
                word.push(letter);
                continue;
            }
            if !word.is_empty() {
                tokens.push(std::mem::take(&mut word));
            }
            if !letter.is_whitespace() {
                tokens.push(letter.to_string());
            }
        }
    }
    tokens
}

enum Type {
    Name(String),
    Pointer { to_const: bool, to: Box<Type> },
    Array(Box<Type>, String),
    Function(Box<Function>),
}

struct Function {
    parameters: Vec<(String, Type)>,
    answer: Type,
}

#[derive(Default)]
struct Declarations {
    aliases: Vec<(String, Type)>,
    constants: Vec<(String, String)>,
    structs: Vec<(String, Vec<(String, Type)>)>,
    functions: Vec<(String, Function)>,
}

struct Reader {
    tokens: Vec<String>,
    at: usize,
}

impl Reader {
    fn peek(&self) -> &str {
        self.tokens.get(self.at).map_or("", String::as_str)
    }

    fn next(&mut self) -> String {
        self.at += 1;
        self.tokens[self.at - 1].clone()
    }

    fn eat(&mut self, token: &str) -> bool {
        let is = self.peek() == token;
        self.at += usize::from(is);
        is
    }

    fn expect(&mut self, wanted: &str) {
        for token in tokens(wanted) {
            assert!(self.eat(&token), "{:?} instead of {:?}", self.peek(), token);
        }
    }

    fn read_type(&mut self) -> Type {
        if self.eat("*") {
            let to_const = self.next() == "const";
            return Type::Pointer { to_const, to: Box::new(self.read_type()) };
        }
        if self.eat("[") {
            let element = self.read_type();
            self.expect(";");
            let length = self.next();
            self.expect("]");
            return Type::Array(Box::new(element), length);
        }
        if self.eat("Option") {
            self.expect("<unsafe extern \"C\" fn");
            let function = self.function();
            self.eat(",");
            self.expect(">");
            return Type::Function(Box::new(function));
        }
        Type::Name(self.next())
    }

    /// NAME: TYPE, ... up to `end`.
    fn named_types(&mut self, end: &str) -> Vec<(String, Type)> {
        let mut found = Vec::new();
        while !self.eat(end) {
            self.eat("pub");
            let name = self.next();
            self.expect(":");
            found.push((name, self.read_type()));
            self.eat(",");
        }
        found
    }

    fn function(&mut self) -> Function {
        self.expect("(");
        let parameters = self.named_types(")");
        let answer = if self.eat("-") {
            self.expect(">");
            self.read_type()
        } else {
            Type::Name("c_void".to_string())
        };
        Function { parameters, answer }
    }

    fn declarations(mut self) -> Declarations {
        let mut found = Declarations::default();
        while self.at < self.tokens.len() {
            if !self.eat("pub") {
                self.at += 1;
            } else if self.eat("type") {
                let name = self.next();
                self.expect("=");
                found.aliases.push((name, self.read_type()));
            } else if self.eat("fn") {
                let name = self.next();
                found.functions.push((name, self.function()));
            } else if self.eat("struct") {
                let name = self.next();
                if self.eat("{") && name.starts_with("schedq_") {
                    found.structs.push((name, self.named_types("}")));
                }
            } else if self.eat("const") {
                let name = self.next();
                if name.ends_with("_INIT") || name == "$" {
                    continue;
                }
                let tail = self.tokens[self.at..].iter().skip_while(|token| *token != "=").skip(1);
                let value: Vec<_> = tail.take_while(|token| *token != ";").cloned().collect();
                found.constants.push((name, value.concat()));
            }
        }
        found
    }
}

fn c_name(name: &str) -> String {
    match name {
        "c_char" => "char".into(),
        "c_int" => "int".into(),
        "c_uint" => "unsigned int".into(),
        "c_void" => "void".into(),
        "usize" => "size_t".into(),
        "ref_" => "ref".into(),
        _ => match (&name[..1], name[1..].parse::<u8>()) {
            ("u", Ok(bits)) => format!("uint{}_t", bits),
            ("i", Ok(bits)) => format!("int{}_t", bits),
            _ => name.into(),
        },
    }
}

/// The declaration of `declared`, which has this type, as C writes it.
fn in_c(kind: &Type, declared: &str) -> String {
    match kind {
        Type::Name(name) => format!("{} {}", c_name(name), declared),
        Type::Pointer { to_const, to } => {
            let pointer = format!("{}*{}", if *to_const { "const " } else { "" }, declared);
            in_c(to, &pointer)
        }
        Type::Array(element, length) => in_c(element, &format!("{}[{}]", declared, length)),
        Type::Function(function) => function_in_c(function, &format!("(*{})", declared)),
    }
}

fn function_in_c(function: &Function, declared: &str) -> String {
    let parameters: Vec<_> = function.parameters.iter().map(|(_, kind)| in_c(kind, "")).collect();
    let list = if parameters.is_empty() { "void".to_string() } else { parameters.join(", ") };
    in_c(&function.answer, &format!("{}({})", declared, list))
}

fn value_in_c(value: &str) -> String {
    match value {
        "i64::MAX" => "INT64_MAX".into(),
        "1<<63" => "(UINT64_C(1) << 63)".into(),
        value => value.into(),
    }
}

fn bytes_of<T>(value: &T) -> &[u8] {
    // The C program asserts that these structs have no padding.
    unsafe { std::slice::from_raw_parts((value as *const T).cast(), size_of::<T>()) }
}

fn initializers() -> Vec<(&'static str, &'static str, Vec<u8>)> {
    macro_rules! list {
        ($($name:ident: $type:ident),* $(,)?) => {
            vec![$((stringify!($name), stringify!($type), bytes_of::<$type>(&$name).to_vec())),*]
        };
    }
    list![
        SCHEDQ_CONFIG_INIT: schedq_config_t,
        SCHEDQ_POD_SPEC_INIT: schedq_pod_spec_t,
        SCHEDQ_ADD_ITEM_INIT: schedq_add_item_t,
        SCHEDQ_FAILURE_INIT: schedq_failure_t,
        SCHEDQ_PLUGIN_INIT: schedq_plugin_t,
        SCHEDQ_CHANGE_INIT: schedq_change_t,
        SCHEDQ_STATS_INIT: schedq_stats_t,
        SCHEDQ_EXPLANATION_INIT: schedq_explanation_t,
        SCHEDQ_REASONS_INIT: schedq_reasons_t,
        SCHEDQ_WATCH_INIT: schedq_watch_t,
        SCHEDQ_GROUP_SPEC_INIT: schedq_group_spec_t,
        SCHEDQ_GROUP_END_INIT: schedq_group_end_t,
        SCHEDQ_GROUP_INFO_INIT: schedq_group_info_t,
        SCHEDQ_QUERY_INIT: schedq_query_t,
        SCHEDQ_DECISION_INIT: schedq_decision_t,
    ]
}

fn program(found: &Declarations) -> String {
    let mut c = String::from("#include <schedq/schedq.h>\n#include <string.h>\n");
    for (name, kind) in &found.aliases {
        writeln!(
            c,
            "extern {0} check_{0};\nextern {1};",
            name,
            in_c(kind, &format!("check_{}", name))
        )
        .unwrap();
    }
    for (name, value) in &found.constants {
        writeln!(c, "_Static_assert({} == {}, \"{0}\");", name, value_in_c(value)).unwrap();
    }
    for (name, function) in &found.functions {
        writeln!(c, "extern {};", function_in_c(function, name)).unwrap();
    }
    for (name, fields) in &found.structs {
        let mut end = String::from("0");
        for (field, kind) in fields {
            let field = c_name(field);
            let check = format!("check_{}_{}", name, field);
            writeln!(
                c,
                "extern __typeof__((({}*)0)->{}) {};\nextern {};",
                name,
                field,
                check,
                in_c(kind, &check)
            )
            .unwrap();
            writeln!(
                c,
                "_Static_assert(offsetof({0}, {1}) == {2}, \"{0}.{1}\");",
                name, field, end
            )
            .unwrap();
            end = format!("offsetof({0}, {1}) + sizeof((({0}*)0)->{1})", name, field);
        }
        writeln!(c, "_Static_assert(sizeof({}) == {}, \"size of {0}\");", name, end).unwrap();
    }
    c.push_str("int main(void)\n{\n    int failed = 0;\n");
    for (name, kind, bytes) in initializers() {
        writeln!(c, "    {{\n        static const {} value = {};", kind, name).unwrap();
        writeln!(
            c,
            "        static const unsigned char bytes[] = {{{}}};",
            bytes.iter().map(u8::to_string).collect::<Vec<_>>().join(",")
        )
        .unwrap();
        c.push_str("        failed++;\n        if (sizeof bytes != sizeof value || memcmp(bytes, &value, sizeof value) != 0) {\n            return failed;\n        }\n    }\n");
    }
    c.push_str("    return 0;\n}\n");
    c
}

fn cc(arguments: &[&str]) -> Output {
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    Command::new(compiler)
        .args(["-std=gnu11", "-I", INCLUDE])
        .args(arguments)
        .output()
        .expect("a C compiler")
}

fn text_of(output: Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn declared() -> Declarations {
    Reader { tokens: tokens(SOURCE), at: 0 }.declarations()
}

fn umbrella() -> String {
    format!("{}/schedq/schedq.h", INCLUDE)
}

fn set<'a>(names: impl Iterator<Item = &'a String>) -> BTreeSet<String> {
    names.cloned().collect()
}

fn both(what: &str, ours: BTreeSet<String>, theirs: BTreeSet<String>) {
    assert!(ours.len() > 3, "{}: only {:?}", what, ours);
    assert_eq!(
        ours.difference(&theirs).collect::<Vec<_>>(),
        [""; 0],
        "{} that the headers do not have",
        what
    );
    assert_eq!(
        theirs.difference(&ours).collect::<Vec<_>>(),
        [""; 0],
        "{} that src/lib.rs does not have",
        what
    );
}

#[test]
fn each_declaration_says_what_the_headers_say() {
    let folder = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let (source, program_path) = (folder.join("headers.c"), folder.join("headers"));
    std::fs::write(&source, program(&declared())).unwrap();
    text_of(cc(&[source.to_str().unwrap(), "-o", program_path.to_str().unwrap()]));
    let status = Command::new(&program_path).status().unwrap();
    let which = status.code().unwrap() as usize;
    assert!(status.success(), "{} differs", initializers()[which.max(1) - 1].0);
}

#[test]
fn each_name_of_the_headers_is_declared() {
    let found = declared();
    let text = text_of(cc(&["-E", "-P", "-DSCHEDQ_API=SCHEDQ_API", &umbrella()]));
    let there = tokens(&text);
    let mut functions = BTreeSet::new();
    let mut kinds = BTreeSet::new();
    for (at, token) in there.iter().enumerate() {
        if token == "SCHEDQ_API" {
            let open = at + there[at..].iter().position(|token| token == "(").unwrap();
            functions.insert(there[open - 1].clone());
        }
        if token == "}" && there[at + 1].starts_with("schedq_") {
            kinds.insert(there[at + 1].clone());
        }
    }
    both("functions", set(found.functions.iter().map(|(name, _)| name)), functions);
    let ours = found.structs.iter().map(|(name, _)| name);
    let enums = found
        .aliases
        .iter()
        .filter(|(_, kind)| matches!(kind, Type::Name(name) if name == "c_uint"));
    both("structs and enums", set(ours.chain(enums.map(|(name, _)| name))), kinds);

    let macros = text_of(cc(&["-E", "-dM", &umbrella()]));
    let words: Vec<Vec<&str>> = macros.lines().map(|line| line.split(' ').collect()).collect();
    let of_macros = words
        .iter()
        .filter(|words| words.len() > 2 && words[1].starts_with("SCHEDQ_"))
        .map(|words| words[1]);
    let is_constant =
        |name: &&str| !(name.ends_with("_H") || name.ends_with("_INIT") || *name == "SCHEDQ_API");
    let mut constants: BTreeSet<String> =
        of_macros.clone().filter(is_constant).map(String::from).collect();
    constants.extend(
        there
            .iter()
            .filter(|token| token.starts_with("SCHEDQ_") && *token != "SCHEDQ_API")
            .cloned(),
    );
    both("constants", set(found.constants.iter().map(|(name, _)| name)), constants);

    let theirs = of_macros.filter(|name| name.ends_with("_INIT")).map(String::from).collect();
    both(
        "initializers",
        initializers().iter().map(|(name, _, _)| name.to_string()).collect(),
        theirs,
    );
}

#[test]
fn the_library_is_of_the_version_that_is_declared() {
    let declared = SCHEDQ_VERSION_MAJOR << 16 | SCHEDQ_VERSION_MINOR << 8 | SCHEDQ_VERSION_PATCH;
    assert_eq!(unsafe { schedq_version() }, declared as u32);
}
