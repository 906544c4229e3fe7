package storetest

import (
	"fmt"
	"strings"
	"time"

	"github.com/fairlead-io/fairlead"
)

// declare stores a tenant and returns it as stored.
func (f *fixture) declare(tenant fairlead.Tenant) fairlead.Tenant {
	f.Helper()
	stored, err := f.tryDeclare(tenant)
	f.ok(err)
	return stored
}

// tryDeclare calls Store.PutTenant with the defaults filled in, like the client.
func (f *fixture) tryDeclare(tenant fairlead.Tenant) (fairlead.Tenant, error) {
	f.Helper()
	f.ok(fairlead.NormalizeTenant(&tenant))
	return f.store.PutTenant(f.ctx(), tenant)
}

func (f *fixture) tenants(filter fairlead.TenantFilter) []fairlead.Tenant {
	f.Helper()
	tenants, err := f.store.Tenants(f.ctx(), filter)
	f.ok(err)
	return tenants
}

func (f *fixture) tenant(name string) fairlead.Tenant {
	f.Helper()
	found := f.tenants(fairlead.TenantFilter{Names: []string{name}})
	if len(found) != 1 {
		f.Fatalf("%d tenants are named %q", len(found), name)
	}
	return found[0]
}

func tenantNames(tenants []fairlead.Tenant) []string {
	names := make([]string, len(tenants))
	for i, t := range tenants {
		names[i] = t.Name
	}
	return names
}

func testTenants(c *chapter) {
	c.test("a tenant is kept with all that was declared of it", func(f *fixture) {
		f.declare(fairlead.Tenant{Name: "group"})
		want := fairlead.Tenant{
			Name: "Ärzte ", Parent: "group", MaxRunning: 7, MinRunning: 2, Rate: 12.5, Burst: 30, MaxPending: 1000,
			Weight: 3, Paused: true, Labels: map[string]string{"plan": "gold", "ünï": "x y"},
			StartURL: "https://acme.example/start?a=ü", FailURL: "http://acme.example/failed", TimeoutURL: "https://acme.example/" + strings.Repeat("x", 1900),
		}
		stored := f.declare(want)
		want.Version, want.CreatedAt, want.UpdatedAt = stored.Version, f.now(), f.now()
		f.equal("the tenant as stored", stored, want)
		f.equal("the tenant as read", f.tenant("Ärzte "), want)
		f.equal("the tenant as another process reads it", f.elsewhere().tenant("Ärzte "), want)
	})
	c.test("the least that can be declared is a name", func(f *fixture) {
		stored := f.declare(fairlead.Tenant{Name: "acme"})
		f.equal("the tenant", f.tenant("acme"), fairlead.Tenant{Name: "acme", Version: stored.Version, CreatedAt: f.now(), UpdatedAt: f.now()})
	})
	c.test("limits and pauses of a queue and a kind that have its name, and those of other tenants, are not the tenant's", func(f *fixture) {
		stored := f.declare(fairlead.Tenant{Name: "acme", MaxRunning: 7})
		f.declare(fairlead.Tenant{Name: "other", MaxRunning: 1, Paused: true})
		f.pause(queuePause("acme"), kindPause("acme"))
		f.limit(fairlead.Limit{Scope: fairlead.LimitQueue, Name: "acme", MaxRunning: 2, Rate: 3, Burst: 4})
		f.limit(fairlead.Limit{Scope: fairlead.LimitKind, Name: "acme", MaxRunning: 5})
		f.equal("the tenant", f.tenant("acme"), stored)
	})
	c.test("one that exists cannot be created", func(f *fixture) {
		f.declare(fairlead.Tenant{Name: "acme", MaxRunning: 1})
		_, err := f.tryDeclare(fairlead.Tenant{Name: "acme", MaxRunning: 2})
		f.wantErr(err, fairlead.ErrConflict)
		f.equal("its cap", f.tenant("acme").MaxRunning, 1)
	})
	c.test("with its version it is replaced as a whole, and gets a larger version", func(f *fixture) {
		first := f.declare(fairlead.Tenant{Name: "acme", MaxRunning: 1, Paused: true, Labels: map[string]string{"a": "b"}, FailURL: "http://acme.example"})
		f.Advance(time.Minute)
		second := f.declare(fairlead.Tenant{Name: "acme", MaxPending: 5, Version: first.Version})
		if second.Version <= first.Version {
			f.Fatalf("version %d follows %d", second.Version, first.Version)
		}
		f.equal("the tenant", f.tenant("acme"), fairlead.Tenant{
			Name: "acme", MaxPending: 5, Version: second.Version, CreatedAt: first.CreatedAt, UpdatedAt: f.now(),
		})
	})
	c.test("a version that is no longer current conflicts and changes nothing", func(f *fixture) {
		first := f.declare(fairlead.Tenant{Name: "acme"})
		second := f.declare(fairlead.Tenant{Name: "acme", MaxRunning: 2, Version: first.Version})
		_, err := f.tryDeclare(fairlead.Tenant{Name: "acme", MaxRunning: 3, Version: first.Version})
		f.wantErr(err, fairlead.ErrConflict)
		f.equal("the tenant", f.tenant("acme"), second)
	})
	for what, change := range map[string]func(f *fixture) error{
		"paused": func(f *fixture) error {
			return f.store.Pause(f.ctx(), fairlead.Pause{Scope: fairlead.PauseTenant, Name: "acme"})
		},
		"resumed": func(f *fixture) error {
			return f.store.Resume(f.ctx(), fairlead.Pause{Scope: fairlead.PauseTenant, Name: "acme"})
		},
	} {
		c.test(named("a tenant that was", what, "gets a larger version, so that who read it before does not undo that"), func(f *fixture) {
			first := f.declare(fairlead.Tenant{Name: "acme", Paused: what == "resumed"})
			other := f.declare(fairlead.Tenant{Name: "other"})
			f.ok(change(f))
			now := f.tenant("acme")
			if now.Version <= first.Version {
				f.Fatalf("version %d follows %d", now.Version, first.Version)
			}
			first.MaxRunning = 3
			_, err := f.tryDeclare(first)
			f.wantErr(err, fairlead.ErrConflict)
			f.equal("the tenant", f.tenant("acme"), now)
			f.equal("whether it is paused", now.Paused, what == "paused")
			f.equal("another tenant", f.tenant("other"), other)
		})
	}
	c.test("what does not exist cannot be replaced", func(f *fixture) {
		_, err := f.tryDeclare(fairlead.Tenant{Name: "acme", Version: 3})
		f.wantErr(err, fairlead.ErrNotFound)
	})
	c.test("a parent must be declared", func(f *fixture) {
		_, err := f.tryDeclare(fairlead.Tenant{Name: "acme", Parent: "nobody"})
		f.wantErr(err, fairlead.ErrInvalid)
		f.equal("the tenants", len(f.tenants(fairlead.TenantFilter{})), 0)
	})
	c.test("a parent has no parent, whoever comes first", func(f *fixture) {
		top := f.declare(fairlead.Tenant{Name: "top"})
		f.declare(fairlead.Tenant{Name: "middle", Parent: "top"})
		_, err := f.tryDeclare(fairlead.Tenant{Name: "bottom", Parent: "middle"})
		f.wantErr(err, fairlead.ErrInvalid)
		f.declare(fairlead.Tenant{Name: "above"})
		_, err = f.tryDeclare(fairlead.Tenant{Name: "top", Parent: "above", Version: top.Version})
		f.wantErr(err, fairlead.ErrInvalid)
	})
	c.test("a deleted tenant is gone, its jobs are not", func(f *fixture) {
		f.declare(fairlead.Tenant{Name: "acme", MaxRunning: 1, Paused: true})
		job := f.enqueue(with(forTenant("acme")))
		f.ok(f.store.DeleteTenant(f.ctx(), "acme"))
		f.equal("the tenants", len(f.tenants(fairlead.TenantFilter{})), 0)
		f.wantClaim(f.join(), everything(), job)
	})
	c.test("a tenant that is not declared cannot be deleted", func(f *fixture) {
		f.enqueue(with(forTenant("acme")))
		f.wantErr(f.store.DeleteTenant(f.ctx(), "acme"), fairlead.ErrNotFound)
	})
	c.test("a parent cannot be deleted while it has children", func(f *fixture) {
		f.declare(fairlead.Tenant{Name: "top"})
		f.declare(fairlead.Tenant{Name: "acme", Parent: "top"})
		f.wantErr(f.store.DeleteTenant(f.ctx(), "top"), fairlead.ErrConflict)
		f.ok(f.store.DeleteTenant(f.ctx(), "acme"))
		f.ok(f.store.DeleteTenant(f.ctx(), "top"))
	})
	c.test("Tenants lists by name, a page at a time", func(f *fixture) {
		for i := range 5 {
			f.declare(fairlead.Tenant{Name: fmt.Sprint("t", (i*3)%5)})
		}
		f.equal("all", tenantNames(f.tenants(fairlead.TenantFilter{})), []string{"t0", "t1", "t2", "t3", "t4"})
		f.equal("the first page", tenantNames(f.tenants(fairlead.TenantFilter{Limit: 2})), []string{"t0", "t1"})
		f.equal("the second page", tenantNames(f.tenants(fairlead.TenantFilter{Limit: 2, After: "t1"})), []string{"t2", "t3"})
		f.equal("some", tenantNames(f.tenants(fairlead.TenantFilter{Names: []string{"t4", "none", "t1"}})), []string{"t1", "t4"})
	})
	c.test("a name is told from one in other case, or with a space at its end", func(f *fixture) {
		for _, name := range []string{"acme", "Acme", "acme "} {
			f.declare(fairlead.Tenant{Name: name})
		}
		f.equal("the tenants", len(f.tenants(fairlead.TenantFilter{})), 3)
	})
	c.test("jobs of a paused tenant are not claimed, all others are", func(f *fixture) {
		held, free := with(forTenant("held"), priority(9)), with(forTenant("free"))
		f.enqueue(held, free)
		paused := f.declare(fairlead.Tenant{Name: "held", Paused: true})
		f.wantClaim(f.join(), everything(), free)
		f.declare(fairlead.Tenant{Name: "held", Version: paused.Version})
		f.wantClaim(f.join(), everything(), held)
	})
	c.test("a paused parent pauses its children", func(f *fixture) {
		f.declare(fairlead.Tenant{Name: "top", Paused: true})
		f.declare(fairlead.Tenant{Name: "acme", Parent: "top"})
		f.enqueue(with(forTenant("acme")))
		f.wantClaim(f.join(), everything())
	})
	c.test("Pause and Resume of a tenant are seen in what was declared of it", func(f *fixture) {
		f.declare(fairlead.Tenant{Name: "acme"})
		pause := fairlead.Pause{Scope: fairlead.PauseTenant, Name: "acme"}
		f.pause(pause)
		f.equal("paused", f.tenant("acme").Paused, true)
		f.resume(pause)
		f.equal("paused", f.tenant("acme").Paused, false)
	})
	c.test("a tenant that was paused before it was declared stays paused", func(f *fixture) {
		f.pause(fairlead.Pause{Scope: fairlead.PauseTenant, Name: "acme"})
		f.pause(fairlead.Pause{Scope: fairlead.PauseKind, Name: "other"})
		f.equal("paused", f.declare(fairlead.Tenant{Name: "acme", MaxRunning: 3}).Paused, true)
		f.equal("paused", f.tenant("acme").Paused, true)
		f.equal("paused", f.declare(fairlead.Tenant{Name: "other"}).Paused, false)
	})
	c.test("a tenant that nobody declared can be paused", func(f *fixture) {
		job := f.enqueue(with(forTenant("acme")))
		pause := fairlead.Pause{Scope: fairlead.PauseTenant, Name: "acme"}
		f.pause(pause)
		f.wantClaim(f.join(), everything())
		f.resume(pause)
		f.wantClaim(f.join(), everything(), job)
	})
	c.test("another process does not claim after a tenant was paused, and does after it was resumed", func(f *fixture) {
		g := f.elsewhere()
		job, node := f.enqueue(with(forTenant("acme"))), g.join()
		tenant := f.declare(fairlead.Tenant{Name: "acme"})
		for range 3 {
			tenant.Paused = true
			tenant = f.declare(tenant)
			g.wantClaim(node, everything())
			tenant.Paused = false
			tenant = f.declare(tenant)
			g.settle(to(fairlead.MoveRelease, g.claimThe(job, node)))
		}
	})
	c.test("minimums of all tenants must fit into the global cap", func(f *fixture) {
		f.limit(fairlead.Limit{Scope: fairlead.LimitGlobal, MaxRunning: 10})
		f.declare(fairlead.Tenant{Name: "a", MinRunning: 6})
		_, err := f.tryDeclare(fairlead.Tenant{Name: "b", MinRunning: 5})
		f.wantErr(err, fairlead.ErrInvalid)
		f.declare(fairlead.Tenant{Name: "b", MinRunning: 4})
		f.wantErr(f.tryLimit(fairlead.Limit{Scope: fairlead.LimitGlobal, MaxRunning: 9}), fairlead.ErrInvalid)
		f.limit(fairlead.Limit{Scope: fairlead.LimitGlobal})
		f.declare(fairlead.Tenant{Name: "c", MinRunning: 50})
	})
}
