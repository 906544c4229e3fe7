package sqlstore

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/bulk"
)

// bulkBody holds the request that created a bulk.
type bulkBody struct {
	Action   bulk.Action    `json:"action"`
	Filter   bulkFilterBody `json:"filter"`
	Cause    string         `json:"cause,omitempty"`
	Reason   string         `json:"reason,omitempty"`
	Priority int            `json:"priority,omitempty"`
	Queue    string         `json:"queue,omitempty"`
	Rate     float64        `json:"rate,omitempty"`
	Actor    string         `json:"actor,omitempty"`
	Role     access.Role    `json:"role,omitempty"`
	From     string         `json:"from,omitempty"`
	Newest   int64          `json:"newest,omitempty"`
}

// bulkFilterBody is the stored form of a filter, with times in microseconds.
type bulkFilterBody struct {
	IDs          []int64          `json:"ids,omitempty"`
	States       []fairlead.State `json:"states,omitempty"`
	Kinds        []string         `json:"kinds,omitempty"`
	Queues       []string         `json:"queues,omitempty"`
	Tenants      []string         `json:"tenants,omitempty"`
	Key          string           `json:"key,omitempty"`
	From         int64            `json:"from,omitempty"`
	To           int64            `json:"to,omitempty"`
	FinishedFrom int64            `json:"finished_from,omitempty"`
	OnFail       fairlead.OnFail  `json:"on_fail,omitempty"`
}

func encodeBulk(b *bulk.Bulk) ([]byte, error) {
	f := &b.Filter
	return json.Marshal(bulkBody{
		Action: b.Action, Cause: b.Cause, Reason: b.Reason, Priority: b.Priority, Queue: b.Queue, Rate: b.Rate, Actor: b.Actor, Role: b.Role, From: b.From, Newest: b.Newest,
		Filter: bulkFilterBody{
			f.IDs, f.States, f.Kinds, f.Queues, f.Tenants, f.Key, Micros(f.From), Micros(f.To), Micros(f.FinishedFrom), f.OnFail,
		},
	})
}

// decodeBulk decodes the stored request into a bulk.
func decodeBulk(b *bulk.Bulk, text []byte) error {
	var body bulkBody
	if err := json.Unmarshal(text, &body); err != nil {
		return fmt.Errorf("bulk action %d: %w", b.ID, err)
	}
	f := body.Filter
	b.Action, b.Cause, b.Reason, b.Priority, b.Queue, b.Rate = body.Action, body.Cause, body.Reason, body.Priority, body.Queue, body.Rate
	b.Actor, b.Role, b.From, b.Newest = body.Actor, body.Role, body.From, body.Newest
	b.Filter = fairlead.Filter{
		IDs: f.IDs, States: f.States, Kinds: f.Kinds, Queues: f.Queues, Tenants: f.Tenants, Key: f.Key,
		From: timeOrZero(f.From), To: timeOrZero(f.To), FinishedFrom: timeOrZero(f.FinishedFrom), OnFail: f.OnFail,
	}
	return nil
}

func timeOrZero(us int64) time.Time {
	if us == 0 {
		return time.Time{}
	}
	return Time(us)
}

// scanBulk reads the columns of a bulk and of its job: whether the job exists, its outcome,
// its end time and its error.
func scanBulk(row Scanner) (b bulk.Bulk, err error) {
	var created, started, finished, ended int64
	var stopped, known bool
	var outcome int
	var body []byte
	var failure string
	err = row.Scan(&b.ID, &created, &started, &finished, &b.Stopping, &stopped, &b.Cursor, &b.Matched, &b.More, &b.Done, &b.Missed, &body,
		&known, &outcome, &ended, &failure)
	if err != nil {
		return b, err
	}
	switch {
	case finished != 0 && stopped:
		b.State = bulk.Stopped
	case finished != 0:
		b.State = bulk.Completed
	case outcome == OutcomeCancelled:
		b.State, finished = bulk.Stopped, ended
	case outcome != 0:
		b.State, b.Error, finished = bulk.Failed, failure, ended
	case !known:
		b.State, b.Error = bulk.Failed, "its job was deleted"
	case started != 0:
		b.State = bulk.Running
	default:
		b.State = bulk.Pending
	}
	b.CreatedAt, b.StartedAt, b.FinishedAt = timeOrZero(created), timeOrZero(started), timeOrZero(finished)
	return b, decodeBulk(&b, body)
}
