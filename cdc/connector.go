package cdc

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
)

// Mark of a connector that is being created or removed, in a property that connectors
// ignore. While the connector is arriving, its offsets may not be correct yet; while it is
// leaving, they are. It does not run in either case.
const (
	markProperty = "fairlead.unfinished"
	arriving     = "arriving"
	leaving      = "leaving"
)

// connector is the cluster's record of a connector.
type connector struct {
	Config map[string]string `json:"config"`
	Tasks  []struct {
		Task int `json:"task"`
	} `json:"tasks"` // empty as soon as a stop is accepted, before the status shows it
}

func (c *connector) unfinished() bool { return c.Config[markProperty] != "" }

// marked returns a config with the mark of an unfinished connector.
func marked(config map[string]string, mark string) map[string]string {
	with := maps.Clone(config)
	with[markProperty] = mark
	return with
}

// unmarked returns a config without the mark and without a saved state.
func unmarked(config map[string]string) map[string]string {
	without := maps.Clone(config)
	delete(without, markProperty)
	delete(without, stateProperty)
	return without
}

// dress returns the config that a connector needs on this cluster.
func (c *client) dress(config map[string]string) map[string]string {
	dressed := unmarked(config)
	maps.Copy(dressed, c.Properties)
	return dressed
}

func pathOf(name string, rest ...string) string {
	return strings.Join(append([]string{"/connectors", url.PathEscape(name)}, rest...), "/")
}

// find returns the connector with that name, or nil if it does not exist.
func (c *client) find(ctx context.Context, name string) (*connector, error) {
	found := &connector{}
	err := c.call(ctx, http.MethodGet, pathOf(name), nil, found)
	if answered(err, http.StatusNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return found, nil
}

// create creates a connector that is stopped and marked as unfinished. It accepts an
// existing connector that is also unfinished, because an earlier attempt has created it.
func (c *client) create(ctx context.Context, name string, config map[string]string) error {
	body := map[string]any{"name": name, "config": marked(config, arriving), "initial_state": stateStopped}
	pause := c.pace.begin()
	for {
		err := c.once(ctx, http.MethodPost, "/connectors", body, nil)
		switch {
		case err == nil:
			// Kafka Connect before 3.7 does not support initial states. There the connector runs
			// until it is stopped, and begins a snapshot; its offsets are set after that.
			return c.reach(ctx, name, stateStopped)
		case saying(err, "initial_state"):
			delete(body, "initial_state")
			continue
		case !answered(err, http.StatusConflict):
			return scrubbed(err, config)
		}
		// The response is the same for a name that is already in use and during a rebalance.
		found, lost := c.find(ctx, name)
		switch {
		case lost != nil:
			return lost
		case found != nil && found.unfinished():
			return c.reach(ctx, name, stateStopped)
		case found != nil:
			return fmt.Errorf("cluster %q already has a connector %q; remove it there or choose another name", c.Name, name)
		}
		if late := pause.wait(ctx); late != nil {
			return fmt.Errorf("%w: %w", late, scrubbed(err, config))
		}
	}
}

// putConfig replaces the config of a connector.
func (c *client) putConfig(ctx context.Context, name string, config map[string]string) error {
	return scrubbed(c.call(ctx, http.MethodPut, pathOf(name, "config"), config, nil), config)
}

// scrubbed hides the secrets of a config in the error for it.
func scrubbed(err error, config map[string]string) error {
	var answer *answerError
	if errors.As(err, &answer) {
		answer.message = scrub(answer.message, config)
	}
	return err
}

// remove deletes a connector and waits until it is gone. The cluster retains its offsets.
func (c *client) remove(ctx context.Context, name string) error {
	err := c.call(ctx, http.MethodDelete, pathOf(name), nil, nil)
	if err != nil && !answered(err, http.StatusNotFound) {
		return err
	}
	pause := c.pace.begin()
	for {
		found, err := c.find(ctx, name)
		if err != nil || found == nil {
			return err
		}
		if late := pause.wait(ctx); late != nil {
			return fmt.Errorf("connector %q is still on cluster %q: %w", name, c.Name, late)
		}
	}
}

// offsets returns the connector's read positions. The result is nil, not empty, if the
// cluster cannot report them.
func (c *client) offsets(ctx context.Context, name string) ([]Offset, error) {
	var answer struct {
		Offsets []Offset `json:"offsets"`
	}
	err := c.call(ctx, http.MethodGet, pathOf(name, "offsets"), nil, &answer)
	if answered(err, http.StatusNotFound) || answered(err, http.StatusMethodNotAllowed) {
		if found, lost := c.find(ctx, name); lost != nil || found == nil {
			return nil, errors.Join(err, lost)
		}
		return nil, nil
	}
	if answer.Offsets == nil {
		answer.Offsets = []Offset{}
	}
	return answer.Offsets, err
}

// needOffsets returns the offsets for an operation that requires them.
func (c *client) needOffsets(ctx context.Context, name string) ([]Offset, error) {
	offsets, err := c.offsets(ctx, name)
	if err == nil && offsets == nil {
		err = fmt.Errorf("cluster %q does not report offsets; it needs Kafka Connect 3.6 or newer", c.Name)
	}
	return offsets, err
}

// setOffsets replaces all offsets of a stopped connector in a single request, so that it is
// never without offsets.
func (c *client) setOffsets(ctx context.Context, name string, want []Offset) error {
	pause := c.pace.begin()
	for {
		now, err := c.needOffsets(ctx, name)
		if err != nil {
			return err
		}
		changes := offsetChanges(now, want)
		switch {
		case len(changes) == 0:
			return nil
		case len(byPartition(want)) == 0:
			err = c.call(ctx, http.MethodDelete, pathOf(name, "offsets"), nil, nil)
		default:
			err = c.call(ctx, http.MethodPatch, pathOf(name, "offsets"), map[string]any{"offsets": changes}, nil)
		}
		// A worker that has not processed the stop yet refuses; it will soon, because the stop
		// was accepted.
		if !answered(err, http.StatusBadRequest) || !saying(err, stateStopped) {
			return err
		}
		if late := pause.wait(ctx); late != nil {
			return fmt.Errorf("%w: %w", late, err)
		}
	}
}
