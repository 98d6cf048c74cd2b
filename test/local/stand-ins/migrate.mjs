/** A stand-in that only needs the database's address. @module */
process.exit(process.env.DATABASE_URL?.startsWith('postgres://') ? 0 : 1);
