package httpcall

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Sign signs a request as defined by Standard Webhooks. The id identifies the message and is
// the same each time the message is sent. A secret that begins with whsec_ is decoded as
// base64. Any other secret is used as is.
func Sign(request *http.Request, secret, id string, at time.Time, body []byte) {
	key := []byte(secret)
	if encoded, ok := strings.CutPrefix(secret, "whsec_"); ok {
		if decoded, err := base64.StdEncoding.DecodeString(encoded); err == nil {
			key = decoded
		}
	}
	seconds := strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + seconds + "."))
	mac.Write(body)
	request.Header.Set("Webhook-Id", id)
	request.Header.Set("Webhook-Timestamp", seconds)
	request.Header.Set("Webhook-Signature", "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
}
