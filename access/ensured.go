package access

import (
	"context"
	"encoding/json"

	"github.com/fairlead-io/fairlead"
)

// EnsureActor is the actor of entries about what a program has ensured.
const EnsureActor = "ensure"

// RecordEnsured adds an entry to the audit log about something that a program has ensured:
// created if there are no differences, else brought to the declared state. It does nothing
// if the store keeps no audit log.
func RecordEnsured(ctx context.Context, store any, entry Entry, differences []fairlead.Difference) error {
	log, kept := store.(Auditor)
	if !kept {
		return nil
	}
	entry.Actor, entry.Role = EnsureActor, RoleOperator
	if len(differences) > 0 {
		was, is := map[string]string{}, map[string]string{}
		for _, d := range differences {
			was[d.Field], is[d.Field] = d.Was, d.Is
		}
		var err error
		if entry.Before, err = json.Marshal(was); err != nil {
			return err
		}
		if entry.After, err = json.Marshal(is); err != nil {
			return err
		}
	}
	return log.Audit(ctx, []Entry{entry})
}
