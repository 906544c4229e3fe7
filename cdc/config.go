package cdc

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/fairlead-io/fairlead/internal/outbound"
)

// A Cluster is a Kafka Connect cluster. A Handler searches for a connector on the clusters
// of the connector's environment. An empty field matches every value.
type Cluster struct {
	Name      string `json:"name"`
	Env       string `json:"env"`
	AZ        string `json:"az"`
	RunSystem string `json:"run_system"`
	URL       string `json:"url"` // URL of the REST API, such as http://connect-a:8083
	Username  string `json:"username"`
	Password  string `json:"-"` // resolved from its reference by the caller
	// Properties are set on each connector that is created on or moved to this cluster, such
	// as schema.history.internal.kafka.bootstrap.servers.
	Properties map[string]string `json:"properties"`
}

// A Property is a connector property that stores a size, multiplied by Factor. A Factor of
// zero means 1.
type Property struct {
	Name   string `json:"name"`
	Factor int64  `json:"factor"`
}

// Sizes lists the connector properties that store each size. A Handler reads the current
// value of a size from the first property in its list.
type Sizes struct {
	CPU            []Property `json:"cpu"`
	Memory         []Property `json:"memory"`
	MaxPackageSize []Property `json:"max_package_size"`
	Replicas       []Property `json:"replicas"`
}

// DefaultSizes returns the Sizes for Debezium connectors. Kafka Connect does not allocate
// CPU and memory to connectors. These sizes therefore set the largest consumers of CPU and
// memory: the snapshot threads, and the queue between the database and Kafka. Memory is in
// MiB. The queue must be longer than a batch, so it grows with the package size.
func DefaultSizes() Sizes {
	return Sizes{
		CPU:            []Property{{Name: "snapshot.max.threads"}},
		Memory:         []Property{{Name: "max.queue.size.in.bytes", Factor: 1 << 20}},
		MaxPackageSize: []Property{{Name: "max.batch.size"}, {Name: "max.queue.size", Factor: 4}},
		Replicas:       []Property{{Name: "tasks.max"}},
	}
}

// GTIDNames contains the names of the offset fields that store a connector's GTID position.
type GTIDNames struct {
	GTID string `json:"gtid"` // set of transactions that were read
	// Within lists the fields that count events read of the transaction after these. Setting a
	// new GTID removes them; otherwise that many events would be skipped.
	Within []string `json:"within"`
}

// DefaultGTIDNames returns the field names that Debezium's connectors for MySQL and MariaDB
// use.
func DefaultGTIDNames() GTIDNames { return GTIDNames{GTID: "gtids", Within: []string{"event", "row"}} }

// Config configures a Handler. Only Clusters is required.
type Config struct {
	Clusters []Cluster
	// Sizes and GTID use their defaults where they are empty.
	Sizes Sizes
	GTID  GTIDNames
	// MigrationDefaults contains properties of all connectors created from migration records.
	// A record can override them.
	MigrationDefaults map[string]string
	// KeepProgress makes an undo keep the progress of the connector since the operation: it
	// continues from there instead of from the snapshot. Undoing a GTID reset always returns
	// to the snapshot.
	KeepProgress bool
	// Poll is the first delay between two polls of a cluster; default 100ms. Delays double up
	// to MaxPoll; default 2s.
	Poll    time.Duration
	MaxPoll time.Duration
	// RequestTimeout limits the duration of one request; default 15s.
	RequestTimeout time.Duration
	// Transport performs the requests. The default ignores the proxies of the environment.
	Transport http.RoundTripper
}

// withDefaults validates a config and fills in its defaults.
func (c Config) withDefaults() (Config, error) {
	var bad complaints
	if len(c.Clusters) == 0 {
		bad.refuse("clusters", "is empty; name at least one Kafka Connect cluster")
	}
	names, places := map[string]bool{}, map[[3]string]string{}
	for i, cluster := range c.Clusters {
		field := "clusters[" + strconv.Itoa(i) + "]"
		if cluster.Name == "" {
			bad.refuse(field+".name", "is empty; name the cluster")
		} else if names[cluster.Name] {
			bad.refuse(field+".name", "is %q, which another cluster has; each cluster needs its own name", cluster.Name)
		}
		names[cluster.Name] = true
		place := [3]string{cluster.Env, cluster.AZ, cluster.RunSystem}
		if other, taken := places[place]; taken {
			bad.refuse(field, "has the same env, az and run_system as %q; each cluster needs its own combination", other)
		}
		places[place] = cluster.Name
		checkURL(&bad, field+".url", cluster.URL)
		if cluster.Password != "" && cluster.Username == "" {
			bad.refuse(field+".username", "is empty, but a password is set; set both or neither")
		}
	}
	c.Sizes = c.Sizes.withDefaults()
	c.Sizes.check(&bad)
	if c.GTID.GTID == "" {
		c.GTID.GTID = DefaultGTIDNames().GTID
	}
	if c.GTID.Within == nil {
		c.GTID.Within = DefaultGTIDNames().Within
	}
	orElse(&c.Poll, 100*time.Millisecond)
	orElse(&c.MaxPoll, max(c.Poll, 2*time.Second))
	orElse(&c.RequestTimeout, 15*time.Second)
	if c.Transport == nil {
		c.Transport = &http.Transport{
			ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 32, IdleConnTimeout: 30 * time.Second, TLSHandshakeTimeout: 10 * time.Second, MaxResponseHeaderBytes: maxAnswerHeaders,
		}
	}
	c.Transport = outbound.Transport(c.Transport)
	c.Clusters = slices.Clone(c.Clusters)
	c.MigrationDefaults = maps.Clone(c.MigrationDefaults)
	return c, bad.err()
}

func orElse(value *time.Duration, standard time.Duration) {
	if *value <= 0 {
		*value = standard
	}
}

func checkURL(bad *complaints, field, value string) {
	parsed, err := url.Parse(value)
	switch {
	case err != nil || parsed.Host == "" || parsed.Scheme != "http" && parsed.Scheme != "https":
		bad.refuse(field, "is not a URL; it must begin with http:// or https://")
	case parsed.User != nil:
		bad.refuse(field, "contains a user name or password, which would be visible to others; use username and password")
	case parsed.RawQuery != "" || parsed.Fragment != "":
		bad.refuse(field, "has a query or fragment; omit it")
	}
}

// named returns the sizes with their names, in the order of the documentation.
func (s *Sizes) named() []namedSize {
	return []namedSize{
		{"cpu", &s.CPU, func(c *ChangeConfig) **int64 { return &c.CPU }},
		{"memory", &s.Memory, func(c *ChangeConfig) **int64 { return &c.Memory }},
		{"max_package_size", &s.MaxPackageSize, func(c *ChangeConfig) **int64 { return &c.MaxPackageSize }},
		{"replicas", &s.Replicas, func(c *ChangeConfig) **int64 { return &c.Replicas }},
	}
}

type namedSize struct {
	name       string
	properties *[]Property
	of         func(*ChangeConfig) **int64
}

func (s Sizes) withDefaults() Sizes {
	standard := DefaultSizes()
	defaults := standard.named()
	for i, size := range s.named() {
		*size.properties = slices.Clone(*size.properties)
		if *size.properties == nil {
			*size.properties = *defaults[i].properties
		}
		for j := range *size.properties {
			if property := &(*size.properties)[j]; property.Factor == 0 {
				property.Factor = 1
			}
		}
	}
	return s
}

func (s Sizes) check(bad *complaints) {
	for _, size := range s.named() {
		for i, property := range *size.properties {
			field := "sizes." + size.name + "[" + strconv.Itoa(i) + "]"
			if property.Name == "" {
				bad.refuse(field+".name", "is empty; name a property of the connector config")
			}
			if property.Factor < 0 {
				bad.refuse(field+".factor", "is %d; it must be positive", property.Factor)
			}
		}
	}
}
