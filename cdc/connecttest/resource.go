package connecttest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// handleAll answers requests that do not concern a single connector.
func (c *cluster) handleAll(r *http.Request, body []byte) answer {
	switch path := strings.TrimSuffix(r.URL.Path, "/"); {
	case path == "" && r.Method == http.MethodGet:
		version := "3.7.0"
		if c.fleet.options.NoInitialState {
			version = "3.6.2"
		}
		if c.fleet.options.Old {
			version = "3.4.1"
		}
		return answer{http.StatusOK, map[string]string{"version": version, "commit": "0000000000000000", "kafka_cluster_id": c.name}}
	case path == "/connectors" && r.Method == http.MethodGet:
		return answer{http.StatusOK, slices.AppendSeq([]string{}, maps.Keys(c.connectors))}
	case path == "/connectors" && r.Method == http.MethodPost:
		return c.create(body)
	}
	return problem(http.StatusNotFound, "HTTP 404 Not Found")
}

// create creates a connector.
func (c *cluster) create(body []byte) answer {
	var wanted struct {
		Name         string            `json:"name"`
		Config       map[string]string `json:"config"`
		InitialState string            `json:"initial_state"`
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&wanted); err != nil {
		return problem(http.StatusInternalServerError, "%s", err)
	}
	options := c.fleet.options
	if wanted.InitialState != "" && (options.NoInitialState || options.Old) {
		return problem(http.StatusInternalServerError, "Unrecognized field \"initial_state\", not marked as ignorable")
	}
	if time.Now().Before(c.rebalanced) {
		return problem(http.StatusConflict, "Cannot complete request momentarily due to no known leader URL, likely because a rebalance was underway.")
	}
	if c.connectors[wanted.Name] != nil {
		return problem(http.StatusConflict, "Connector %s already exists", wanted.Name)
	}
	if wanted.InitialState == "" {
		wanted.InitialState = Running
	}
	return c.make(wanted.Name, wanted.Config, wanted.InitialState)
}

// make adds a connector, with a status that is unknown at first.
func (c *cluster) make(name string, config map[string]string, state string) answer {
	if refused := validate(name, config); refused != nil {
		return *refused
	}
	made := &connector{config: config, target: state, changed: time.Now()}
	if c.breakNew != "" {
		made.broken, made.trace = -1, c.breakNew
	}
	made.config["name"] = name
	c.connectors[name] = made
	c.rebalance()
	return answer{http.StatusCreated, c.info(name, made)}
}

// putConfig replaces the config of a connector, or creates the connector.
func (c *cluster) putConfig(name string, body []byte) answer {
	var config map[string]string
	if err := json.Unmarshal(body, &config); err != nil {
		return problem(http.StatusInternalServerError, "%s", err)
	}
	found := c.connectors[name]
	if found == nil {
		return c.make(name, config, Running)
	}
	if refused := validate(name, config); refused != nil {
		return *refused
	}
	config["name"] = name
	found.config = config
	if found.target == Running {
		found.shown, found.changed = Unassigned, time.Now() // restarting
	}
	c.rebalance()
	return answer{http.StatusOK, c.info(name, found)}
}

// validate rejects a config that no connector can work with.
func validate(name string, config map[string]string) *answer {
	if given := config["name"]; given != "" && given != name {
		refused := problem(http.StatusBadRequest, "Connector name configuration (%s) doesn't match connector name in the URL (%s)", given, name)
		return &refused
	}
	if config["connector.class"] == "" {
		refused := problem(http.StatusBadRequest, "Connector config %v contains no connector type", config)
		return &refused
	}
	if config["tasks.max"] == "0" {
		refused := problem(http.StatusBadRequest, "Connector configuration is invalid and contains the following 1 error(s):\nInvalid value 0 for configuration tasks.max: Value must be at least 1\nYou can also find the above list of errors at the endpoint `/connector-plugins/{connectorType}/config/validate`")
		return &refused
	}
	return nil
}

// info returns the record of a connector.
func (c *cluster) info(name string, found *connector) any {
	found.state(c.fleet.options.Settle) // adds the tasks of a started connector
	tasks := []map[string]any{}
	for i := range found.tasks {
		tasks = append(tasks, map[string]any{"connector": name, "task": i})
	}
	return map[string]any{"name": name, "config": found.config, "tasks": tasks, "type": "source"}
}

// status returns the status that the workers report.
func (c *cluster) status(name string, found *connector) answer {
	state := found.state(c.fleet.options.Settle)
	if state == "" {
		return problem(http.StatusNotFound, "No status found for connector %s", name)
	}
	worker := c.name + ":8083"
	tasks := []map[string]any{}
	if state != Stopped {
		for i := range found.shownTasks(state) {
			task := map[string]any{"id": i, "state": state, "worker_id": worker}
			if state == Running && found.broken != 0 {
				task["state"], task["trace"] = Failed, found.trace
			}
			tasks = append(tasks, task)
		}
	}
	return answer{http.StatusOK, map[string]any{
		"name": name, "connector": map[string]any{"state": state, "worker_id": worker}, "tasks": tasks, "type": "source",
	}}
}

// shownTasks returns the number of tasks in the status. Tasks of a stopping connector are
// included until they have ended.
func (n *connector) shownTasks(state string) int {
	if n.tasks == 0 && state == Running {
		return 1
	}
	return n.tasks
}

// restart restarts failed tasks.
func (c *cluster) restart(name string, found *connector, r *http.Request) answer {
	if found.broken > 0 {
		found.broken--
	}
	if r.URL.Query().Get("includeTasks") != "true" {
		return answer{http.StatusNoContent, nil}
	}
	return answer{http.StatusAccepted, c.status(name, found).body}
}

// modifyOffsets changes or removes the offsets of a stopped connector.
func (c *cluster) modifyOffsets(name string, found *connector, method string, body []byte) answer {
	if found.target != Stopped || found.state(c.fleet.options.Settle) != Stopped {
		return problem(http.StatusBadRequest, "Connectors must be in the STOPPED state before their offsets can be modified. This can be done for the specified connector by issuing a 'PUT' request to the '/connectors/%s/stop' endpoint", name)
	}
	if method == http.MethodDelete {
		c.offsets[name] = map[string]Offset{}
		return offsetsDone("reset")
	}
	var wanted struct {
		Offsets []Offset `json:"offsets"`
	}
	if err := json.Unmarshal(body, &wanted); err != nil {
		return problem(http.StatusInternalServerError, "%s", err)
	}
	if len(wanted.Offsets) == 0 {
		return problem(http.StatusBadRequest, "Partitions / offsets need to be provided for an alter offsets request")
	}
	c.alter(name, wanted.Offsets)
	return offsetsDone("altered")
}

func offsetsDone(how string) answer {
	return answer{http.StatusOK, map[string]string{"message": fmt.Sprintf("The offsets for this connector have been %s successfully", how)}}
}
