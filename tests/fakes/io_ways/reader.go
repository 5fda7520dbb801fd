// Reads MB of a file, then computes for SECONDS: reader WAY FILE MB SECONDS.
package main

import (
	"io"
	"os"
	"strconv"
	"time"
)

func main() {
	count, _ := strconv.ParseInt(os.Args[3], 10, 64)
	seconds, _ := strconv.ParseFloat(os.Args[4], 64)
	file, err := os.Open(os.Args[2])
	if err != nil {
		os.Exit(4)
	}
	if _, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, io.LimitReader(file, count<<20), make([]byte, 1<<20)); err != nil {
		os.Exit(5)
	}
	for start := time.Now(); time.Since(start).Seconds() < seconds; {
	}
}
