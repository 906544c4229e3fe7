package cdc

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// migrateOperation creates a connector from the migration record of a Panama job.
//
// The operation is idempotent: it creates the connector stopped and marked as unfinished.
// An attempt that finds the mark sets the offsets again; one that finds a connector with
// the record's config and without the mark only starts it. Undoing the operation deletes
// the connector if none existed before, and otherwise restores the old one.
func (h *Handler) migrateOperation() Operation {
	return Operation{
		TargetType: TargetPanama, BatchType: BatchMigrate, Timeout: defaultTimeout,
		BuildParam: func(ctx context.Context, task Task, after json.RawMessage) (json.RawMessage, error) {
			m, err := h.migration(task, after)
			if err != nil {
				return nil, err
			}
			was := Param{Connector: &Snapshot{Cluster: m.to.Name, Name: m.name, State: stateAbsent}}
			found, err := m.to.find(ctx, m.name)
			if err == nil && found != nil && !found.unfinished() {
				was.Connector, err = m.to.snapshot(ctx, m.name, found)
			}
			if err != nil {
				return nil, err
			}
			return was.raw()
		},
		AlreadyDone: h.migrated,
		Process: func(ctx context.Context, task Task, _, after json.RawMessage) error {
			m, err := h.migration(task, after)
			if err != nil {
				return err
			}
			return m.carryOut(ctx)
		},
		Undo: func(ctx context.Context, task Task, before, after json.RawMessage) error {
			was, err := readParam("before", before)
			if err != nil {
				return err
			}
			m, err := h.migration(task, after)
			if err != nil {
				return err
			}
			if was.Connector != nil && was.Connector.State != stateAbsent {
				return h.restore(ctx, m.to, was.Connector, h.undoOffsets(was.Connector))
			}
			return m.takeBack(ctx)
		},
		Check: func(task Task, before, after json.RawMessage) error {
			return h.check(task, before, after, func(bad *complaints, _, want Param) { h.checkMigration(bad, task, want.MigratePanama) })
		},
	}
}

// migration is a migration record that is ready to be carried out.
type migration struct {
	name    string
	to      *client
	config  map[string]string
	offsets []Offset
	state   string
}

func (h *Handler) migration(task Task, after json.RawMessage) (*migration, error) {
	want, err := readParam("after", after)
	if err != nil {
		return nil, err
	}
	record := want.MigratePanama
	if record == nil {
		return nil, refused("after.migrate_panama", "is empty; specify the migration record")
	}
	m := &migration{name: record.Connector, offsets: record.Offsets, state: stateRunning}
	if m.name == "" {
		m.name = task.connector()
	}
	if m.to, err = h.migrationCluster(task, record); err != nil {
		return nil, err
	}
	if m.offsets == nil {
		m.offsets = []Offset{} // an older connector with the same name may have left offsets
	}
	if record.Start != nil && !*record.Start {
		m.state = stateStopped
	}
	m.config = map[string]string{}
	maps.Copy(m.config, h.config.MigrationDefaults)
	maps.Copy(m.config, record.Config)
	m.config = m.to.dress(h.config.Sizes.write(m.config, &record.ChangeConfig))
	m.config["name"] = m.name
	return m, nil
}

// migrationCluster returns the cluster that a record names. It must match exactly one.
func (h *Handler) migrationCluster(task Task, record *MigratePanama) (*client, error) {
	az := record.AZ
	if az == "" {
		az = task.AZ
	}
	switch list := h.fitting(task.env(), az, record.RunSystem); len(list) {
	case 0:
		return nil, h.missing(task.env(), az, record.RunSystem)
	case 1:
		return list[0], nil
	default:
		return nil, fmt.Errorf("several clusters match (%s); set az and run_system in the migration record", names(list))
	}
}

func (h *Handler) checkMigration(bad *complaints, task Task, record *MigratePanama) {
	const field = "after.migrate_panama"
	if record == nil {
		bad.refuse(field, "is empty; specify the migration record")
		return
	}
	if _, err := h.migrationCluster(task, record); err != nil {
		bad.refuse(field+".az", "%s", err)
	}
	if record.Config["connector.class"] == "" && h.config.MigrationDefaults["connector.class"] == "" {
		bad.refuse(field+".config", "has no connector.class; name the class of the connector")
	}
	for _, name := range slices.Sorted(maps.Keys(record.Config)) {
		if looksSecret(name, record.Config[name]) {
			bad.refuse(field+".config", "has the property %s, whose value would be stored and visible to others; use a config provider of the cluster instead, such as ${file:/path:key}", name)
		}
	}
	if name := record.Config["name"]; name != "" && name != record.Connector && (record.Connector != "" || name != task.connector()) {
		bad.refuse(field+".config", "has a name that differs from the connector's; omit the name")
	}
	for i, offset := range record.Offsets {
		if canonical(offset.Partition) == "" || canonical(offset.Offset) == "" || canonical(offset.Offset) == "null" {
			bad.refuse(fmt.Sprintf("%s.offsets[%d]", field, i), "needs a partition and an offset")
		}
	}
	h.config.Sizes.checkChange(bad, field, &record.ChangeConfig)
}

// migrated reports whether nothing is left to do. During an undo, that is only known if the
// connector is gone or restored.
func (h *Handler) migrated(ctx context.Context, task Task, raw json.RawMessage) (bool, error) {
	if task.Undo {
		was, err := readParam("before", raw)
		if err != nil || was.Connector == nil {
			return false, err
		}
		if was.Connector.State != stateAbsent {
			return h.undone(ctx, task, was, h.undoOffsets)
		}
		c, err := h.known(task, was.Connector.Cluster)
		if err != nil {
			return false, err
		}
		found, err := c.find(ctx, was.Connector.Name)
		return err == nil && found == nil, err
	}
	m, err := h.migration(task, raw)
	if err != nil {
		return false, err
	}
	found, err := m.to.find(ctx, m.name)
	if err != nil || found == nil || !maps.Equal(found.Config, m.config) {
		return false, err
	}
	if m.state == stateRunning {
		return m.to.runs(ctx, m.name, found)
	}
	now, err := m.to.status(ctx, m.name)
	return len(found.Tasks) == 0 && now.state() == stateStopped, err
}

func (m *migration) carryOut(ctx context.Context) error {
	found, err := m.to.find(ctx, m.name)
	if err != nil {
		return err
	}
	switch {
	case found == nil || found.unfinished():
		if err := m.to.place(ctx, m.name, found, m.config, m.offsets); err != nil {
			return err
		}
	case !maps.Equal(found.Config, m.config):
		return fmt.Errorf("cluster %q already has a connector %q with a different configuration; remove it or choose another name", m.to.Name, m.name)
	}
	return m.to.reach(ctx, m.name, m.state)
}

// takeBack deletes the created connector. It does not delete a connector with another
// config, which may belong to another program.
func (m *migration) takeBack(ctx context.Context) error {
	found, err := m.to.find(ctx, m.name)
	switch {
	case err != nil || found == nil:
		return err
	case !found.unfinished() && !maps.Equal(found.Config, m.config):
		return fmt.Errorf("the configuration of connector %q on cluster %q was changed after it was created from its migration record; delete it manually if it is not needed", m.name, m.to.Name)
	}
	return m.to.remove(ctx, m.name)
}
