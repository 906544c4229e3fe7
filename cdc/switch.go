package cdc

import (
	"context"
	"encoding/json"
	"fmt"
)

// axis is the property of clusters that a move changes.
type axis struct {
	field string // name of the parameter
	of    func(Cluster) string
	place func(env, value string, from Cluster) (string, string, string) // environment, availability zone and run system of a destination
	// narrow reports whether to search a cluster for the connector. The availability zone of
	// the batch says where connectors come from.
	narrow func(c Cluster, az, value string) bool
	want   func(Param) string
	set    func(*Param, string)
}

var byAZ = axis{
	field: "switch_az.az",
	of:    func(c Cluster) string { return c.AZ },
	place: func(env, az string, from Cluster) (string, string, string) { return env, az, from.RunSystem },
	narrow: func(c Cluster, az, value string) bool {
		return c.AZ == value || az == value || fits(c.AZ, az)
	},
	want: func(p Param) string {
		if p.SwitchAZ == nil {
			return ""
		}
		return p.SwitchAZ.AZ
	},
	set: func(p *Param, az string) { p.SwitchAZ = &SwitchAZ{AZ: az} },
}

var byRunSystem = axis{
	field:  "switch_run_system.run_system",
	of:     func(c Cluster) string { return c.RunSystem },
	place:  func(env, runSystem string, from Cluster) (string, string, string) { return env, from.AZ, runSystem },
	narrow: func(c Cluster, az, _ string) bool { return fits(c.AZ, az) },
	want: func(p Param) string {
		if p.SwitchRunSystem == nil {
			return ""
		}
		return p.SwitchRunSystem.RunSystem
	},
	set: func(p *Param, runSystem string) { p.SwitchRunSystem = &SwitchRunSystem{RunSystem: runSystem} },
}

// moveOperation moves connectors to another availability zone or run system. The comments
// on move and moveBack explain why it may be repeated. The snapshot names both clusters, so
// that a repeated attempt cannot choose others.
func (h *Handler) moveOperation(batchType string, by axis) Operation {
	return Operation{
		TargetType: TargetCDC, BatchType: batchType, Timeout: moveTimeout,
		BuildParam: func(ctx context.Context, task Task, after json.RawMessage) (json.RawMessage, error) {
			want, err := readParam("after", after)
			if err != nil {
				return nil, err
			}
			return h.buildMove(ctx, task, by, want)
		},
		AlreadyDone: func(ctx context.Context, task Task, raw json.RawMessage) (bool, error) {
			if task.Undo {
				return h.movedBack(ctx, task, raw)
			}
			want, err := readParam("after", raw)
			if err != nil {
				return false, err
			}
			r, err := h.route(ctx, task, by, by.want(want))
			return err == nil && r.from == r.to, err
		},
		Process: func(ctx context.Context, task Task, before, after json.RawMessage) error {
			was, want, err := readParams(before, after)
			if err != nil {
				return err
			}
			from, to, err := h.ends(ctx, task, by, was, want)
			if err != nil || from == to {
				return err
			}
			return move(ctx, task, from, to, was.Connector)
		},
		Undo: func(ctx context.Context, task Task, before, after json.RawMessage) error {
			was, want, err := readParams(before, after)
			if err != nil {
				return err
			}
			home, away, err := h.endsBack(ctx, task, by, was, want)
			switch {
			case err != nil:
				return err
			case home != away:
				return h.moveBack(ctx, task, home, away, was.Connector)
			case was.Connector != nil:
				return h.restore(ctx, home, was.Connector, h.undoOffsets(was.Connector))
			}
			return nil
		},
		Check: func(task Task, before, after json.RawMessage) error {
			return h.check(task, before, after, func(bad *complaints, _, want Param) {
				value := by.want(want)
				if value == "" {
					bad.refuse("after."+by.field, "is empty; specify the cluster on which the connector is to run")
					return
				}
				if len(h.destinations(task, by, value)) == 0 {
					bad.refuse("after."+by.field, "%s", h.missing(by.place(task.env(), value, Cluster{})))
				}
			})
		},
	}
}

// destinations returns the clusters that a value names.
func (h *Handler) destinations(task Task, by axis, value string) []*client {
	var list []*client
	for _, c := range h.fitting(task.env(), "", "") {
		if by.of(c.Cluster) == value {
			list = append(list, c)
		}
	}
	return list
}

// counterpart returns the cluster for a value that corresponds to another cluster.
func (h *Handler) counterpart(task Task, by axis, value string, other *client) (*client, error) {
	env, az, runSystem := by.place(task.env(), value, other.Cluster)
	for _, c := range h.fitting(env, "", "") {
		if by.of(c.Cluster) == value && fits(c.AZ, az) && fits(c.RunSystem, runSystem) {
			return c, nil
		}
	}
	return nil, h.missing(env, az, runSystem)
}

// route contains the current and the target cluster of a connector. Both are the same if
// the connector is already there and nowhere else.
type route struct {
	from, to       *client
	origin, copied *connector
}

// route searches for a connector on the clusters of its environment. The batch's
// availability zone restricts the current cluster.
func (h *Handler) route(ctx context.Context, task Task, by axis, value string) (route, error) {
	var r route
	name := task.connector()
	if value == "" {
		return r, refused("after."+by.field, "is empty; specify the cluster on which the connector is to run")
	}
	for _, c := range h.fitting(task.env(), "", "") {
		if !by.narrow(c.Cluster, task.AZ, value) {
			continue
		}
		there := by.of(c.Cluster) == value
		found, err := c.find(ctx, name)
		switch {
		case err != nil:
			return r, err
		case found == nil:
		case there && r.copied == nil:
			r.to, r.copied = c, found
		case there || found.unfinished(): // belongs to another run system, or is an unfinished copy
		case r.origin != nil:
			return r, fmt.Errorf("connector %q is on clusters %q and %q; set az in the batch to choose one", name, r.from.Name, c.Name)
		default:
			r.from, r.origin = c, found
		}
	}
	if r.origin == nil && r.copied == nil {
		return r, fmt.Errorf("connector %q is not on any of the clusters %s; check its name and the batch's env and az", name, names(h.fitting(task.env(), "", "")))
	}
	if r.origin == nil && r.copied.unfinished() {
		return r, fmt.Errorf("connector %q on cluster %q is left over from an interrupted move; retry or roll back the batch that moved it", name, r.to.Name)
	}
	if r.origin == nil {
		r.from = r.to
		return r, nil
	}
	to, err := h.counterpart(task, by, value, r.from)
	if err != nil {
		return r, err
	}
	if to != r.to {
		r.to = to
		r.copied, err = to.find(ctx, name)
	}
	return r, err
}

// buildMove returns the snapshot of a connector that is to be moved.
func (h *Handler) buildMove(ctx context.Context, task Task, by axis, want Param) (json.RawMessage, error) {
	r, err := h.route(ctx, task, by, by.want(want))
	if err != nil {
		return nil, err
	}
	name := task.connector()
	found := r.origin
	switch {
	case found == nil:
		found = r.copied
	case r.copied != nil && !r.copied.unfinished():
		return nil, fmt.Errorf("connector %q exists on clusters %q and %q; remove it from one of them", name, r.to.Name, r.from.Name)
	}
	var was Param
	by.set(&was, by.of(r.from.Cluster))
	was.Destination = r.to.Name
	if was.Connector, err = r.from.snapshot(ctx, name, found); err != nil {
		return nil, err
	}
	return was.raw()
}

// ends returns the clusters of a move.
func (h *Handler) ends(ctx context.Context, task Task, by axis, was, want Param) (from, to *client, err error) {
	if was.Connector == nil {
		r, err := h.route(ctx, task, by, by.want(want))
		return r.from, r.to, err
	}
	if from, err = h.known(task, was.Connector.Cluster); err != nil {
		return nil, nil, err
	}
	if was.Destination == "" {
		to, err = h.counterpart(task, by, by.want(want), from)
	} else {
		to, err = h.known(task, was.Destination)
	}
	return from, to, err
}

// endsBack returns the clusters of a move that is being undone. Without a snapshot they are
// determined from the connector's origin.
func (h *Handler) endsBack(ctx context.Context, task Task, by axis, was, want Param) (home, away *client, err error) {
	if was.Connector != nil {
		return h.ends(ctx, task, by, was, want)
	}
	value := by.want(was)
	if value == "" {
		return nil, nil, refused("before."+by.field, "is empty, so there is nothing to restore; give the cluster on which the connector ran")
	}
	for _, away := range h.destinations(task, by, by.want(want)) {
		home, err := h.counterpart(task, by, value, away)
		if err != nil {
			return nil, nil, err
		}
		for _, c := range []*client{away, home} {
			found, err := c.find(ctx, task.connector())
			if err != nil || found != nil {
				return home, away, err
			}
		}
	}
	return nil, nil, fmt.Errorf("connector %q is not on any of the clusters %s; check its name and the batch's env", task.connector(), names(h.fitting(task.env(), "", "")))
}

// movedBack reports whether a connector is restored and its copy is gone.
func (h *Handler) movedBack(ctx context.Context, task Task, raw json.RawMessage) (bool, error) {
	was, err := readParam("before", raw)
	if err != nil || was.Connector == nil {
		return false, err
	}
	if was.Destination != was.Connector.Cluster {
		away, err := h.known(task, was.Destination)
		if err != nil {
			return false, err
		}
		if moved, err := away.find(ctx, task.connector()); err != nil || moved != nil {
			return false, err
		}
	}
	return h.undone(ctx, task, was, h.undoOffsets)
}
