package cdc

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// secretNames lists parts of the names of properties that contain secrets.
var secretNames = []string{"password", "passwd", "passphrase", "secret", "token", "credential", "jaas.config", "private.key", "api.key", "access.key", "keystore.key"}

// elsewhere matches values that refer to a config provider of the cluster: the secret
// itself is not in the config.
var elsewhere = regexp.MustCompile(`^\$\{[^}]+\}$`)

// looksSecret reports whether the value of a property must be hidden.
func looksSecret(name, value string) bool {
	name = strings.ToLower(name)
	return value != "" && !elsewhere.MatchString(value) &&
		slices.ContainsFunc(secretNames, func(part string) bool { return strings.Contains(name, part) })
}

// withhold splits a config into the properties that may be stored and the names of the
// others.
func withhold(config map[string]string) (kept map[string]string, withheld []string) {
	kept = map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(config)) {
		if looksSecret(name, config[name]) {
			withheld = append(withheld, name)
		} else {
			kept[name] = config[name]
		}
	}
	return kept, withheld
}

// complete returns the config of a snapshot with the secrets of a live connector, which may
// have been renewed since.
func (s *Snapshot) complete(live map[string]string) (map[string]string, error) {
	config := maps.Clone(s.Config)
	if config == nil {
		config = map[string]string{}
	}
	for _, name := range s.Withheld {
		value, ok := live[name]
		if !ok {
			return nil, fmt.Errorf("secret property %q of connector %q is missing: secrets are not stored, and no cluster has this one any longer; set it on the connector and try again", name, s.Name)
		}
		config[name] = value
	}
	return config, nil
}

// scrub hides the secrets of a config in a message about it.
func scrub(message string, config map[string]string) string {
	for name, value := range config {
		if looksSecret(name, value) {
			message = strings.ReplaceAll(message, value, "***")
		}
	}
	return message
}
