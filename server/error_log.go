package server

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
	errorLines  = 10 // of one kind that are logged within an errorPause
	errorPause  = time.Minute
	peerErrors  = 300      // bytes of an error that a peer causes and may have written in part
	serverError = 16 << 10 // bytes of another, such as the stack of a panic
)

// handshakeFailed is how net/http begins a line about a peer that does not speak TLS with it.
const handshakeFailed = "http: TLS handshake error from "

// ErrorLog returns a log for http.Server.ErrorLog whose lines go to a structured one. A peer can
// cause lines at will and can write parts of them: only a few of each kind are logged in a minute,
// each is cut, and control characters are replaced. The next one says how many were withheld.
func ErrorLog(log *slog.Logger) *stdlog.Logger {
	return stdlog.New(&errorLog{log: log, now: time.Now}, "", 0)
}

// errorLog takes the lines of one server.
type errorLog struct {
	log *slog.Logger
	now func() time.Time

	mu         sync.Mutex
	handshakes errorBudget
	others     errorBudget
}

// errorBudget bounds how many lines of a kind are logged.
type errorBudget struct {
	since    time.Time // when the current errorPause began
	logged   int       // since then
	withheld int       // since the last line that was logged
}

// take reports whether a line may be logged, and how many were withheld before it.
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

// Write logs a line. It never fails: net/http has no use for an error.
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

// printable returns the first bytes of a text without characters that a terminal acts upon. Line
// ends and tabs stay: a log escapes these.
func printable(text string, most int) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) || r == '\n' || r == '\t' {
			return r
		}
		return unicode.ReplacementChar
	}, text[:min(len(text), most)])
}
