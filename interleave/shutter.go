package interleave

import "sync"

// A shutter is the part of a valve that holds round trips.
type shutter struct {
	stops chan *stop

	mu     sync.Mutex
	closed chan struct{} // closed again when round trips are no longer held; nil while they are not
	dead   bool          // connections are broken and new ones are refused
}

func newShutter() shutter { return shutter{stops: make(chan *stop)} }

// held implements valve.
func (s *shutter) held() <-chan *stop { return s.stops }

// close implements valve.
func (s *shutter) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed == nil {
		s.closed = make(chan struct{})
	}
	s.dead = false
}

// open implements valve.
func (s *shutter) open() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.release()
	s.dead = false
}

// release lets the held round trips of open connections pass.
func (s *shutter) release() {
	if s.closed != nil {
		close(s.closed)
		s.closed = nil
	}
}

// holds returns a channel that is closed when round trips are no longer held; nil if they are
// not.
func (s *shutter) holds() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// decide waits for the player's decision about a round trip, until the shutter opens or the
// connection has gone.
func (s *shutter) decide(statements []string, opened, gone <-chan struct{}) decision {
	trip := &stop{statements: statements, gone: gone, decision: make(chan decision, 1)}
	stops := s.stops
	for {
		select {
		case stops <- trip:
			stops = nil // the player knows it
		case d := <-trip.decision:
			return d
		case <-gone:
			return refuse
		case <-opened:
			return pass
		}
	}
}
