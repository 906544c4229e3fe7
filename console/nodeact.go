package console

import (
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

var nodeActions = []action{
	{name: "node-drain", path: "/nodes/{id}/drain", Title: "Drain node", Nav: "nodes", method: "DrainNode", Grave: true, load: loadNodeAct, do: drainNode},
	{name: "node-undrain", path: "/nodes/{id}/undrain", Title: "Resume node", Nav: "nodes", method: "DrainNode", load: loadNodeAct, do: undrainNode},
}

// loadNodeAct loads the node for a form.
func loadNodeAct(v *visit) (any, error) {
	nodes, err := v.nodes.ListNodes(v.ctx, &fairleadv1.ListNodesRequest{})
	if err != nil {
		return nil, err
	}
	for _, node := range nodes.GetItems() {
		if text(node.GetId()) == v.Value("id") {
			return lineOf(node), nil
		}
	}
	return nil, errNoNode(v)
}

func drainNode(v *visit) (done, error) {
	return v.drain(false, v.T("The node is draining."))
}

func undrainNode(v *visit) (done, error) { return v.drain(true, v.T("The node can start jobs again.")) }

func (v *visit) drain(undo bool, notice string) (done, error) {
	id, _ := number(v.Value("id")) // the API rejects an invalid ID
	_, err := v.nodes.DrainNode(v.ctx, &fairleadv1.DrainNodeRequest{Id: id, Undo: undo})
	return done{Notice: notice}, err
}
