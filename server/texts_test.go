package server_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/fairlead-io/fairlead/internal/wire"
)

func jsonOfMessage(t *testing.T, message proto.Message) []byte {
	t.Helper()
	raw, err := wire.Marshal(message)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// queryOf is what a URL says of fields that are not in its path.
func queryOf(path string, fields map[string]any) string {
	query := url.Values{}
	for name, value := range fields {
		if strings.Contains(path, "{"+name+"}") {
			continue
		}
		switch value := value.(type) {
		case []any:
			for _, one := range value {
				query.Add(name, fmt.Sprint(one))
			}
		default:
			query.Set(name, fmt.Sprint(value))
		}
	}
	return query.Encode()
}
