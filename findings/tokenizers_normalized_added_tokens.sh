#!/usr/bin/env bash
# An added token with `normalized=True`, the default of `add_tokens`, has another text from tokenizers 0.23 on: its content
# after the normalizer. With Llama 2's normalizer (Prepend and Replace), an added `für` decodes to ` für`; up to 0.22 it
# decoded to `für`. So the bytes of a token id depend on the version of the library, not only on `tokenizer.json`. The new
# text survives a round trip (`a für b`), the old one lost the space.
#
# Versions: tokenizers 0.22.2 and 0.23.3
#
# Output seen:
#   0.22.2 token 'für' after x 'xfür' round trip 'afür b'
#   0.23.3 token '▁für' after x 'x für' round trip 'a für b'
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for version in 0.22.2 0.23.3; do
    python3 -m venv "$folder/$version"
    "$folder/$version/bin/pip" install --quiet --disable-pip-version-check "tokenizers==$version"
    "$folder/$version/bin/python" - >>"$folder/seen" <<'END'
import tokenizers
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers

vocab = {"<unk>": 0, "▁": 1, "a": 2, "b": 3, "x": 4, "▁a": 5, "▁b": 6, "▁x": 7}
merges = [("▁", "a"), ("▁", "b"), ("▁", "x")]
tokenizer = Tokenizer(models.BPE(vocab=vocab, merges=merges, unk_token="<unk>"))
tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
tokenizer.add_tokens([AddedToken("für", normalized=True)])
token = tokenizer.token_to_id("für")
round_trip = tokenizer.decode(tokenizer.encode("a für b").ids)
after = tokenizer.decode([tokenizer.token_to_id("x"), token])
print(tokenizers.__version__, "token", repr(tokenizer.id_to_token(token)), "after x", repr(after), "round trip", repr(round_trip))
END
done
cat "$folder/seen"
diff - "$folder/seen" <<'END'
0.22.2 token 'für' after x 'xfür' round trip 'afür b'
0.23.3 token '▁für' after x 'x für' round trip 'a für b'
END
