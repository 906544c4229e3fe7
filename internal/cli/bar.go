package cli

import (
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/fairlead-io/fairlead/internal/screen"
)

// drawWhile draws a line for the latest value while following something.
func drawWhile[T any](c *call, line func(*T) string, follow func(see func(*T) error) (*T, error)) (*T, error) {
	var latest atomic.Pointer[T]
	over, drawn := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(drawn)
		drawUntil(c, line, &latest, over)
	}()
	last, err := follow(func(seen *T) error {
		latest.Store(seen)
		return nil
	})
	close(over)
	<-drawn
	return last, err
}

func drawUntil[T any](c *call, line func(*T) string, latest *atomic.Pointer[T], over <-chan struct{}) {
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for turn := 0; ; turn++ {
		select {
		case <-over:
			fmt.Fprint(c.errors.Out, "\r\x1b[K")
			return
		case <-ticker.C:
		}
		seen := latest.Load()
		if seen == nil {
			continue
		}
		text := string(spokes[turn%len(spokes)]) + " " + line(seen)
		if c.errors.Width > 0 {
			text = screen.Cut(text, c.errors.Width-1)
		}
		fmt.Fprint(c.errors.Out, "\r\x1b[K"+text)
	}
}

// threeBar returns a progress bar of done, running and pending work. Done and running work
// each have at least one cell if there is any. If whole is 0, the total is unknown.
func threeBar(over, begun, whole int64, width int) string {
	if whole <= 0 {
		return strings.Repeat("·", width)
	}
	cells := func(n int64) int {
		if n <= 0 {
			return 0
		}
		return min(max(int(float64(n)/float64(whole)*float64(width)), 1), width)
	}
	full := cells(over)
	if over < whole {
		full = min(full, width-1)
	}
	half := min(cells(begun), width-full)
	return strings.Repeat("█", full) + strings.Repeat("▓", half) + strings.Repeat("░", width-full-half)
}
