/** Another program that opens an SQLite file and closes it again, as people do who only want to look. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const LOOK = `
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute('SELECT count(*) FROM sqlite_schema')
db.close()`

/** Where no lock says that somebody uses the file, the log beside it (`-wal`) is gone afterwards. */
export async function lookAtElsewhere(file: string): Promise<void> {
  await promisify(execFile)('python3', ['-c', LOOK, file])
}
