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

// An Instant is a time of some clock, in microseconds since 1970.
type Instant int64

// InstantOf converts a time to an Instant.
func InstantOf(t time.Time) Instant { return Instant(t.UnixMicro()) }

// Time converts the instant to a time.
func (i Instant) Time() time.Time { return time.UnixMicro(int64(i)) }

// Sub returns the duration i-j.
func (i Instant) Sub(j Instant) time.Duration { return time.Duration(i-j) * time.Microsecond }

// Add returns the instant i+d.
func (i Instant) Add(d time.Duration) Instant { return i + Instant(d.Microseconds()) }

// What is the type of an event.
type What string

// Events written by workers.
const (
	Granted     What = "granted"     // a join or heartbeat sent at Sent was acknowledged: the node's lease starts at DB
	Unconfirmed What = "unconfirmed" // a heartbeat failed, but may have counted
	Leaving     What = "leaving"     // the node is about to give up its lease
	Claimed     What = "claimed"     // a claim sent at Sent leased a job to the node at DB
	Started     What = "started"     // a handler began
	Ended       What = "ended"       // a handler is about to return, with the outcome in Result
	Asked       What = "asked"       // a settlement is about to be sent
	Settled     What = "settled"     // the settlement was answered, with the outcome in Result
	Saved       What = "saved"       // progress sent at Sent was answered
	Reaping     What = "reaping"     // a reap is about to be sent
	Reaped      What = "reaped"      // a reap sent at Sent took back jobs of dead nodes or marked nodes as dead
	Abandoned   What = "abandoned"   // a handler ignored the end of its context
	Lent        What = "lent"        // a handler has completed its job in a transaction, which stays open
)

// Events written by callers.
const (
	Committed  What = "committed"   // a transaction that enqueued a job was committed
	RolledBack What = "rolled back" // a transaction that enqueued a job is about to be rolled back
)

// Events written by the driver.
const (
	Killed  What = "killed"  // a worker is dead
	Stopped What = "stopped" // a worker is suspended
	Resumed What = "resumed" // a worker is about to be resumed
	Holding What = "holding" // at DB a killed or suspended node held a job
	Down    What = "down"    // the database was killed: requests sent from now on are not answered before Up
	Up      What = "up"      // the database answers again
)

// Results of handlers and of requests to the store.
const (
	OK        = "ok"        // the handler succeeded, or the store did as asked
	Failing   = "failing"   // the handler returns an error
	Broken    = "broken"    // the handler returns Fatal
	Cut       = "cut"       // the handler's context ended
	Cancelled = "cancelled" // the driver had requested the cancellation of the job
	Lost      = "lost"      // refused because the fence was not current
)

// An Event is one line of a history.
type Event struct {
	At      Instant         `json:"at"` // by the clock of the machine on which all processes run
	What    What            `json:"what"`
	Process string          `json:"process,omitempty"` // process that wrote the event, or that the driver acted on
	Node    fairlead.NodeID `json:"node,omitempty"`
	Job     int64           `json:"job,omitempty"`
	Fence   int64           `json:"fence,omitempty"`
	Attempt int             `json:"attempt,omitempty"`
	Move    fairlead.Move   `json:"move,omitempty"`
	Result  string          `json:"result,omitempty"`
	Solo    bool            `json:"solo,omitempty"`  // the job was claimed as a crash suspect
	DB      Instant         `json:"db,omitempty"`    // the database's clock
	Sent    Instant         `json:"sent,omitempty"`  // start of the call; zero if the worker did not record it
	Jobs    int             `json:"jobs,omitempty"`  // in Reaped: number of jobs taken back
	Nodes   int             `json:"nodes,omitempty"` // in Reaped: number of nodes marked as dead
}

// String formats the event for a report.
func (e Event) String() string {
	line, err := json.Marshal(e)
	if err != nil {
		return err.Error()
	}
	return string(line)
}

const historySuffix = ".history"

// A Recorder writes the history of one process. Each event is one write to the file, which
// survives the death of the process.
type Recorder struct {
	process string
	file    *os.File

	mu  sync.Mutex
	err error
}

// NewRecorder creates the history of a process in dir.
func NewRecorder(dir, process string) (*Recorder, error) {
	file, err := os.OpenFile(filepath.Join(dir, process+historySuffix), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("history: %w", err)
	}
	return &Recorder{process: process, file: file}, nil
}

// Note writes an event with the current time. An error is reported by Close, because
// callers cannot stop for it.
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

// Close reports whether all events were written.
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
			return events, nil // an incomplete line means that the process was killed during the write
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
