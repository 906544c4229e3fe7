package sqlstore

import (
	"encoding/json"
	"fmt"

	"github.com/fairlead-io/fairlead"
)

// nodeInfo is the immutable part of a node, stored as JSON.
type nodeInfo struct {
	Address  string                  `json:"address,omitempty"`
	Version  string                  `json:"version,omitempty"`
	Queues   []string                `json:"queues,omitempty"`
	Kinds    []string                `json:"kinds,omitempty"`
	Slots    int                     `json:"slots,omitempty"`
	Capacity int                     `json:"capacity,omitempty"`
	Sweeps   int                     `json:"max_sweeps,omitempty"`
	Remote   bool                    `json:"remote,omitempty"`
	Owner    string                  `json:"owner,omitempty"`
	Tenants  []string                `json:"tenants,omitempty"`
	Defaults []fairlead.KindDefaults `json:"defaults,omitempty"`
}

// NoLiveNode returns an ErrNotFound for a node that is unknown or dead.
func NoLiveNode(node fairlead.NodeID) error {
	return fmt.Errorf("node %d is not alive: %w", node, fairlead.ErrNotFound)
}

// NodeInfo returns the value of a node's info column.
func NodeInfo(node *fairlead.Node) ([]byte, error) {
	return json.Marshal(nodeInfo{
		Address: node.Address, Version: node.Version, Queues: node.Queues, Kinds: node.Kinds, Slots: node.Slots, Capacity: node.Capacity, Sweeps: node.MaxSweeps,
		Remote: node.Remote, Owner: node.Owner, Tenants: node.Tenants, Defaults: node.Defaults,
	})
}

// ScanNode reads a node from the columns id, name, info, idle, queued, joined_at, last_beat,
// lease_until, draining and dead, followed by whether the node has no token, and left_at.
func ScanNode(row Scanner) (n fairlead.Node, err error) {
	var text []byte
	var joined, beat, until, left int64
	if err := row.Scan(&n.ID, &n.Name, &text, &n.Idle, &n.Queued, &joined, &beat, &until, &n.Draining, &n.Dead, &n.NoToken, &left); err != nil {
		return n, err
	}
	var info nodeInfo
	if err := json.Unmarshal(text, &info); err != nil {
		return n, fmt.Errorf("info of node %d: %w", n.ID, err)
	}
	n.Address, n.Version, n.Queues, n.Kinds, n.Slots, n.Capacity = info.Address, info.Version, info.Queues, info.Kinds, info.Slots, info.Capacity
	n.MaxSweeps, n.Remote, n.Owner, n.Tenants, n.Defaults = info.Sweeps, info.Remote, info.Owner, info.Tenants, info.Defaults
	n.JoinedAt, n.LastBeat, n.Until, n.LeftAt = Time(joined), Time(beat), Time(until), Time(left)
	return n, nil
}
