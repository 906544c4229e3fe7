package storetest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/driver"
)

func (f *fixture) audit(entries ...access.Entry) {
	f.Helper()
	f.ok(f.store.Audit(f.ctx(), entries))
}

func (f *fixture) auditLog(filter access.Filter) []access.Entry {
	f.Helper()
	entries, err := f.store.AuditLog(f.ctx(), filter)
	f.ok(err)
	return entries
}

// deed returns a minimal audit log entry.
func deed(actor, action, subject string) access.Entry {
	return access.Entry{Actor: actor, Role: access.RoleOperator, Action: action, Subject: subject}
}

// subjects returns the subjects of entries, in order.
func subjects(entries []access.Entry) []string {
	list := make([]string, len(entries))
	for i, entry := range entries {
		list[i] = entry.Subject
	}
	return list
}

func testAudit(c *chapter) {
	c.test("entries are kept with all that they say, as of now and in their order", func(f *fixture) {
		want := []access.Entry{
			{
				Actor: "Ärztin ", Role: access.RoleAdmin, From: "[2001:db8::1]:4711", Action: "PutTenant", Subject: "tenant:acme", Tenant: "acme",
				Before: json.RawMessage(`{"max_running": 1}`), After: json.RawMessage(`{"max_running": 2, "ü": "\u0000"}`),
			},
			{Actor: "local", Role: access.RoleViewer, Action: "DeleteJob", Subject: "job:17", Error: "job 17: not found"},
		}
		f.audit(want...)
		log := f.elsewhere().auditLog(access.Filter{})
		f.equal("how many there are", len(log), 2)
		if log[0].ID <= log[1].ID {
			f.Fatalf("the second entry has the ID %d, the first %d", log[0].ID, log[1].ID)
		}
		for i := range want {
			want[i].ID, want[i].At = log[1-i].ID, f.now()
		}
		slices.Reverse(want)
		f.equal("the log", log, want)
	})
	c.test("no entries are fine", func(f *fixture) {
		f.audit()
		f.equal("the log", f.auditLog(access.Filter{}), []access.Entry(nil))
	})
	c.test("what cannot be kept as it is does not make the entry fail", func(f *fixture) {
		bad := strings.Repeat("ü\x00\xff", 1000)
		f.audit(access.Entry{
			Actor: bad, Role: access.Role(bad), From: bad, Action: bad, Subject: bad, Tenant: bad, Error: bad,
			Before: json.RawMessage(bad), After: json.RawMessage(`{"half":`),
		})
		entry := f.auditLog(access.Filter{})[0]
		f.equal("how the actor begins", strings.HasPrefix(entry.Actor, "ü\uFFFD"), true)
		f.equal("what was half an object", entry.After, json.RawMessage(`"{\"half\":"`))
	})
	c.test("of several fields all must match", func(f *fixture) {
		f.audit(deed("ann", "PauseQueue", "queue:mail"))
		f.Advance(time.Minute)
		noon := f.now()
		f.audit(deed("ann", "PauseQueue", "queue:web"), deed("bob", "PauseQueue", "queue:mail"), deed("Ann", "PauseQueue", "queue:Mail"))
		f.Advance(time.Minute)
		f.audit(deed("bob", "ResumeQueue", "queue:mail"))
		for _, example := range []struct {
			filter access.Filter
			want   []string
		}{
			{access.Filter{Actor: "ann"}, []string{"queue:web", "queue:mail"}},
			{access.Filter{Actor: "bob", Action: "PauseQueue"}, []string{"queue:mail"}},
			{access.Filter{Subject: "queue:mail", Action: "PauseQueue"}, []string{"queue:mail", "queue:mail"}},
			{access.Filter{From: noon, Actor: "ann"}, []string{"queue:web"}},
			{access.Filter{To: noon}, []string{"queue:mail"}},
			{access.Filter{From: noon, To: noon.Add(time.Microsecond)}, []string{"queue:Mail", "queue:mail", "queue:web"}},
			{access.Filter{Actor: "nobody"}, nil},
		} {
			f.equal(fmt.Sprintf("the answer to %+v", example.filter), subjects(f.auditLog(example.filter)), example.want)
		}
	})
	c.test("Below is where the next page starts, and 100 are a page", func(f *fixture) {
		entries := make([]access.Entry, 150)
		for i := range entries {
			entries[i] = deed("ann", "CancelJob", fmt.Sprint("job:", i))
		}
		f.audit(entries...)
		page := f.auditLog(access.Filter{})
		f.equal("the first page", len(page), 100)
		f.equal("the newest", page[0].Subject, "job:149")
		page = f.auditLog(access.Filter{Below: page[99].ID, Limit: 2, Actor: "ann"})
		f.equal("the second page", subjects(page), []string{"job:49", "job:48"})
	})
	c.test("many add at once, and each entry is there", func(f *fixture) {
		f.ok(first(f.rivals(16, func(i int, store Store) error {
			return store.Audit(f.ctx(), []access.Entry{deed("ann", "CancelJob", fmt.Sprint("job:", i)), deed("bob", "CancelJob", fmt.Sprint("job:", i))})
		})))
		f.equal("how many there are", len(f.auditLog(access.Filter{})), 32)
		f.equal("how many are of one", len(f.auditLog(access.Filter{Actor: "bob"})), 16)
	})
	c.test("entries are kept for AuditWindow", func(f *fixture) {
		f.audit(deed("ann", "CancelJob", "job:1"), deed("ann", "CancelJob", "job:2"), deed("ann", "CancelJob", "job:3"))
		f.Advance(access.Window)
		f.audit(deed("ann", "CancelJob", "job:4"))
		f.equal("how many are removed at its end", f.prune(10), 0)
		f.Advance(time.Microsecond)
		f.equal("how many are removed", []int{f.prune(2), f.prune(2), f.prune(2)}, []int{2, 1, 0})
		f.equal("the log", subjects(f.auditLog(access.Filter{})), []string{"job:4"})
	})
	c.test("IDs grow, whatever was removed", func(f *fixture) {
		f.audit(deed("ann", "CancelJob", "job:1"))
		before := f.auditLog(access.Filter{})[0].ID
		f.Advance(access.Window + time.Hour)
		f.prune(10)
		f.audit(deed("ann", "CancelJob", "job:2"))
		if after := f.auditLog(access.Filter{})[0].ID; after <= before {
			f.Fatalf("entry %d follows %d", after, before)
		}
	})
}

// prune removes expired data other than jobs.
func (f *fixture) prune(limit int) int {
	f.Helper()
	n, err := f.store.Prune(f.ctx(), driver.Retention{}, limit)
	f.ok(err)
	return n
}
