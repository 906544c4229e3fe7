package console

// entry is an entry of the navigation.
type entry struct {
	Nav, Path, Title string
	allowed          func(*viewer) bool // nil = visible to all viewers
}

// section is a group of entries.
type section struct {
	Title   string
	Entries []entry
}

// navigation lists all entries.
var navigation = []section{
	{"", []entry{
		{"overview", "/", "Overview", nil},
	}},
	{"Work", []entry{
		{"jobs", "/jobs", "Jobs", nil},
		{"failures", "/failures", "Failures", nil},
		{"runs", "/runs", "Runs", nil},
	}},
	{"Scheduling", []entry{
		{"schedules", "/schedules", "Schedules", nil},
		{"load", "/load", "Upcoming load", nil},
		{"calendars", "/calendars", "Calendars", nil},
	}},
	{"Bulk", []entry{
		{"batches", "/batches", "Batches", nil},
		{"sweeps", "/sweeps", "Sweeps", nil},
		{"bulks", "/bulks", "Bulk actions", nil},
	}},
	{"Capacity", []entry{
		{"tenants", "/tenants", "Tenants and limits", nil},
		{"queues", "/queues", "Queues", (*viewer).Unbound},
		{"holds", "/holds", "Wait reasons", nil},
		{"nodes", "/nodes", "Nodes", (*viewer).Unbound},
	}},
	{"Access", []entry{
		{"audit", "/audit", "Audit log", (*viewer).Admin},
		{"tokens", "/tokens", "Tokens", (*viewer).Admin},
		{"docs", "/docs", "API reference", nil},
	}},
}

// Navigation returns the entries visible to the viewer.
func (v *visit) Navigation() (all []section) {
	if v.Role == "" {
		return nil
	}
	for _, group := range navigation {
		some := section{Title: group.Title}
		for _, line := range group.Entries {
			if line.allowed == nil || line.allowed(v.viewer) {
				some.Entries = append(some.Entries, line)
			}
		}
		if len(some.Entries) > 0 {
			all = append(all, some)
		}
	}
	return all
}

// HTMLLang returns the language of the page as an HTML language tag.
func (v *visit) HTMLLang() string {
	if v.Lang == "zh" {
		return "zh-Hans"
	}
	return v.Lang
}
