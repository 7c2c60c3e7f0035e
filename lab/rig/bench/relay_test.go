package bench

import (
	"io"
	"net"
	"testing"
	"time"
)

// TestRelay sends a byte through a relay to a server that sends it back, cuts the connection, and sends
// another one when connections are accepted again.
func TestRelay(t *testing.T) {
	echo, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer echo.Close()
	go func() {
		for {
			c, err := echo.Accept()
			if err != nil {
				return
			}
			go func() {
				io.Copy(c, c)
				c.Close()
			}()
		}
	}()
	r, err := listen(echo.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()
	dial := func() (net.Conn, error) {
		c, err := net.Dial("tcp", r.address())
		if err != nil {
			t.Fatal(err)
		}
		c.Write([]byte{1})
		_, err = io.ReadFull(c, make([]byte, 1))
		return c, err
	}
	c, err := dial()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	r.pause(50 * time.Millisecond)
	if _, err := c.Read(make([]byte, 1)); err == nil {
		t.Error("a connection was not cut")
	}
	for err = io.EOF; err != nil; {
		if c, err = dial(); err != nil {
			c.Close()
		}
	}
	c.Close()
}
