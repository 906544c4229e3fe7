package sqlstore

import "time"

// waitUnsaid is how long a wait is not worth a word.
const waitUnsaid = time.Second

// Wait says for whom an operation waits that is tried again and again.
type Wait struct {
	tell  func(whom string) // nil: nothing is said
	since time.Time
	said  string
}

// NewWait is called before the first try.
func NewWait(tell func(whom string)) *Wait { return &Wait{tell: tell, since: time.Now()} }

// For is called after each try that failed. Once they have gone on for a while, it asks whom
// and says it, again if the answer changes.
func (w *Wait) For(whom func() string) {
	if w.tell == nil || time.Since(w.since) < waitUnsaid {
		return
	}
	if text := whom(); text != w.said {
		w.said = text
		w.tell(text)
	}
}
