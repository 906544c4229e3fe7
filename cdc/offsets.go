package cdc

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// An Offset is a connector's read position in one partition of its source. A null Offset
// marks a removed partition.
type Offset struct {
	Partition json.RawMessage `json:"partition"`
	Offset    json.RawMessage `json:"offset"`
}

// canonical returns a JSON value with sorted names and with numbers in their original form,
// because positions have more digits than a float.
func canonical(raw json.RawMessage) string {
	var value any
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if decoder.Decode(&value) != nil {
		return string(raw)
	}
	written, err := json.Marshal(value)
	if err != nil {
		return string(raw)
	}
	return string(written)
}

// byPartition indexes offsets by partition. It leaves out partitions without an offset.
func byPartition(offsets []Offset) map[string]string {
	index := make(map[string]string, len(offsets))
	for _, offset := range offsets {
		if position := canonical(offset.Offset); position != "null" && position != "" {
			index[canonical(offset.Partition)] = position
		}
	}
	return index
}

// offsetChanges returns the changes that turn `now` into `want`. Unwanted partitions get a
// null offset, which makes the cluster remove them.
func offsetChanges(now, want []Offset) []Offset {
	have, wanted := byPartition(now), byPartition(want)
	changes := []Offset{}
	for _, offset := range want {
		partition := canonical(offset.Partition)
		if position, kept := wanted[partition]; kept && have[partition] != position {
			changes = append(changes, offset)
		}
	}
	for _, offset := range now {
		partition := canonical(offset.Partition)
		if _, kept := wanted[partition]; !kept && have[partition] != "" {
			changes = append(changes, Offset{Partition: offset.Partition, Offset: json.RawMessage("null")})
		}
	}
	return changes
}

// gtidOf returns the GTID in an offset, if present.
func (n GTIDNames) gtidOf(offset Offset) (string, bool) {
	var position map[string]any
	if json.Unmarshal(offset.Offset, &position) != nil {
		return "", false
	}
	gtid, ok := position[n.GTID].(string)
	return gtid, ok
}

// withGTID returns the offsets with another GTID. Partitions without a GTID stay unchanged.
// It fails if no partition has one.
func (n GTIDNames) withGTID(offsets []Offset, gtid string) ([]Offset, error) {
	if len(offsets) == 0 {
		return nil, fmt.Errorf("the connector has no offsets yet; start it once so that it records its position")
	}
	found := false
	changed := make([]Offset, len(offsets))
	for i, offset := range offsets {
		changed[i] = offset
		if _, has := n.gtidOf(offset); !has {
			continue
		}
		found = true
		position := map[string]json.RawMessage{}
		if err := json.Unmarshal(offset.Offset, &position); err != nil {
			return nil, fmt.Errorf("read an offset: %w", err)
		}
		for _, name := range n.Within {
			delete(position, name)
		}
		text, err := json.Marshal(gtid)
		if err != nil {
			return nil, err
		}
		position[n.GTID] = text
		if changed[i].Offset, err = json.Marshal(position); err != nil {
			return nil, err
		}
	}
	if !found {
		return nil, fmt.Errorf("the connector's offsets have no property %q; either the database does not use GTIDs, or the gtid setting names the wrong property", n.GTID)
	}
	return changed, nil
}
