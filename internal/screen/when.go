package screen

import (
	"fmt"
	"strconv"
	"time"
)

// When formats a time. On a terminal, the result is relative to now, such as "3m ago".
// Otherwise it is RFC 3339 in UTC. For the zero time, When returns an empty string.
func (s *Screen) When(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	if s.Terminal {
		return Ago(t, s.Now())
	}
	return t.UTC().Format(time.RFC3339)
}

// Ago returns how long t is before or after now, as text.
func Ago(t, now time.Time) string {
	switch d := now.Sub(t); {
	case d > -time.Second && d < time.Second:
		return "now"
	case d < 0:
		return "in " + Span(-d)
	default:
		return Span(d) + " ago"
	}
}

// Span formats d in its two largest units.
func Span(d time.Duration) string {
	switch {
	case d < time.Second:
		return strconv.FormatInt(d.Milliseconds(), 10) + "ms"
	case d < 10*time.Second:
		return strconv.FormatFloat(d.Truncate(100*time.Millisecond).Seconds(), 'f', -1, 64) + "s"
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return two(d, time.Minute, "m", time.Second, "s")
	case d < 24*time.Hour:
		return two(d, time.Hour, "h", time.Minute, "m")
	default:
		return two(d, 24*time.Hour, "d", time.Hour, "h")
	}
}

func two(d, large time.Duration, largeName string, small time.Duration, smallName string) string {
	text := strconv.FormatInt(int64(d/large), 10) + largeName
	if rest := d % large / small; rest > 0 {
		text += strconv.FormatInt(int64(rest), 10) + smallName
	}
	return text
}
