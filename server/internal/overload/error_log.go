package overload

import (
	"bytes"
	stdlog "log"
	"log/slog"
	"strings"
	"sync"
	"time"
	"unicode"
)

const (
	errorLines  = 10 // maximum number of logged lines of one kind within an errorPause
	errorPause  = time.Minute
	peerErrors  = 300      // maximum number of bytes of an error that a peer causes and may have partly written
	serverError = 16 << 10 // maximum number of bytes of another error, such as the stack of a panic
)

// handshakeFailed is the prefix of net/http's log lines about failed TLS handshakes.
const handshakeFailed = "http: TLS handshake error from "

// ErrorLog returns a logger for http.Server.ErrorLog that writes to a structured logger. A
// remote peer can trigger any number of lines and control parts of their text. Therefore,
// only a few lines of each kind are logged per minute, truncated and without control
// characters. The next line logged reports how many lines were dropped.
func ErrorLog(log *slog.Logger) *stdlog.Logger {
	return stdlog.New(&errorLog{log: log, now: time.Now}, "", 0)
}

// errorLog receives the log lines of one server.
type errorLog struct {
	log *slog.Logger
	now func() time.Time

	mu         sync.Mutex
	handshakes errorBudget
	others     errorBudget
}

// errorBudget limits the number of logged lines of a kind.
type errorBudget struct {
	since    time.Time // start of the current errorPause
	logged   int       // since then
	withheld int       // since the last logged line
}

// take reports whether a line may be logged, and the number of lines dropped before it.
func (b *errorBudget) take(now time.Time) (withheld int, ok bool) {
	if now.Sub(b.since) >= errorPause || now.Before(b.since) {
		b.since, b.logged = now, 0
	}
	if b.logged >= errorLines {
		b.withheld++
		return 0, false
	}
	withheld, b.withheld = b.withheld, 0
	b.logged++
	return withheld, true
}

// Write logs a line. It never fails, because net/http ignores the error.
func (l *errorLog) Write(line []byte) (int, error) {
	text := string(bytes.TrimSpace(line))
	peer, handshake := strings.CutPrefix(text, handshakeFailed)
	budget := &l.others
	if handshake {
		budget = &l.handshakes
	}
	l.mu.Lock()
	withheld, ok := budget.take(l.now())
	l.mu.Unlock()
	switch {
	case !ok:
	case handshake:
		from, cause, _ := strings.Cut(peer, ": ")
		l.log.Warn("TLS handshake failed", "from", from, "cause", printable(cause, peerErrors), "withheld", withheld)
	default:
		l.log.Error("HTTP server failed", "cause", printable(text, serverError), "withheld", withheld)
	}
	return len(line), nil
}

// printable returns the first bytes of a string without characters that a terminal
// interprets. Line feeds and tabs stay, because loggers escape them.
func printable(text string, most int) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) || r == '\n' || r == '\t' {
			return r
		}
		return unicode.ReplacementChar
	}, text[:min(len(text), most)])
}
