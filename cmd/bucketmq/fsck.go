package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"time"

	"github.com/bucketmq/bucketmq/fsck"
	"github.com/bucketmq/bucketmq/objstore"
	"github.com/bucketmq/bucketmq/segment"
)

type fsckCmd struct {
	Data        string `placeholder:"DIR" help:"Data directory of a stopped serve. Without it, the bucket of the s3 flags."`
	S3Endpoint  string `name:"s3-endpoint" placeholder:"URL" help:"The object store."`
	S3Bucket    string `name:"s3-bucket" placeholder:"NAME" help:"The bucket."`
	S3AccessKey string `name:"s3-access-key" placeholder:"KEY" help:"Access key id."`
	S3SecretKey string `name:"s3-secret-key" placeholder:"SECRET" help:"Secret access key. Prefer the environment variable."`
	S3Region    string `name:"s3-region" default:"us-east-1" placeholder:"REGION" help:"Region to sign for."`
	S3Prefix    string `name:"s3-prefix" placeholder:"PREFIX" help:"Prefix of all objects in the bucket."`
	MaxFaults   int    `default:"1000" placeholder:"N" help:"Describe at most this many faults; the others are counted."`
	Blocks      bool   `help:"Print every segment and every block of it, not only the sums."`
	JSON        bool   `name:"json" help:"Print the report as one JSON object; with --blocks, one more per segment before it."`
}

// Run checks every object and fails when there is a fault.
func (c *fsckCmd) Run(env *environment) error {
	files, err := c.open(env.ctx)
	if err != nil {
		return err
	}
	defer files.Close()
	if err := answers(env.ctx, files); err != nil {
		return err
	}
	told := time.Now()
	watched := isTerminal(env.stderr)
	options := fsck.Options{MaxFaults: c.MaxFaults, Progress: func(p fsck.Progress) {
		if watched && time.Since(told) > 200*time.Millisecond {
			told = time.Now()
			fmt.Fprintf(env.stderr, "\r%d objects, %s, %d faults\x1b[K", p.Objects, humanBytes(p.Bytes), p.Faults)
		}
	}}
	var printed error
	if c.Blocks {
		options.Object = func(o fsck.Object) {
			if c.JSON {
				printed = errors.Join(printed, printJSON(env.stdout, o))
			} else {
				printed = errors.Join(printed, o.WriteText(env.stdout))
			}
		}
	}
	report, err := fsck.Run(env.ctx, files, options)
	if watched {
		fmt.Fprint(env.stderr, "\r\x1b[K")
	}
	if c.JSON {
		printed = errors.Join(printed, printJSON(env.stdout, report))
	} else {
		printed = errors.Join(printed, report.WriteText(env.stdout))
	}
	switch {
	case err != nil || printed != nil:
		return errors.Join(err, printed)
	case len(report.Faults) > 0:
		return errSilent // the report tells them
	}
	return nil
}

// answers fails when the store cannot be listed within the time that a person
// waits: a store itself waits for as long as it is asked to.
func answers(ctx context.Context, files store) error {
	limited, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	for _, err := range files.List(limited, segment.KeyPrefix, "") {
		if err != nil {
			return errors.Join(ctx.Err(), err)
		}
		break
	}
	return nil
}

func (c *fsckCmd) open(ctx context.Context) (store, error) {
	switch {
	case (c.Data != "") == (c.S3Bucket != ""):
		return nil, usageError("say what to check, by flag or variable: either --data, or --s3-endpoint and --s3-bucket")
	case c.Data != "":
		if _, err := os.Stat(c.Data); errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s does not exist", c.Data) // opening would make it
		}
		return objstore.OpenFilesystem(c.Data)
	}
	return s3Flags{
		S3Endpoint: c.S3Endpoint, S3Bucket: c.S3Bucket, S3AccessKey: c.S3AccessKey,
		S3SecretKey: c.S3SecretKey, S3Region: c.S3Region, S3Prefix: c.S3Prefix,
	}.open(ctx, slog.Default())
}
