package console

import (
	"encoding/json"
	"math"
	"sync"
	"time"

	"github.com/fairlead-io/fairlead/console/internal/shared"
)

const (
	historyLength = 900 // samples, one per tick: half an hour
	historyRest   = 30 * time.Minute
	chartGap      = 5 * shared.TickLength
	historyMost   = 200 // maximum number of subjects; the least recently viewed one is dropped
)

// sample contains some figures at one time.
type sample struct {
	at      time.Time
	figures []float64 // NaN = no value
}

// history contains the figures of the last half hour for each viewed subject. The zero
// value is ready to use.
type history struct {
	mu       sync.Mutex
	subjects map[string][]sample
}

// add adds the sample of a tick, and returns all samples of the subject.
func (h *history) add(subject string, now sample) []sample {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.subjects == nil {
		h.subjects = map[string][]sample{}
	}
	h.forget(now.at)
	samples := h.subjects[subject]
	if n := len(samples); n == 0 || shared.TickOf(samples[n-1].at) < shared.TickOf(now.at) {
		samples = append(samples, now)
	}
	samples = samples[max(len(samples)-historyLength, 0):]
	h.subjects[subject] = samples
	return append([]sample(nil), samples...)
}

// forget drops subjects that were not viewed for long, and the oldest one if there are too
// many.
func (h *history) forget(now time.Time) {
	oldest, since := "", now
	for subject, samples := range h.subjects {
		last := samples[len(samples)-1].at
		if now.Sub(last) > historyRest {
			delete(h.subjects, subject)
		} else if !last.After(since) {
			oldest, since = subject, last
		}
	}
	if len(h.subjects) > historyMost {
		delete(h.subjects, oldest)
	}
}

// chart adds figures to the history of a subject, and returns the data of a chart for the
// last half hour: the columns, and the names of the series.
func (v *visit) chart(subject string, names []string, figures ...float64) (data, series string, err error) {
	samples := v.console.history.add(subject, sample{at: v.Now, figures: figures})
	columns := make([][]any, 1+len(figures))
	for i, s := range samples {
		if i > 0 && s.at.Sub(samples[i-1].at) > chartGap { // do not connect the line across a gap
			columns[0] = append(columns[0], float64(samples[i-1].at.Add(shared.TickLength).UnixMilli())/1000)
			for c := range figures {
				columns[1+c] = append(columns[1+c], nil)
			}
		}
		columns[0] = append(columns[0], float64(s.at.UnixMilli())/1000)
		for i, figure := range s.figures {
			if math.IsNaN(figure) {
				columns[1+i] = append(columns[1+i], nil)
				continue
			}
			columns[1+i] = append(columns[1+i], figure)
		}
	}
	raw, err := json.Marshal(columns)
	if err != nil {
		return "", "", err
	}
	named, err := json.Marshal(names)
	return string(raw), string(named), err
}
