package top

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// key is one that was pressed: its name, and the text that it types if it types one.
type key struct {
	name, text string
}

// controls are keys that are sent as one byte.
var controls = map[byte]string{0x03: "ctrl+c", '\t': "tab", '\r': "enter", '\n': "enter", 0x7f: "backspace", 0x08: "backspace"}

// sequences are keys that are sent as several bytes: an escape, and these.
var sequences = map[string]string{
	"[A": "up", "[B": "down", "[C": "right", "[D": "left", "[H": "home", "[Z": "shift+tab", "[1~": "home", "[7~": "home",
	"OA": "up", "OB": "down", "OC": "right", "OD": "left", "OH": "home",
}

const escape = 0x1b

// keysOf reads the keys at the beginning of what a terminal sent. The rest is the beginning
// of a key whose other bytes may still come; if all says that none will, there is no rest.
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

// firstKey reads one key. Its size is 0 if it is not whole, its name empty if it is unknown.
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

// escaped reads a key that begins with an escape. Alone that is a key itself.
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

// sequenceEnd is how many bytes of a sequence follow an escape: 0 if there is none, and
// negative if it has no end yet.
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
	// Parameters, then a letter or a tilde.
	length := strings.IndexFunc(string(after[1:]), func(r rune) bool { return r >= '@' && r <= '~' })
	if length < 0 {
		return -1
	}
	return 1 + length + 1
}
