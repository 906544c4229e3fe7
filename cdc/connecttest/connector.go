package connecttest

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"time"
)

// The states of connectors and tasks.
const (
	Running    = "RUNNING"
	Paused     = "PAUSED"
	Stopped    = "STOPPED"
	Failed     = "FAILED"
	Unassigned = "UNASSIGNED"
)

// connector is one connector of a cluster. What is asked for shows later.
type connector struct {
	config  map[string]string
	target  string // asked for last
	shown   string // before that; empty if the connector is new
	changed time.Time
	tasks   int // in the records of the cluster
	broken  int // restarts until its tasks run; negative: never
	trace   string
}

// put adds a connector whose state shows already.
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

// get is a connector as it is to be.
func (c *cluster) get(name string) Connector {
	found := c.connectors[name]
	return Connector{Config: maps.Clone(found.config), State: found.target, Offsets: c.listOffsets(name)}
}

// plan gives a connector the tasks that it asks for when it starts, and takes
// them away when it is stopped. One that is paused keeps those it has.
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

// ask changes what a connector is to be.
func (n *connector) ask(target string, settle time.Duration) {
	if target == n.target {
		return
	}
	n.shown, n.target, n.changed = n.state(settle), target, time.Now()
	if target == Stopped {
		n.plan() // the records forget the tasks at once
	}
}

// state is what the status shows. It is empty if there is no status yet.
func (n *connector) state(settle time.Duration) string {
	if time.Since(n.changed) < settle {
		return n.shown
	}
	if n.target == Running {
		n.plan()
	}
	return n.target
}

// alter changes offsets. A null one makes the cluster forget its partition.
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

// tidy writes JSON with names in order and numbers as they were.
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
