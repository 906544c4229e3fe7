package interleave

// A valve stands between one actor and the database. While it is closed, it holds every round
// trip until the player decides about it. It is open at first.
type valve interface {
	// addr is the host in the URL under which connections pass through the valve.
	addr() string
	// held returns the round trips that wait for the player.
	held() <-chan *stop
	// close holds every round trip from now on.
	close()
	// open lets every round trip pass from now on, including those of a valve that was cut.
	open()
	// cut breaks all connections and refuses new ones, as if the process had died.
	cut()
	// end cuts all connections and waits for the goroutines of the valve.
	end()
	// inTransaction reports whether a transaction is open on one of the connections.
	inTransaction() bool
	// ports returns the numbers by which the database knows the connections.
	ports() []int
	// passed returns the statements that have passed since the last call without a stop of their
	// own.
	passed() []string
}

// A stop is a round trip that the valve holds.
type stop struct {
	statements []string
	gone       <-chan struct{} // closed when the connection has ended
	decision   chan decision
}

// A decision says what happens to a round trip.
type decision int

const (
	pass   decision = iota // the round trip reaches the server
	lose                   // the round trip reaches the server, but its answer is lost
	refuse                 // the connection breaks first
)
