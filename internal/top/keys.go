package top

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// key is a pressed key: its name, and the text that it types, if any.
type key struct {
	name, text string
}

// controls maps keys sent as one byte to their names.
var controls = map[byte]string{0x03: "ctrl+c", '\t': "tab", '\r': "enter", '\n': "enter", 0x7f: "backspace", 0x08: "backspace"}

// sequences maps keys sent as an escape and further bytes to their names.
var sequences = map[string]string{
	"[A": "up", "[B": "down", "[C": "right", "[D": "left", "[H": "home", "[Z": "shift+tab", "[1~": "home", "[7~": "home",
	"OA": "up", "OB": "down", "OC": "right", "OD": "left", "OH": "home",
}

const escape = 0x1b

// keysOf returns the keys at the beginning of a terminal's input. The rest is the beginning
// of a key whose remaining bytes may still arrive. If all is set, no more bytes arrive, and
// there is no rest.
func keysOf(sent []byte, all bool) (keys []key, rest []byte) {
	for len(sent) > 0 {
		pressed, size := firstKey(sent, all)
		if size == 0 {
			return keys, sent
		}
		if pressed.name != "" {
			keys = append(keys, pressed)
		}
		sent = sent[size:]
	}
	return keys, nil
}

// firstKey returns the first key in the input and its size. The size is 0 if the key is
// incomplete. The name is empty if the key is unknown.
func firstKey(sent []byte, all bool) (pressed key, size int) {
	if sent[0] == escape {
		return escaped(sent, all)
	}
	if name, known := controls[sent[0]]; known {
		return key{name: name}, 1
	}
	if !utf8.FullRune(sent) && !all {
		return key{}, 0
	}
	letter, size := utf8.DecodeRune(sent)
	switch {
	case letter == ' ':
		return key{name: "space", text: " "}, size
	case letter == utf8.RuneError || !unicode.IsPrint(letter):
		return key{}, size
	}
	return key{name: string(letter), text: string(letter)}, size
}

// escaped returns a key that begins with an escape. A single escape is a key itself.
func escaped(sent []byte, all bool) (pressed key, size int) {
	end := sequenceEnd(sent[1:])
	switch {
	case end < 0 && !all:
		return key{}, 0
	case end <= 0:
		return key{name: "esc"}, 1
	}
	return key{name: sequences[string(sent[1:1+end])]}, 1 + end
}

// sequenceEnd returns the number of bytes of a sequence after an escape: 0 if there is no
// sequence, and a negative number if it is incomplete.
func sequenceEnd(after []byte) int {
	switch {
	case len(after) == 0:
		return -1
	case after[0] == 'O' && len(after) == 1:
		return -1
	case after[0] == 'O':
		return 2
	case after[0] != '[':
		return 0
	}
	// Parameters, followed by a letter or a tilde.
	length := strings.IndexFunc(string(after[1:]), func(r rune) bool { return r >= '@' && r <= '~' })
	if length < 0 {
		return -1
	}
	return 1 + length + 1
}
