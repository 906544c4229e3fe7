package main

import (
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/cmd/fairlead/internal/tables"
)

const sweepDatabaseUsage = "database whose tables sweeps may read, as NAME=URL; the URL may contain ${env:NAME} or ${file:PATH} for secrets (repeatable; default: none)"

// openSweepDatabases opens the databases of --sweep-database.
func openSweepDatabases(settings []string) (*tables.Databases, error) {
	urls := map[string]string{}
	for _, setting := range settings {
		name, text, ok := strings.Cut(setting, "=")
		if !ok || name == "" || len(name) > fairlead.MaxName || strings.Contains(name, "/") {
			return nil, usagef("--sweep-database: use NAME=URL, such as crm=postgres://reader@db.example.org/crm")
		}
		if _, twice := urls[name]; twice {
			return nil, usagef("--sweep-database: %q is used twice; database names must be unique", name)
		}
		filled, err := fillIn(text)
		if err != nil {
			return nil, usagef("--sweep-database: %q: %w", name, err)
		}
		urls[name] = filled
	}
	databases, err := tables.Open(urls)
	if err != nil {
		return nil, usagef("--sweep-database: %w", err)
	}
	return databases, nil
}

// reference matches a reference to a secret in a URL.
var reference = regexp.MustCompile(`\$\{[^}]*\}`)

// fillIn replaces references to secrets in a URL: a reference to a whole URL is replaced
// unchanged, and a part of a URL, such as a password, is escaped.
func fillIn(text string) (string, error) {
	if reference.FindString(text) == text {
		return referred(text)
	}
	values := map[string]string{}
	for _, one := range reference.FindAllString(text, -1) {
		value, err := referred(one)
		if err != nil {
			return "", err
		}
		values[one] = strings.ReplaceAll(url.QueryEscape(value), "+", "%20")
	}
	for _, one := range slices.Sorted(maps.Keys(values)) {
		text = strings.ReplaceAll(text, one, values[one])
	}
	return text, nil
}
