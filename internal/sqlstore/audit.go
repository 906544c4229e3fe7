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

// Size limits of the fields of an audit log entry, in bytes.
const (
	maxActor   = 255
	maxRole    = 32
	maxAddress = 255
	maxAction  = 255
	maxSubject = 1000
)

// auditStore stores the audit log.
type auditStore struct {
	db    Database
	sql   *AuditStatements
	query *Query
}

// AuditStatements holds the SQL statements of auditStore.
type AuditStatements struct {
	AddEntries string `sql:"add_entries"`
	AuditLog   string `sql:"audit_log"`
}

// NewAuditor returns an audit log that writes in the caller's transaction.
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

// entryRows converts entries to the rows of the insert statement.
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

// cleanEntry prepares an audit log entry for storage. It truncates values that are too
// long, so that a long name never prevents an action from being logged.
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

// cut returns the cleaned text, truncated to at most limit bytes.
func cut(text string, limit int) string {
	text = CleanText(text)
	if len(text) > limit {
		text = strings.ToValidUTF8(text[:limit], "")
	}
	return text
}

// cleanJSON returns raw unchanged if it is valid JSON within the size limit, and otherwise
// its text as a JSON string.
func cleanJSON(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return nil
	}
	if !envelope.TooLong(raw) && utf8.Valid(raw) && json.Valid(raw) {
		return raw
	}
	text, err := json.Marshal(CleanText(string(raw)))
	if err != nil {
		panic(err) // a string always encodes
	}
	return text
}

// auditSlack is the largest difference allowed between the order of entries by ID and by
// time.
const auditSlack = time.Minute

// auditConditions returns the where clause of AuditLog and its arguments. The clause is
// empty if all entries match. Entries are read in ID order; to skip entries outside the
// time range, auditConditions queries the IDs at its bounds.
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

// entryAt returns the ID of the entry closest to a time, or 0 if there is no such entry.
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
