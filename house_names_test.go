package fairlead_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// reference is what docs/reference says that the program has. The tests of cmd/fairlead
// and of metrics compare these pages with the program.
type reference struct {
	commands map[string]map[string]bool // by path, without "fairlead": their flags
	flags    map[string]bool            // of all of them
	metrics  map[string]bool
}

// foreign are flags and names that pages mention and that are not ours.
var foreign = []struct{ name, why string }{
	{"--", "ends the options of a command"},
	{"--outfile", "of esbuild"},
	{"--single-transaction", "of mariadb-dump and pg_restore"},
	{"--data-binary", "of curl"},
	{"--format", "of pg_dump"},
	{"--schema", "of pg_dump"},
	{"--table", "of pg_dump"},
	{"--clean", "of pg_restore"},
	{"--if-exists", "of pg_restore"},
	{"--dbname", "of pg_restore"},
	{"--namespace", "of helm"},
	{"--values", "of helm"},
	{"--offline", "of systemd-analyze"},
	{"FAIRLEAD_SIGNING_KEY", "a variable of the reader's own, in an example"},
	{"fairlead_demand_jobs", "a metric that a rule of Prometheus makes, for an autoscaler"},
	{"fairlead_role", "a claim of tokens"},
	{"fairlead_tenants", "a claim of tokens"},
	{"fairlead_owner", "a user of a database"},
	{"fairlead_app", "a user of a database"},
	{"fairlead_", "the prefix of tables"},
}

// pastTense are pages that speak of names as they were.
func pastTense(document string) bool {
	return document == "CHANGELOG.md" || strings.HasPrefix(document, "docs/decisions/") || strings.HasPrefix(document, "docs/reference/")
}

// TestTheDocumentationNamesCommandsFlagsVariablesAndMetricsThatExist looks every name up
// in the references. A command is one where it begins a line or a piece of code.
func TestTheDocumentationNamesCommandsFlagsVariablesAndMetricsThatExist(t *testing.T) {
	known := theReference(t)
	variables := variablesOf(t, known)
	var (
		command  = regexp.MustCompile("(?m)(?:^\\s*(?:\\$ )?|[|;&] |`|\\$\\()fairlead ((?:[a-z][a-z-]*(?: |$|`|\\)|;))*)([^`\n|]*)")
		flag     = regexp.MustCompile(`(?:^|[\s"'\[(` + "`" + `])(--[a-z]?[a-z0-9-]*)`)
		variable = regexp.MustCompile(`\bFAIRLEAD_[A-Z_]+[A-Z]`)
		metric   = regexp.MustCompile(`\bfairlead_[a-z_]*`)
	)
	used, found := map[string]bool{}, 0
	allowed := func(name string) bool {
		used[name] = true
		return slices.ContainsFunc(foreign, func(f struct{ name, why string }) bool { return f.name == name })
	}
	for _, document := range documents(t) {
		if pastTense(document) {
			continue
		}
		code := strings.Join(append(codeBlock.FindAllString(read(t, document), -1), codeOf(read(t, document))...), "\n")
		for _, match := range command.FindAllStringSubmatch(code, -1) {
			path, rest := known.commandOf(strings.Fields(strings.Trim(match[1], "`);")))
			if path == "" {
				if len(rest) > 0 {
					t.Errorf("%s speaks of the command %q, which does not exist", document, "fairlead "+strings.Join(rest, " "))
				}
				continue
			}
			if len(rest) > 0 && known.hasCommandsBelow(path) {
				t.Errorf("%s speaks of the command %q, which does not exist", document, "fairlead "+path+" "+strings.Join(rest, " "))
			}
			found++
			for _, match := range flag.FindAllStringSubmatch(" "+match[2], -1) {
				if name := match[1]; !known.commands[path][name] && !allowed(name) {
					t.Errorf("%s gives %q the flag %s, which it does not have", document, "fairlead "+path, name)
				}
			}
		}
		for _, match := range flag.FindAllStringSubmatch(code, -1) {
			if name := match[1]; !known.flags[name] && !allowed(name) {
				t.Errorf("%s speaks of the flag %s, which does not exist", document, name)
			}
			found++
		}
		text := read(t, document)
		for _, name := range variable.FindAllString(text, -1) {
			if !variables[name] && !allowed(name) {
				t.Errorf("%s speaks of the variable %s, which does not exist", document, name)
			}
		}
		for _, name := range metric.FindAllString(text, -1) {
			if !known.metrics[withoutSuffix(name)] && !allowed(name) {
				t.Errorf("%s speaks of the metric %s, which does not exist", document, name)
			}
		}
	}
	if found < 300 {
		t.Errorf("only %d names were found", found)
	}
	for _, f := range foreign {
		if !used[f.name] {
			t.Errorf("no page mentions %s any more: remove it from the list", f.name)
		}
	}
}

// theReference reads docs/reference.
func theReference(t *testing.T) reference {
	t.Helper()
	known := reference{commands: map[string]map[string]bool{}, flags: map[string]bool{"--help": true}, metrics: map[string]bool{}}
	row := regexp.MustCompile("(?m)^\\| `(--[a-z0-9-]+)`(?:, `(-[a-z])`)? \\|")
	flagsIn := func(text string) map[string]bool {
		flags := map[string]bool{"--help": true}
		for _, match := range row.FindAllStringSubmatch(text, -1) {
			flags[match[1]], known.flags[match[1]] = true, true
		}
		return flags
	}
	sections := regexp.MustCompile(`(?m)^###? `).Split(read(t, "docs/reference/cli.md"), -1)
	shared := map[string]map[string]bool{}
	asking := flagsIn(sections[1])
	for _, section := range sections[2:] {
		title, text, _ := strings.Cut(section, "\n")
		path := strings.TrimPrefix(title, "fairlead ")
		flags := flagsIn(text)
		if strings.Contains(text, "(#connection-flags)") {
			flags = union(flags, asking)
		}
		noun, _, below := strings.Cut(path, " ")
		if below {
			flags = union(flags, shared[noun])
		} else {
			shared[noun] = flags
		}
		known.commands[path] = flags
	}
	known.commands["serve"] = flagsIn(read(t, "docs/reference/configuration.md"))
	known.commands["help"] = map[string]bool{}
	for _, match := range regexp.MustCompile("(?m)^\\| `(fairlead_[a-z_]+)`").FindAllStringSubmatch(read(t, "docs/reference/metrics.md"), -1) {
		known.metrics[match[1]] = true
	}
	if len(known.commands) < 100 || len(known.metrics) < 20 || len(known.commands["serve"]) < 40 {
		t.Fatalf("docs/reference has %d commands, %d metrics and %d settings", len(known.commands), len(known.metrics), len(known.commands["serve"]))
	}
	return known
}

// commandOf is the longest command that words begin with, and the words after it.
func (r reference) commandOf(words []string) (path string, rest []string) {
	for n := len(words); n > 0; n-- {
		if path := strings.Join(words[:n], " "); r.commands[path] != nil {
			return path, words[n:]
		}
	}
	return "", words
}

func (r reference) hasCommandsBelow(path string) bool {
	for other := range r.commands {
		if strings.HasPrefix(other, path+" ") {
			return true
		}
	}
	return false
}

// variablesOf are the variables of settings, and those that the sources name.
func variablesOf(t *testing.T, known reference) map[string]bool {
	t.Helper()
	variables := map[string]bool{}
	for flag := range known.commands["serve"] {
		variables["FAIRLEAD_"+strings.ToUpper(strings.ReplaceAll(strings.TrimPrefix(flag, "--"), "-", "_"))] = true
	}
	for _, file := range goFiles(t) {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		for _, match := range regexp.MustCompile(`"(FAIRLEAD_[A-Z_]+)"`).FindAllStringSubmatch(read(t, file), -1) {
			variables[match[1]] = true
		}
	}
	return variables
}

// codeOf are the pieces of code within sentences, and the blocks that are set in.
func codeOf(text string) []string {
	prose := codeBlock.ReplaceAllString(text, "")
	return append(codeSpan.FindAllString(prose, -1), regexp.MustCompile(`(?m)^    \S.*$`).FindAllString(prose, -1)...)
}

// withoutSuffix is a metric without what Prometheus adds to a histogram's name.
func withoutSuffix(metric string) string {
	for _, suffix := range []string{"_bucket", "_count", "_sum"} {
		metric = strings.TrimSuffix(metric, suffix)
	}
	return metric
}

func union(one, other map[string]bool) map[string]bool {
	both := map[string]bool{}
	for _, set := range []map[string]bool{one, other} {
		for name := range set {
			both[name] = true
		}
	}
	return both
}
