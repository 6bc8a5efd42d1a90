/** What `archivolt check` says of the embedded index, where there is one. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type CheckParts, type Finding, lookAtDatabase } from 'archivolt'

const REMEDY = 'stop the server and restore a backup: archivolt restore <file>'

export function lookAtIndex({ settings }: CheckParts): Promise<Finding[]> {
  const file = join(settings.dataDir, 'index.sqlite')
  return Promise.resolve(existsSync(file) ? [lookAtDatabase(file, 'Embedded index', REMEDY)] : [])
}
