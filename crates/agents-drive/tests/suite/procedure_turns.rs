//! A language model that plays the user in a conversation.

use crate::byte_encoder::ByteEncoder;
use crate::models::Function;
use crate::plan_model::{WIDTH, noise, vocabulary};
use grammata::Limits;
use grammata_agents_drive::plan::{ModelPolicy, PromptOptions};
use grammata_agents_drive::procedures::{ModelUser, Reply, Said, Simulation, User};

/// Returns a model that writes the answers in order. Which one is written depends on the number of agent messages in
/// the prompt.
fn writer(answers: &'static [&'static str]) -> impl FnMut(&[u32]) -> Vec<f32> + Send {
    move |sequence| {
        let text: Vec<u8> = sequence.iter().map(|&token| token as u8).collect();
        let text = String::from_utf8_lossy(&text).into_owned();
        let (prompt, written) = text.rsplit_once("Your next message:").unwrap_or((&text, ""));
        let answer = answers[prompt.matches("\nAgent: ").count() - 1];
        let mut logits = vec![-9.0; WIDTH];
        match answer.as_bytes().get(written.len()) {
            Some(&byte) => logits[usize::from(byte)] = 9.0,
            // the end token
            None => logits[WIDTH - 1] = 9.0,
        }
        logits
    }
}

/// Returns the logits of the next token after a sequence.
type Logits = Box<dyn FnMut(&[u32]) -> Vec<f32> + Send>;

#[test]
fn a_model_plays_a_user() {
    let root = std::path::Path::new(crate::ROOT);
    let text =
        std::fs::read_to_string(root.join("grammars/procedures/simulations/meeting_room.json")).unwrap();
    let simulation = Simulation::read(&text, &Limits::default()).unwrap();
    let script = simulation.user("held").unwrap();
    let said = Said { text: "Which day?", node: None, asks: &[], decisions: &[], is_closing: false };
    let converse = |logits: Logits, turns: usize| -> Vec<Reply> {
        let mut model = Function::new(WIDTH, logits);
        let policy =
            ModelPolicy::new(&mut model, vocabulary(), Box::new(ByteEncoder), PromptOptions::default())
                .unwrap();
        let mut user = ModelUser::new(policy, &vocabulary(), script, &Limits::default()).unwrap();
        let mut replies = vec![user.open().unwrap()];
        replies.extend((0..turns).map(|_| user.reply(&said).unwrap()));
        replies
    };
    let replies = converse(Box::new(writer(&["on Monday", "[END]"])), 2);
    assert_eq!(replies, [Reply::text(script.open.as_str()), Reply::text("on Monday"), Reply::End]);
    // whatever the model writes, a message is one line of at most 160 characters
    for reply in converse(Box::new(noise), 4) {
        if let Reply::Message { text, .. } = reply {
            assert!((1..=160).contains(&text.chars().count()) && text.trim() == text, "{text:?}");
            assert!(!text.contains(['\n', '\r', '[', ']']), "{text:?}");
        }
    }
}
