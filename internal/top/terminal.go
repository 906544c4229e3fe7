package top

import (
	"io"
	"os"
	"strings"

	"github.com/charmbracelet/x/term"
)

// terminal is what the view is drawn on. If it is none, as in tests, it has no size and
// needs no mode.
type terminal struct {
	out   io.Writer
	in    *os.File // nil: no terminal
	mode  *term.State
	frame string // as it was drawn last
}

// What a terminal is asked for: another screen than that of the shell, no cursor, no line
// that goes on in the next, and a title; and at the end what was before.
const (
	enter = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[22;2t\x1b]2;fairlead top\x07"
	leave = "\x1b[23;2t\x1b[?7h\x1b[?25h\x1b[?1049l"
)

// openTerminal gets keys one by one and the whole screen. close gives both back.
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

// size is that of the screen, if it has one.
func (t *terminal) size() (width, height int, known bool) {
	file, ok := t.out.(*os.File)
	if !ok {
		return 0, 0, false
	}
	width, height, err := term.GetSize(file.Fd())
	return width, height, err == nil && width > 0 && height > 0
}

// draw shows lines, and clears what is below them. All is one write between the marks of a
// synchronized update, so that no half of it is seen.
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
