package screen

import (
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"
)

// Clean makes a text one line without anything that a terminal would obey.
func Clean(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\r' || r == '\t':
			return ' '
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r) && r != '\u200d': // the joiner makes one emoji of several
			return '\ufffd'
		}
		return r
	}, text)
}

// Cut shortens a text to so many cells.
func Cut(text string, width int) string { return ansi.Truncate(text, max(width, 0), "…") }

// Width is how many cells a text takes.
func Width(text string) int { return ansi.StringWidth(text) }

// Pad makes a text at least so many cells wide.
func Pad(text string, width int) string {
	return text + strings.Repeat(" ", max(width-Width(text), 0))
}

// Tone says how a text is meant.
type Tone int

// The tones.
const (
	Plain Tone = iota
	Faint
	Good
	Busy
	Warn
	Bad
	Head
)

var codes = map[Tone]string{Faint: "2", Good: "32", Busy: "36", Warn: "33", Bad: "31", Head: "1"}

// In gives a text its tone, if colours are wanted.
func (s *Screen) In(tone Tone, text string) string {
	code, ok := codes[tone]
	if !s.Color || !ok || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// State is the state of a job, a batch or a sweep in its tone.
func State(state string) Cell {
	tones := map[string]Tone{
		"scheduled": Faint, "parked": Faint, "running": Busy, "waiting": Busy,
		"succeeded": Good, "failed": Bad, "cancelled": Warn, "skipped": Faint,
		"success": Good, "fail": Bad, "partial_fail": Bad, "cancel": Warn, // of batches and their tasks
		"rollback_running": Busy, "rollback_success": Good, "rollback_fail": Bad,
		"stopping": Busy, "stopped": Warn, "finished": Good, // of sweeps
	}
	return Cell{Text: state, Tone: tones[state]}
}
