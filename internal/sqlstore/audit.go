package sqlstore

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/internal/envelope"
)

// Bounds of what is kept of an entry of the audit log, in bytes.
const (
	maxActor   = 255
	maxRole    = 32
	maxAddress = 255
	maxAction  = 255
	maxSubject = 1000
)

// auditStore keeps the audit log.
type auditStore struct {
	db    Database
	sql   *AuditStatements
	query *Query
}

// AuditStatements are those of an auditStore.
type AuditStatements struct {
	AddEntries string `sql:"add_entries"`
	AuditLog   string `sql:"audit_log"`
}

// NewAuditor is an audit log inside a transaction of a caller.
func NewAuditor(callers Database, statements *AuditStatements) access.Auditor {
	return &auditStore{db: callers, sql: statements}
}

// Audit adds entries to the audit log.
func (s *auditStore) Audit(ctx context.Context, entries []access.Entry) error {
	if len(entries) == 0 {
		return nil
	}
	_, err := exec(ctx, s.db, "audit", s.sql.AddEntries, entryRows(entries))
	return err
}

// RecordEnsured implements fairlead.EnsureLog.
func (s *auditStore) RecordEnsured(ctx context.Context, action, subject, tenant string, differences []fairlead.Difference) error {
	entry, err := access.EnsureEntry(action, subject, tenant, differences)
	if err != nil {
		return err
	}
	return s.Audit(ctx, []access.Entry{entry})
}

// entryRows are entries as the statement that adds them takes them.
func entryRows(entries []access.Entry) *Rows {
	var rows Rows
	for _, entry := range entries {
		e := cleanEntry(entry)
		rows.Add(e.Actor, string(e.Role), e.From, e.Action, e.Subject, e.Tenant, JSON(e.Before), JSON(e.After), e.Error)
	}
	return &rows
}

// AuditLog returns the entries that match, newest first.
func (s *auditStore) AuditLog(ctx context.Context, filter access.Filter) ([]access.Entry, error) {
	var entries []access.Entry
	err := s.db.ReadAll(ctx, "read the audit log", func(ctx context.Context, db DB) error {
		conditions, args, err := s.query.auditConditions(ctx, db, filter)
		if err != nil {
			return err
		}
		text := s.sql.AuditLog
		if s.query.AuditIndexes != nil {
			text += " " + s.query.AuditIndexes(filter)
		}
		entries = nil
		return db.Each(ctx, Collect(ctx, &entries, scanEntry), text+" "+conditions+" order by id desc limit "+strconv.Itoa(filter.Page()), args...)
	})
	if err != nil {
		return nil, err
	}
	return entries, nil
}

// cleanEntry makes an entry of the audit log fit to be stored. What is too long
// is cut: something was done, and that must not be lost for a long name.
func cleanEntry(e access.Entry) access.Entry {
	e.Actor = cut(e.Actor, maxActor)
	e.Role = access.Role(cut(string(e.Role), maxRole))
	e.From = cut(e.From, maxAddress)
	e.Action = cut(e.Action, maxAction)
	e.Subject = cut(e.Subject, maxSubject)
	e.Tenant = cut(e.Tenant, fairlead.MaxName)
	e.Before, e.After = cleanJSON(e.Before), cleanJSON(e.After)
	e.Error = CleanText(e.Error)
	return e
}

// cut is the beginning of a text, cleaned, in at most so many bytes.
func cut(text string, limit int) string {
	text = CleanText(text)
	if len(text) > limit {
		text = strings.ToValidUTF8(text[:limit], "")
	}
	return text
}

// cleanJSON is the JSON itself, or as a text if it is none or is too long.
func cleanJSON(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return nil
	}
	if !envelope.TooLong(raw) && utf8.Valid(raw) && json.Valid(raw) {
		return raw
	}
	text, err := json.Marshal(CleanText(string(raw)))
	if err != nil {
		panic(err) // a text always encodes
	}
	return text
}

// auditSlack is by how much entries may be dated otherwise than their ids are ordered.
const auditSlack = time.Minute

// auditConditions is the where of AuditLog, empty if all entries match, and its
// arguments. Entries are read in the order of their ids: those of other times are passed
// over by ids that bound theirs, which it asks for.
func (q *Query) auditConditions(ctx context.Context, db DB, filter access.Filter) (string, []any, error) {
	var conditions []string
	var args []any
	add := func(condition string, value any) {
		args = append(args, value)
		conditions = append(conditions, condition+" "+q.Arg(len(args)))
	}
	for _, text := range []struct{ column, value string }{{"actor", filter.Actor}, {"action", filter.Action}, {"subject", filter.Subject}} {
		if text.value != "" {
			add(text.column+" =", text.value)
		}
	}
	if from := filter.From; !from.IsZero() {
		before, err := q.entryAt(ctx, db, "at < %s order by at desc", from.Add(-auditSlack))
		if err != nil {
			return "", nil, err
		}
		add("at + 0 >=", Micros(from))
		add("id >", before)
	}
	if to := filter.To; !to.IsZero() {
		behind, err := q.entryAt(ctx, db, "at >= %s order by at", to.Add(auditSlack))
		if err != nil {
			return "", nil, err
		}
		if add("at + 0 <", Micros(to)); behind > 0 {
			add("id <", behind)
		}
	}
	if filter.Below > 0 {
		add("id <", filter.Below)
	}
	if len(conditions) == 0 {
		return "", nil, nil
	}
	return "where " + strings.Join(conditions, " and "), args, nil
}

// entryAt returns the id of the entry that is next to a time; zero if there is none.
func (q *Query) entryAt(ctx context.Context, db DB, next string, at time.Time) (id int64, err error) {
	statement := q.expand("select id from {{audit}} where " + fmt.Sprintf(next, q.Arg(1)) + " limit 1")
	err = db.Each(ctx, func(row Scanner) error { return row.Scan(&id) }, statement, Micros(at))
	return id, err
}

// scanEntry reads id, at, actor, role, address, action, subject, tenant, was,
// became and error.
func scanEntry(row Scanner) (e access.Entry, err error) {
	var at int64
	var before, after []byte
	err = row.Scan(&e.ID, &at, &e.Actor, &e.Role, &e.From, &e.Action, &e.Subject, &e.Tenant, &before, &after, &e.Error)
	e.At, e.Before, e.After = Time(at), before, after
	return e, err
}
