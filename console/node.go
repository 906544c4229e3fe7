package console

import (
	"errors"
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

// foundNodes limits the number of nodes in search results.
const foundNodes = 5

// findNode finds nodes by ID or name, live nodes first.
func findNode(v *visit, query string) (all []hit) {
	if v.Bound() {
		return nil
	}
	nodes, err := v.nodes.ListNodes(v.ctx, &fairleadv1.ListNodesRequest{})
	if err != nil {
		return nil
	}
	for _, dead := range []bool{false, true} {
		for _, node := range nodes.GetItems() {
			matches := node.GetName() == query || text(node.GetId()) == query
			if matches && node.GetDead() == dead && len(all) < foundNodes {
				all = append(all, hit{Title: nodeTitle(node), What: v.T("node"), Href: v.To("/nodes", node.GetId())})
			}
		}
	}
	return all
}
