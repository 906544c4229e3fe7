package sqlstore

import "time"

// waitUnsaid is the longest wait that is not reported.
const waitUnsaid = time.Second

// Wait reports what an operation is waiting for while it is being retried.
type Wait struct {
	tell  func(whom string) // nil if nothing is to be reported
	since time.Time
	said  string
}

// NewWait returns a Wait that reports through tell. It must be called before the first try.
func NewWait(tell func(whom string)) *Wait { return &Wait{tell: tell, since: time.Now()} }

// For must be called after each failed try. If the operation has been retried for longer than
// a second, For calls whom and reports the result. It reports again whenever the result
// changes.
func (w *Wait) For(whom func() string) {
	if w.tell == nil || time.Since(w.since) < waitUnsaid {
		return
	}
	if text := whom(); text != w.said {
		w.said = text
		w.tell(text)
	}
}
