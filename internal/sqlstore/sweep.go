package sqlstore

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/sweep"
)

// sweepBody holds the declared fields of a sweep that have no column of their own. Data is
// a string, because JSON would not preserve its bytes.
type sweepBody struct {
	Kind        string            `json:"kind"`
	Data        string            `json:"data,omitempty"`
	Source      sweep.ItemSource  `json:"source"`
	From        int64             `json:"from,omitempty"`
	To          int64             `json:"to,omitempty"`
	InFlight    int               `json:"in_flight,omitempty"`
	Rate        float64           `json:"rate,omitempty"`
	Serial      bool              `json:"serial,omitempty"`
	Adaptive    bool              `json:"adaptive,omitempty"`
	Window      int               `json:"window,omitempty"`
	Shards      int               `json:"shards,omitempty"`
	PerCall     int               `json:"per_call,omitempty"`
	Attempts    int               `json:"attempts,omitempty"`
	Backoff     time.Duration     `json:"backoff,omitempty"`
	Timeout     time.Duration     `json:"timeout,omitempty"`
	Budget      sweep.Budget      `json:"budget"`
	OnExhausted sweep.OnExhausted `json:"on_exhausted,omitempty"`
	Gate        sweep.Gate        `json:"gate"`
	Queue       string            `json:"queue,omitempty"`
	Priority    int               `json:"priority,omitempty"`
}

// sweepStatus holds the status of a sweep, except for the totals of its shards, and its
// ledger.
type sweepStatus struct {
	Reason    string `json:"reason,omitempty"`
	Run       int    `json:"run,omitempty"`
	AskedAt   int64  `json:"asked_at,omitempty"`
	StartedAt int64  `json:"started_at,omitempty"`
	EndedAt   int64  `json:"ended_at,omitempty"`
	Cut       bool   `json:"cut,omitempty"`
	Forgiven  int64  `json:"forgiven,omitempty"`
	Earlier   int64  `json:"earlier,omitempty"`

	Lately [][2]int64 `json:"lately,omitempty"` // times and item counts
	Silent []silence  `json:"silent,omitempty"`
}

// silence records that a shard has been silent.
type silence struct {
	Shard int   `json:"shard"`
	Since int64 `json:"since,omitempty"`
	Free  bool  `json:"free,omitempty"`
}

// SweepRow holds the columns of a sweep that can change.
type SweepRow struct {
	State        sweep.State
	Version      int64
	Body, Status []byte // JSON
}

// NewSweepRow returns a sweep in its stored form.
func NewSweepRow(s *sweep.Record) (row SweepRow, err error) {
	row.State, row.Version = s.State, s.Version
	if row.Body, err = EncodeSweep(&s.Sweep); err != nil {
		return row, err
	}
	row.Status, err = EncodeSweepStatus(s)
	return row, err
}

// SteeredRow returns the row to store after a sweep has been steered. From after, it takes
// only the status, the ledger and Data. news reports whether any of them has changed.
func SteeredRow(before, after *sweep.Record) (row SweepRow, news bool, err error) {
	was, err := NewSweepRow(before)
	if err != nil {
		return row, false, err
	}
	kept := *before
	kept.Status, kept.Ledger, kept.Data = after.Status, after.Ledger, after.Data
	if row, err = NewSweepRow(&kept); err != nil {
		return row, false, err
	}
	changed := !bytes.Equal(row.Body, was.Body)
	if changed {
		row.Version++
	}
	return row, changed || row.State != was.State || !bytes.Equal(row.Status, was.Status), nil
}

// EncodeSweep returns a sweep's declared fields as JSON.
func EncodeSweep(s *sweep.Sweep) ([]byte, error) {
	body, err := json.Marshal(sweepBody{
		Kind: s.Kind, Data: string(s.Data), Source: s.Source, From: s.From, To: s.To, InFlight: s.InFlight, Rate: s.Rate,
		Serial: s.Serial, Adaptive: s.Adaptive, Window: s.Window, Shards: s.Shards, PerCall: s.PerCall, Attempts: s.Attempts,
		Backoff: s.Backoff, Timeout: s.Timeout, Budget: s.Budget, OnExhausted: s.OnExhausted, Gate: s.Gate, Queue: s.Queue, Priority: s.Priority,
	})
	if err != nil {
		return nil, fmt.Errorf("encode sweep %q: %w", s.Name, err)
	}
	return body, nil
}

// EncodeSweepStatus returns a sweep's ledger and its status, except for its state, as JSON.
func EncodeSweepStatus(s *sweep.Record) ([]byte, error) {
	var lately [][2]int64
	for _, f := range s.Lately {
		lately = append(lately, [2]int64{Micros(f.At), f.Items})
	}
	var silent []silence
	for _, q := range s.Silent {
		silent = append(silent, silence{Shard: q.Shard, Since: Micros(q.Since), Free: q.Free})
	}
	return json.Marshal(sweepStatus{
		Reason: s.Reason, Run: s.Run, AskedAt: Micros(s.AskedAt), StartedAt: Micros(s.StartedAt), EndedAt: Micros(s.EndedAt), Cut: s.Cut,
		Forgiven: s.Forgiven, Earlier: s.Earlier, Lately: lately, Silent: silent,
	})
}

// ScanSweep reads a sweep from the columns id, name, tenant, state, version, created_at, body
// and status.
func ScanSweep(row Scanner) (s sweep.Record, err error) {
	var created int64
	var body, status []byte
	if err := row.Scan(&s.ID, &s.Name, &s.Tenant, &s.State, &s.Version, &created, &body, &status); err != nil {
		return s, err
	}
	s.CreatedAt = Time(created)
	var b sweepBody
	if err := json.Unmarshal(body, &b); err != nil {
		return s, fmt.Errorf("sweep %d: %w", s.ID, err)
	}
	var st sweepStatus
	if err := json.Unmarshal(status, &st); err != nil {
		return s, fmt.Errorf("state of sweep %d: %w", s.ID, err)
	}
	s.Kind, s.Source, s.From, s.To, s.InFlight, s.Rate = b.Kind, b.Source, b.From, b.To, b.InFlight, b.Rate
	s.Serial, s.Adaptive, s.Window, s.Shards, s.PerCall = b.Serial, b.Adaptive, b.Window, b.Shards, b.PerCall
	s.Attempts, s.Backoff, s.Timeout, s.Budget, s.OnExhausted = b.Attempts, b.Backoff, b.Timeout, b.Budget, b.OnExhausted
	s.Gate, s.Queue, s.Priority = b.Gate, b.Queue, b.Priority
	if b.Data != "" {
		s.Data = json.RawMessage(b.Data)
	}
	s.Reason, s.Run, s.AskedAt, s.StartedAt, s.EndedAt, s.Cut = st.Reason, st.Run, Time(st.AskedAt), Time(st.StartedAt), Time(st.EndedAt), st.Cut
	s.Forgiven, s.Earlier = st.Forgiven, st.Earlier
	for _, f := range st.Lately {
		s.Lately = append(s.Lately, sweep.Failing{At: Time(f[0]), Items: f[1]})
	}
	for _, q := range st.Silent {
		s.Silent = append(s.Silent, sweep.Silence{Shard: q.Shard, Since: Time(q.Since), Free: q.Free})
	}
	if !s.Cut && s.To > 0 {
		s.Total = s.To - s.From
	}
	return s, nil
}

// SweepPage returns the page size for a list of sweeps.
func SweepPage(f sweep.Filter) int { return page(f.Limit) }

// NoSuchSweep returns an ErrNotFound for a sweep ID.
func NoSuchSweep(id int64) error { return fmt.Errorf("sweep %d: %w", id, fairlead.ErrNotFound) }

// SweepTaken returns an ErrConflict for a name that another sweep already has.
func SweepTaken(name string) error {
	return fmt.Errorf("a sweep with the name %q already exists: %w", name, fairlead.ErrConflict)
}

// SweepChanged returns an ErrConflict for an outdated version.
func SweepChanged(name string) error {
	return fmt.Errorf("sweep %q was changed by another caller: %w", name, fairlead.ErrConflict)
}

// sweepBusy returns ErrConflict if the sweep cannot be deleted yet, and nil otherwise.
func sweepBusy(s *sweep.Record) error {
	switch s.State {
	case sweep.Created, sweep.Stopped, sweep.Finished:
		return nil
	}
	return fmt.Errorf("sweep %q is %s; stop it before you delete it: %w", s.Name, s.State, fairlead.ErrConflict)
}
