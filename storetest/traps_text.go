package storetest

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

// alike returns names that some databases confuse.
func alike() []string {
	return []string{
		"Acme", "acme", "ACME", "acme ", " acme", "acme\t",
		"straße", "strasse", "STRASSE", "é", "e\u0301", "ı", "i", "İ", "ﬁ", "fi",
		"🦊", "🦝", "ｋｅｙ", "key", "a\u200bb", "ab", "100%", "100_", "x'y", `x"y`, `x\y`, "x\\\\y", "${x}", "?", "$1", ":x", "{{job}}", "NULL",
	}
}

func testTexts(c *chapter) {
	c.test("names that look alike are different queues, tenants and kinds", func(f *fixture) {
		for _, label := range []func(string) func(*fairlead.Job){inQueue, forTenant, ofKind} {
			var jobs []*fairlead.Job
			for _, name := range alike() {
				jobs = append(jobs, with(label(name)))
			}
			f.enqueue(jobs...)
			g := f.elsewhere() // this store must read the names from the database
			for _, job := range jobs {
				found := g.get(job)
				f.equal("the names", []string{found.Queue, found.Tenant, found.Kind}, []string{job.Queue, job.Tenant, job.Kind})
				filter := fairlead.Filter{Queues: []string{job.Queue}, Tenants: []string{job.Tenant}, Kinds: []string{job.Kind}}
				f.equal(fmt.Sprintf("what is found by %+v", filter), ids(g.find(filter)), []int64{job.ID})
			}
		}
	})
	c.test("names that look alike are claimed and paused apart", func(f *fixture) {
		for _, name := range alike() {
			f.enqueue(with(inQueue(name)))
		}
		node := f.join()
		for i, name := range alike() {
			other := alike()[(i+1)%len(alike())]
			f.pause(queuePause(other))
			claimed := f.claimAs(driver.Claim{Node: node, Scope: &driver.Scope{Queues: []string{name}, Kinds: []string{kind}}, Max: 10})
			f.equal(fmt.Sprintf("how many are claimed from %q", name), len(claimed), 1)
			f.equal("the queue", claimed[0].Queue, name)
			f.resume(queuePause(other))
		}
		f.pause(kindPause("Acme"), kindPause("acme"), kindPause("acme "))
		f.wantPauses(kindPause("Acme"), kindPause("acme"), kindPause("acme "))
	})
	c.test("keys that look alike are different", func(f *fixture) {
		var jobs []*fairlead.Job
		for _, key := range alike() {
			jobs = append(jobs, with(keyed(key)))
		}
		f.enqueue(jobs...)
		for _, job := range jobs {
			f.wantTaken(f.tryEnqueue(with(keyed(job.Key))), job)
			f.equal(fmt.Sprintf("what is found by key %q", job.Key), ids(f.find(fairlead.Filter{Key: job.Key})), []int64{job.ID})
		}
	})
	c.test("names and keys of the greatest length are kept", func(f *fixture) {
		name, key := strings.Repeat("🦊", fairlead.MaxName/4), strings.Repeat("k", fairlead.MaxKey)
		job := f.enqueue(with(ofKind(name), inQueue(name), forTenant(name), keyed(key)))
		found := f.elsewhere().get(job)
		f.equal("the names", []string{found.Kind, found.Queue, found.Tenant, found.Key}, []string{name, name, name, key})
		f.wantTaken(f.tryEnqueue(with(forTenant(name), keyed(key))), job)
		f.enqueue(with(forTenant(name), keyed(key[1:])))
	})
	c.test("texts of nodes and reasons are kept", func(f *fixture) {
		text := `it's "quoted" \ 100% 🦊 e` + "\u0301"
		id, err := f.store.Join(f.ctx(), fairlead.Node{Name: text, Address: text, Version: text, Queues: []string{text}, Kinds: []string{text}}, lease)
		f.ok(err)
		node, _ := f.node(id)
		f.equal("the node", []string{node.Name, node.Address, node.Version, node.Queues[0], node.Kinds[0]}, []string{text, text, text, text, text})
		job := f.enqueue(plain())
		f.ok(operations(f.store).Cancel(f.ctx(), job.ID, text))
		f.equal("the reason", f.get(job).Error, text)
	})
	testDocuments(c)
	testTimes(c)
}

// testDocuments covers JSON, which is stored byte for byte.
func testDocuments(c *chapter) {
	large := `"` + strings.Repeat("0123456789abcdef", (fairlead.MaxArgs-2)/16) + `"`
	documents := []string{
		`null`, `{}`, `[]`, `""`, `0`, `-0`, `1e2`, `1E+2`, `1.0`, `0.10`, `12345678901234567890123456789.5`,
		` { "b" : 1 , "a" : 2 , "a" : 3 } `, "{\n\t\"x\":\r\n1}",
		`"\" \\ \/ \b \f \n \r \t \u0041 \u00e9 \ud83e\udd8a \u0000 \ud800"`, `"é 🦊 e` + "\u0301 \u2028 \u007f" + `"`,
		`{"\u0000": "\\u0000"}`, `"` + "\ufeff" + `"`, large,
	}
	c.test("args are kept byte for byte", func(f *fixture) {
		var jobs []*fairlead.Job
		for _, document := range documents {
			jobs = append(jobs, with(func(j *fairlead.Job) { j.Args = json.RawMessage(document) }))
		}
		f.enqueue(jobs...)
		claimed := f.wantClaim(f.join(), everything(), jobs...)
		for i, document := range documents {
			wantBytes(f, "the args that Get returns", f.get(jobs[i]).Args, document)
			wantBytes(f, "the args that Claim returns", claimed[i].Args, document)
		}
	})
	c.test("jobs without args have none", func(f *fixture) {
		jobs := many(3)
		jobs[1].Args = json.RawMessage{}
		f.enqueue(jobs...)
		for _, job := range append(f.wantClaim(f.join(), everything(), jobs...), f.find(fairlead.Filter{})...) {
			wantBytes(f, "the args", job.Args, "")
		}
	})
	c.test("output, memo and progress are kept byte for byte", func(f *fixture) {
		job := f.running()
		for _, document := range documents {
			f.ok(f.store.Save(f.ctx(), fairlead.Save{ID: job.ID, Fence: job.Fence, Memo: json.RawMessage(document), Progress: json.RawMessage(document)}))
			found := f.get(job)
			wantBytes(f, "the memo", found.Memo, document)
			wantBytes(f, "the progress", found.Progress, document)
		}
		for _, document := range documents {
			job := f.in(fairlead.Running)
			f.settle(success(job, document))
			wantBytes(f, "the output", f.get(job).Output, document)
		}
	})
	c.test("the output of an answer is kept byte for byte, early or not", func(f *fixture) {
		for _, document := range documents {
			early, waiting := f.in(fairlead.Running), f.in(fairlead.Waiting)
			for _, job := range []*fairlead.Job{early, waiting} {
				f.resolve(success(job, document))
				f.resolve(success(job, document))
			}
			f.settle(wait(early))
			wantBytes(f, "the output of an early answer", f.get(early).Output, document)
			wantBytes(f, "the output", f.get(waiting).Output, document)
		}
	})
	c.test("a call can carry many large args", func(f *fixture) {
		jobs := many(12, func(j *fairlead.Job) { j.Args = json.RawMessage(large) })
		f.enqueue(jobs...)
		for _, job := range f.wantClaim(f.join(), everything(), jobs...) {
			wantBytes(f, "the args", job.Args, large)
		}
	})
}

// wantBytes compares documents without printing a whole megabyte.
func wantBytes(f *fixture, what string, got json.RawMessage, want string) {
	f.Helper()
	const shown = 200
	if string(got) != want {
		f.Fatalf("%s: got %d bytes %q, want %d bytes %q", what, len(got), got[:min(len(got), shown)], len(want), want[:min(len(want), shown)])
	}
}

func testTimes(c *chapter) {
	c.test("times are kept to the microsecond, in any zone and far away", func(f *fixture) {
		zone := time.FixedZone("somewhere", -(9*3600 + 30*60))
		now := f.now()
		for _, at := range []time.Time{
			now.Add(time.Hour + 123456*time.Microsecond),
			now.Add(time.Hour).In(zone),
			time.Date(9999, 12, 31, 23, 59, 59, 999999000, time.UTC),
			time.Date(20000, 1, 1, 0, 0, 0, 1000, time.UTC),
		} {
			job := f.enqueue(with(notBefore(at)))
			found := f.wantState(job, fairlead.Scheduled)
			f.equal("NotBefore", found.NotBefore, at)
			f.equal("StartBy", found.StartBy, at)
		}
		for _, at := range []time.Time{
			time.Date(1, 1, 1, 0, 0, 0, 1000, time.UTC),
			time.Date(1815, 12, 10, 1, 2, 3, 456789000, time.UTC),
			time.Date(1969, 12, 31, 23, 59, 59, 999999000, time.UTC),
			time.Date(1970, 1, 1, 0, 0, 0, 1000, time.UTC),
		} {
			job := f.enqueue(with(notBefore(at)))
			f.equal("StartBy", f.wantState(job, fairlead.Ready).StartBy, at)
			f.equal("NotBefore", f.get(job).NotBefore, at)
		}
	})
	c.test("times finer than a microsecond lose what is finer", func(f *fixture) {
		at := f.now().Add(time.Hour)
		job := f.enqueue(with(notBefore(at.Add(999))))
		f.equal("NotBefore", f.get(job).NotBefore, at)
	})
	c.test("a job for the year 9999 does not upset Promote", func(f *fixture) {
		at := time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
		f.enqueue(with(notBefore(at)))
		if promotion := f.promote(); promotion.Next <= 0 {
			f.Fatalf("the next is due in %v", promotion.Next)
		}
	})
	testFarTimes(c)
	c.test("durations are kept to the microsecond", func(f *fixture) {
		job := f.enqueue(with(func(j *fairlead.Job) { j.Timeout = 1500 * time.Microsecond }))
		f.equal("Timeout", f.get(job).Timeout, 1500*time.Microsecond)
		claimed := f.claimThe(job, f.join())
		f.settle(again(claimed, 1500*time.Microsecond))
		f.equal("NotBefore", f.get(job).NotBefore, f.now().Add(1500*time.Microsecond))
	})
}

// dueAgain returns the ways to set the next due time of a job, except NotBefore, which is
// validated before it reaches the store.
func dueAgain() map[string]func(f *fixture, at time.Time, after time.Duration) *fairlead.Job {
	settled := func(move fairlead.Move) func(*fixture, time.Time, time.Duration) *fairlead.Job {
		return func(f *fixture, at time.Time, after time.Duration) *fairlead.Job {
			job := f.running()
			s := to(move, job)
			s.At, s.After, s.Reason = at, after, fairlead.ReasonError
			f.settle(s)
			return job
		}
	}
	return map[string]func(*fixture, time.Time, time.Duration) *fairlead.Job{
		"Snooze": settled(fairlead.Snooze),
		"Again":  settled(fairlead.Again),
		"Resolve": func(f *fixture, at time.Time, after time.Duration) *fairlead.Job {
			job := f.in(fairlead.Waiting)
			answer := again(job, after)
			answer.At = at
			f.resolve(answer)
			return job
		},
		"an early Resolve": func(f *fixture, at time.Time, after time.Duration) *fairlead.Job {
			job := f.running()
			answer := again(job, after)
			answer.At = at
			f.resolve(answer)
			f.resolve(answer)
			f.settle(wait(job))
			return job
		},
	}
}

// testFarTimes covers times that overflow their stored form.
func testFarTimes(c *chapter) {
	future, past := time.Date(400_000, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(-400_000, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, put := range dueAgain() {
		c.test(name+" to a time that is too far away is as far away as can be", func(f *fixture) {
			f.equal("NotBefore", f.wantState(put(f, future, 0), fairlead.Scheduled).NotBefore, time.UnixMicro(fairlead.MaxMicros).UTC())
			put(f, time.Time{}, math.MaxInt64)
			if promotion := f.promote(); promotion.Moved != 0 || promotion.Next <= 0 {
				f.Fatalf("%d are due, the next in %v", promotion.Moved, promotion.Next)
			}
			f.wantState(put(f, past, 0), fairlead.Ready)
		})
	}
	c.test("Reschedule to a time that is too far away is as far away as can be", func(f *fixture) {
		job := f.enqueue(plain())
		f.ok(operations(f.store).Reschedule(f.ctx(), job.ID, future))
		f.equal("NotBefore", f.wantState(job, fairlead.Scheduled).NotBefore, time.UnixMicro(fairlead.MaxMicros).UTC())
		f.ok(operations(f.store).Reschedule(f.ctx(), job.ID, past))
		f.wantState(job, fairlead.Ready)
	})
}
