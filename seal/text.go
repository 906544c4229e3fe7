package seal

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"github.com/fairlead-io/fairlead/internal/envelope"
)

// purpose is the intended use of a sealed string. It is sealed together with the string: a
// caller who copies the sealed args of a job into a string that is opened on reading does
// not see them.
type purpose string

const (
	forMessages purpose = "message" // URLs and secrets of messages
	forReasons  purpose = "reason"  // reasons of bulks, which are also the errors of jobs that a bulk cancels
	forItems    purpose = "item"    // items of sweeps
)

// closeText seals a string that is not a JSON document. An empty string stays empty.
func (c coder) closeText(text *string, why purpose) error {
	if *text == "" {
		return nil
	}
	sealed, err := c.close(append(why.head(), *text...))
	if err == nil {
		*text = string(sealed)
	}
	return err
}

// openText opens a string. It leaves a string unchanged that was not sealed for the
// purpose.
func (c coder) openText(text *string, why purpose) error {
	if !strings.HasPrefix(*text, "{") { // true for nearly all unsealed strings
		return nil
	}
	opened, err := c.open(json.RawMessage(*text))
	if err != nil {
		return err
	}
	if plain, meant := bytes.CutPrefix(opened, why.head()); meant {
		*text = string(plain)
	}
	return nil
}

// head returns the prefix of sealed strings with this purpose. It is not valid JSON.
func (p purpose) head() []byte { return append([]byte(p), 0) }

// A message contains the parts of an HTTP call that an alert sends.
type message struct {
	url, secret *string
	headers     *map[string]string
	body        *json.RawMessage
}

// closeMessage seals a message, including the names of its headers.
func (c coder) closeMessage(m message) error {
	if err := errors.Join(c.refuseUnopened(json.RawMessage(*m.url), json.RawMessage(*m.secret), *m.body), c.openHeaders(m.headers)); err != nil {
		return err
	}
	if len(*m.headers) > 0 {
		plain, err := json.Marshal(*m.headers)
		if err != nil {
			return err
		}
		sealed, err := c.close(append(forMessages.head(), plain...))
		if err != nil {
			return err
		}
		*m.headers = nil
		if err := json.Unmarshal(sealed, m.headers); err != nil {
			return err
		}
	}
	return errors.Join(c.closeText(m.url, forMessages), c.closeText(m.secret, forMessages), c.closeAll(m.body))
}

// openMessage opens a message as far as possible, and returns the errors.
func (c coder) openMessage(m message) error {
	return errors.Join(c.openText(m.url, forMessages), c.openText(m.secret, forMessages), c.openAll(m.body), c.openHeaders(m.headers))
}

// openHeaders opens headers. Sealed headers are a map that consists of an envelope. The
// function replaces the map instead of changing it, because the map may be read
// concurrently.
func (c coder) openHeaders(headers *map[string]string) error {
	if len(*headers) != 1 || (*headers)[envelope.Name] == "" {
		return nil
	}
	document, err := json.Marshal(*headers)
	if err != nil {
		return err
	}
	opened, err := c.open(document)
	if err != nil {
		return err
	}
	plain, meant := bytes.CutPrefix(opened, forMessages.head())
	if !meant {
		return nil
	}
	var found map[string]string
	if err := json.Unmarshal(plain, &found); err != nil {
		return err
	}
	*headers = found
	return nil
}
