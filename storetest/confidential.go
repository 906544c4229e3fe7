package storetest

import (
	"fmt"
	"reflect"

	"github.com/fairlead-io/fairlead"
)

func (f *fixture) confidential() fairlead.Confidential {
	f.Helper()
	fields, err := f.store.Confidential(f.ctx())
	f.ok(err)
	return fields
}

func testConfidential(c *chapter) {
	c.test("nothing is confidential unless it was made so", func(f *fixture) {
		f.equal("what is confidential", f.confidential(), fairlead.Confidential{})
		f.ok(f.store.AddConfidential(f.ctx(), nil))
		f.equal("what is confidential", f.confidential(), fairlead.Confidential{})
	})
	c.test("AddConfidential adds to what is confidential, for all who ask", func(f *fixture) {
		f.ok(f.store.AddConfidential(f.ctx(), fairlead.Confidential{"mail": {"args.to", "args.body"}, "pay": {"output.iban"}}))
		f.ok(f.store.AddConfidential(f.ctx(), fairlead.Confidential{"mail": {"args.to", "args.from"}}))
		want := fairlead.Confidential{"mail": {"args.body", "args.from", "args.to"}, "pay": {"output.iban"}}
		f.equal("what is confidential", f.confidential(), want)
		f.equal("what is confidential elsewhere", f.elsewhere().confidential(), want)
	})
	c.test("SetConfidential replaces the fields of a kind, and of no other", func(f *fixture) {
		f.ok(f.store.AddConfidential(f.ctx(), fairlead.Confidential{"mail": {"args.to"}, "pay": {"output.iban"}}))
		f.ok(f.store.SetConfidential(f.ctx(), "mail", []string{"memo", "args.body"}))
		f.equal("after it was set", f.confidential(), fairlead.Confidential{"mail": {"args.body", "memo"}, "pay": {"output.iban"}})
		f.ok(f.store.SetConfidential(f.ctx(), "mail", nil))
		f.equal("after it was cleared", f.confidential(), fairlead.Confidential{"pay": {"output.iban"}})
	})
	c.test("names that look alike are different kinds", func(f *fixture) {
		for i, kind := range alike() {
			f.ok(f.store.AddConfidential(f.ctx(), fairlead.Confidential{kind: {fmt.Sprint("args.", i)}}))
		}
		f.equal("how many kinds there are", len(f.confidential()), len(alike()))
	})
	c.test("many who add the same at once all succeed", func(f *fixture) {
		const adding = 8
		fields := fairlead.Confidential{"a": {"args.x", "args.y"}, "b": {"args.z"}, "c": {"memo"}}
		f.ok(first(f.rivals(adding, func(_ int, store Store) error { return store.AddConfidential(f.ctx(), fields) })))
		f.equal("what is confidential", f.confidential(), fields)
	})
	c.test("what is confidential is read again only if it has changed, by whatever process", func(f *fixture) {
		same := func(a, b fairlead.Confidential) bool {
			return reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer()
		}
		fields := fairlead.Confidential{"mail": {"args.to"}}
		f.ok(f.store.AddConfidential(f.ctx(), fields))
		before := f.confidential()
		f.equal("the fields are the same as before", same(before, f.confidential()), true)
		f.ok(f.elsewhere().store.AddConfidential(f.ctx(), fields))
		f.equal("they are after they were declared once more", same(before, f.confidential()), true)
		f.ok(f.elsewhere().store.SetConfidential(f.ctx(), "mail", []string{"memo"}))
		f.equal("after they were replaced", f.confidential(), fairlead.Confidential{"mail": {"memo"}})
		f.ok(f.elsewhere().store.AddConfidential(f.ctx(), fields))
		f.equal("after one was added", f.confidential(), fairlead.Confidential{"mail": {"args.to", "memo"}})
	})
	c.test("a kind stays confidential when its node is gone", func(f *fixture) {
		f.ok(f.store.AddConfidential(f.ctx(), fairlead.Confidential{"mail": {"args.to"}}))
		node := f.join()
		f.ok(f.store.Leave(f.ctx(), node))
		f.ok(f.forgetNodes())
		f.equal("what is confidential", f.confidential(), fairlead.Confidential{"mail": {"args.to"}})
	})
}
