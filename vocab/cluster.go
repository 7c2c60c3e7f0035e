package vocab

import "time"

// A ClusterStatus is the state of a cluster: machines that share a collection in a bucket.
type ClusterStatus struct {
	Bucket     string        `json:"bucket"`
	Owner      *ClusterOwner `json:"owner"`      // nil for none yet
	Generation string        `json:"generation"` // the newest; "" for none
	Made       time.Time     `json:"made"`
	Shards     int           `json:"shards"` // in it; 0 for a data folder
	Files      int           `json:"files"`
	Bytes      int64         `json:"bytes"`
	Nodes      []ClusterNode `json:"nodes"`
}

// A ClusterOwner is the machine that owns the collection of a cluster.
type ClusterOwner struct {
	Machine  string    `json:"machine"`
	Version  string    `json:"version"` // of the program
	Epoch    uint64    `json:"epoch"`   // grows by one with each owner
	Since    time.Time `json:"since"`   // by its clock
	Renewed  time.Time `json:"renewed"` // by the bucket's
	Released bool      `json:"released"`
	Drains   bool      `json:"drains"` // it was asked to hand over
}

// A ClusterNode is what a node of a cluster says of itself.
type ClusterNode struct {
	Machine    string    `json:"machine"`
	Version    string    `json:"version"`
	Role       string    `json:"role"`       // "owner", "standby" or "replica"
	Generation string    `json:"generation"` // that it has in force or has published; "" for none
	Made       time.Time `json:"made"`       // of that generation
	Failing    string    `json:"failing"`    // why it is behind; "" if nothing is wrong

	// Of a machine that may own the collection and then has crawlers of other machines.
	Crawlers string `json:"crawlers,omitempty"` // the address at which they reach it
	Key      string `json:"key,omitempty"`      // see node.Keyring.Public

	// The following are set by node.Nodes.
	Heard  time.Time `json:"heard"`  // by the bucket's clock
	Silent bool      `json:"silent"` // it was not heard for half a minute
}
