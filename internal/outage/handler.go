package outage

import (
	"context"
	"log/slog"
)

// handler withholds warnings and errors that an outage covers: they are lines of level
// debug.
type handler struct {
	slog.Handler
	watch *Watch
}

// Handle passes a line on.
func (h handler) Handle(ctx context.Context, record slog.Record) error {
	if record.Level >= slog.LevelWarn && h.watch.covers(errorOf(record)) {
		record.Level = slog.LevelDebug
		if !h.Enabled(ctx, record.Level) {
			return nil
		}
	}
	return h.Handler.Handle(ctx, record)
}

// WithAttrs keeps the Watch.
func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return handler{h.Handler.WithAttrs(attrs), h.watch}
}

// WithGroup keeps the Watch.
func (h handler) WithGroup(name string) slog.Handler {
	return handler{h.Handler.WithGroup(name), h.watch}
}

// errorOf returns the error that a line is about; nil if it is about none.
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
