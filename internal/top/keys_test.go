package top

import (
	"slices"
	"strings"
	"testing"
)

func TestKeysAreReadAsTerminalsSendThem(t *testing.T) {
	for sent, want := range map[string]string{
		"q": "q", "\x03": "ctrl+c", "\t": "tab", "\r": "enter", "\x7f\b": "backspace backspace", " ": "space", "é中": "é 中",
		"\x1b[A\x1b[B\x1b[C\x1b[D": "up down right left", "\x1bOA\x1bOH": "up home", "\x1b[Z": "shift+tab", "\x1b[H\x1b[1~": "home home",
		"\x1b[5~q": "q", "\x1b[1;5Aq": "q", // unknown keys are not text
		"\x1bq": "esc q", "\x1b\x1b[A": "esc up", "\x00\xffq": "q",
	} {
		keys, rest := keysOf([]byte(sent), false)
		var names []string
		for _, key := range keys {
			names = append(names, key.name)
		}
		if got := strings.Join(names, " "); got != want || len(rest) > 0 {
			t.Errorf("%q is %q, and %q is left", sent, got, rest)
		}
	}
}

func TestOnlyLettersAreText(t *testing.T) {
	keys, _ := keysOf([]byte("a \x1b[A\x7fé"), false)
	if want := []key{{"a", "a"}, {"space", " "}, {"up", ""}, {"backspace", ""}, {"é", "é"}}; !slices.Equal(keys, want) {
		t.Errorf("the keys are %v", keys)
	}
}

func TestAKeyThatIsNotWholeIsWaitedFor(t *testing.T) {
	for _, sent := range []string{"\x1b", "\x1b[", "\x1bO", "\x1b[1;", "\xe4\xb8"} {
		if keys, rest := keysOf([]byte(sent), false); len(keys) > 0 || string(rest) != sent {
			t.Errorf("of %q %v are keys, and %q is left", sent, keys, rest)
		}
		if _, rest := keysOf([]byte(sent), true); len(rest) > 0 {
			t.Errorf("of %q %q is left for ever", sent, rest)
		}
	}
	if keys, _ := keysOf([]byte("\x1b"), true); !slices.Equal(keys, []key{{name: "esc"}}) {
		t.Errorf("an escape is %v", keys)
	}
}
