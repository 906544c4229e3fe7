package console

import (
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// nodesPage shows the nodes.
type nodesPage struct {
	Nodes []nodeLine
}

// nodeLine is a node with its state.
type nodeLine struct {
	*fairleadv1.Node
	State string
}

func lineOf(node *fairleadv1.Node) nodeLine {
	return nodeLine{Node: node, State: nodeState(node)}
}

func loadNodes(v *visit) (any, error) {
	if err := v.only(); err != nil {
		return nil, err
	}
	nodes, err := v.nodes.ListNodes(v.ctx, &fairleadv1.ListNodesRequest{})
	if err != nil {
		return nil, err
	}
	page := &nodesPage{}
	for _, node := range nodes.GetItems()[:min(len(nodes.GetItems()), maxRows)] {
		page.Nodes = append(page.Nodes, lineOf(node))
	}
	return page, nil
}

// maxRows limits the number of rows on a page.
const maxRows = 500

func nodeState(node *fairleadv1.Node) string {
	switch {
	case node.GetLeftAt() != nil:
		return "left"
	case node.GetDead():
		return "dead"
	case node.GetDraining():
		return "draining"
	}
	return "alive"
}

// queuesPage shows queues and kinds.
type queuesPage struct {
	Queues []queueLine
	Cut    bool // whether there are more than fit on a page
	Kinds  []*fairleadv1.Kind
}

// queueLine is a queue with its jobs, by state.
type queueLine struct {
	*fairleadv1.Queue
	Counts []stateCount
}

// stateCount is the number of jobs in a state.
type stateCount struct {
	State string
	count
}

func loadQueues(v *visit) (any, error) {
	if err := v.only(); err != nil {
		return nil, err
	}
	queues, err := v.queues.ListQueues(v.ctx, &fairleadv1.ListQueuesRequest{})
	if err != nil {
		return nil, err
	}
	page := &queuesPage{Cut: len(queues.GetItems()) > maxRows}
	for _, q := range queues.GetItems()[:min(len(queues.GetItems()), maxRows)] {
		line := queueLine{Queue: q}
		for _, part := range []struct {
			state string
			n     int64
		}{{"ready", q.GetReady()}, {"running", q.GetRunning()}, {"waiting", q.GetWaiting()}, {"parked", q.GetParked()}, {"scheduled", q.GetScheduled()}} {
			line.Counts = append(line.Counts, stateCount{part.state, count{N: part.n, Href: v.Href("/jobs", "state", part.state, "queue", q.GetName())}})
		}
		page.Queues = append(page.Queues, line)
	}
	kinds, err := v.kinds.ListKinds(v.ctx, &fairleadv1.ListKindsRequest{})
	if err != nil {
		return nil, err
	}
	page.Kinds = kinds.GetItems()[:min(len(kinds.GetItems()), maxRows)]
	return page, nil
}

// findQueues finds queues by name. Only viewers with access to all tenants see them.
func findQueues(v *visit, f *finding) error {
	queues, err := v.queues.ListQueues(v.ctx, &fairleadv1.ListQueuesRequest{})
	for _, q := range queues.GetItems() {
		f.named(q.GetName(), v.T("queue"), v.Href("/jobs", "queue", q.GetName()))
	}
	return found(err)
}

// findKinds finds kinds by name: kinds that have live jobs, kinds that nodes handle, paused
// kinds, and kinds used by schedules. Viewers bound to tenants find only the kinds used by their schedules.
func findKinds(v *visit, f *finding) error {
	kinds, err := v.kinds.ListKinds(v.ctx, &fairleadv1.ListKindsRequest{})
	if err := found(err); err != nil {
		return err
	}
	add := func(name string) { f.named(name, v.T("kind"), v.Href("/jobs", "kind", name)) }
	for _, kind := range kinds.GetItems() {
		add(kind.GetName())
	}
	schedules, err := v.schedules.ListSchedules(v.ctx, &fairleadv1.ListSchedulesRequest{PageSize: findAmong})
	for _, s := range schedules.GetItems() {
		add(s.GetJob().GetKind())
	}
	return found(err)
}
