package cdc

import (
	"context"
	"encoding/json"
	"maps"
	"math"
	"strconv"
)

// changeConfigOperation changes the size of a connector. The state of the connector stays
// the same; if it runs, the operation waits for it, because the cluster restarts it.
//
// The operation is idempotent: it derives the new config from the current one and writes
// only the requested sizes, so a second attempt writes the same config or nothing.
func (h *Handler) changeConfigOperation() Operation {
	return Operation{
		TargetType: TargetCDC, BatchType: BatchChangeConfig, Timeout: defaultTimeout,
		BuildParam: func(ctx context.Context, task Task, _ json.RawMessage) (json.RawMessage, error) {
			return h.buildSnapshot(ctx, task, func(was *Param, found *connector) {
				was.ChangeConfig = h.config.Sizes.read(found.Config)
			})
		},
		AlreadyDone: func(ctx context.Context, task Task, raw json.RawMessage) (bool, error) {
			half := "after"
			if task.Undo {
				half = "before"
			}
			want, err := readParam(half, raw)
			if err != nil {
				return false, err
			}
			if task.Undo {
				return h.undone(ctx, task, want, h.undoOffsets)
			}
			c, found, err := h.locate(ctx, task)
			if err != nil || !maps.Equal(found.Config, h.config.Sizes.write(found.Config, want.ChangeConfig)) {
				return false, err
			}
			now, err := c.status(ctx, task.connector())
			state := now.state()
			return state != stateBetween && state != stateFailed, err
		},
		Process: func(ctx context.Context, task Task, before, after json.RawMessage) error {
			was, want, err := readParams(before, after)
			if err != nil {
				return err
			}
			return h.resize(ctx, task, was, want.ChangeConfig)
		},
		Undo: func(ctx context.Context, task Task, before, _ json.RawMessage) error {
			was, err := readParam("before", before)
			if err != nil {
				return err
			}
			return h.undoInPlace(ctx, task, was, func(*client) error {
				if was.ChangeConfig == nil {
					return refused("before.change_config", "is empty, so there is nothing to restore; give the previous sizes")
				}
				return h.resize(ctx, task, was, was.ChangeConfig)
			})
		},
		Check: func(task Task, before, after json.RawMessage) error {
			return h.check(task, before, after, func(bad *complaints, _, want Param) {
				if want.ChangeConfig == nil || *want.ChangeConfig == (ChangeConfig{}) {
					bad.refuse("after.change_config", "is empty; specify cpu, memory, max_package_size or replicas")
					return
				}
				h.config.Sizes.checkChange(bad, "after.change_config", want.ChangeConfig)
			})
		},
	}
}

// resize writes sizes to a connector and waits for it if it is supposed to run.
func (h *Handler) resize(ctx context.Context, task Task, was Param, change *ChangeConfig) error {
	c, found, err := h.target(ctx, task, was)
	if err != nil {
		return err
	}
	state, err := c.stateNow(ctx, task.connector(), was.Connector)
	if err != nil {
		return err
	}
	if config := h.config.Sizes.write(found.Config, change); !maps.Equal(found.Config, config) {
		if err := c.putConfig(ctx, task.connector(), config); err != nil {
			return err
		}
	}
	if state == statePaused || state == stateStopped {
		return nil
	}
	return c.awaitRunning(ctx, task.connector())
}

// write returns a config with the new sizes.
func (s Sizes) write(config map[string]string, change *ChangeConfig) map[string]string {
	config = maps.Clone(config)
	if change == nil {
		return config
	}
	for _, size := range s.named() {
		value := *size.of(change)
		if value == nil {
			continue
		}
		for _, property := range *size.properties {
			config[property.Name] = strconv.FormatInt(*value*property.Factor, 10)
		}
	}
	return config
}

// read returns the sizes in a config. Sizes without a property are left out.
func (s Sizes) read(config map[string]string) *ChangeConfig {
	change := &ChangeConfig{}
	for _, size := range s.named() {
		if len(*size.properties) == 0 {
			continue
		}
		first := (*size.properties)[0]
		if value, err := strconv.ParseInt(config[first.Name], 10, 64); err == nil {
			value /= first.Factor
			*size.of(change) = &value
		}
	}
	return change
}

// checkChange rejects sizes that cannot be written.
func (s Sizes) checkChange(bad *complaints, field string, change *ChangeConfig) {
	for _, size := range s.named() {
		value := *size.of(change)
		if value == nil {
			continue
		}
		if *value < 1 || *value > math.MaxInt32 {
			bad.refuse(field+"."+size.name, "is %d; it must be between 1 and %d", *value, math.MaxInt32)
		}
		if len(*size.properties) == 0 {
			bad.refuse(field+"."+size.name, "is not mapped to any property; name one in the sizes of the cdc settings")
		}
	}
}
