package external

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/httpcall"
)

// post sends a message about a job to a URL of its tenant. Its errors are outcomes, like
// those of httpcall.Caller.
func (c *Courier) post(ctx context.Context, to recipient, url string, job *fairlead.Job, idempotencyKey string, message any) error {
	return c.postAs(ctx, "", to, url, job, idempotencyKey, message)
}

// postAs sends a message like post, with an ID of its own. It also signs the message
// according to Standard Webhooks.
func (c *Courier) postAs(ctx context.Context, id string, to recipient, url string, job *fairlead.Job, idempotencyKey string, message any) error {
	body, err := json.Marshal(message)
	if err != nil {
		return fairlead.Fatal(fmt.Errorf("encode the message: %w", err))
	}
	ctx, cancel := context.WithTimeout(ctx, c.options.RequestTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return fairlead.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	now := time.Now()
	request.Header.Set("Fairlead-Signature", sign(to.key, now, body))
	if id != "" {
		httpcall.Sign(request, to.key, id, now, body)
	}
	httpcall.Identify(request, job, idempotencyKey)
	_, err = c.caller.Do(request)
	return err
}

// sign returns the header that proves the origin and freshness of a message to the tenant.
func sign(key string, at time.Time, body []byte) string {
	seconds := strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(seconds + "."))
	mac.Write(body)
	return "t=" + seconds + ",v1=" + hex.EncodeToString(mac.Sum(nil))
}

// timeText formats a time as the API does: in UTC, to the microsecond.
func timeText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05.000000Z")
}

// durationText formats a duration as the API does: in seconds.
func durationText(d time.Duration) string {
	return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) + "s"
}
