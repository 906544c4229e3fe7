package tasks

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
)

// readDocument decodes a value given either as JSON or as a string that contains JSON. An
// empty string means no value.
func readDocument(c *complaints, field string, raw []byte, into any, wanted string) {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		if raw = []byte(text); strings.TrimSpace(text) == "" {
			return
		}
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(into)
	if err == nil {
		if _, more := decoder.Token(); more != io.EOF {
			c.refuse(field, "has data after its end; specify only %s", wanted)
		}
		return
	}
	if name, unknown := strings.CutPrefix(err.Error(), "json: unknown field "); unknown {
		c.refuse(field+"."+strings.Trim(name, `"`), "is not a known field; check the spelling")
		return
	}
	c.refuse(field, "cannot be parsed; it must be %s, or a string that contains one", wanted)
}

// textDocument returns a document in the form used in responses: as a string that contains
// JSON.
func textDocument(value any) ([]byte, error) {
	raw, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	return json.Marshal(string(raw))
}
