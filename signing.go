package fairlead

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
)

// SigningKey returns the key that signs all requests to the tenant's URLs, as the text that
// the tenant receives. The key never changes.
func (c *Client) SigningKey(ctx context.Context, tenant string) (string, error) {
	secret, err := c.store.Secret(ctx, "external")
	if err != nil {
		return "", err
	}
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte("signing key of tenant " + tenant))
	return hex.EncodeToString(mac.Sum(nil)), nil
}
