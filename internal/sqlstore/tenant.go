package sqlstore

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

// PendingStates returns the states in which jobs count against Tenant.MaxPending.
func PendingStates() []fairlead.State {
	return []fairlead.State{fairlead.Scheduled, fairlead.Ready, fairlead.Parked}
}

// Family holds the data that decides whether a tenant may be declared: data about the other
// tenants, read while the change holds its lock.
type Family struct {
	Parents   map[string]string // every declared tenant → its parent or ""
	Minimums  int               // sum over all other tenants
	GlobalCap int               // 0 if there is none
}

// NewFamily returns the Family for the tenant named except. parents contains all declared
// tenants, and limits lists all limits.
func NewFamily(parents map[string]string, limits []*StoredLimit, except string) Family {
	family := Family{Parents: parents}
	for _, q := range limits {
		switch {
		case q.Limit.Scope == fairlead.LimitGlobal:
			family.GlobalCap = q.Limit.MaxRunning
		case q.Limit.Scope != fairlead.LimitTenant || q.Limit.Name != except:
			family.Minimums += q.Min
		}
	}
	return family
}

// check returns ErrInvalid if a tenant does not fit in.
func (f Family) check(t *fairlead.Tenant) error {
	var bad []fairlead.FieldError
	refuse := func(field, format string, args ...any) {
		bad = append(bad, fairlead.FieldError{Field: field, Message: fmt.Sprintf(format, args...)})
	}
	if t.Parent != "" {
		switch grandparent, declared := f.Parents[t.Parent]; {
		case !declared:
			refuse("parent", "%q does not exist; create it first", t.Parent)
		case grandparent != "":
			refuse("parent", "%q itself has a parent; use %q instead", t.Parent, grandparent)
		}
		if child := f.child(t.Name); child != "" {
			refuse("parent", "cannot be set: %q is a child of this tenant, and a parent cannot have a parent", child)
		}
	}
	if f.GlobalCap > 0 && f.Minimums+t.MinRunning > f.GlobalCap {
		refuse("min_running", "is %d, and other tenants have %d: the sum exceeds the global cap of %d", t.MinRunning, f.Minimums, f.GlobalCap)
	}
	if len(bad) > 0 {
		return &fairlead.InvalidError{Fields: bad}
	}
	return nil
}

// checkDelete returns ErrConflict if other tenants need the tenant.
func (f Family) checkDelete(name string) error {
	if child := f.child(name); child != "" {
		return fmt.Errorf("tenant %q is the parent of %q: %w", name, child, fairlead.ErrConflict)
	}
	return nil
}

// child returns the first child of a tenant by name, or "" if it has none.
func (f Family) child(name string) string {
	if children := f.children(name); len(children) > 0 {
		return children[0]
	}
	return ""
}

// children returns the children of a tenant, sorted by name.
func (f Family) children(name string) (children []string) {
	for child, parent := range f.Parents {
		if parent == name {
			children = append(children, child)
		}
	}
	slices.Sort(children)
	return children
}

// CheckGlobalCap returns ErrInvalid if l is a global limit with a cap below minimums, the sum
// of all tenants' minimums.
func CheckGlobalCap(l fairlead.Limit, minimums int) error {
	if l.Scope != fairlead.LimitGlobal || l.MaxRunning == 0 || minimums <= l.MaxRunning {
		return nil
	}
	return &fairlead.InvalidError{Fields: []fairlead.FieldError{{
		Field: "max_running", Message: fmt.Sprintf("is %d, but tenants are guaranteed %d; lower their min_running first", l.MaxRunning, minimums),
	}}}
}

// CheckSeenLimit returns ErrConflict if a limit has changed since the caller read it. seen is
// the limit that the caller read; limits lists the current limits.
func CheckSeenLimit(seen fairlead.Limit, limits []*StoredLimit) error {
	now := fairlead.Limit{Scope: seen.Scope, Name: seen.Name}
	for _, q := range limits {
		if q.Limit.Scope == seen.Scope && q.Limit.Name == seen.Name {
			now = q.Limit
		}
	}
	if now != seen {
		return fmt.Errorf("the limit was changed by another caller: %w", fairlead.ErrConflict)
	}
	return nil
}

// checkVersion returns ErrConflict or ErrNotFound if the stored tenant is not the version
// that its caller expects.
func checkVersion(t fairlead.Tenant, version int64, declared bool) error {
	switch {
	case !declared && t.Version != 0:
		return driver.NoSuchTenant(t.Name)
	case declared && t.Version == 0:
		return fmt.Errorf("tenant %q already exists: %w", t.Name, fairlead.ErrConflict)
	case t.Version != version:
		return fmt.Errorf("tenant %q was changed by another caller: %w", t.Name, fairlead.ErrConflict)
	}
	return nil
}

// encodeLabels returns labels as JSON, or nil if there are none.
func encodeLabels(labels map[string]string) ([]byte, error) {
	if len(labels) == 0 {
		return nil, nil
	}
	return json.Marshal(labels)
}

// decodeLabels decodes the result of encodeLabels.
func decodeLabels(text []byte) (labels map[string]string, err error) {
	if len(text) > 0 {
		err = json.Unmarshal(text, &labels)
	}
	return labels, err
}

// scanTenant reads the declared fields of a tenant: name, parent, cap, minimum, rate,
// burst, max_pending, weight, whether it is paused, labels, start_url, fail_url,
// timeout_url, version, created_at and updated_at.
func scanTenant(row Scanner) (t fairlead.Tenant, err error) {
	var labels []byte
	var created, updated int64
	err = row.Scan(&t.Name, &t.Parent, &t.MaxRunning, &t.MinRunning, &t.Rate, &t.Burst,
		&t.MaxPending, &t.Weight, &t.Paused, &labels, &t.StartURL, &t.FailURL, &t.TimeoutURL, &t.Version, &created, &updated)
	if err != nil {
		return t, err
	}
	t.CreatedAt, t.UpdatedAt = Time(created), Time(updated)
	t.Labels, err = decodeLabels(labels)
	return t, err
}
