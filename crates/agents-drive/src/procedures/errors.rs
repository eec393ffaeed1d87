//! The errors of the driver and of simulations.

use grammata::diagnostic::{Place, did_you_mean_field, excerpt};

grammata_base::errors! {
    pub(super) Usage;

    /// Returns the error for a result of an API that is not an object, has a value that the procedure does not allow,
    /// or is an error that the procedure does not catch.
    result(api: &str, found: &str, allowed: &str) =
        Rejected "procedure/result", ("the result of `{}` is not what its response allows", excerpt(api))
        found(excerpt(found))
        allowed(allowed)
        help("let the API return one of these, or widen the schema of the slot");

    /// Returns the error for a turn in which `count` acts were refused.
    refusals(count: usize) = Rejected "procedure/refusals", "the controllers refused every act of a turn"
        found("{count} refusals")
        allowed("an act that they accept within that number of tries")
        help("bound the tries of a turn (`Controllers::most_tries`), or use a mask");

    /// Returns the error for a simulation that cannot be read.
    simulation(cause: &serde_json::Error) = "procedure/simulation", "the simulation cannot be read"
        at(Place::LineColumn { line: cause.line().max(1), column: cause.column().max(1) })
        cause(cause)
        help(did_you_mean_field(&cause.to_string(), "correct it there"));

    /// Returns the error for a template of a prompt that cannot be read or rendered.
    template(found: String, place: Place) = "procedure/template", "the prompt of a step cannot be written"
        at(place)
        cause(found)
        help("correct the template there, or leave it out: the default one has all that a prompt may have");

    /// Returns the error for a run without a procedure.
    no_workflow() = "procedure/none", "a session needs a procedure" help("give one");
}
