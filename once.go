package fairlead

import "time"

// Once makes a request count once, however often it is sent.
type Once struct {
	Caller  string   // whose keys these are: callers do not see each other's
	Key     string   // chosen by the caller
	Request [32]byte // hash of the request: the same key for another request conflicts
}

// NormalizeOnce returns an *InvalidError that names what of a request that counts
// once cannot be kept.
func NormalizeOnce(once Once) error {
	var c complaints
	c.Name("idempotency_key", once.Key, MaxKey)
	if once.Caller != "" {
		c.Name("caller", once.Caller, MaxKey)
	}
	return Invalid(c.Found...)
}

// OnceWindow is how long a key of Once is kept.
const OnceWindow = 24 * time.Hour
