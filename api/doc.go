// Package api contains the schema of the service. Its Go code is generated.
package api

import _ "embed" // of the schema

//go:generate go run -C ../tools/proto . -root ../../api

// Schema is the API schema, including its comments, as an encoded FileDescriptorSet.
//
//go:embed schema.binpb
var Schema []byte
