package fairlead

import "time"

// Once identifies a request. A request with a Once takes effect only once, even if the
// caller sends it several times.
type Once struct {
	Caller  string   // owner of the key; callers do not share keys
	Key     string   // chosen by the caller
	Request [32]byte // hash of the request; reusing the key for another request is a conflict
}

// NormalizeOnce validates once. It returns an *InvalidError that names every invalid field.
func NormalizeOnce(once Once) error {
	var c complaints
	c.Name("idempotency_key", once.Key, MaxKey)
	if once.Caller != "" {
		c.Name("caller", once.Caller, MaxKey)
	}
	return Invalid(c.Found...)
}

// OnceWindow is the time for which the store remembers a Once's Key.
const OnceWindow = 24 * time.Hour
