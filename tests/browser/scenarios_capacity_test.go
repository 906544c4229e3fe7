package browser

import (
	"fmt"
	"net/http"
	"testing"
)

// pausesATenantWithAReason starts from the list of tenants on the overview.
func pausesATenantWithAReason(t *testing.T) *person {
	n := newNight(t)
	n.ask(http.MethodPost, "/tenants", `{"name":"acme"}`)
	n.enqueue(`{"kind":"legacy","tenant":"acme"}`)
	n.wakes()
	n.goes("#overview-tenants", "acme")
	n.opens("#tenant-actions", "Pause")
	n.types("Reason", "their database is down")
	n.submits("Pause tenant")
	stats := read[map[string]any](n, "/tenants/acme/stats")
	if stats["paused"] != true || stats["pause_reason"] != "their database is down" {
		t.Errorf("the tenant is %v", stats)
	}
	n.sees("#live", "their database is down")
	return n.person
}

// raisesACapAfterAPreview starts from what needs attention.
func raisesACapAfterAPreview(t *testing.T) *person {
	n := newNight(t)
	n.ask(http.MethodPost, "/tenants", `{"name":"acme","max_running":1}`)
	n.enqueue(n.call("/hang", `,"tenant":"acme"`), n.call("/hang", `,"tenant":"acme"`), n.call("/hang", `,"tenant":"acme"`))
	n.wakes()
	n.sees("#attention", "At the cap for")
	n.opens("#attention", "Raise the cap")
	n.types("Cap", "3")
	n.click("form.act .buttons", "Preview")
	n.sees("#dialog #foreseen", "1 group will start earlier.")
	if n.count("state=running&tenant=acme") != 1 {
		t.Error("the preview started jobs")
	}
	n.submits("Save")
	n.awaits("the jobs run", func() bool { return n.count("state=running&tenant=acme") == 3 })
	if tenant := read[map[string]any](n, "/tenants/acme"); tenant["max_running"] != 3.0 {
		t.Errorf("the tenant is %v", tenant)
	}
	return n.person
}

// checksANode starts from the list of nodes on the overview.
func checksANode(t *testing.T) *person {
	n := newNight(t, "--slots", "4")
	n.enqueue(n.call("/hang", ""), n.call("/hang", ""), n.call("/hang", ""))
	n.awaits("the jobs run", func() bool { return n.count("state=running") == 3 })
	n.wakes()
	n.goes("#overview-nodes", "worker-1")
	node := read[struct {
		Node struct {
			Name  string
			Slots int
		}
		Running []struct{ ID string }
	}](n, "/nodes/"+n.lastOf("/nodes/"))
	if node.Node.Name != "worker-1" || node.Node.Slots != 4 || len(node.Running) != 3 {
		t.Errorf("the node is %+v", node)
	}
	n.sees("#standing", "alive")
	n.sees("#figures", "3 / 4")
	n.sees("#node-facts", "Last heartbeat")
	n.sees("#node-facts", "Lost leases 0")
	for _, job := range node.Running {
		n.sees("#node-jobs", job.ID)
	}
	return n.person
}

// undoesAChange reverts it from the audit log.
func undoesAChange(t *testing.T) *person {
	n := newNight(t)
	n.ask(http.MethodPost, "/tenants", `{"name":"acme","max_running":50,"rate":20}`)
	n.ask(http.MethodPatch, "/tenants/acme", `{"max_running":5}`)
	n.wakes()
	n.goes(".nav", "Audit log")
	n.opens("tbody tr:first-child", "Revert")
	n.submits("Save")
	if tenant := read[map[string]any](n, "/tenants/acme"); tenant["max_running"] != 50.0 || tenant["rate"] != 20.0 {
		t.Errorf("the tenant is %v", tenant)
	}
	return n.person
}

// isToldThatTheServerHangs looks at the overview while the server hangs.
func isToldThatTheServerHangs(t *testing.T) *person {
	n := newNight(t)
	wire, url := falter(t, n.url)
	n.wakesAt(url)
	wire.Lock()
	n.enqueue(`{"kind":"legacy"}`, `{"kind":"legacy"}`)
	n.sees("#stale", "Out of date: the server is not responding")
	wire.Unlock()
	n.await(`document.getElementById("stale").hidden`)
	n.sees(`.figure:has(a[href$="state=ready"])`, fmt.Sprint(n.count("state=ready")))
	return n.person
}
