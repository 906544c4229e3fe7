package httpcall

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/mask"
)

// Bounds of what is kept of a call.
const (
	keptBody    = 16 << 10 // bytes of each body
	keptHeader  = 1 << 10  // bytes of a header's value
	keptHeaders = 64
)

// Snapshot is the stored record of a call. It is the output of a job that succeeded, and the
// progress of a job that failed or waits for its callback. It contains no secrets.
type Snapshot struct {
	Status         int       `json:"status,omitempty"`      // zero if there was no answer
	DurationMS     int64     `json:"duration_ms"`           // duration of the call in milliseconds
	ErrorClass     Class     `json:"error_class,omitempty"` // class of the failure; empty if there was none
	Error          string    `json:"error,omitempty"`       // text of the failure
	IdempotencyKey string    `json:"idempotency_key"`       // value of the Idempotency-Key header
	Attempt        int       `json:"attempt"`               // number of the attempt, counted from 1
	Failures       int       `json:"failures,omitempty"`    // failures of the job before this call
	Request        Message   `json:"request"`               // request as sent, without secrets
	Response       *Message  `json:"response,omitempty"`    // answer of the target; nil if there was none
	At             time.Time `json:"at"`                    // start of the call
}

// Message is an HTTP request or response.
type Message struct {
	Method    string            `json:"method,omitempty"`
	URL       string            `json:"url,omitempty"`
	Headers   map[string]string `json:"headers,omitempty"`
	Body      string            `json:"body,omitempty"`      // at most 16 KiB
	Truncated bool              `json:"truncated,omitempty"` // whether Body was truncated
}

// setBody keeps the beginning of a text.
func (m *Message) setBody(text string, cut bool) {
	m.Body, m.Truncated = shorten(text, keptBody)
	m.Truncated = m.Truncated || cut
}

// shorten cuts a text, at the end of a character, and makes it one that can be
// stored.
func shorten(text string, limit int) (string, bool) {
	text = strings.ToValidUTF8(text, string(utf8.RuneError))
	if len(text) <= limit {
		return text, false
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit], true
}

// shownHeaders are headers as they are kept.
func shownHeaders(headers http.Header, hide *masker) map[string]string {
	kept := map[string]string{}
	for name, values := range headers {
		if len(kept) >= keptHeaders {
			break
		}
		kept[name] = mask.Masked
		if !mask.LooksSecret(name) {
			kept[name], _ = shorten(hide.Text(strings.Join(values, ", ")), keptHeader)
		}
	}
	return kept
}

// answer keeps what a target answered.
func (s *Snapshot) answer(reply Reply, hide *masker) {
	if reply.Status == 0 {
		return
	}
	s.Status = reply.Status
	s.Response = &Message{Headers: shownHeaders(reply.Header, hide)}
	body, cut := hide.Beginning(string(reply.Body), keptBody)
	if reply.Cut && !cut {
		body = hide.Cut(string(reply.Body))
	}
	s.Response.setBody(body, cut || reply.Cut)
}

// idempotencyKey is the same for all runs of a job until it is retried by
// hand: then it is another one, or the target would take it for a repetition of
// what failed. How often the job had failed is what tells the two apart. The new
// key comes from the last call, so that it stays if the node dies meanwhile.
func idempotencyKey(job *fairlead.Job) string {
	key := "fairlead-" + strconv.FormatInt(job.ID, 10)
	var last Snapshot
	if len(job.Progress) == 0 || json.Unmarshal(job.Progress, &last) != nil || last.IdempotencyKey == "" {
		return key
	}
	if last.ErrorClass != ClassCanceled && job.Failures <= last.Failures {
		return fmt.Sprintf("%s-%d", key, last.Attempt+1)
	}
	return last.IdempotencyKey
}
