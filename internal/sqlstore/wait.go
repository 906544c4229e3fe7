package sqlstore

import "time"

// waitUnsaid is the longest wait that is not reported.
const waitUnsaid = time.Second

// Wait reports what an operation that is being retried waits for.
type Wait struct {
	tell  func(whom string) // nil if nothing is to be reported
	since time.Time
	said  string
}

// NewWait returns a Wait. It must be called before the first try.
func NewWait(tell func(whom string)) *Wait { return &Wait{tell: tell, since: time.Now()} }

// For must be called after each failed try. Once the tries have lasted for a while, it
// calls whom and reports the result, and reports it again if it changes.
func (w *Wait) For(whom func() string) {
	if w.tell == nil || time.Since(w.since) < waitUnsaid {
		return
	}
	if text := whom(); text != w.said {
		w.said = text
		w.tell(text)
	}
}
