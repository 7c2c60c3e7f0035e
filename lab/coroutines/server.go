package main

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// sigma is that of the waits: the slowest of a hundred takes three times the median.
const sigma = 0.5

// meanWait is the mean of a log-normal distribution with this median.
func meanWait(median time.Duration) time.Duration {
	return time.Duration(float64(median) * math.Exp(sigma*sigma/2))
}

// serve says where it is and answers until its standard input ends.
func serve(out io.Writer, o options) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Fprintln(out, listener.Addr())
	go func() {
		io.Copy(io.Discard, os.Stdin)
		listener.Close()
	}()
	body := make([]byte, 2*o.page)
	for i := range body {
		body[i] = "abcdefgh \n"[i%10]
	}
	var connections atomic.Uint64
	l := line{perByte: o.perByte()}
	for {
		conn, err := listener.Accept()
		if err != nil {
			return nil
		}
		go answer(conn, &o, &l, body, rand.New(rand.NewPCG(o.seed, connections.Add(1))))
	}
}

// answer reads requests of a connection and answers each after its wait. The length comes first, four
// bytes, so that neither side spends its time on HTTP: what is compared is waiting, not parsing.
func answer(conn net.Conn, o *options, l *line, body []byte, r *rand.Rand) {
	defer conn.Close()
	in := bufio.NewReaderSize(conn, 64)
	for {
		if _, err := in.ReadByte(); err != nil {
			return
		}
		time.Sleep(time.Duration(float64(o.latency) * math.Exp(sigma*r.NormFloat64())))
		n := o.page/2 + r.IntN(o.page)
		time.Sleep(time.Until(l.reserve(time.Now(), n)))
		head := [4]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}
		if _, err := (&net.Buffers{head[:], body[:n]}).WriteTo(conn); err != nil {
			return
		}
	}
}

// A line carries one answer after the other.
type line struct {
	perByte time.Duration // 0 for a line without bound

	mu   sync.Mutex // guards free
	free time.Time  // when the last answer is through
}

// perByte is the time that a byte takes on the line, 0 if that is not bounded.
func (o *options) perByte() time.Duration {
	if o.line == 0 {
		return 0
	}
	return time.Duration(8e3 / o.line)
}

// reserve returns when an answer of n bytes that is ready now is through.
func (l *line) reserve(now time.Time, n int) time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.free.Before(now) {
		l.free = now
	}
	l.free = l.free.Add(time.Duration(n) * l.perByte)
	return l.free
}
