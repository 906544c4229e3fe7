package alert

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/internal/ensure"
)

// Ensured is the result of Ensure.
type Ensured struct {
	Rule                          // rule as it is stored now
	Created bool                  // whether Ensure created the rule
	Changed []fairlead.Difference // fields that differed from the declaration and were set back
}

// Ensure creates the declared rule, or restores the stored rule of the same name to the
// declared state. Programs call it at startup. Any number of programs may call it
// concurrently.
//
// Ensure owns the fields that are set in declared. If On is set, it also owns Backlog. A
// zero field keeps its stored value. If the stored value of an owned field differs, Ensure
// restores the declared value and lists the field in Changed, which shows header values as
// "***". The audit log records creations and changes under the actor "ensure". Ensure never
// deletes a rule: a rule that the program no longer declares stays until a user removes it.
//
// Ensure returns ErrInvalid if the rule is invalid, and ErrConflict if the stored rule has a
// different scope.
func (c *Client) Ensure(ctx context.Context, declared Rule) (Ensured, error) {
	return ensure.Retry(func() (Ensured, error) { return c.ensure(ctx, declared) }, fairlead.ErrConflict)
}

func (c *Client) ensure(ctx context.Context, declared Rule) (Ensured, error) {
	checked := declared
	if err := Normalize(&checked); err != nil {
		return Ensured{}, err
	}
	stored, err := c.Get(ctx, declared.Name)
	created := errors.Is(err, fairlead.ErrNotFound)
	if err != nil && !created {
		return Ensured{}, err
	}
	owned := ensure.Owned(declared, "CreatedAt", "UpdatedAt", "Backlog")
	merged := stored
	ensure.Copy(&merged, &declared, owned)
	if len(declared.On) > 0 {
		merged.Backlog = declared.Backlog
		owned = append(owned, "Backlog")
	}
	if err := Normalize(&merged); err != nil {
		return Ensured{}, err
	}
	changed := differences(&stored, &merged, owned)
	if len(changed) == 0 {
		return Ensured{Rule: stored}, nil
	}
	now, err := c.store.SetAlertSeen(ctx, merged, stored)
	if err != nil {
		return Ensured{}, fmt.Errorf("ensure alert: %w", err)
	}
	if created {
		changed = nil
	}
	err = access.RecordEnsured(ctx, c.store, "EnsureAlert", "alert:"+declared.Name, now.Scope.Tenant(), changed)
	return Ensured{Rule: now, Created: created, Changed: changed}, err
}

// differences returns the fields in which two rules differ. Header values are masked
// because they may be secrets.
func differences(was, is *Rule, paths []string) []fairlead.Difference {
	changed := ensure.Differences[fairlead.Difference](was, is, paths)
	for i := range changed {
		if changed[i].Field == "headers" {
			changed[i].Was, changed[i].Is = headerNames(was.Headers), headerNames(is.Headers)
		}
	}
	return changed
}

// headerNames returns the headers as a string with masked values.
func headerNames(headers map[string]string) string {
	names := slices.Sorted(maps.Keys(headers))
	for i := range names {
		names[i] += ": ***"
	}
	return strings.Join(names, ", ")
}
