package sim

import (
	"crypto/sha256"
	"fmt"
	"hash"
	"math/rand/v2"
	"strings"
	"sync"
	"time"
)

// A fault describes how a call of the store fails.
type fault string

// Faults of calls. A call without a fault has the empty one.
const (
	failBefore fault = "call fails before its commit"
	loseAnswer fault = "call fails after its commit"
	slowCall   fault = "call arrives late"
	slowAnswer fault = "answer arrives late"
	lateEffect fault = "call takes effect after its process gave up"
)

// Faults of processes and handlers.
const (
	crashed     = "node crashes"
	suspended   = "node is suspended for longer than its lease"
	allFrozen   = "all nodes are suspended until instants are missed"
	badLine     = "connection of a node is bad"
	skewed      = "clock of a node is wrong"
	leftEarly   = "node leaves and another one joins"
	panicked    = "handler panics"
	failed      = "handler fails"
	hopeless    = "handler fails for good"
	oblivious   = "handler ignores its timeout"
	returnsLate = "handler returns after its lease was lost"
	lostLease   = "late result refused"
	unanswered  = "answer to a waiting job does not come"
)

// faultKinds lists all faults that a run of many seeds has to contain.
var faultKinds = []string{
	string(failBefore), string(loseAnswer), string(slowCall), string(slowAnswer), string(lateEffect),
	crashed, suspended, allFrozen, badLine, skewed, leftEarly, panicked, failed, hopeless, oblivious, returnsLate, lostLease, unanswered,
}

// longestPause is longer than a node waits for most calls.
const longestPause = 12 * time.Second

// drawFault draws the fault of a call.
func (g *gate) drawFault(c *call, now time.Time) {
	const usual, ill = 25, 300 // of a thousand calls
	share := usual
	if c.by.illUntil.After(now) {
		share = ill
	}
	if g.calm || g.random.IntN(1000) >= share {
		return
	}
	c.fault = []fault{failBefore, loseAnswer, slowCall, slowAnswer, lateEffect}[g.random.IntN(5)]
	if c.fault == lateEffect && c.tx != nil { // a transaction ends with its connection
		c.fault = failBefore
	}
	if c.fault == slowCall || c.fault == lateEffect {
		c.due = now.Add(g.drawPause())
	}
	if c.fault != lateEffect { // counted when it happens
		g.counts.add(string(c.fault))
	}
}

// drawPause draws how late something is: mostly a little, sometimes very much.
func (g *gate) drawPause() time.Duration {
	limit := []time.Duration{20 * time.Millisecond, 300 * time.Millisecond, 3 * time.Second, longestPause}[g.random.IntN(4)]
	return time.Duration(g.random.Int64N(int64(limit)))
}

// counts counts faults, uses of capabilities and events.
type counts struct {
	mu *sync.Mutex
	of map[string]int
}

func newCounts() counts { return counts{&sync.Mutex{}, map[string]int{}} }

func (c counts) add(what string) { c.addN(what, 1) }

func (c counts) addN(what string, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.of[what] += n
}

// trace is the sequence of all calls of the store, with their outcomes.
type trace struct {
	begun time.Time
	calls int
	hash  hash.Hash
	tail  []string // the last lines
	all   *strings.Builder
}

func newTrace() *trace { return &trace{begun: time.Now(), hash: sha256.New()} }

// longestTail limits the lines of a trace in a report.
const longestTail = 60

func (t *trace) add(c *call, outcome string, err error) {
	line := fmt.Sprintf("%12.6f %s %s %s %s → %s %s", time.Since(t.begun).Seconds(), c.by.name, c.name, c.args, c.fault, outcome, class(err))
	t.calls++
	t.hash.Write([]byte(line))
	if t.all != nil {
		t.all.WriteString(line + "\n")
	}
	if t.tail = append(t.tail, line); len(t.tail) > longestTail {
		t.tail = t.tail[1:]
	}
}

func (t *trace) sum() string { return fmt.Sprintf("%x", t.hash.Sum(nil)) }

// last returns the last lines, for a report.
func (t *trace) last() string {
	const widest = 300
	var b strings.Builder
	for _, line := range t.tail {
		if len(line) > widest {
			line = line[:widest] + "…"
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// drawFor returns a source that depends only on the seed and on whom it is for.
func drawFor(seed uint64, whom ...uint64) *rand.Rand {
	mixed := uint64(14695981039346656037)
	for _, part := range whom {
		mixed = (mixed ^ part) * 1099511628211
	}
	return rand.New(rand.NewPCG(seed, mixed))
}
