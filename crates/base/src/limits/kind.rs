//! Names of limits: the fields of [`Limits`](super::Limits) as values.

/// Invokes `$rows` with the name of each limit as a variant and as a field of [`Limits`](super::Limits), in the order
/// of the fields.
macro_rules! each_limit {
    ($rows:ident) => {
        $rows! {
            SourceBytes source_bytes,
            SourceDepth source_depth,
            PatternBytes pattern_bytes,
            GrammarNodes grammar_nodes,
            AutomatonStates automaton_states,
            CacheBytes cache_bytes,
            LockstepSearch lockstep_search,
            CompletionSearch completion_search,
            ConditionSearch condition_search,
            CompileWork compile_work,
            CompileWorkPerByte compile_work_per_byte,
            MaskWork mask_work,
            TemplateWork template_work,
            FormulaBytes formula_bytes,
            PlanStates plan_states,
            ProcedureNodes procedure_nodes,
            WordsWork words_work,
            TokenizerBytes tokenizer_bytes,
            VocabularyTokens vocabulary_tokens,
            EmbeddingTexts embedding_texts,
            EmbeddingTextBytes embedding_text_bytes,
            CatalogueBytes catalogue_bytes,
            CatalogueTools catalogue_tools,
            ToolDepth tool_depth,
            TokenBytes token_bytes,
            TrieBytes trie_bytes,
            MaskFileBytes mask_file_bytes,
            MaskArchiveBytes mask_archive_bytes,
        }
    };
}

macro_rules! kinds {
    ($($kind:ident $field:ident,)*) => {
        /// The name of a limit, that is, of a field of [`Limits`](crate::Limits).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
        #[non_exhaustive]
        pub enum LimitKind {
            $(
                #[doc = concat!("[`", stringify!($field), "`](field@crate::Limits::", stringify!($field), ").")]
                $kind,
            )*
        }

        impl LimitKind {
            /// All limits, in the order of the fields.
            pub const ALL: &'static [LimitKind] = &[$(LimitKind::$kind),*];

            /// Returns the limit whose field has a name.
            pub fn named(name: &str) -> Option<LimitKind> {
                LimitKind::ALL.iter().copied().find(|kind| kind.name() == name)
            }

            /// Returns the name of the field of the limit.
            pub fn name(self) -> &'static str {
                match self {
                    $(LimitKind::$kind => stringify!($field),)*
                }
            }
        }
    };
}

each_limit!(kinds);
pub(super) use each_limit;

impl std::fmt::Display for LimitKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
