//go:build nonats

package bus

import (
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
)

// startNATS fails: this program is built without the NATS server.
func startNATS(
	string, int, tls.Certificate, func(string, string, net.Addr) (*grant, bool), *slog.Logger,
) (natsServer, error) {
	return nil, errors.New("this program was built with the tag nonats and has no server for crawlers: build it without that tag")
}
