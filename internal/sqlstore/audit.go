package sqlstore

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/fairlead-io/fairlead"
)

// Bounds of what is kept of an entry of the audit log, in bytes.
const (
	maxActor   = 255
	maxRole    = 32
	maxAddress = 255
	maxAction  = 255
	maxSubject = 1000
)

// CleanEntry makes an entry of the audit log fit to be stored. What is too long
// is cut: something was done, and that must not be lost for a long name.
func CleanEntry(e fairlead.AuditEntry) fairlead.AuditEntry {
	e.Actor = cut(e.Actor, maxActor)
	e.Role = fairlead.Role(cut(string(e.Role), maxRole))
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
	if len(raw) <= fairlead.MaxArgs && utf8.Valid(raw) && json.Valid(raw) {
		return raw
	}
	text, err := json.Marshal(CleanText(string(raw)))
	if err != nil {
		panic(err) // a text always encodes
	}
	return text
}

// AuditConditions is the where of AuditLog, empty if all entries match, and its
// arguments.
func AuditConditions(filter fairlead.AuditFilter, arg func(n int) string) (string, []any) {
	var conditions []string
	var args []any
	add := func(condition string, value any) {
		args = append(args, value)
		conditions = append(conditions, condition+" "+arg(len(args)))
	}
	for _, text := range []struct{ column, value string }{{"actor", filter.Actor}, {"action", filter.Action}, {"subject", filter.Subject}} {
		if text.value != "" {
			add(text.column+" =", text.value)
		}
	}
	if !filter.From.IsZero() {
		add("at >=", Micros(filter.From))
	}
	if !filter.To.IsZero() {
		add("at <", Micros(filter.To))
	}
	if filter.Below > 0 {
		add("id <", filter.Below)
	}
	if len(conditions) == 0 {
		return "", nil
	}
	return "where " + strings.Join(conditions, " and "), args
}

// ScanEntry reads id, at, actor, role, address, action, subject, tenant, was,
// became and error.
func ScanEntry(row Scanner) (e fairlead.AuditEntry, err error) {
	var at int64
	var before, after []byte
	err = row.Scan(&e.ID, &at, &e.Actor, &e.Role, &e.From, &e.Action, &e.Subject, &e.Tenant, &before, &after, &e.Error)
	e.At, e.Before, e.After = Time(at), before, after
	return e, err
}
