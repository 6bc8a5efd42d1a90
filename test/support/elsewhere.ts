/** Another program that opens an SQLite file and closes it again, as a user with a database viewer does. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const LOOK = `
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute('SELECT count(*) FROM sqlite_schema')
db.close()`

/** If no lock says that the file is in use, closing it deletes the write-ahead log (`-wal`). */
export async function lookAtElsewhere(file: string): Promise<void> {
  await promisify(execFile)('python3', ['-c', LOOK, file])
}
