package console

import (
	"fmt"
	"strings"
	"time"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// deadNews is how long a dead node is reported.
const deadNews = 10 * time.Minute

// deadNodes returns dead nodes and nodes whose heartbeats are overdue.
func (v *visit) deadNodes(o *overview) (all []concern, err error) {
	for _, node := range o.Nodes {
		one := concern{ID: "node-silent-" + text(node.GetId()), Href: v.To("/nodes", node.GetId())}
		lease := node.GetLeaseUntil().AsTime().Sub(node.GetLastBeat().AsTime())
		switch {
		case node.GetLeftAt() != nil: // left normally
			continue
		case node.GetDead() && v.Now.Sub(node.GetLeaseUntil().AsTime()) > deadNews:
			continue // no longer news; the list of nodes still contains it
		case node.GetDead():
			one.State, one.Text = "dead", v.T("Node %s has died.", nodeTitle(node))
			one.Remedy = v.T("Its jobs were reclaimed and run on other nodes that handle their kind. Check the node's log.")
			one.Acts = []act{{Href: one.Href, Label: v.T("Node")}}
		case v.Now.Sub(node.GetLastBeat().AsTime()) > lease/2:
			one.State, one.Text = "paused", v.T("Node %s missed its heartbeat.", nodeTitle(node))
			one.Remedy = v.T("The node may be overloaded, suspended or cut off from the database. Its jobs are reclaimed when its lease expires.")
			one.Acts = []act{{Href: one.Href, Label: v.T("Node")}}
		default:
			continue
		}
		if all = append(all, one); len(all) == concernKinds {
			return all, nil
		}
	}
	return all, nil
}

// nodeTitle returns a title that distinguishes nodes with the same name.
func nodeTitle(node *fairleadv1.Node) string {
	return strings.TrimSpace(fmt.Sprintf("%s %s", text(node.GetId()), parenthesised(node.GetName())))
}

// parenthesised returns a string in parentheses, or nothing if it is empty.
func parenthesised(text string) string {
	if text == "" {
		return ""
	}
	return "(" + text + ")"
}

// openBreakers returns the targets of calls that are currently not called.
func (v *visit) openBreakers(*overview) (all []concern, err error) {
	breakers, err := v.system.ListBreakers(v.ctx, &fairleadv1.ListBreakersRequest{})
	if err != nil {
		return nil, err
	}
	for _, b := range breakers.GetItems()[:min(len(breakers.GetItems()), concernKinds)] {
		all = append(all, concern{
			ID: "breaker-" + b.GetAddress(), State: b.GetState(), Text: v.T("Calls to %s are suspended because too many failed.", b.GetAddress()), Href: v.Href("/jobs", "kind", "http", "state", "scheduled"),
			Remedy: v.T("Calls resume when the target responds again. Next attempt: %s.", v.clock(b.GetOpenUntil().AsTime())),
			Acts:   []act{{Href: v.Href("/jobs", "kind", "http", "state", "scheduled"), Label: v.T("Waiting jobs")}},
		})
	}
	return all, nil
}

// pausedQueues returns the paused queues.
func (v *visit) pausedQueues(*overview) (all []concern, err error) {
	queues, err := v.queues.ListQueues(v.ctx, &fairleadv1.ListQueuesRequest{})
	if err != nil {
		return nil, err
	}
	for _, q := range queues.GetItems() {
		if !q.GetPaused() {
			continue
		}
		c := count{N: q.GetReady(), Href: v.Href("/jobs", "state", "ready", "queue", q.GetName())}
		all = append(all, concern{
			ID: "queue-paused-" + q.GetName(), State: "paused", Text: v.T("Queue %s is paused. Ready jobs in this queue:", q.GetName()), Count: &c, Href: v.Href("/queues"),
			Reason: q.GetPauseReason(),
			Remedy: v.T("No job in it starts until you resume it."),
			Acts:   []act{v.resumeAct("ResumeQueue", "/queues", q.GetName())},
		})
		if len(all) == concernKinds {
			return all, nil
		}
	}
	return all, nil
}

// pausedKinds returns the paused kinds.
func (v *visit) pausedKinds(*overview) (all []concern, err error) {
	kinds, err := v.kinds.ListKinds(v.ctx, &fairleadv1.ListKindsRequest{})
	if err != nil {
		return nil, err
	}
	for _, kind := range kinds.GetItems() {
		if !kind.GetPaused() || len(all) == concernKinds {
			continue
		}
		c, err := v.heldCount("ready", "kind", kind.GetName())
		if err != nil {
			return nil, err
		}
		all = append(all, concern{
			ID: "kind-paused-" + kind.GetName(), State: "paused", Text: v.T("Kind %s is paused. Ready jobs of this kind:", kind.GetName()), Count: &c, Href: v.Href("/queues") + "#kinds",
			Reason: kind.GetPauseReason(),
			Remedy: v.T("No job of this kind starts until you resume it."),
			Acts:   []act{v.resumeAct("ResumeKind", "/kinds", kind.GetName())},
		})
	}
	return all, nil
}

// pausedTenants returns the paused tenants.
func (v *visit) pausedTenants(o *overview) (all []concern, err error) {
	for _, usage := range o.usages {
		if !usage.GetPaused() || len(all) == concernKinds {
			continue
		}
		name := usage.GetTenant()
		one := concern{
			ID: "tenant-paused-" + name, State: "paused", Text: v.T("Tenant %s is paused.", name), Href: v.To("/tenants", name), Reason: usage.GetPauseReason(),
			Remedy: v.T("None of its jobs start until it is resumed."),
		}
		if v.Unbound() {
			one.Acts = []act{v.resumeAct("ResumeTenant", "/tenants", name)}
		}
		all = append(all, one)
	}
	return all, nil
}
