package fairlead

import "time"

// Once identifies a request, so that it takes effect only once even if it is sent
// several times.
type Once struct {
	Caller  string   // owner of the key; callers do not share keys
	Key     string   // chosen by the caller
	Request [32]byte // hash of the request; reusing the key for another request is a conflict
}

// NormalizeOnce returns an *InvalidError that names every invalid field of once.
func NormalizeOnce(once Once) error {
	var c complaints
	c.Name("idempotency_key", once.Key, MaxKey)
	if once.Caller != "" {
		c.Name("caller", once.Caller, MaxKey)
	}
	return Invalid(c.Found...)
}

// OnceWindow is the time for which the store remembers the Key of a Once.
const OnceWindow = 24 * time.Hour
