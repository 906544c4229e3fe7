package screen

import (
	"io"
	"os"
	"time"

	"github.com/charmbracelet/x/term"
)

// Screen writes output for people to read.
type Screen struct {
	Out      io.Writer
	Terminal bool // a person is watching: times are relative
	Color    bool
	Width    int // in cells; 0 = unlimited
	Now      func() time.Time
}

// New returns a Screen that writes to w, and detects w's properties. It uses colours on
// terminals, unless the environment disables them.
func New(w io.Writer, getenv func(string) string) *Screen {
	s := &Screen{Out: w, Now: time.Now}
	file, ok := w.(*os.File)
	if !ok || !term.IsTerminal(file.Fd()) {
		return s
	}
	s.Terminal = true
	s.Color = getenv("NO_COLOR") == "" && getenv("TERM") != "dumb"
	if width, _, err := term.GetSize(file.Fd()); err == nil {
		s.Width = width
	}
	return s
}

// IsTerminal reports whether r is a terminal.
func IsTerminal(r io.Reader) bool {
	file, ok := r.(*os.File)
	return ok && term.IsTerminal(file.Fd())
}
