//! A client of a chat server, which sends each request in the strongest encoding that the server accepts.

use crate::body::{self, OPTIONAL, Settings};
use crate::http::{Http, Outcome};
use crate::options::Options;
use crate::{Answer, Chat, FormKind, Request, Usage, errors};
use grammata_base::error::Result;
use std::time::Instant;

/// A client of a chat server.
///
/// The first request of each kind of form is sent in the strongest encoding of the dialect. The server may refuse it
/// with status 400 or 422. If the refusal names an optional member (`temperature`, `seed`, …), the request is sent
/// again without that member, which is then never sent again; `max_tokens` is sent as `max_completion_tokens` instead.
/// After any other refusal, the request is sent again in the next weaker encoding; after a refusal of the weakest
/// encoding, the request fails. Later requests of the same kind begin with the encoding that was accepted last.
#[derive(Debug)]
pub struct Endpoint {
    http: Http,
    options: Options,
    /// The index of the encoding that was accepted last, by kind of form.
    accepted: Vec<(FormKind, usize)>,
    dropped: Vec<&'static str>,
    usage: Usage,
}

impl Endpoint {
    /// Creates a client of the server at a URL. Sends nothing. `/chat/completions` is appended to the path unless the
    /// path already ends with it. A query, such as `?api-version=2024-10-21`, is kept.
    ///
    /// # Errors
    /// `endpoint/url`: the URL is not the address of a server; `endpoint/header`: a header would be sent twice;
    /// `endpoint/certificates`: the URL or the proxy has `https`, and the system has no trusted certificates.
    pub fn new(url: &str, options: Options) -> Result<Endpoint> {
        let http = Http::new(url, &options)?;
        Ok(Endpoint { http, options, accepted: Vec::new(), dropped: Vec::new(), usage: Usage::default() })
    }

    /// Returns the URL to which requests are sent, with `…` in place of its query, which may have a secret.
    pub fn url(&self) -> &str {
        self.http.url()
    }

    fn answer(&mut self, request: &Request) -> Result<Answer> {
        let kind = request.form.kind();
        let encodings = self.options.dialect.encodings(kind);
        let known = self.accepted.iter().position(|(known, _)| *known == kind);
        let mut place = known.and_then(|known| self.accepted.get(known)).map_or(0, |(_, place)| *place);
        loop {
            let Some(&encoding) = encodings.get(place) else {
                return Err(errors::status(self.http.url(), 400, "no form is accepted"));
            };
            let settings = Settings {
                model: self.options.model.as_deref(),
                temperature: self.options.temperature,
                seed: self.options.seed,
                stream: self.options.stream,
                bounds_strings: self.options.dialect.bounds_strings,
                dropped: &self.dropped,
            };
            let body = body::body(request, encoding, &settings);
            let (status, message) = match self.http.send(&body, &self.options, &mut self.usage.sent)? {
                Outcome::Written(written) => {
                    match known.and_then(|known| self.accepted.get_mut(known)) {
                        Some(known) => known.1 = place,
                        None => self.accepted.push((kind, place)),
                    }
                    match written.tokens {
                        Some((prompt, answer)) => {
                            self.usage.prompt_tokens = self.usage.prompt_tokens.saturating_add(prompt);
                            self.usage.answer_tokens = self.usage.answer_tokens.saturating_add(answer);
                        }
                        None => self.usage.uncounted += 1,
                    }
                    self.usage.answers += 1;
                    if written.is_filtered {
                        let found = if written.text.is_empty() { "no answer" } else { "a part of an answer" };
                        return Err(errors::filtered(self.http.url(), found));
                    }
                    if !written.refusal.is_empty() {
                        return Err(errors::refusal(self.http.url(), &self.http.hide(&written.refusal)));
                    }
                    return Ok(written.answer(&request.form, encoding));
                }
                Outcome::Refused(status, message) => (status, message),
            };
            let named = OPTIONAL.iter().find(|name| {
                message.contains(**name)
                    && !self.dropped.contains(name)
                    && body.contains(&format!("\"{name}\":"))
            });
            match named {
                Some(name) => self.dropped.push(name),
                None if place + 1 < encodings.len() => place += 1,
                None => return Err(errors::status(self.http.url(), status, &message)),
            }
        }
    }
}

impl Chat for Endpoint {
    fn ask(&mut self, request: &Request) -> Result<Answer> {
        let start = Instant::now();
        let answer = self.answer(request);
        self.usage.time += start.elapsed();
        answer
    }

    fn usage(&self) -> Usage {
        self.usage
    }

    fn hide(&self, text: &str) -> String {
        self.http.hide(text)
    }
}
