//! `grammata flow run` with random logits instead of a model, and a procedure whose calls a command answers.

use crate::cli::run;

/// Runs a flow whose calls a command of the shell answers; `command` answers the call `CheckRefund`.
#[cfg(unix)]
fn carried_out(command: &str, more: &[&str]) -> crate::process::Run {
    let refund = format!("{}/tests/cases/flows/refund.toml", crate::ROOT);
    let order = "echo '{\"data\": {\"order\": 7}}'";
    let apis = format!("read call; case $call in *CheckRefund*) {command};; *FindOrder*) {order};; esac");
    let arguments = ["flow", "run", &refund, "--query", "my money", "--thoughts", "none", "--random-logits"];
    run(&[&arguments[..], &["--apis", &apis], more].concat())
}

#[cfg(unix)]
#[test]
fn a_command_carries_calls_out() {
    let echo = "echo '{\"outcome\": \"denied\", \"data\": {\"reason\": \"late\"}}'";
    let begun = "customer: my money\n  -- Start()\n  1. FindOrder()\n     gives: {\"order\":7}\n";
    for seed in ["0", "1", "2", "3"] {
        let found = carried_out(echo, &["--seed", seed]);
        let rest = [
            "  2. CheckRefund()=denied",
            "     given: {\"order\":7}",
            "     gives: {\"reason\":\"late\"}",
            "  3. Explain()",
            "     given: {\"reason\":\"late\"}",
            "  4. Finish()\n",
        ];
        assert_eq!((found.code, found.out), (0, format!("{begun}{}", rest.join("\n"))), "{}", found.err);
    }
    let refused = [
        (2, "exit 3", "error[environment/failed]", "found: exit status: 3"),
        (2, "echo nonsense", "error[environment/failed]", "allowed: exit code 0, and one JSON object"),
        (2, "echo '[\"denied\"]'", "error[environment/failed]", "not a JSON object"),
        (2, "sleep 60", "error[environment/timeout]", "allowed: 1 s"),
        (1, "echo '{\"outcome\": \"maybe\"}'", "error[environment/forbidden]", "refund.toml:15:"),
        (1, "true", "error[environment/forbidden]", "allowed: the outcomes `due`, `denied`"),
    ];
    for (exit, command, code, shown) in refused {
        // a machine under load may need long for the calls before, so only the command that sleeps has a short deadline
        let deadline = if command.starts_with("sleep") { "1" } else { "60" };
        let found = carried_out(command, &["--deadline", deadline]);
        assert_eq!(found.code, exit, "{command}: {}", found.err);
        assert!(begun.starts_with(&found.out), "{command}: {}", found.out);
        assert!(found.err.starts_with(code) && found.err.contains(shown), "{command}: {}", found.err);
        assert!(found.err.contains("found: ") && found.err.contains("help: "), "{command}: {}", found.err);
    }
    let both = carried_out("true", &["--known", "CheckRefund=due"]);
    assert!(both.code == 2 && both.err.contains("--known"), "{}", both.err);
}

/// Runs a procedure whose calls are answered as the further arguments say.
#[cfg(unix)]
fn session(apis: &[&str]) -> crate::process::Run {
    let simulation = "grammars/procedures/simulations/meeting_room.json";
    let arguments = ["procedure", "run", "grammars/procedures/meeting_room.yaml", "--simulation", simulation];
    run(&[&arguments[..], &["--user", "held"], apis].concat())
}

#[cfg(unix)]
#[test]
fn a_session_ends_with_the_failure_of_a_command() {
    assert_eq!(session(&[]).code, 0);
    let table = [
        (2, "sleep 60", "1", "error[environment/timeout]"),
        (2, "exit 3", "60", "error[environment/failed]"),
        (2, "echo '[]'", "60", "error[environment/failed]"),
        (1, "echo '{\"data\": {\"error\": \"closed\"}}'", "60", "error[procedure/result]"),
    ];
    for (exit, command, deadline, code) in table {
        let found = session(&["--apis", command, "--deadline", deadline]);
        assert_eq!(found.code, exit, "{command}: {}", found.err);
        assert!(found.err.starts_with(code), "{command}: {}", found.err);
        assert!(found.out.ends_with("the session is not complete\n"), "{command}: {}", found.out);
    }
}

#[test]
fn calls_are_read_as_plans_write_them() {
    let after = |calls: &str| {
        let run = run(&["flow", "lookahead", "grammars/flows/trip-booking.toml", "--calls", calls]);
        assert_eq!(run.code, 0, "{}", run.err);
        run.out
    };
    let plain = after("GetAirports,FindFlight");
    for calls in [
        "GetAirports(), FindFlight()",
        "[\"GetAirports\", \"FindFlight\"]",
        "[\"GetAirports()\",\"FindFlight()\"]",
    ] {
        assert_eq!(after(calls), plain, "{calls}");
    }
}
