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

	// If each shard has its own owner, the fields on owner and generation are not set.
	Divided []ClusterShard `json:"divided,omitempty"`
}

// A ClusterShard is a shard of a divided collection.
type ClusterShard struct {
	Shard   int           `json:"shard"`
	Owner   *ClusterOwner `json:"owner"`   // nil for none yet
	Made    time.Time     `json:"made"`    // when its newest generation was put, by the bucket's clock
	Work    *ShardWork    `json:"work"`    // as last reported by its owner; nil if none did
	Missing bool          `json:"missing"` // there is no generation yet
}

// ShardWork describes the remaining work of the owner of a shard.
type ShardWork struct {
	Shard    int   `json:"shard"`
	Pages    int64 `json:"pages"`
	Queued   int64 `json:"queued"`
	InFlight int64 `json:"in_flight"`
	Waiting  int   `json:"waiting"` // parcels of other shards that are not in a generation of it
	Complete bool  `json:"settled"` // nothing is left to do, and its last generation has all
}

// A ClusterOwner is the machine that owns the collection of a cluster.
type ClusterOwner struct {
	Machine  string    `json:"machine"`
	Version  string    `json:"version"`        // of the program
	Node     string    `json:"node,omitempty"` // see ClusterNode.Node
	Epoch    uint64    `json:"epoch"`          // grows by one with each owner
	Since    time.Time `json:"since"`          // by its clock
	Renewed  time.Time `json:"renewed"`        // by the bucket's
	Released bool      `json:"released"`
	Drains   bool      `json:"drains"` // it was asked to hand over
}

// A ClusterNode is the report of a cluster's node about itself.
type ClusterNode struct {
	Machine    string    `json:"machine"`
	Version    string    `json:"version"`
	Role       string    `json:"role"`       // "owner", "standby", "replica", or "node" of a divided collection
	Generation string    `json:"generation"` // its current one, or the last that it published; "" for none
	Made       time.Time `json:"made"`       // of that generation
	Failing    string    `json:"failing"`    // why it is behind; "" if nothing is wrong

	// Of a machine that can own the collection and then has crawlers on other machines.
	Crawlers string `json:"crawlers,omitempty"` // the address at which they reach it
	Key      string `json:"key,omitempty"`      // see node.Keyring.Public

	// Of a machine that can own some of the shards of a divided collection.
	Node  string      `json:"node,omitempty"`  // its ID
	Owns  []ShardWork `json:"owns,omitempty"`  // shards that it owns
	Whole []int       `json:"whole,omitempty"` // numbers of the shards of which its copy is whole, and not light

	// Of a machine that other nodes of a divided collection can call, see package cluster/peer.
	Address     string `json:"address,omitempty"`     // of its server; "" if it has none
	Certificate string `json:"certificate,omitempty"` // SHA-256 in hexadecimal digits

	// The following are set by node.Nodes.
	ID     string    `json:"id"`     // that the node keeps in its folder, 16 hexadecimal digits
	Heard  time.Time `json:"heard"`  // by the bucket's clock
	Silent bool      `json:"silent"` // it was not heard for half a minute
}
