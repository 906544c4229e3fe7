package outage

import (
	"context"
	"log/slog"
)

// handler demotes warnings and errors that an outage explains to level debug.
type handler struct {
	slog.Handler
	watch *Watch
}

// Handle implements slog.Handler.
func (h handler) Handle(ctx context.Context, record slog.Record) error {
	if record.Level >= slog.LevelWarn && h.watch.covers(errorOf(record)) {
		record.Level = slog.LevelDebug
		if !h.Enabled(ctx, record.Level) {
			return nil
		}
	}
	return h.Handler.Handle(ctx, record)
}

// WithAttrs implements slog.Handler and keeps the Watch.
func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return handler{h.Handler.WithAttrs(attrs), h.watch}
}

// WithGroup implements slog.Handler and keeps the Watch.
func (h handler) WithGroup(name string) slog.Handler {
	return handler{h.Handler.WithGroup(name), h.watch}
}

// errorOf returns the error attribute of a log line, or nil if there is none.
func errorOf(record slog.Record) (err error) {
	record.Attrs(func(a slog.Attr) bool {
		if a.Key != "error" {
			return true
		}
		err, _ = a.Value.Any().(error)
		return false
	})
	return err
}
