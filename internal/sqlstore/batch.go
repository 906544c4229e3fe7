package sqlstore

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
)

// PassKinds returns the kinds of all passes. An index of chunks by kind needs the complete
// list.
func PassKinds() []string {
	return []string{string(batch.PassForward), string(batch.PassRetry), string(batch.PassUndo), string(batch.PassThen)}
}

// batchBody holds the declared fields of a batch that have no column of their own. Info is
// a string, because JSON would not preserve its bytes.
type batchBody struct {
	Description string          `json:"description,omitempty"`
	Creator     string          `json:"creator,omitempty"`
	Env         string          `json:"env,omitempty"`
	AZ          string          `json:"az,omitempty"`
	Service     string          `json:"service,omitempty"`
	Info        string          `json:"info,omitempty"`
	Priority    int             `json:"priority,omitempty"`
	MaxRunning  int             `json:"max_running,omitempty"`
	Rate        float64         `json:"rate,omitempty"`
	Timeout     time.Duration   `json:"timeout,omitempty"`
	Canary      batch.Canary    `json:"canary"`
	StopAfter   batch.Threshold `json:"stop_after"`
	Then        []template      `json:"then,omitempty"`
	Notify      string          `json:"notify,omitempty"`
}

// EncodeBatch returns a batch's declared fields as JSON.
func EncodeBatch(b *batch.Batch) ([]byte, error) {
	body := batchBody{
		Description: b.Description, Creator: b.Creator, Env: b.Env, AZ: b.AZ, Service: b.Service, Info: string(b.Info),
		Priority: b.Priority, MaxRunning: b.MaxRunning, Rate: b.Rate, Timeout: b.Timeout, Canary: b.Canary, StopAfter: b.StopAfter,
		Notify: b.Notify,
	}
	for i := range b.Then {
		body.Then = append(body.Then, templateOf(&b.Then[i]))
	}
	raw, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("encode batch %q: %w", b.Name, err)
	}
	return raw, nil
}

// batchStatus combines the status and the ledger of a batch in one object. Nodes of earlier
// versions read and write the same keys.
type batchStatus struct {
	batch.Status
	batch.Ledger
}

// EncodeBatchStatus returns a batch's status and ledger as JSON.
func EncodeBatchStatus(b *batch.Record) ([]byte, error) {
	status := b.Status
	status.Reason = CleanText(status.Reason)
	raw, err := json.Marshal(batchStatus{status, b.Ledger})
	if err != nil {
		return nil, fmt.Errorf("encode the state of batch %d: %w", b.ID, err)
	}
	return raw, nil
}

// ScanBatch reads a batch from the columns id, name, type, queue, tenant, created_at, body and
// status.
func ScanBatch(row Scanner) (b batch.Record, err error) {
	var created int64
	var body, status []byte
	if err := row.Scan(&b.ID, &b.Name, &b.Type, &b.Queue, &b.Tenant, &created, &body, &status); err != nil {
		return b, err
	}
	b.CreatedAt = Time(created)
	var declared batchBody
	if err := json.Unmarshal(body, &declared); err != nil {
		return b, fmt.Errorf("batch %d: %w", b.ID, err)
	}
	var stands batchStatus
	if err := json.Unmarshal(status, &stands); err != nil {
		return b, fmt.Errorf("state of batch %d: %w", b.ID, err)
	}
	b.Status, b.Ledger = stands.Status, stands.Ledger
	b.Description, b.Creator, b.Env, b.AZ, b.Service = declared.Description, declared.Creator, declared.Env, declared.AZ, declared.Service
	b.Priority, b.MaxRunning, b.Rate, b.Timeout = declared.Priority, declared.MaxRunning, declared.Rate, declared.Timeout
	b.Canary, b.StopAfter, b.Notify = declared.Canary, declared.StopAfter, declared.Notify
	if declared.Info != "" {
		b.Info = json.RawMessage(declared.Info)
	}
	for i := range declared.Then {
		b.Then = append(b.Then, declared.Then[i].job())
	}
	return b, nil
}

// BatchOpen reports whether a batch has been opened and has not ended, and therefore still
// needs processing.
func BatchOpen(b *batch.Record) bool { return b.Opened && b.EndedAt.IsZero() }

// SawRunning updates a batch's tally: it moves tasks that seen counts as running from pending
// to running.
func SawRunning(b *batch.Batch, seen batch.Seen) {
	t := &b.Tally
	for _, of := range []struct {
		running  int
		from, to *int
	}{
		{seen.Forward, &t.Pending, &t.Running},
		{seen.Retry, &t.RetryPending, &t.Running},
		{seen.Undo, &t.RollbackPending, &t.RollbackRunning},
	} {
		running := min(of.running, *of.from)
		*of.from -= running
		*of.to += running
	}
}

// chunkMarks is the JSON form of Marks. States comes first: statements that read the state
// of a task find it there, and PostgreSQL's statement counts from the beginning of the
// text.
type chunkMarks struct {
	States string                  `json:"s"`
	Ended  []int64                 `json:"e,omitempty"`
	Before map[int]json.RawMessage `json:"b,omitempty"`
	Doubt  []int                   `json:"d,omitempty"`

	Unremembered []int `json:"u,omitempty"`
	Lost         []int `json:"l,omitempty"`
}

// EncodeMarks returns a chunk's marks as JSON.
func EncodeMarks(m *batch.Marks) ([]byte, error) {
	states := make([]byte, len(m.States))
	for i, mark := range m.States {
		states[i] = byte(mark)
	}
	return json.Marshal(chunkMarks{States: string(states), Ended: m.Ended, Before: m.Before, Doubt: m.Doubt, Unremembered: m.Unremembered, Lost: m.Lost})
}

// ScanChunk reads a chunk from the columns batch, number, pass, kind, first, size, held, out,
// marks and tasks. If the tasks are null, the chunk's Tasks stay nil.
func ScanChunk(row Scanner) (p batch.Chunk, err error) {
	var marks, work []byte
	if err := row.Scan(&p.Batch, &p.Number, &p.Pass, &p.Kind, &p.First, &p.Size, &p.Held, &p.Out, &marks, &work); err != nil {
		return p, err
	}
	var m chunkMarks
	if err := json.Unmarshal(marks, &m); err != nil {
		return p, fmt.Errorf("chunk %d of batch %d: %w", p.Number, p.Batch, err)
	}
	p.States = make([]batch.Mark, len(m.States))
	for i := range p.States {
		p.States[i] = batch.Mark(m.States[i])
	}
	p.Ended, p.Before, p.Doubt, p.Unremembered, p.Lost = m.Ended, m.Before, m.Doubt, m.Unremembered, m.Lost
	if work == nil {
		return p, nil
	}
	if err := json.Unmarshal(work, &p.Tasks); err != nil {
		return p, fmt.Errorf("tasks of chunk %d of batch %d: %w", p.Number, p.Batch, err)
	}
	return p, nil
}

// EncodeTasks returns a chunk's tasks as JSON.
func EncodeTasks(p *batch.Chunk) ([]byte, error) {
	raw, err := json.Marshal(p.Tasks)
	if err != nil {
		return nil, fmt.Errorf("encode tasks of chunk %d of batch %d: %w", p.Number, p.Batch, err)
	}
	return raw, nil
}

// BatchStates returns the states that a filter selects, as values of the state column.
func BatchStates(f batch.Filter) []string {
	var names []string
	for _, state := range f.Chosen() {
		names = append(names, string(state))
	}
	return names
}

// BatchPage returns the page size for a list of batches.
func BatchPage(f batch.Filter) int { return page(f.Limit) }

// batchBusy returns ErrConflict if the batch cannot be deleted yet, and nil otherwise.
func batchBusy(b *batch.Record) error {
	if !b.EndedAt.IsZero() {
		return nil
	}
	return fmt.Errorf("batch %d is %s; cancel it and wait until it completes before you delete it: %w", b.ID, b.State(), fairlead.ErrConflict)
}

// NoSuchBatch returns an ErrNotFound for a batch ID.
func NoSuchBatch(id int64) error { return fmt.Errorf("batch %d: %w", id, fairlead.ErrNotFound) }
