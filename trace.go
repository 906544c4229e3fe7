package fairlead

import "strings"

// TraceID returns the trace ID in a W3C traceparent, in the form that log lines and trace
// viewers show. It returns an empty string if traceparent is invalid.
func TraceID(traceparent string) string {
	const version, trace, parent, flags = 2, 32, 16, 2
	const length = version + 1 + trace + 1 + parent + 1 + flags
	if len(traceparent) < length || traceparent[length:] != "" && (traceparent[:version] == "00" || traceparent[length] != '-') {
		return "" // only later versions may carry more
	}
	parts := strings.SplitN(traceparent[:length], "-", 4)
	if len(parts) != 4 || len(parts[0]) != version || len(parts[1]) != trace || len(parts[2]) != parent {
		return ""
	}
	for _, part := range parts {
		if strings.Trim(part, "0123456789abcdef") != "" {
			return ""
		}
	}
	if parts[0] == "ff" || strings.Trim(parts[1], "0") == "" || strings.Trim(parts[2], "0") == "" {
		return ""
	}
	return parts[1]
}
