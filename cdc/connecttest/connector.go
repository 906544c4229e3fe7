package connecttest

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"time"
)

// States of connectors and tasks.
const (
	Running    = "RUNNING"
	Paused     = "PAUSED"
	Stopped    = "STOPPED"
	Failed     = "FAILED"
	Unassigned = "UNASSIGNED"
)

// connector is one connector of a cluster. Requested changes become visible later.
type connector struct {
	config  map[string]string
	target  string // last requested state
	shown   string // state before that; empty if the connector is new
	changed time.Time
	tasks   int // number of tasks in the records of the cluster
	broken  int // restarts until the tasks run; negative = never
	trace   string
}

// put adds a connector with its state already visible.
func (c *cluster) put(name string, wanted Connector) {
	made := &connector{config: maps.Clone(wanted.Config), target: wanted.State}
	if made.config == nil {
		made.config = map[string]string{}
	}
	made.config["name"] = name
	if made.target == "" {
		made.target = Running
	}
	made.shown = made.target
	made.plan()
	c.connectors[name] = made
	c.offsets[name] = map[string]Offset{}
	c.alter(name, wanted.Offsets)
}

// get returns a connector in its target state.
func (c *cluster) get(name string) Connector {
	found := c.connectors[name]
	return Connector{Config: maps.Clone(found.config), State: found.target, Offsets: c.listOffsets(name)}
}

// plan assigns tasks to a starting connector, and removes them from a stopped one. A paused
// connector retains its tasks.
func (n *connector) plan() {
	switch n.target {
	case Running:
		n.tasks = 1
		if most, err := strconv.Atoi(n.config["tasks.max"]); err == nil && most > 0 {
			n.tasks = most
		}
	case Stopped:
		n.tasks = 0
	}
}

// ask changes the target state of a connector.
func (n *connector) ask(target string, settle time.Duration) {
	if target == n.target {
		return
	}
	n.shown, n.target, n.changed = n.state(settle), target, time.Now()
	if target == Stopped {
		n.plan() // the records drop the tasks immediately
	}
}

// state returns the visible state, or an empty string if there is no status yet.
func (n *connector) state(settle time.Duration) string {
	if time.Since(n.changed) < settle {
		return n.shown
	}
	if n.target == Running {
		n.plan()
	}
	return n.target
}

// alter changes offsets. A null offset makes the cluster remove its partition.
func (c *cluster) alter(name string, changes []Offset) {
	if c.offsets[name] == nil {
		c.offsets[name] = map[string]Offset{}
	}
	for _, change := range changes {
		partition, offset := tidy(change.Partition), tidy(change.Offset)
		if string(offset) == "null" {
			delete(c.offsets[name], string(partition))
		} else {
			c.offsets[name][string(partition)] = Offset{Partition: partition, Offset: offset}
		}
	}
}

func (c *cluster) listOffsets(name string) []Offset {
	list := []Offset{}
	for _, partition := range slices.Sorted(maps.Keys(c.offsets[name])) {
		list = append(list, c.offsets[name][partition])
	}
	return list
}

// tidy returns JSON with sorted names and numbers in their original form.
func tidy(raw json.RawMessage) json.RawMessage {
	var value any
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if decoder.Decode(&value) != nil {
		return raw
	}
	written, err := json.Marshal(value)
	if err != nil {
		return raw
	}
	return written
}
