//! Unit tests of decoder, checker and linker on programs built by hand. Python tests cover the output of the
//! lowering with the same functions.
use super::*;

fn function(name: u32, linkage: Linkage, insts: Vec<Inst>) -> Function {
    let nowhere = Loc { file: StrId(0), line: 0, column: 0 };
    Function {
        name: StrId(name),
        linkage,
        library: false,
        variadic: false,
        integers: false,
        signed_result: false,
        alias: None,
        params: 0,
        results: Box::default(),
        widths: Box::from([64, 1]),
        blocks: if insts.is_empty() {
            Box::default()
        } else {
            Box::from([Block { start: 0, end: insts.len() as u32 }])
        },
        edges: Box::default(),
        moves: Box::default(),
        locs: vec![nowhere; insts.len()].into(),
        insts: insts.into(),
        loc: nowhere,
    }
}

fn call(func: u32) -> Inst {
    Inst::Call(Box::new(Call {
        callee: Callee::Direct(FuncId(func)),
        args: Box::default(),
        first: Reg(0),
        results: 0,
        integer: true,
    }))
}

fn ret() -> Inst {
    Inst::Ret { values: Box::default() }
}

fn global(name: u32, linkage: Linkage, defined: bool) -> Global {
    Global {
        name: StrId(name),
        linkage,
        library: false,
        defined,
        readonly: false,
        thread_local: false,
        alias: None,
        size: 8,
        align: 8,
        element_bytes: 0,
        data: Box::default(),
        relocs: Box::default(),
        unsupported: None,
    }
}

fn program(strings: &[&str], functions: Vec<Function>, globals: Vec<Global>) -> Program {
    let strings = strings.iter().map(|&s| s.into()).collect();
    Program { strings, functions, globals, ..Program::default() }
}

fn names(program: &Program) -> Vec<&str> {
    program.functions.iter().map(|f| program.string(f.name)).collect()
}

#[test]
fn damaged_bytes_give_distinct_errors() {
    assert_eq!(Program::from_bytes(b"").unwrap_err(), LoadError::NotAProgram);
    assert_eq!(Program::from_bytes(b"PARTITA\0").unwrap_err(), LoadError::Truncated);
    let mut bytes = b"PARTITA\0".to_vec();
    bytes.extend([9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(Program::from_bytes(&bytes).unwrap_err(), LoadError::Version { found: 9 });
    bytes[8] = FORMAT_VERSION as u8;
    assert_eq!(Program::from_bytes(&bytes).unwrap_err(), LoadError::Checksum);
    assert_eq!(load::crc32(b"123456789"), 0xcbf4_3926, "the check value of CRC-32");
}

/// A count larger than the file must not reserve memory.
#[test]
fn huge_count_is_reported_as_truncation() {
    let mut rest = vec![1, 0, 0, 0, 0, 0, 0, 0];
    rest.extend([0xff; 4]);
    let mut bytes = b"PARTITA\0".to_vec();
    bytes.extend(FORMAT_VERSION.to_le_bytes());
    bytes.extend(load::crc32(&rest).to_le_bytes());
    bytes.extend(rest);
    assert_eq!(Program::from_bytes(&bytes).unwrap_err(), LoadError::Truncated);
}

#[test]
fn widths_are_checked() {
    let wrong = |inst: Inst| {
        let p = program(&["f"], vec![function(0, Linkage::Strong, vec![inst, ret()])], vec![]);
        check::check(&p).unwrap_err().to_string()
    };
    let (x, bit) = (Operand::Reg(Reg(0)), Operand::Reg(Reg(1)));
    let place = "the lowered program is invalid: function `f`: block 0, instruction 0: ";
    assert_eq!(
        wrong(Inst::Bin { op: BinOp::Add, flags: Flags(0), dst: Reg(0), a: x, b: bit }),
        format!("{place}register 1 has 1 bits where 64 are expected")
    );
    assert_eq!(
        wrong(Inst::Select { dst: Reg(1), cond: bit, a: Operand::Int(2), b: bit }),
        format!("{place}constant 2 does not fit 1 bits")
    );
    assert_eq!(
        wrong(Inst::Cast { op: CastOp::ZExt, width: 64, dst: Reg(1), a: x }),
        format!("{place}zext from 64 to 1 bits")
    );
    assert_eq!(wrong(Inst::Copy { dst: Reg(7), a: x }), format!("{place}register 7 of 2"));
    assert_eq!(
        wrong(Inst::Store { width: 64, value: x, addr: x, align: 3 }),
        format!("{place}alignment 3 is not a power of two")
    );
    assert_eq!(wrong(call(4)), format!("{place}function 4 of 1"));
}

#[test]
fn alias_resolves_to_the_target_in_its_own_part() {
    // The library: `impl` strong, `api` a weak alias of it. The user has another `impl` and calls `api`.
    let user = program(
        &["main", "impl", "api"],
        vec![
            function(0, Linkage::Strong, vec![call(2), call(1), ret()]),
            function(1, Linkage::Strong, vec![Inst::Trap, ret()]),
            function(2, Linkage::Strong, vec![]),
        ],
        vec![],
    );
    let mut alias = function(1, Linkage::Weak, vec![]);
    alias.alias = Some(FuncId(0));
    let library = program(&["impl", "api"], vec![function(0, Linkage::Strong, vec![ret()]), alias], vec![]);
    let linked = link::link(vec![user, library], &[]);
    assert_eq!(names(&linked), ["main", "impl", "impl", "api"]);
    let Inst::Call(first) = &linked.functions[0].insts[0] else { panic!("a call stays a call") };
    let Callee::Direct(target) = first.callee else { panic!("a direct call stays direct") };
    assert!(linked.functions[target.index()].library);
    assert_eq!(linked.function("api"), Some(target));
    check::check(&linked).expect("linking keeps programs valid");
}

#[test]
fn undefined_symbols_are_kept_once() {
    let calls = |name: u32| function(name, Linkage::Strong, vec![call(1), ret()]);
    let user = program(
        &["main", "open", "lib"],
        vec![
            function(0, Linkage::Strong, vec![call(1), call(2), ret()]),
            function(1, Linkage::Weak, vec![]),
            function(2, Linkage::Strong, vec![]),
        ],
        vec![],
    );
    let library = program(&["lib", "open"], vec![calls(0), function(1, Linkage::Strong, vec![])], vec![]);
    let linked = link::link(vec![user, library], &[]);
    assert_eq!(names(&linked), ["main", "open", "lib"]);
    let open = linked.function("open").expect("it is referred to");
    assert_eq!(linked.undefined().collect::<Vec<_>>(), [open]);
    assert_eq!(linked.functions[open.index()].linkage, Linkage::Strong, "one strong reference is enough");
}

#[test]
fn linking_keeps_symbols_that_globals_point_to() {
    let mut table = global(0, Linkage::Strong, true);
    let target = Address::Func { func: FuncId(0), offset: 0 };
    table.relocs = Box::from([Reloc { offset: 0, bytes: 8, target, minus: None }]);
    let library = program(
        &["table", "handler", "spare"],
        vec![function(1, Linkage::Internal, vec![ret()]), function(2, Linkage::Strong, vec![ret()])],
        vec![table, global(2, Linkage::Strong, true)],
    );
    let read = Inst::Load { dst: Reg(0), addr: Operand::Global { global: GlobalId(0), offset: 0 }, align: 8 };
    let user = program(
        &["main", "table"],
        vec![function(0, Linkage::Strong, vec![read, ret()])],
        vec![global(1, Linkage::Strong, false)],
    );
    let linked = link::link(vec![user, library], &[]);
    assert_eq!(names(&linked), ["main", "handler"]);
    assert_eq!(linked.globals.len(), 1);
    assert!(linked.globals[0].defined && linked.globals[0].library);
    assert_eq!(linked.globals[0].relocs[0].target, Address::Func { func: FuncId(1), offset: 0 });
    check::check(&linked).expect("linking keeps programs valid");
}
