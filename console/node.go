package console

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"connectrpc.com/connect"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// nodePage shows one node.
type nodePage struct {
	nodeLine
	Jobs     []*fairleadv1.NodeJob
	Held     int // number of jobs of the node; Jobs may contain fewer
	SameName []nodeLine
	Lost     int // number of nodes of this name that lost their leases
}

func loadNode(v *visit) (any, error) {
	if err := v.only(); err != nil {
		return nil, err
	}
	id, isNumber := number(v.Value("id"))
	if !isNumber {
		return nil, errNoNode(v)
	}
	details, err := v.nodes.GetNode(v.ctx, &fairleadv1.GetNodeRequest{Id: id})
	if connect.CodeOf(err) == connect.CodeNotFound {
		return nil, errNoNode(v)
	}
	if err != nil {
		return nil, err
	}
	page := &nodePage{nodeLine: lineOf(details.GetNode()), Jobs: details.GetRunning(), Held: int(details.GetRunningCount())}
	if page.State == "dead" {
		page.Lost++
	}
	for _, node := range details.GetSameName() {
		line := lineOf(node)
		page.SameName = append(page.SameName, line)
		if line.State == "dead" {
			page.Lost++
		}
	}
	return page, nil
}

// Known returns the number of nodes of this name that the page covers.
func (p *nodePage) Known() int { return 1 + len(p.SameName) }

// End returns the time at which the node left or its lease expired, or zero if it is alive.
func (n nodeLine) End() time.Time {
	switch n.State {
	case "left":
		return moment(n.GetLeftAt())
	case "dead":
		return moment(n.GetLeaseUntil())
	}
	return time.Time{}
}

// errNoNode returns the error for a node that is not on record.
func errNoNode(v *visit) error {
	return connect.NewError(connect.CodeNotFound, errors.New(v.T("This node no longer exists.")))
}

// nodeNames returns the names of nodes by ID. Viewers bound to tenants get none.
func (v *visit) nodeNames() (map[int64]string, error) {
	names := map[int64]string{}
	if v.Bound() {
		return names, nil
	}
	nodes, err := v.nodes.ListNodes(v.ctx, &fairleadv1.ListNodesRequest{})
	for _, node := range nodes.GetItems() {
		names[node.GetId()] = node.GetName()
	}
	return names, err
}

func nodeName(names map[int64]string, id int64) string {
	if name := names[id]; name != "" {
		return name
	}
	return "#" + text(id)
}

// nodeLink returns the name of a node, with a link to its page if the node is on record.
func (v *visit) nodeLink(names map[int64]string, id int64) link {
	to := link{Text: nodeName(names, id)}
	if _, known := names[id]; known {
		to.Href = v.To("/nodes", id)
	}
	return to
}

// findNodes finds nodes by ID or name: of the nodes with the same name, a live one or the
// newest. Only viewers with access to all tenants see them.
func findNodes(v *visit, f *finding) error {
	nodes, err := v.nodes.ListNodes(v.ctx, &fairleadv1.ListNodesRequest{})
	items := slices.SortedFunc(slices.Values(nodes.GetItems()), func(a, b *fairleadv1.Node) int {
		switch {
		case a.GetDead() == b.GetDead():
			return cmp.Compare(b.GetId(), a.GetId())
		case a.GetDead():
			return 1
		}
		return -1
	})
	named := map[string]bool{}
	for _, node := range items {
		href := v.To("/nodes", node.GetId())
		if text(node.GetId()) == f.query {
			f.exactly(nodeTitle(node), v.T("node"), href)
		}
		if !named[node.GetName()] {
			f.named(node.GetName(), v.T("node"), href)
			named[node.GetName()] = true
		}
	}
	return found(err)
}
