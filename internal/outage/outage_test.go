package outage_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/outage"
)

var (
	errAway = fmt.Errorf("connection refused: %w", fairlead.ErrUnavailable)
	errOdd  = errors.New("column missing")
)

// logged returns a log of level warn and a function that checks its messages, one per line.
func logged(t *testing.T) (*slog.Logger, *outage.Watch, func(want ...string)) {
	t.Helper()
	text := &bytes.Buffer{}
	log, watch := outage.Logger(slog.New(slog.NewTextHandler(text, &slog.HandlerOptions{Level: slog.LevelWarn, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.MessageKey || a.Key == "lines_withheld" {
			return a
		}
		return slog.Attr{}
	}})))
	return log, watch, func(want ...string) {
		t.Helper()
		if got := strings.TrimSpace(text.String()); got != strings.Join(want, "\n") {
			t.Errorf("got:\n%s", got)
		}
	}
}

func TestLinesAboutAnOutageAreWithheldAndCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, watch, says := logged(t)
		log.Error("before", "error", errAway)
		watch.Failed(errAway)
		watch.Failed(errAway)
		log.With("node", 1).WithGroup("g").Error("withheld", "error", errAway)
		log.Warn("withheld too", "jobs", 3, "error", fmt.Errorf("claim: %w", context.DeadlineExceeded))
		log.Error("a fault", "error", errOdd)
		log.Warn("without an error")
		if watch.Since().IsZero() {
			t.Error("it is not away")
		}
		watch.Worked()
		watch.Worked()
		log.Error("after", "error", errAway)
		says(`msg=before`, `msg="database unavailable: logged once now, and once when it is back"`, `msg="a fault"`, `msg="without an error"`,
			`msg="database available again" lines_withheld=2`, `msg=after`)
	})
}

func TestTheNextBeatDecidesWhetherAFirstErrorIsAnOutage(t *testing.T) {
	for name, c := range map[string]struct {
		beat func(*outage.Watch)
		want []string
	}{
		"an outage":     {func(w *outage.Watch) { w.Failed(errAway) }, []string{`msg="service unavailable: logged once now, and once when it is back"`}},
		"a deadlock":    {func(w *outage.Watch) { w.Worked() }, []string{`msg="loop failed"`}},
		"no beat comes": {func(*outage.Watch) {}, []string{`msg="loop failed"`}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				log, watch, says := logged(t)
				watch.Of("service")
				watch.Ask(func() { time.AfterFunc(time.Second, func() { c.beat(watch) }) })
				log.Warn("loop failed", "error", errAway)
				synctest.Wait() // the beat may still be writing its line
				says(c.want...)
			})
		})
	}
}

func TestALogThatHasAWatchKeepsIt(t *testing.T) {
	log, watch, _ := logged(t)
	if again, same := outage.Logger(log.With("node", 1)); same != watch || again.Handler() == nil {
		t.Error("it has two")
	}
}
