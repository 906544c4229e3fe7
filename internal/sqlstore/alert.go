package sqlstore

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/alert"
)

// alertStore stores alert rules and the events already reported for them.
type alertStore struct {
	db     Database
	acting Acting
	of     usageSource
	sql    *AlertStatements
}

// AlertStatements holds the SQL statements of alertStore.
type AlertStatements struct {
	SetAlert      string `sql:"set_alert"`
	AddAlert      string `sql:"add_alert"`
	ReplaceAlert  string `sql:"replace_alert"`
	FindAlert     string `sql:"find_alert"`
	RemoveAlert   string `sql:"remove_alert"`
	Alerts        string `sql:"alerts"`
	LookNeeded    string `sql:"look_needed"`
	BeginLooks    string `sql:"begin_looks"`
	TakeLook      string `sql:"take_look"`
	Look          string `sql:"look"`
	EndLook       string `sql:"end_look"`
	KeepStanding  string `sql:"keep_standing"`
	CountFailures string `sql:"count_failures"`
	CountMissed   string `sql:"count_missed"`
	ForgetMissed  string `sql:"forget_missed"`
}

// SetAlert creates or replaces a rule.
func (s *alertStore) SetAlert(ctx context.Context, rule alert.Rule) (alert.Rule, error) {
	body, err := encodeRule(&rule)
	if err != nil {
		return alert.Rule{}, fmt.Errorf("set alert: %w", err)
	}
	var stored *[]alert.Watched
	err = s.db.InTx(ctx, "set alert", func(_ context.Context, db DB) error {
		db.Queue(s.sql.SetAlert, rule.Name, string(rule.Scope), JSON(body))
		stored = queueList(db, scanRule, s.sql.FindAlert, rule.Name)
		return nil
	})
	if err == nil && (*stored)[0].Scope != rule.Scope {
		err = fmt.Errorf("set alert: alert %q already exists with a different scope; remove it first, or choose another name: %w", rule.Name, fairlead.ErrConflict)
	}
	if err != nil {
		return alert.Rule{}, err
	}
	return (*stored)[0].Rule, nil
}

// SetAlertSeen works like SetAlert but fails if the rule has changed since the caller read
// it.
func (s *alertStore) SetAlertSeen(ctx context.Context, rule, seen alert.Rule) (alert.Rule, error) {
	body, err := encodeRule(&rule)
	if err != nil {
		return alert.Rule{}, fmt.Errorf("set alert: %w", err)
	}
	var hit *int64
	var stored *[]alert.Watched
	err = s.db.InTx(ctx, "set alert", func(_ context.Context, db DB) error {
		if seen.UpdatedAt.IsZero() {
			hit = db.Queue(s.sql.AddAlert, rule.Name, string(rule.Scope), JSON(body))
		} else {
			hit = db.Queue(s.sql.ReplaceAlert, JSON(body), rule.Name, string(rule.Scope), Micros(seen.UpdatedAt))
		}
		stored = queueList(db, scanRule, s.sql.FindAlert, rule.Name)
		return nil
	})
	if err == nil && *hit == 0 {
		err = fmt.Errorf("set alert: alert %q was changed by another caller, or has a different scope: %w", rule.Name, fairlead.ErrConflict)
	}
	if err != nil {
		return alert.Rule{}, err
	}
	return (*stored)[0].Rule, nil
}

// RemoveAlert removes a rule.
func (s *alertStore) RemoveAlert(ctx context.Context, name string) error {
	gone, err := exec(ctx, s.db, "remove alert", s.sql.RemoveAlert, name)
	if err == nil && gone == 0 {
		err = fmt.Errorf("remove alert: %w", alert.NoSuchRule(name))
	}
	return err
}

// Alerts lists all rules by name.
func (s *alertStore) Alerts(ctx context.Context) ([]alert.Rule, error) {
	watched, err := readList(ctx, s.db.ReadAll, "list alerts", scanRule, s.sql.Alerts)
	if err != nil {
		return nil, err
	}
	rules := make([]alert.Rule, len(watched))
	for i := range watched {
		rules[i] = watched[i].Rule
	}
	return rules, nil
}

// TakeLook claims the next look for new events. At most one caller claims each look.
func (s *alertStore) TakeLook(ctx context.Context, every time.Duration) (alert.Turn, bool, error) {
	needed, err := readList(ctx, s.db.Read, "take look", scanNumber, s.sql.LookNeeded)
	if err != nil || needed[0] == 0 {
		return alert.Turn{}, false, err
	}
	// reset on every attempt of the transaction
	var turn *alert.Turn
	err = s.db.InTx(ctx, "take look", func(ctx context.Context, db DB) (err error) {
		turn, err = s.take(ctx, db, every)
		return err
	})
	if err != nil || turn == nil || len(turn.Rules) == 0 {
		return alert.Turn{}, false, err
	}
	return *turn, true, nil
}

// take claims a look, or returns nil if it is too early for one.
func (s *alertStore) take(ctx context.Context, db DB, every time.Duration) (*alert.Turn, error) {
	db.Queue(s.sql.BeginLooks)
	taken, turn := db.Queue(s.sql.TakeLook, every.Microseconds()), &alert.Turn{}
	db.QueueEach(func(row Scanner) error {
		var seen, now int64
		err := row.Scan(&turn.Version, &seen, &now)
		turn.Seen, turn.Now = Time(seen), Time(now)
		return err
	}, s.sql.Look)
	if err := db.Flush(ctx); err != nil || *taken == 0 {
		return nil, err
	}
	db.Queue(s.sql.ForgetMissed, bucketOf(turn.Now.Add(-alert.MissedWindow)))
	rules, err := list(ctx, db, scanRule, s.sql.Alerts)
	turn.Rules = rules
	return turn, err
}

// AlertCounts returns the number of failures and of late starts.
func (s *alertStore) AlertCounts(ctx context.Context, from, to time.Time) ([]alert.Count, error) {
	var counts []alert.Count
	err := s.db.ReadAll(ctx, "count for alerts", func(ctx context.Context, db DB) (err error) {
		counts, err = s.count(ctx, db, from, to)
		return err
	})
	if err != nil {
		return nil, err
	}
	return counts, nil
}

func (s *alertStore) count(ctx context.Context, db DB, from, to time.Time) ([]alert.Count, error) {
	type failures struct {
		lane  int32
		count alert.Count
	}
	failed := queueList(db, func(row Scanner) (f failures, err error) {
		var bucket int64
		err = row.Scan(&f.lane, &bucket, &f.count.Reason, &f.count.Jobs)
		f.count.Event, f.count.At = alert.Failed, bucketTime(bucket)
		return f, err
	}, s.sql.CountFailures, Micros(from), Micros(to))
	counts, err := list(ctx, db, func(row Scanner) (c alert.Count, err error) {
		var bucket int64
		err = row.Scan(&bucket, &c.Queue, &c.Tenant, &c.Kind, &c.Jobs)
		c.Event, c.At = alert.Missed, bucketTime(bucket)
		return c, err
	}, s.sql.CountMissed, bucketOf(from), bucketOf(to))
	if err != nil {
		return nil, err
	}
	for _, f := range *failed {
		lane, err := s.of.NameLane(ctx, db, f.lane)
		if err != nil {
			return nil, err
		}
		f.count.Queue, f.count.Tenant, f.count.Kind = lane.Queue, lane.Tenant, lane.Kind
		counts = append(counts, f.count)
	}
	return counts, nil
}

func bucketOf(at time.Time) int64       { return Micros(at) / alert.Bucket.Microseconds() }
func bucketTime(bucket int64) time.Time { return Time(bucket * alert.Bucket.Microseconds()) }

// EndLook stores the results of a look and enqueues its messages.
func (s *alertStore) EndLook(ctx context.Context, found alert.Found) (bool, error) {
	ended := false
	_, err := s.acting.Act(ctx, "end look", Subject{"alert_look", 1}, true, func(ctx context.Context, tx JobTx) error {
		hit, err := tx.Exec(ctx, s.sql.EndLook, Micros(found.Seen), found.Rest.Microseconds(), found.Version)
		if ended = hit > 0; err != nil || !ended {
			return err
		}
		for _, rule := range found.Standings {
			standing, err := json.Marshal(rule.Standing)
			if err != nil {
				return fmt.Errorf("encode the state of alert %q: %w", rule.Name, err)
			}
			tx.Queue(s.sql.KeepStanding, JSON(standing), rule.Name, Micros(rule.CreatedAt))
		}
		if len(found.Messages) == 0 {
			return nil
		}
		messages := make([]*fairlead.Job, len(found.Messages)) // copies, because the function may run several times
		for i, message := range found.Messages {
			own := *message
			messages[i] = &own
		}
		return tx.Enqueue(ctx, messages)
	})
	return err == nil && ended, err
}

// ruleBody holds the declared fields of a rule except its name and scope. Body is a string,
// because JSON would not preserve its bytes.
type ruleBody struct {
	URL           string            `json:"url"`
	On            []alert.Event     `json:"on,omitempty"`
	Backlog       time.Duration     `json:"backlog,omitempty"`
	Gather        time.Duration     `json:"gather,omitempty"`
	Quiet         time.Duration     `json:"quiet,omitempty"`
	Headers       map[string]string `json:"headers,omitempty"`
	Body          string            `json:"body,omitempty"`
	SigningSecret string            `json:"signing_secret,omitempty"`
}

func encodeRule(r *alert.Rule) ([]byte, error) {
	return json.Marshal(ruleBody{r.URL, r.On, r.Backlog, r.Gather, r.Quiet, r.Headers, string(r.Body), r.SigningSecret})
}

// scanRule reads name, scope, body, created_at, updated_at and standing. It treats an
// unreadable standing as empty: events recorded in it may be reported twice.
func scanRule(row Scanner) (w alert.Watched, err error) {
	var body, standing []byte
	var created, updated int64
	if err := row.Scan(&w.Name, &w.Scope, &body, &created, &updated, &standing); err != nil {
		return w, err
	}
	var b ruleBody
	if err := json.Unmarshal(body, &b); err != nil {
		return w, fmt.Errorf("alert %q: %w", w.Name, err)
	}
	w.URL, w.On, w.Backlog, w.Gather, w.Quiet = b.URL, b.On, b.Backlog, b.Gather, b.Quiet
	w.Headers, w.SigningSecret, w.CreatedAt, w.UpdatedAt = b.Headers, b.SigningSecret, Time(created), Time(updated)
	if b.Body != "" {
		w.Body = json.RawMessage(b.Body)
	}
	if len(standing) > 0 && json.Unmarshal(standing, &w.Standing) != nil {
		w.Standing = alert.Standing{}
	}
	return w, nil
}
