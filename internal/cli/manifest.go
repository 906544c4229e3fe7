package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"google.golang.org/protobuf/proto"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/internal/wire"
)

// manifest is the content of a file.
type manifest struct {
	tenants   []*wantedTenant
	limits    []*fairleadv1.Limit
	calendars []*fairleadv1.Calendar
	schedules []*fairleadv1.Schedule
	sweeps    []*fairleadv1.Sweep
	alerts    []*fairleadv1.AlertRule
}

func (m *manifest) entries() int {
	return len(m.tenants) + len(m.limits) + len(m.calendars) + len(m.schedules) + len(m.sweeps) + len(m.alerts)
}

// manifestLists contains the lists allowed in a document, each with the function that reads
// an entry.
var manifestLists = map[string]func(m *manifest, entry json.RawMessage) error{
	"tenants": func(m *manifest, entry json.RawMessage) error {
		tenant, err := readTenant(entry)
		m.tenants = append(m.tenants, tenant)
		return err
	},
	"limits": func(m *manifest, entry json.RawMessage) error {
		return readEntry(entry, &fairleadv1.Limit{}, &m.limits)
	},
	"calendars": func(m *manifest, entry json.RawMessage) error {
		return readEntry(entry, &fairleadv1.Calendar{}, &m.calendars)
	},
	"schedules": func(m *manifest, entry json.RawMessage) error {
		return readEntry(entry, &fairleadv1.Schedule{}, &m.schedules)
	},
	"sweeps": func(m *manifest, entry json.RawMessage) error {
		return readEntry(entry, &fairleadv1.Sweep{}, &m.sweeps)
	},
	"alerts": func(m *manifest, entry json.RawMessage) error {
		return readEntry(entry, &fairleadv1.AlertRule{}, &m.alerts)
	},
}

// readEntry decodes an entry of a list.
func readEntry[T proto.Message](entry json.RawMessage, message T, into *[]T) error {
	*into = append(*into, message)
	return wire.Unmarshal(entry, message)
}

// readManifest reads the documents of a file.
func readManifest(file string, in io.Reader) (*manifest, error) {
	raw, err := readInput(file, in)
	if err != nil {
		return nil, err
	}
	if err := checkYAML(file, raw); err != nil {
		return nil, Usagef("invalid YAML: %w", err)
	}
	all := &manifest{}
	decoder := yaml.NewDecoder(bytes.NewReader(raw))
	for n := 1; ; n++ {
		var document any
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, Usagef("invalid YAML: %w", YAMLMistake(file, err))
		}
		if document == nil {
			continue // nothing between two separators
		}
		body, err := yaml.MarshalWithOptions(document, yaml.JSON())
		if err == nil {
			err = all.add(body)
		}
		if err != nil {
			return nil, Usagef("%s, document %d: %w", file, n, err)
		}
	}
}

// add adds the content of a document.
func (m *manifest) add(body []byte) error {
	var fields map[string]json.RawMessage
	isList := func(name string) bool { return manifestLists[name] != nil }
	if err := json.Unmarshal(body, &fields); err != nil || !slices.ContainsFunc(slices.Collect(maps.Keys(fields)), isList) {
		if err := readEntry(body, &fairleadv1.Schedule{}, &m.schedules); err != nil { // a single schedule, in the exported format
			return err
		}
		return m.check()
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		read := manifestLists[name]
		if read == nil {
			return fmt.Errorf("unknown list %q; use one of %s", name, strings.Join(slices.Sorted(maps.Keys(manifestLists)), ", "))
		}
		var entries []json.RawMessage
		if err := json.Unmarshal(fields[name], &entries); err != nil {
			return fmt.Errorf("%s must be a list", name)
		}
		for i, entry := range entries {
			if err := read(m, entry); err != nil {
				return fmt.Errorf("%s[%d]: %w", name, i, err)
			}
		}
	}
	return m.check()
}

// check rejects entries without a name, and duplicates.
func (m *manifest) check() error {
	tenants := func(t *wantedTenant) string { return t.GetName() }
	return errors.Join(
		checkNames("tenant", "name", m.tenants, tenants),
		checkNames("limit", "scope", m.limits, (*fairleadv1.Limit).GetScope),
		checkNames("calendar", "name", m.calendars, (*fairleadv1.Calendar).GetName),
		checkNames("schedule", "name", m.schedules, (*fairleadv1.Schedule).GetName),
		checkNames("sweep", "name", m.sweeps, (*fairleadv1.Sweep).GetName),
		checkNames("alert", "name", m.alerts, (*fairleadv1.AlertRule).GetName),
	)
}

func checkNames[T any](what, field string, entries []T, name func(T) string) error {
	known := map[string]bool{}
	for _, entry := range entries {
		switch name := name(entry); {
		case name == "":
			return fmt.Errorf("%[2]s without a %[1]s: every %[2]s requires one", field, what)
		case known[name]:
			return fmt.Errorf("more than one %s with the %s %s", what, field, name)
		default:
			known[name] = true
		}
	}
	return nil
}

// byName returns messages by name.
func byName[T interface{ GetName() string }](items []T) map[string]T {
	known := map[string]T{}
	for _, item := range items {
		known[item.GetName()] = item
	}
	return known
}
