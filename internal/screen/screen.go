package screen

import (
	"io"
	"os"
	"time"

	"github.com/charmbracelet/x/term"
)

// Screen is where people read.
type Screen struct {
	Out      io.Writer
	Terminal bool // a person looks at it now: times are relative
	Color    bool
	Width    int // in cells; zero: as wide as it takes
	Now      func() time.Time
}

// New looks at what w is. Colours are for terminals, unless the environment
// speaks against them.
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

// IsTerminal reports whether a person may sit at the other end of r.
func IsTerminal(r io.Reader) bool {
	file, ok := r.(*os.File)
	return ok && term.IsTerminal(file.Fd())
}
