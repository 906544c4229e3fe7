package cdc

import (
	"context"
	"encoding/json"
)

// A Handler performs operations on the connectors in its clusters.
type Handler struct {
	config  Config
	clients []*client
}

// New returns a handler with the given configuration. It does not send requests to the
// clusters.
func New(config Config) (*Handler, error) {
	config, err := config.withDefaults()
	if err != nil {
		return nil, err
	}
	h := &Handler{config: config}
	for _, cluster := range config.Clusters {
		h.clients = append(h.clients, newClient(cluster, config))
	}
	return h, nil
}

// Operations returns all operations that the handler supports.
func (h *Handler) Operations() []Operation {
	return []Operation{
		h.startOperation(), h.stopOperation(), h.changeConfigOperation(), h.resetGTIDOperation(),
		h.moveOperation(BatchSwitchAZ, byAZ), h.moveOperation(BatchSwitchRunSystem, byRunSystem), h.migrateOperation(),
	}
}

// check validates the parameters common to all operations; more validates the rest.
func (h *Handler) check(task Task, before, after json.RawMessage, more func(*complaints, Param, Param)) error {
	was, want, err := readParams(before, after)
	if err != nil {
		return err
	}
	var bad complaints
	if task.connector() == "" {
		bad.refuse("target.name", "is empty; it must name the connector")
	}
	if len(h.fitting(task.env(), "", "")) == 0 {
		bad.refuse("target.env", "%s", h.missing(task.env(), "", ""))
	}
	for name, cluster := range map[string]string{"before.connector.cluster": was.snapshotCluster(), "before.destination": was.Destination} {
		if cluster == "" {
			continue
		}
		if _, err := h.known(task, cluster); err != nil {
			bad.refuse(name, "%s", err)
		}
	}
	if more != nil {
		more(&bad, was, want)
	}
	return bad.err()
}

func (p Param) snapshotCluster() string {
	if p.Connector == nil {
		return ""
	}
	return p.Connector.Cluster
}

// buildSnapshot reads the connector of a task and lets the operation add its own data.
func (h *Handler) buildSnapshot(ctx context.Context, task Task, add func(*Param, *connector)) (json.RawMessage, error) {
	c, found, err := h.locate(ctx, task)
	if err != nil {
		return nil, err
	}
	var was Param
	if was.Connector, err = c.snapshot(ctx, task.connector(), found); err != nil {
		return nil, err
	}
	if add != nil {
		add(&was, found)
	}
	return was.raw()
}

// undone reports whether a connector that was not moved is back in its original state.
func (h *Handler) undone(ctx context.Context, task Task, was Param, offsets func(*Snapshot) []Offset) (bool, error) {
	if was.Connector == nil {
		return false, nil
	}
	c, err := h.known(task, was.Connector.Cluster)
	if err != nil {
		return false, err
	}
	return c.restored(ctx, was.Connector, offsets(was.Connector))
}

// undoInPlace restores the snapshot of a connector that was not moved. Without a snapshot
// it calls otherwise.
func (h *Handler) undoInPlace(ctx context.Context, task Task, was Param, otherwise func(*client) error) error {
	c, _, err := h.target(ctx, task, was)
	if err != nil {
		return err
	}
	if was.Connector == nil {
		return otherwise(c)
	}
	return h.restore(ctx, c, was.Connector, h.undoOffsets(was.Connector))
}
