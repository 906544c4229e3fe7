package cdc

import (
	"context"
	"fmt"
	"strings"
)

// fits reports whether a cluster's field has the wanted value. An empty value on either
// side matches everything.
func fits(field, want string) bool { return field == "" || want == "" || field == want }

// fitting returns the clusters at a location.
func (h *Handler) fitting(env, az, runSystem string) []*client {
	var list []*client
	for _, c := range h.clients {
		if fits(c.Env, env) && fits(c.AZ, az) && fits(c.RunSystem, runSystem) {
			list = append(list, c)
		}
	}
	return list
}

// missing returns the error for a location without a cluster. It lists the known clusters
// and suggests a fix.
func (h *Handler) missing(env, az, runSystem string) error {
	var known []string
	for _, c := range h.clients {
		known = append(known, fmt.Sprintf("%s (%s)", c.Name, place(c.Env, c.AZ, c.RunSystem)))
	}
	return fmt.Errorf("no Kafka Connect cluster is configured for %s; add one to the clusters of the cdc settings, or choose one of these: %s",
		place(env, az, runSystem), strings.Join(known, ", "))
}

func place(env, az, runSystem string) string {
	var parts []string
	for _, part := range []struct{ name, value string }{{"env", env}, {"az", az}, {"run system", runSystem}} {
		if part.value != "" {
			parts = append(parts, fmt.Sprintf("%s %q", part.name, part.value))
		}
	}
	if len(parts) == 0 {
		return "every env"
	}
	return strings.Join(parts, ", ")
}

// known returns the cluster with that name. The cluster must belong to the task's
// environment: a snapshot made up by a caller must not lead to another environment.
func (h *Handler) known(task Task, name string) (*client, error) {
	for _, c := range h.clients {
		switch {
		case c.Name != name:
		case !fits(c.Env, task.env()):
			return nil, fmt.Errorf("cluster %q belongs to env %q, not to the target's env %q", name, c.Env, task.env())
		default:
			return c, nil
		}
	}
	return nil, fmt.Errorf("there is no Kafka Connect cluster named %q; add it to the clusters of the cdc settings", name)
}

// locate finds the connector of a task on the clusters of its environment and, if
// specified, of the batch's availability zone.
func (h *Handler) locate(ctx context.Context, task Task) (*client, *connector, error) {
	places := h.fitting(task.env(), task.AZ, "")
	if len(places) == 0 {
		return nil, nil, h.missing(task.env(), task.AZ, "")
	}
	var at *client
	var found *connector
	for _, c := range places {
		here, err := c.find(ctx, task.connector())
		switch {
		case err != nil:
			return nil, nil, err
		case here == nil || here.unfinished(): // unfinished copy of a move; the other one is the connector
		case found != nil:
			return nil, nil, fmt.Errorf("connector %q is on clusters %q and %q; set az in the batch to choose one", task.connector(), at.Name, c.Name)
		default:
			at, found = c, here
		}
	}
	if found == nil {
		return nil, nil, fmt.Errorf("connector %q is not on any of the clusters %s; check its name and the batch's env and az", task.connector(), names(places))
	}
	return at, found, nil
}

func names(clients []*client) string {
	var list []string
	for _, c := range clients {
		list = append(list, c.Name)
	}
	return strings.Join(list, ", ")
}

// target returns the connector of a task: at the location in its snapshot, or at the
// location where it is found.
func (h *Handler) target(ctx context.Context, task Task, was Param) (*client, *connector, error) {
	if was.Connector == nil {
		return h.locate(ctx, task)
	}
	c, err := h.known(task, was.Connector.Cluster)
	if err != nil {
		return nil, nil, err
	}
	found, err := c.mustFind(ctx, task.connector())
	return c, found, err
}

// mustFind calls find, and fails if the connector does not exist.
func (c *client) mustFind(ctx context.Context, name string) (*connector, error) {
	found, err := c.find(ctx, name)
	if err == nil && found == nil {
		err = fmt.Errorf("connector %q is no longer on cluster %q; another program deleted or moved it", name, c.Name)
	}
	return found, err
}
