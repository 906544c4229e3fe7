package access

import (
	"context"
	"encoding/json"

	"github.com/fairlead-io/fairlead"
)

// EnsureActor is the actor recorded in the audit log for changes that Ensure makes.
const EnsureActor = "ensure"

// hidden lists fields that may be confidential. An entry names them but masks their values.
var hidden = map[string]bool{"job.args": true, "alert": true, "data": true}

// EnsureEntry returns the audit log entry for an object that Ensure has created or changed.
// An empty differences means that Ensure created the object. Otherwise, Ensure restored the
// declared values of the listed fields.
func EnsureEntry(action, subject, tenant string, differences []fairlead.Difference) (Entry, error) {
	entry := Entry{Actor: EnsureActor, Role: RoleOperator, Action: action, Subject: subject, Tenant: tenant}
	if len(differences) == 0 {
		return entry, nil
	}
	was, is := map[string]string{}, map[string]string{}
	for _, d := range differences {
		if hidden[d.Field] {
			d.Was, d.Is = "***", "***"
		}
		was[d.Field], is[d.Field] = d.Was, d.Is
	}
	var err error
	if entry.Before, err = json.Marshal(was); err == nil {
		entry.After, err = json.Marshal(is)
	}
	return entry, err
}

// RecordEnsured adds an EnsureEntry to the audit log of store, which may be a store or a
// transaction. It does nothing if store has no audit log.
func RecordEnsured(ctx context.Context, store any, action, subject, tenant string, differences []fairlead.Difference) error {
	if log, kept := store.(fairlead.EnsureLog); kept {
		return log.RecordEnsured(ctx, action, subject, tenant, differences)
	}
	log, kept := store.(Auditor)
	if !kept {
		return nil
	}
	entry, err := EnsureEntry(action, subject, tenant, differences)
	if err != nil {
		return err
	}
	return log.Audit(ctx, []Entry{entry})
}
