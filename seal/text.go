package seal

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"github.com/fairlead-io/fairlead/internal/envelope"
)

// purpose is what a sealed text is for. It is sealed with the text: a caller who copies the
// sealed args of a job into a text that is opened when it is read does not get to see them.
type purpose string

const (
	forMessages purpose = "message" // addresses and secrets of messages
	forReasons  purpose = "reason"  // of bulks; jobs that a bulk cancels have it as their error
	forItems    purpose = "item"    // of sweeps
)

// closeText seals a text that is no document. An empty one stays empty.
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

// openText opens a text. One that was not sealed for the purpose stays as it is.
func (c coder) openText(text *string, why purpose) error {
	if !strings.HasPrefix(*text, "{") { // nearly all texts that were not sealed
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

// head stands before sealed texts of a purpose. No JSON begins like this.
func (p purpose) head() []byte { return append([]byte(p), 0) }

// message is what makes up an HTTP call that an alert sends.
type message struct {
	url, secret *string
	headers     *map[string]string
	body        *json.RawMessage
}

// closeMessage seals a message. The names of headers are sealed too.
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

// openMessage opens as much of a message as it can, and returns the errors.
func (c coder) openMessage(m message) error {
	return errors.Join(c.openText(m.url, forMessages), c.openText(m.secret, forMessages), c.openAll(m.body), c.openHeaders(m.headers))
}

// openHeaders opens headers. The map itself is an envelope if they are sealed; it is not
// changed, because others may read it.
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
