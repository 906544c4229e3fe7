package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/internal/screen"
)

func (s *session) nodeCommand() *cobra.Command {
	return s.prints(s.connects(noun("node", "List and drain nodes (the processes that run jobs)", s.nodeGetCommand(), s.nodeListCommand(), s.nodeDrainCommand())))
}

func (s *session) nodeListCommand() *cobra.Command {
	return verb("list", "List live nodes and those that recently left or died", s.runs(func(ctx context.Context, c *call) error {
		all, err := c.nodes.ListNodes(ctx, &fairleadv1.ListNodesRequest{})
		if err != nil {
			return err
		}
		table := c.Table("ID", "NAME", "STATE", "SLOTS", "IDLE", "QUEUED", "SWEEPS", "LAST HEARTBEAT", "VERSION", "QUEUES", "ADDRESS")
		for _, n := range all.GetItems() {
			queues := strings.Join(n.GetQueues(), ",")
			if queues == "" {
				queues = "(all)"
			}
			table.Add(n.GetId(), n.GetName(), nodeState(n), n.GetSlots(), n.GetIdleSlots(), n.GetQueued(), sweepsOf(n), n.GetLastBeat(), n.GetVersion(), queues, n.GetAddress())
		}
		return c.printTable(all, table)
	}))
}

// sweepsOf returns the current and the maximum number of sweeps on a node.
func sweepsOf(n *fairleadv1.Node) string {
	if n.GetMaxSweeps() == 0 {
		return ""
	}
	return fmt.Sprintf("%d/%d", n.GetSweeps(), n.GetMaxSweeps())
}

func nodeState(n *fairleadv1.Node) screen.Cell {
	switch {
	case n.GetLeftAt() != nil:
		return screen.Cell{Text: "left"}
	case n.GetDead():
		return screen.Cell{Text: "dead", Tone: screen.Bad}
	case n.GetDraining():
		return screen.Cell{Text: "draining", Tone: screen.Warn}
	}
	return screen.Cell{Text: "alive", Tone: screen.Good}
}

func (s *session) nodeGetCommand() *cobra.Command {
	cmd := verb("get NODE", "Show a node and the jobs that it is running", s.runs(func(ctx context.Context, c *call) error {
		id, err := c.nodeID(ctx, c.args[0])
		if err != nil {
			return err
		}
		details, err := c.nodes.GetNode(ctx, &fairleadv1.GetNodeRequest{Id: id})
		if err != nil {
			return err
		}
		return c.print(details, func() error { return c.showNode(details) })
	}))
	cmd.ValidArgsFunction = first(s.asked(nodeNames))
	return cmd
}

// showNode writes a node, and a table of its jobs if there are any.
func (c *call) showNode(details *fairleadv1.NodeDetails) error {
	if err := c.printDetails(details.GetNode(), nil); err != nil || len(details.GetRunning()) == 0 {
		return err
	}
	table := c.Table("JOB", "KIND", "TENANT", "QUEUE", "ATTEMPT", "CLAIMED")
	for _, job := range details.GetRunning() {
		table.Add(job.GetId(), job.GetKind(), job.GetTenant(), job.GetQueue(), job.GetAttempt(), job.GetStartedAt())
	}
	return table.Write()
}

func (s *session) nodeDrainCommand() *cobra.Command {
	var undo bool
	cmd := verb("drain NODE", "Drain a node: start no new jobs and let running jobs finish", s.runs(func(ctx context.Context, c *call) error {
		id, err := c.nodeID(ctx, c.args[0])
		if err != nil {
			return err
		}
		answer, err := c.nodes.DrainNode(ctx, &fairleadv1.DrainNodeRequest{Id: id, Undo: undo})
		if err != nil {
			return err
		}
		if undo {
			return c.say(answer, "node %d no longer draining", id)
		}
		return c.say(answer, "node %d draining", id)
	}))
	cmd.Flags().BoolVar(&undo, "undo", false, "stop draining the node so that it can start jobs again")
	cmd.ValidArgsFunction = first(s.asked(nodeNames))
	return cmd
}

// nodeID returns the ID of a node given by ID or by name. The name must be unique among
// live nodes.
func (c *call) nodeID(ctx context.Context, text string) (int64, error) {
	if id, err := strconv.ParseInt(text, 10, 64); err == nil {
		return id, nil
	}
	all, err := c.nodes.ListNodes(ctx, &fairleadv1.ListNodesRequest{})
	if err != nil {
		return 0, err
	}
	var ids []string
	var id int64
	for _, n := range all.GetItems() {
		if n.GetName() == text && !n.GetDead() {
			id, ids = n.GetId(), append(ids, fmt.Sprint(n.GetId()))
		}
	}
	switch len(ids) {
	case 0:
		return 0, failf(ExitNotFound, "no live node is named %q: list nodes with fairlead node list", text)
	case 1:
		return id, nil
	}
	return 0, Usagef("nodes %s are all named %q: use the ID", strings.Join(ids, ", "), text)
}
