package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/engine"
)

// lines collects a log that many goroutines write.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(line)
}

// with returns the lines that have a message.
func (l *lines) with(t *testing.T, message string) (found []map[string]any) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range strings.Split(strings.TrimSpace(l.text.String()), "\n") {
		var fields map[string]any
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(fields["msg"].(string), message) {
			found = append(found, fields)
		}
	}
	return found
}

func TestEveryLineOfAJobNamesItsJobAndItsTrace(t *testing.T) {
	const trace = "4bf92f3577b34da6a3ce929d0e0e4736"
	inBubble(t, func(w *world) {
		release := make(chan struct{})
		w.handle("fails", fairlead.HandlerOptions{
			MaxAttempts: 1, OnFailed: func(context.Context, *fairlead.Job, error) { panic("a hook of somebody") },
		}, func(context.Context, *fairlead.Job) error { return errors.New("no") })
		w.handle("stays", fairlead.HandlerOptions{MaxAttempts: 1, Timeout: time.Second}, func(context.Context, *fairlead.Job) error {
			<-release
			return nil
		})
		log := &lines{}
		traced := &fairlead.Job{Kind: "fails", Tenant: "acme", Trace: "00-" + trace + "-00f067aa0ba902b7-01"}
		untraced := &fairlead.Job{Kind: "stays", Tenant: "acme", Trace: "of another system"}
		w.run(engine.Options{Logger: slog.New(slog.NewJSONHandler(log, nil))}, func() {
			w.enqueue(traced)
			w.enqueue(untraced)
			w.wait(traced)
			w.wait(untraced)
			close(release)
		})
		traces := map[any]any{"fails": trace} // what names no trace has no field of it
		for _, message := range []string{"job failed", "OnFailed panicked", "handler ignores its cancelled context"} {
			found := log.with(t, message)
			if len(found) == 0 {
				t.Errorf("there is no line %q", message)
			}
			for _, line := range found {
				if line["job"] == nil || line["tenant"] != "acme" || line["attempt"] != 1.0 || line["trace_id"] != traces[line["kind"]] {
					t.Errorf("%v does not name its job and trace", line)
				}
			}
		}
	})
}
