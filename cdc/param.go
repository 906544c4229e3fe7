package cdc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Param is one half of a target's parameters: either the desired state or the previous
// state.
type Param struct {
	SwitchAZ        *SwitchAZ        `json:"switch_az,omitempty"`
	ResetGTID       *ResetGTID       `json:"reset_gtid,omitempty"`
	ChangeConfig    *ChangeConfig    `json:"change_config,omitempty"`
	SwitchRunSystem *SwitchRunSystem `json:"switch_run_system,omitempty"`
	MigratePanama   *MigratePanama   `json:"migrate_panama,omitempty"`
	// Connector and Destination are set in the previous state: the connector before the
	// operation, and the cluster that it was to be moved to.
	Connector   *Snapshot `json:"connector,omitempty"`
	Destination string    `json:"destination,omitempty"`
}

// SwitchAZ names the destination availability zone.
type SwitchAZ struct {
	AZ string `json:"az"`
}

// SwitchRunSystem names the destination run system.
type SwitchRunSystem struct {
	RunSystem string `json:"run_system"`
}

// ResetGTID contains the set of transactions that the connector treats as already read.
type ResetGTID struct {
	GTID string `json:"gtid"`
}

// ChangeConfig contains the new sizes of a connector. Sizes that are nil stay unchanged.
type ChangeConfig struct {
	CPU            *int64 `json:"cpu,omitempty"`
	Memory         *int64 `json:"memory,omitempty"` // MiB
	MaxPackageSize *int64 `json:"max_package_size,omitempty"`
	Replicas       *int64 `json:"replicas,omitempty"`
}

// MigratePanama is the migration record of a Panama job. It describes the connector that
// replaces the job.
type MigratePanama struct {
	Connector string     `json:"connector,omitempty"`  // name of the connector; default: name of the target
	AZ        string     `json:"az,omitempty"`         // default: availability zone of the batch
	RunSystem string     `json:"run_system,omitempty"` // required if the zone has more than one
	Config    Properties `json:"config,omitempty"`
	ChangeConfig
	Offsets []Offset `json:"offsets,omitempty"` // position to start reading from; default: the beginning
	Start   *bool    `json:"start,omitempty"`   // default true
}

// Properties is a connector's configuration. Unmarshalling from JSON converts numbers and
// booleans to strings as written.
type Properties map[string]string

// UnmarshalJSON decodes a JSON object whose values are scalars.
func (p *Properties) UnmarshalJSON(raw []byte) error {
	var values map[string]json.RawMessage
	if err := json.Unmarshal(raw, &values); err != nil {
		return errors.New("it must be an object")
	}
	*p = Properties{}
	for name, value := range values {
		var text string
		switch {
		case json.Unmarshal(value, &text) == nil && value[0] == '"':
		case value[0] == '{' || value[0] == '[' || string(value) == "null":
			return fmt.Errorf("%s must be a string, a number or a boolean", name)
		default:
			text = string(value)
		}
		(*p)[name] = text
	}
	return nil
}

// readParam reads one half of the parameters: an object, a JSON string that contains an
// object, or nothing. It rejects unknown fields, which would otherwise be ignored.
func readParam(half string, raw json.RawMessage) (Param, error) {
	var param Param
	raw = bytes.TrimSpace(raw)
	if len(raw) > 0 && raw[0] == '"' {
		var text string
		if err := json.Unmarshal(raw, &text); err != nil {
			return param, refused(half, "is not JSON")
		}
		raw = bytes.TrimSpace([]byte(text))
	}
	if len(raw) == 0 || string(raw) == "null" {
		return param, nil
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(&param)
	if err == nil {
		if _, more := decoder.Token(); more != io.EOF {
			return param, refused(half, "has data after the object; give one object")
		}
		return param, nil
	}
	var wrongType *json.UnmarshalTypeError
	if errors.As(err, &wrongType) {
		field := half
		if wrongType.Field != "" {
			field += "." + wrongType.Field
		}
		return param, refused(field, "cannot be %s; give %s", wrongType.Value, wanted(wrongType.Type.Kind().String()))
	}
	if name, unknown := strings.CutPrefix(err.Error(), "json: unknown field "); unknown {
		return param, refused(half+"."+strings.Trim(name, `"`), "is not a known field; omit it")
	}
	return param, refused(half, "cannot be parsed: %s", strings.TrimPrefix(err.Error(), "json: "))
}

// wanted returns the name of a Go kind in plain words.
func wanted(kind string) string {
	switch kind {
	case "int64":
		return "a whole number"
	case "string":
		return "a string"
	case "bool":
		return "true or false"
	case "slice":
		return "a list"
	}
	return "an object"
}

func refused(field, format string, args ...any) error {
	var bad complaints
	bad.refuse(field, format, args...)
	return bad.err()
}

// readParams reads both halves of the parameters.
func readParams(before, after json.RawMessage) (was, want Param, err error) {
	if was, err = readParam("before", before); err != nil {
		return was, want, err
	}
	want, err = readParam("after", after)
	return was, want, err
}

// raw returns the JSON form in which a half is stored.
func (p Param) raw() (json.RawMessage, error) { return json.Marshal(p) }
