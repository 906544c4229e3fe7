package top

import (
	"io"
	"os"
	"strings"

	"github.com/charmbracelet/x/term"
)

// terminal is the output of the view. If the output is not a terminal, as in tests, it has
// no size and no mode.
type terminal struct {
	out   io.Writer
	in    *os.File // nil if the input is not a terminal
	mode  *term.State
	frame string // the last frame drawn
}

// Sequences that switch a terminal to a separate screen without cursor or line wrapping and
// set a title, and that restore the previous state.
const (
	enter = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[22;2t\x1b]2;fairlead top\x07"
	leave = "\x1b[23;2t\x1b[?7h\x1b[?25h\x1b[?1049l"
)

// openTerminal switches the terminal to raw input and a separate screen. close restores it.
func openTerminal(in io.Reader, out io.Writer) (*terminal, error) {
	t := &terminal{out: out}
	if file, ok := in.(*os.File); ok && term.IsTerminal(file.Fd()) {
		mode, err := term.MakeRaw(file.Fd())
		if err != nil {
			return nil, err
		}
		t.in, t.mode = file, mode
	}
	_, err := io.WriteString(out, enter)
	return t, err
}

func (t *terminal) close() error {
	_, err := io.WriteString(t.out, leave)
	if t.in != nil {
		if restored := term.Restore(t.in.Fd(), t.mode); err == nil {
			err = restored
		}
	}
	return err
}

// size returns the size of the screen, if known.
func (t *terminal) size() (width, height int, known bool) {
	file, ok := t.out.(*os.File)
	if !ok {
		return 0, 0, false
	}
	width, height, err := term.GetSize(file.Fd())
	return width, height, err == nil && width > 0 && height > 0
}

// draw shows lines and clears the rest of the screen. It writes everything at once as a
// synchronized update, so that no partial frame is visible.
func (t *terminal) draw(lines []string, height int) error {
	var frame strings.Builder
	frame.WriteString("\x1b[?2026h\x1b[H")
	for i := range max(height, len(lines)) {
		if i > 0 {
			frame.WriteString("\r\n")
		}
		frame.WriteString("\x1b[2K")
		if i < len(lines) {
			frame.WriteString(lines[i])
		}
	}
	frame.WriteString("\x1b[?2026l")
	if frame.String() == t.frame {
		return nil
	}
	t.frame = frame.String()
	_, err := io.WriteString(t.out, t.frame)
	return err
}
