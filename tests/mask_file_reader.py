"""A second, independent reader of mask files in pure Python, written after docs/mask-file-format.md.

usage: mask_file_reader.py FILE HEX...   prints one line for each text, given as hexadecimal bytes (also as xHEX)

    unexplored                             the state after the text was not explored, or has no mask
    dead                                   no word of the language begins with the text
    accepting=0|1 tokens=COUNT crc=CRC     whether the text is a word, how many tokens are allowed after it, and the
                                           CRC-32 of the mask's words
"""

import struct
import sys
import zlib

MAGIC = b"\x89GMASK\r\n"
DEAD, UNEXPLORED, NONE = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFF
GRAMMAR, STATES, ROWS, TOKEN_EDGES, MASK_PLACES, MASKS, WORDS, ABOUT = range(1, 9)


class MaskFile:
    def __init__(self, data):
        if data[:8] != MAGIC:
            raise ValueError("no mask file")
        version, semantics, order, count = struct.unpack_from("<4I", data, 8)
        if (version, semantics, order) != (1, 1, 0x01020304):
            raise ValueError("another version")
        (length,) = struct.unpack_from("<Q", data, 24)
        self.width, blocks = struct.unpack_from("<2I", data, 96)
        body, crc = struct.unpack_from("<QI", data, 104)
        header = data[:112] + bytes(4) + data[116:body]
        if length != len(data) or zlib.crc32(header) != crc:
            raise ValueError("a damaged header")
        table = 128 + 24 * count
        for block in range(blocks):
            (expected,) = struct.unpack_from("<I", data, table + 4 * block)
            if zlib.crc32(data[body + 4096 * block : body + 4096 * (block + 1)]) != expected:
                raise ValueError(f"block {block} is damaged")
        self.sections = {kind: b"" for kind in range(1, 9)}
        for row in range(count):
            kind, _, start, size = struct.unpack_from("<IIQQ", data, 128 + 24 * row)
            self.sections[kind] = data[start : start + size]

    def words(self, section, at, count):
        return struct.unpack_from(f"<{count}I", self.sections[section], 4 * at)

    def state(self, number):
        return self.words(STATES, 4 * number, 4)

    def after(self, number, byte):
        """Returns what follows state `number` with a byte: a state, DEAD or UNEXPLORED."""
        bits, following, _, _ = self.state(number)
        if bits & 16:
            return following if bits >> 8 & 255 == byte else DEAD
        if not bits & 32:
            return UNEXPLORED
        (count,) = self.words(ROWS, following, 1)
        padded = (count + 3) // 4
        row = self.sections[ROWS][4 * following + 4 :][:count]
        place = max(place for place, start in enumerate(row) if start <= byte)
        return self.words(ROWS, following + 1 + padded + place, 1)[0]

    def run(self, text):
        at = 0
        for byte in text:
            at = self.after(at, byte)
            if at >= UNEXPLORED:
                break
        return at

    def mask(self, number):
        """Returns the mask of state `number` as 32-bit words, or None if the file has no mask for it."""
        _, _, mask, _ = self.state(number)
        if mask == NONE:
            return None
        (at,) = self.words(MASK_PLACES, mask, 1)
        form, second = self.words(MASKS, at, 2)
        size = (self.width + 31) // 32
        if form == 1:
            words, flipped = [0] * size, self.words(MASKS, at + 2, second)
        elif form == 2:
            words, flipped = [0xFFFFFFFF] * size, self.words(MASKS, at + 2, second)
            if self.width % 32:
                words[-1] = (1 << self.width % 32) - 1
        else:
            removed, added = self.words(MASKS, at + 2, 2)
            words = list(self.words(WORDS, size * second, size))
            flipped = self.words(MASKS, at + 4, removed + added)
        for token in flipped:
            words[token // 32] ^= 1 << token % 32
        return words


def main():
    with open(sys.argv[1], "rb") as file:
        masks = MaskFile(file.read())
    for text in sys.argv[2:]:
        at = masks.run(bytes.fromhex(text.removeprefix("x")))
        words = None if at >= UNEXPLORED else masks.mask(at)
        if at == DEAD:
            print("dead")
        elif words is None:
            print("unexplored")
        else:
            tokens = sum(bin(word).count("1") for word in words)
            crc = zlib.crc32(struct.pack(f"<{len(words)}I", *words))
            print(f"accepting={masks.state(at)[0] & 1} tokens={tokens} crc={crc:08x}")


if __name__ == "__main__":
    main()
