package segment

// Room returns the whole buffer that b builds its object in.
func Room(b *Builder) []byte { return b.object[:cap(b.object)] }
