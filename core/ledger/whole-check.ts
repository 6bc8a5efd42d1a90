/** Checks a whole SQLite file, every page and every index, before a copy may replace another. */
import { statSync } from 'node:fs'
import { createRequire } from 'node:module'
import Database from 'better-sqlite3'
import { runChild } from '../base/child.ts'
import { giveWay } from '../base/give-way.ts'

/** Up to this size a check takes some milliseconds and runs in this process. */
const CHECKED_HERE_BYTES = 1 << 20
/** A check in SQLite cannot be interrupted, but a child process can be killed; and it frees all its memory. */
const PROGRAM = `
const Database = require(process.argv[1])
try {
  const db = new Database(process.argv[2], { readonly: true })
  process.stdout.write(JSON.stringify({ said: db.pragma('integrity_check(1)', { simple: true }) }))
} catch ({ code, message }) {
  process.stdout.write(JSON.stringify({ code, message }))
}`

/** Whether the error means that the file itself is damaged, rather than the disk or its permissions. */
export function isDamage(error: unknown): boolean {
  return error instanceof Database.SqliteError && /^SQLITE_(CORRUPT|NOTADB)/.test(error.code)
}

/** Whether the disk failed to read, because of bad sectors or a lost connection. */
export const isUnreadable = (error: unknown): boolean =>
  error instanceof Database.SqliteError && /^SQLITE_IOERR_(READ|SHORT_READ|CORRUPTFS|FSTAT)/.test(error.code)

/** @throws SqliteError: see isDamage; the signal's reason */
export async function mustBeWhole(file: string, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted()
  if (statSync(file).size > CHECKED_HERE_BYTES) return refuseUnlessOk(await askChild(file, signal))
  const db = new Database(file, { readonly: true })
  try {
    refuseUnlessOk(db.pragma('integrity_check(1)', { simple: true }))
  } finally {
    db.close()
  }
}

export function refuseUnlessOk(said: unknown): void {
  if (said !== 'ok') throw new Database.SqliteError(String(said), 'SQLITE_CORRUPT')
}

function askChild(file: string, signal: AbortSignal | undefined): Promise<string> {
  const module = createRequire(import.meta.url).resolve('better-sqlite3')
  return new Promise((resolve, reject) => {
    const options = { signal, killSignal: 'SIGKILL' } as const
    const child = runChild(process.execPath, ['-e', PROGRAM, module, file], options, (fault, output) => {
      if (signal?.aborted) return reject(signal.reason)
      if (fault) return reject(new Error(`The check of ${file} did not finish`, { cause: fault }))
      const { said, code, message } = JSON.parse(output) as Record<string, string>
      if (said !== undefined) resolve(said)
      else reject(new Database.SqliteError(String(message), String(code)))
    })
    giveWay(child, true)
  })
}
