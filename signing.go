package fairlead

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
)

// SigningKey returns the key that signs everything sent to a tenant's URLs, in the text
// form given to the tenant. It never changes.
func (c *Client) SigningKey(ctx context.Context, tenant string) (string, error) {
	secret, err := c.store.Secret(ctx, "external")
	if err != nil {
		return "", err
	}
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte("signing key of tenant " + tenant))
	return hex.EncodeToString(mac.Sum(nil)), nil
}
