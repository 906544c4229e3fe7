package sim

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fairlead-io/fairlead"
)

// Instant is a moment of some clock, in microseconds since 1970.
type Instant int64

// InstantOf is t as an Instant.
func InstantOf(t time.Time) Instant { return Instant(t.UnixMicro()) }

// Time is the moment as a time.
func (i Instant) Time() time.Time { return time.UnixMicro(int64(i)) }

// Sub is the time from j to i.
func (i Instant) Sub(j Instant) time.Duration { return time.Duration(i-j) * time.Microsecond }

// Add is the moment that is d later.
func (i Instant) Add(d time.Duration) Instant { return i + Instant(d.Microseconds()) }

// What says what an event is about.
type What string

// What workers write.
const (
	Granted     What = "granted"     // a join or beat that was sent at Sent was acknowledged: the node's lease lasts from DB
	Unconfirmed What = "unconfirmed" // a beat failed: it may have counted
	Leaving     What = "leaving"     // the node is about to give up its lease
	Claimed     What = "claimed"     // a claim that was sent at Sent leased a job to the node at DB
	Started     What = "started"     // a handler began
	Ended       What = "ended"       // a handler is about to return; Result says what
	Asked       What = "asked"       // a settlement is about to be sent
	Settled     What = "settled"     // it was answered; Result says how
	Saved       What = "saved"       // progress was sent at Sent and answered
	Reaping     What = "reaping"     // a reap is about to be sent
	Reaped      What = "reaped"      // a reap that was sent at Sent took jobs or nodes from the dead
	Abandoned   What = "abandoned"   // a handler ignored the end of its context
	Lent        What = "lent"        // a handler has completed its job in a transaction, which stays open
)

// What callers write.
const (
	Committed  What = "committed"   // a transaction that enqueued a job was committed
	RolledBack What = "rolled back" // a transaction that enqueued a job is about to be rolled back
)

// What the driver writes.
const (
	Killed  What = "killed"  // a worker is dead
	Stopped What = "stopped" // a worker stands still
	Resumed What = "resumed" // a worker is about to go on
	Holding What = "holding" // at DB a killed or stopped node held a job
	Down    What = "down"    // the database was killed: what is sent from now on it does not answer before Up
	Up      What = "up"      // the database answers again
)

// Results of handlers and of what was asked of the store.
const (
	OK        = "ok"        // the handler succeeded; the store did as asked
	Failing   = "failing"   // the handler returns an error
	Broken    = "broken"    // the handler returns Fatal
	Cut       = "cut"       // the handler's context ended
	Cancelled = "cancelled" // the driver had asked to cancel the job
	Lost      = "lost"      // refused: the fence was not current
)

// Event is one line of a history.
type Event struct {
	At      Instant         `json:"at"` // clock of the machine that all processes run on
	What    What            `json:"what"`
	Process string          `json:"process,omitempty"` // who wrote it, or whom the driver means
	Node    fairlead.NodeID `json:"node,omitempty"`
	Job     int64           `json:"job,omitempty"`
	Fence   int64           `json:"fence,omitempty"`
	Attempt int             `json:"attempt,omitempty"`
	Move    fairlead.Move   `json:"move,omitempty"`
	Result  string          `json:"result,omitempty"`
	Solo    bool            `json:"solo,omitempty"`  // claimed as a crash suspect
	DB      Instant         `json:"db,omitempty"`    // the database's clock
	Sent    Instant         `json:"sent,omitempty"`  // when the call began; zero if the worker did not note it
	Jobs    int             `json:"jobs,omitempty"`  // Reaped: jobs taken back
	Nodes   int             `json:"nodes,omitempty"` // Reaped: nodes declared dead
}

// String shows the event in a report.
func (e Event) String() string {
	line, err := json.Marshal(e)
	if err != nil {
		return err.Error()
	}
	return string(line)
}

const historySuffix = ".history"

// Recorder writes the history of one life of one process. Each event is one
// write to the file, which a death of the process does not undo.
type Recorder struct {
	process string
	file    *os.File

	mu  sync.Mutex
	err error
}

// NewRecorder makes the history of a process in dir.
func NewRecorder(dir, process string) (*Recorder, error) {
	file, err := os.OpenFile(filepath.Join(dir, process+historySuffix), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("history: %w", err)
	}
	return &Recorder{process: process, file: file}, nil
}

// Note writes an event, as of now. A failure is kept for Close: who writes
// history cannot stop for it.
func (r *Recorder) Note(e Event) {
	e.At = InstantOf(time.Now())
	if e.Process == "" {
		e.Process = r.process
	}
	line, err := json.Marshal(e)
	if err == nil {
		_, err = r.file.Write(append(line, '\n'))
	}
	if err != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.err = errors.Join(r.err, err)
	}
}

// Close reports whether everything was written.
func (r *Recorder) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := errors.Join(r.err, r.file.Close()); err != nil {
		return fmt.Errorf("history of %s: %w", r.process, err)
	}
	return nil
}

// ReadHistory reads all histories in dir, ordered by time.
func ReadHistory(dir string) ([]Event, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*"+historySuffix))
	if err != nil {
		return nil, err
	}
	var events []Event
	for _, file := range files {
		read, err := readFile(file)
		if err != nil {
			return nil, fmt.Errorf("history %s: %w", filepath.Base(file), err)
		}
		events = append(events, read...)
	}
	slices.SortStableFunc(events, func(a, b Event) int { return int(a.At - b.At) })
	return events, nil
}

func readFile(name string) (events []Event, err error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	lines := bufio.NewReader(file)
	for {
		line, err := lines.ReadString('\n')
		if errors.Is(err, io.EOF) {
			return events, nil // a line without end is of a process that was killed while it wrote
		}
		if err != nil {
			return nil, err
		}
		var e Event
		if err := json.Unmarshal([]byte(strings.TrimSpace(line)), &e); err != nil {
			return nil, fmt.Errorf("line %d: %w", len(events)+1, err)
		}
		events = append(events, e)
	}
}
