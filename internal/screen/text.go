package screen

import (
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"
)

// Clean converts text to a single line and removes the characters that a terminal would
// interpret.
func Clean(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\r' || r == '\t':
			return ' '
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r) && r != '\u200d': // the joiner combines several emoji into one
			return '\ufffd'
		}
		return r
	}, text)
}

// Cut shortens text to at most width cells.
func Cut(text string, width int) string { return ansi.Truncate(text, max(width, 0), "…") }

// Width returns the number of cells that text occupies.
func Width(text string) int { return ansi.StringWidth(text) }

// Pad pads text to at least width cells.
func Pad(text string, width int) string {
	return text + strings.Repeat(" ", max(width-Width(text), 0))
}

// Tone is the meaning of a piece of text, shown as a colour.
type Tone int

// Values of Tone.
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

// In returns text in the colour of the tone, if colours are enabled.
func (s *Screen) In(tone Tone, text string) string {
	code, ok := codes[tone]
	if !s.Color || !ok || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// State returns a table cell that shows the state of a job, batch or sweep in the state's
// tone.
func State(state string) Cell {
	tones := map[string]Tone{
		"scheduled": Faint, "parked": Faint, "running": Busy, "waiting": Busy,
		"succeeded": Good, "failed": Bad, "cancelled": Warn, "skipped": Faint,
		"success": Good, "fail": Bad, "partial_fail": Bad, "cancel": Warn, // states of batches and their tasks
		"rollback_running": Busy, "rollback_success": Good, "rollback_fail": Bad,
		"stopping": Busy, "stopped": Warn, "finished": Good, // states of sweeps
	}
	return Cell{Text: state, Tone: tones[state]}
}
