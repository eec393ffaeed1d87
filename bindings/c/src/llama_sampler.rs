//! The functions that llama.cpp calls on a sampler, and the text that it follows.

use crate::failure::{self, Result};
use crate::llama::GrammataLlamaSampler;
use crate::raw::{Call, Exclusive};
use engine::{Error, Matcher, TokenId};
use std::ffi::{c_char, c_void};

/// `llama_sampler_init` of llama.cpp, with the types of this header.
pub type GrammataLlamaInit = Option<
    unsafe extern "C" fn(iface: *const GrammataLlamaInterface, ctx: *mut c_void) -> *mut GrammataLlamaSampler,
>;

/// The members of `struct llama_sampler`.
#[repr(C)]
struct Members {
    interface: *const GrammataLlamaInterface,
    context: *mut c_void,
}

/// `struct llama_token_data`: a candidate.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct GrammataLlamaToken {
    /// The token.
    pub id: i32,
    /// Its logit.
    pub logit: f32,
    /// Its probability.
    pub p: f32,
}

/// `struct llama_token_data_array`: the candidates.
#[derive(Debug)]
#[repr(C)]
pub struct GrammataLlamaTokens {
    /// The first candidate.
    pub data: *mut GrammataLlamaToken,
    /// The number of candidates.
    pub size: usize,
    /// The index of the chosen candidate.
    pub selected: i64,
    /// Whether the candidates are sorted by logit.
    pub sorted: bool,
}

/// `struct llama_sampler_i`: the six members that are used, and room for further ones, which are NULL.
#[repr(C)]
pub struct GrammataLlamaInterface {
    /// Returns the sampler's name.
    pub name: Option<unsafe extern "C" fn(sampler: *const GrammataLlamaSampler) -> *const c_char>,
    /// Accepts a chosen token.
    pub accept: Option<unsafe extern "C" fn(sampler: *mut GrammataLlamaSampler, token: i32)>,
    /// Changes the logits of candidates.
    pub apply: Option<
        unsafe extern "C" fn(sampler: *mut GrammataLlamaSampler, candidates: *mut GrammataLlamaTokens),
    >,
    /// Returns to the beginning of the text.
    pub reset: Option<unsafe extern "C" fn(sampler: *mut GrammataLlamaSampler)>,
    /// Makes an independent copy at the same place.
    pub clone:
        Option<unsafe extern "C" fn(sampler: *const GrammataLlamaSampler) -> *mut GrammataLlamaSampler>,
    /// Frees the sampler's context.
    pub free: Option<unsafe extern "C" fn(sampler: *mut GrammataLlamaSampler)>,
    /// Members that llama.cpp has added or will add at the end.
    pub rest: [Option<unsafe extern "C" fn()>; 26],
}

static INTERFACE: GrammataLlamaInterface = GrammataLlamaInterface {
    name: Some(name),
    accept: Some(accept),
    apply: Some(apply),
    reset: Some(reset),
    clone: Some(clone),
    free: Some(free),
    rest: [None; 26],
};

/// Up to this many candidates are checked one by one, which is cheaper than a mask. llama.cpp passes all candidates to
/// a sampler in a chain; the grammar sampler of its common code is first passed the drawn token alone.
const FEW: usize = 8;

/// The text that a sampler follows.
struct Following {
    init: GrammataLlamaInit,
    matcher: Matcher,
    budget: Option<usize>,
    /// Number of tokens accepted since the sampler was made or reset, without end-of-sequence tokens.
    taken: usize,
    has_ended: bool,
    mask: Vec<u32>,
    is_filled: bool,
    failure: Option<Error>,
}

type Context = Exclusive<Following>;

impl Following {
    fn fork(&self) -> Following {
        Following {
            matcher: self.matcher.fork(),
            mask: self.mask.clone(),
            failure: self.failure.clone(),
            ..*self
        }
    }

    fn is_end(&self, token: TokenId) -> bool {
        self.matcher.compiled().end_tokens().contains(&token)
    }

    fn left(&self) -> Option<usize> {
        self.budget.map(|budget| budget.saturating_sub(self.taken))
    }

    /// Whether a token may come, provided that no error occurred before.
    fn allows(&mut self, token: TokenId) -> Result<bool> {
        Ok(match self.left() {
            _ if token.index() >= self.matcher.compiled().vocabulary().width() => false,
            _ if self.has_ended => self.is_end(token),
            Some(left) => self.matcher.is_token_allowed_within(token, left)?,
            None => self.matcher.is_token_allowed(token)?,
        })
    }

    fn fill(&mut self) -> Result<()> {
        if !self.is_filled && !self.has_ended {
            match self.left() {
                Some(left) => self.matcher.fill_mask_within(left, &mut self.mask)?,
                None => self.matcher.fill_mask(&mut self.mask)?,
            }
        }
        self.is_filled = true;
        Ok(())
    }

    /// For each candidate, whether it may come.
    fn choose(&mut self, candidates: &[GrammataLlamaToken]) -> Result<Vec<bool>> {
        let token = |candidate: &GrammataLlamaToken| TokenId::new(candidate.id.cast_unsigned());
        if candidates.len() <= FEW {
            return candidates.iter().map(|candidate| self.allows(token(candidate))).collect();
        }
        self.fill()?;
        let in_mask = |id: TokenId| {
            self.mask.get(id.index() / 32).is_some_and(|word| word >> (id.index() % 32) & 1 == 1)
        };
        let may_come = |id| if self.has_ended { self.is_end(id) } else { in_mask(id) };
        Ok(candidates.iter().map(|candidate| may_come(token(candidate))).collect())
    }

    /// Forbids candidates and returns whether any was forbidden. After an error only end-of-sequence tokens are
    /// allowed.
    fn apply(&mut self, candidates: &mut [GrammataLlamaToken]) -> bool {
        let chosen = match self.failure {
            None => self.choose(candidates),
            Some(_) => Ok(Vec::new()),
        };
        let chosen = chosen.unwrap_or_else(|failure| {
            self.failure = Some(failure);
            Vec::new()
        });
        let mut changed = false;
        for (at, candidate) in candidates.iter_mut().enumerate() {
            let may_come = match chosen.get(at) {
                Some(may_come) => *may_come,
                None => self.is_end(TokenId::new(candidate.id.cast_unsigned())),
            };
            if !may_come {
                candidate.logit = f32::NEG_INFINITY;
                changed = true;
            }
        }
        changed
    }

    fn accept(&mut self, token: i32) -> Result<()> {
        let token = TokenId::new(token.cast_unsigned());
        let is_end = self.is_end(token);
        if self.failure.is_some() || self.has_ended && is_end {
            return Ok(());
        }
        self.is_filled = false;
        let vocabulary = self.matcher.compiled().vocabulary();
        if token.index() >= vocabulary.width() {
            return Err(failure::token_range(token.get(), vocabulary.width()));
        }
        self.matcher.accept_token(token)?;
        self.has_ended = is_end;
        self.taken += usize::from(!is_end);
        Ok(())
    }

    fn reset(&mut self) {
        self.matcher.reset();
        (self.taken, self.has_ended, self.is_filled, self.failure) = (0, false, false, None);
    }
}

/// Makes a sampler with llama.cpp's `init`.
pub(crate) fn make(
    call: &Call,
    init: GrammataLlamaInit,
    mut matcher: Matcher,
    budget: Option<usize>,
    out: *mut *mut GrammataLlamaSampler,
) -> Result<()> {
    if let Some(budget) = budget {
        matcher.check_budget(budget)?;
    }
    let mask = vec![0; matcher.compiled().vocabulary().mask_words()];
    let following = Following {
        init,
        matcher,
        budget,
        taken: 0,
        has_ended: false,
        mask,
        is_filled: false,
        failure: None,
    };
    let sampler = hand_over(call, following)?;
    call.set(out, sampler, "out")
}

/// Passes ownership of a text to a new sampler of llama.cpp.
fn hand_over(call: &Call, following: Following) -> Result<*mut GrammataLlamaSampler> {
    let init = following.init.ok_or_else(|| failure::null("init"))?;
    let mut context: *mut Context = std::ptr::null_mut();
    call.give(&mut context, Exclusive::new(following))?;
    // SAFETY: by the contract of the header `init` is `llama_sampler_init`, which keeps both pointers: the first is
    // static, the second is freed by `free`
    let sampler = unsafe { init(&raw const INTERFACE, context.cast()) };
    if sampler.is_null() {
        call.free(context);
        return Err(failure::null("what `init` returned"));
    }
    Ok(sampler)
}

/// Returns the context of a sampler; fails if it was not made here.
fn context(call: &Call, sampler: *const GrammataLlamaSampler) -> Result<&Context> {
    let members = call.layout(sampler.cast::<Members>(), "sampler")?;
    if !std::ptr::eq(members.interface, &raw const INTERFACE) {
        return Err(failure::other_sampler());
    }
    call.handle(members.context.cast::<Context>().cast_const(), "context")
}

/// Fails with the error that the sampler met, if any; also fails if the sampler was not made here or another call is
/// using it.
pub(crate) fn check(call: &Call, sampler: *const GrammataLlamaSampler) -> Result<()> {
    match &context(call, sampler)?.acquire()?.failure {
        None => Ok(()),
        Some(error) => Err(error.clone()),
    }
}

unsafe extern "C" fn name(_: *const GrammataLlamaSampler) -> *const c_char {
    c"grammata".as_ptr()
}

unsafe extern "C" fn accept(sampler: *mut GrammataLlamaSampler, token: i32) {
    // SAFETY: llama.cpp passes a sampler that it has made with `init`
    let call = unsafe { Call::new() };
    call.run(std::ptr::null_mut(), || {
        let mut following = context(&call, sampler)?.acquire()?;
        if let Err(failure) = following.accept(token) {
            following.failure = Some(failure);
        }
        Ok(())
    });
}

unsafe extern "C" fn apply(sampler: *mut GrammataLlamaSampler, candidates: *mut GrammataLlamaTokens) {
    // SAFETY: as for `accept`; the candidates are llama.cpp's own, as many as it says, and nobody else uses them
    // meanwhile
    let call = unsafe { Call::new() };
    call.run(std::ptr::null_mut(), || {
        let GrammataLlamaTokens { data, size, selected, sorted } = *call.layout(candidates, "candidates")?;
        let tokens = call.list_mut(data, size, "data")?;
        let changed = match context(&call, sampler).and_then(Context::acquire) {
            Ok(mut following) => following.apply(tokens),
            // without a context, nothing is known to be allowed
            Err(_) => {
                tokens.iter_mut().for_each(|token| token.logit = f32::NEG_INFINITY);
                true
            }
        };
        let sorted = sorted && !changed;
        call.set(candidates, GrammataLlamaTokens { data, size, selected, sorted }, "candidates")
    });
}

unsafe extern "C" fn reset(sampler: *mut GrammataLlamaSampler) {
    // SAFETY: as for `accept`
    let call = unsafe { Call::new() };
    call.run(std::ptr::null_mut(), || {
        context(&call, sampler)?.acquire()?.reset();
        Ok(())
    });
}

unsafe extern "C" fn clone(sampler: *const GrammataLlamaSampler) -> *mut GrammataLlamaSampler {
    // SAFETY: as for `accept`
    let call = unsafe { Call::new() };
    let mut made = std::ptr::null_mut();
    call.run(std::ptr::null_mut(), || {
        let copy = context(&call, sampler)?.acquire()?.fork();
        made = hand_over(&call, copy)?;
        Ok(())
    });
    made
}

unsafe extern "C" fn free(sampler: *mut GrammataLlamaSampler) {
    // SAFETY: as for `accept`
    let call = unsafe { Call::new() };
    call.run(std::ptr::null_mut(), || {
        let members = call.layout(sampler.cast::<Members>().cast_const(), "sampler")?;
        call.free(members.context.cast::<Context>());
        Ok(())
    });
}
